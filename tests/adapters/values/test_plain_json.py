"""What people and programs are shown of a value: plain JSON, whatever it was."""

from __future__ import annotations

import json
import math
from enum import Enum
from typing import Any

import pydantic
import pytest

from adapters.values.plain_json import DEEPEST, plain


class Colour(Enum):
    RED = 1


class Item(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    price: float = 1.5
    tags: list[str] = []


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"a": math.nan, "b": -math.inf, 1: (1, {2})}, {"a": "NaN", "b": "-Infinity", "1": [1, [2]]}),
        ([Colour.RED, {Colour.RED: "x", None: 1, (1, 2): 3}], [1, {"1": "x", "null": 1, "[1, 2]": 3}]),
        (Item(price=2.0, size=math.inf), {"price": 2.0, "tags": [], "size": "Infinity"}),  # type: ignore[call-arg]
        ([2**13_000, 2**15_000], [2**13_000, hex(2**15_000)]),
        ([b"x\xff", "\ud800", float], ["x\\xff", "\ud800", "float"]),
    ],
)
def test_any_value_is_shown_as_strict_json(value: Any, shown: Any) -> None:
    assert plain(value) == shown


def test_values_are_not_changed_by_being_shown() -> None:
    inner = {"x": (1,)}
    value = {"a": inner, "b": [inner, inner]}
    assert plain(value) == {"a": {"x": [1]}, "b": [{"x": [1]}, {"x": [1]}]}
    assert value == {"a": {"x": (1,)}, "b": [{"x": (1,)}, {"x": (1,)}]}


def test_what_is_as_deep_as_a_parser_makes_it_is_kept_and_deeper_parts_are_said_to_be_so() -> None:
    as_parsed = json.loads("[" * DEEPEST + "]" * DEEPEST)
    assert plain(as_parsed) == as_parsed
    for _ in range(100_000):
        as_parsed = [as_parsed]
    assert "<a list that is nested too deep>" in json.dumps(plain(as_parsed))
