"""Recorded values keep their types, and `--json` values are strict JSON."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import json
import math
import uuid
from decimal import Decimal
from typing import Any, NamedTuple

import pydantic
import pytest
from hypothesis import given

from adapters.values.plain_json import plain
from sessions.file.typed_values import same, typed
from tests.sessions.strategies import values


class Colour(enum.Enum):
    RED = 1


class Text(enum.StrEnum):
    RED = "red"


class Item(pydantic.BaseModel):
    price: Decimal
    tags: set[str] = set()


class Point(NamedTuple):
    x: int


@dataclasses.dataclass
class Place:
    name: str


DIFFERENT: list[Any] = [
    *(
        1,
        1.0,
        True,
        "1",
        None,
        Decimal("1"),
        Decimal("1.0"),
        Colour.RED,
        [1],
        (1,),
        {1},
        frozenset({1}),
        {"1": 1},
        {1: 1},
    ),
    *(b"1", 1 + 0j, -0.0, 0.0, 0, math.nan, math.inf, "NaN", Decimal("NaN"), Text.RED, "red", Point(1), Place("red")),
    *(datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1), "2024-01-01", datetime.timedelta(1), uuid.UUID(int=1)),
    *(Item(price=Decimal(1)), {"price": Decimal(1)}, 10**5000, hex(10**5000), {"$type": "float", "value": "NaN"}),
]


def test_no_two_different_values_are_written_alike() -> None:
    written = [typed(value) for value in DIFFERENT]
    alike = [
        (DIFFERENT[i], DIFFERENT[j]) for i in range(len(written)) for j in range(i) if same(written[i], written[j])
    ]
    assert alike == []


@pytest.mark.parametrize("value", DIFFERENT, ids=lambda value: f"{type(value).__name__}-{str(type(value))[-8:-2]}")
def test_a_typed_value_is_strict_json_that_survives_a_round_trip(value: Any) -> None:
    written = typed(value)
    assert same(json.loads(json.dumps(written, allow_nan=False)), written)
    assert same(written, typed(value))


@given(values)
def test_plain_values_of_any_kind_are_the_same_only_as_themselves(value: Any) -> None:
    written = typed(value)
    assert same(written, json.loads(json.dumps(written, allow_nan=False, ensure_ascii=False)))
    assert not same(written, typed([value]))


def test_a_dict_with_our_own_key_is_told_apart_from_a_tagged_value() -> None:
    assert not same(typed({"$type": "tuple", "value": [1]}), typed((1,)))


def test_the_order_of_sets_does_not_matter_and_that_of_keys_does() -> None:
    assert same(typed({"a", "b", "c"}), typed({"c", "b", "a"}))
    assert not same(typed({"a": 1, "b": 2}), typed({"b": 2, "a": 1}))


def test_what_is_nested_too_deep_is_still_told_apart() -> None:
    one: Any = 1
    other: Any = 2
    for _ in range(300):
        one, other = [one], [other]
    assert not same(typed(one), typed(other))
    assert same(typed(one), typed(one))


@pytest.mark.parametrize("value", DIFFERENT, ids=range(len(DIFFERENT)))
def test_each_of_them_is_shown_as_strict_json(value: Any) -> None:
    json.dumps(plain(value), ensure_ascii=True, allow_nan=False)
