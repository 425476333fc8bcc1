from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.prompts.text import DataPart, Message, Segment, Text
from workbench.output import json_shapes


class Colour(Enum):
    RED = "red"
    DEEP = 3.5


class Person(pydantic.BaseModel):
    name: str
    born: date | None = None
    scores: dict[int, float] = {}


@dataclass(frozen=True)
class Point:
    x: float
    tags: frozenset[str]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (Colour.RED, "red"),
        (Colour.DEEP, 3.5),
        (True, True),
        ({1: "a", Colour.RED: "b", None: "c"}, {"1": "a", "red": "b", "null": "c"}),
        ((1, [2, {3}]), [1, [2, [3]]]),
        (b"\xff\x00a", "\\xff\x00a"),
        (date(2026, 2, 3), "2026-02-03"),
        (Decimal("1.10"), "1.10"),
        (Person(name="Ada", born=date(1815, 12, 10), scores={1: math.nan}), None),
        (Point(1.0, frozenset({"t"})), {"x": 1.0, "tags": ["t"]}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        (int, "int"),
    ],
)
def test_any_value_becomes_plain_json(value: Any, expected: Any) -> None:
    if isinstance(value, Person):
        expected = {"name": "Ada", "born": "1815-12-10", "scores": {"1": "NaN"}}
    assert json_shapes.plain(value) == expected


def test_an_object_that_nothing_knows_becomes_its_text() -> None:
    class Odd:
        def __repr__(self) -> str:
            return "<odd>"

    assert json_shapes.plain({"a": [Odd()]}) == {"a": ["<odd>"]}


def test_values_as_deep_as_a_parser_makes_them_are_written() -> None:
    text = "[" * 900 + "]" * 900
    assert json_shapes.dumps(json.loads(text), indent=None) == text
    assert json_shapes.dumps(json.loads(text)).replace(" ", "").replace("\n", "") == text


def test_what_is_deeper_than_any_parser_makes_it_is_said_to_be() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deep" in json_shapes.dumps(deep)


def test_numbers_too_long_to_be_written_in_decimal_are_written_in_hexadecimal() -> None:
    assert json.loads(json_shapes.dumps(10**5000)) == hex(10**5000)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.characters(categories=("Cs",)),
        lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
        max_leaves=20,
    )
)
def test_output_is_strict_ascii_json(value: Any) -> None:
    text = json_shapes.dumps(value)

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    assert text.isascii()
    assert json.loads(text, parse_constant=refuse) == json_shapes.plain(value)


def test_segments_of_a_message_join_to_its_text_and_name_their_turn() -> None:
    text = Text((Segment("Question: ", "marker"), Segment("Is it [bold]raining[/]?", "value", "question")))
    shape = json_shapes.prompt([Message("user", "demo 2", (text,))], {"model": "m"})

    assert shape["messages"] == [{"role": "user", "content": str(text)}]
    assert "".join(one["text"] for one in shape["segments"][0]) == text
    assert shape["segments"][0][1] == {
        "text": "Is it [bold]raining[/]?",
        "kind": "value",
        "field": "question",
        "turn": "demo 2",
    }
    assert shape["request"] == {"model": "m"}


def test_segments_of_a_list_of_parts_cover_the_text_parts_alone() -> None:
    image: Mapping[str, Any] = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    parts = (Text.of("before", "value", "q"), DataPart(image, "picture"), Text.of("after", "reminder"))
    shape = json_shapes.prompt([Message("user", "inputs", parts, is_list=True)], {})

    assert shape["messages"][0]["content"] == [
        {"type": "text", "text": "before"},
        image,
        {"type": "text", "text": "after"},
    ]
    assert [one["text"] for one in shape["segments"][0]] == ["before", "after"]
