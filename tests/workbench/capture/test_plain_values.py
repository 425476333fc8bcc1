"""What the program's side writes of a value is what a recording would hold of it."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import uuid
from typing import Any, NamedTuple

import dspy
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.values.value_text import serialize_for_json
from sessions.file import typed_values
from workbench.capture.in_your_process.plain_values import dumps, typed


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Point(NamedTuple):
    x: int
    y: float


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")
    name: str
    colour: Colour = Colour.RED


@dataclasses.dataclass
class Data:
    when: datetime.date
    parts: list[Any]


class Text(str):
    """A text of a class of its own."""


VALUES: list[Any] = [
    *(None, True, 1, 2**70, 1.0, float("nan"), float("-inf"), "text", "\ud800", b"bytes", Text("mine")),
    *([1, [True]], {"a": 1}, {"$type": "int"}, {1: "one"}, (1, 2), {3, 1, 2}, frozenset({"a"}), Point(1, 2.0)),
    *(Colour.RED, Level.LOW, Model(name="m", more=[1]), Data(datetime.date(2024, 2, 29), [Colour.RED])),
    *(decimal.Decimal("1.50"), uuid.UUID(int=5), datetime.timedelta(days=1, microseconds=3)),
    *(datetime.datetime(2024, 1, 2, 3, 4, tzinfo=datetime.UTC), datetime.time(1, 2)),
    dspy.Image("https://example.org/a.png"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_typed_is_what_a_recording_holds(value: Any) -> None:
    assert typed_values.same(typed(value), typed_values.typed(value))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.just("$type"), inner),
    max_leaves=12,
)


@given(JSON)
def test_typed_is_so_for_any_json(value: Any) -> None:
    assert typed_values.same(typed(value), typed_values.typed(value))


@pytest.mark.parametrize(
    "value", [one for one in VALUES if not isinstance(one, set | frozenset | bytes | dspy.Image)], ids=repr
)
def test_plain_is_what_dspy_puts_into_a_prompt(value: Any) -> None:
    expected = json.loads(json.dumps(serialize_for_json(value)))
    assert repr(json.loads(dumps(value))) == repr(expected)


def test_dspys_own_objects_are_what_they_are_built_of() -> None:
    def look_up(city: str) -> str:
        """Weather."""
        return city

    history = dspy.History(messages=[{"question": "hi", "answer": "hello"}])
    given = {"image": dspy.Image("https://example.org/a.png"), "tool": dspy.Tool(look_up), "history": history}
    plain = json.loads(dumps(given))
    assert plain["image"]["url"] == "https://example.org/a.png"
    assert plain["tool"] == {"name": "look_up", "desc": "Weather.", "args": {"city": {"type": "string"}}}
    assert plain["history"] == {"messages": [{"question": "hi", "answer": "hello"}]}


def test_a_circle_is_an_error_and_no_end_of_the_program() -> None:
    circle: list[Any] = []
    circle.append(circle)
    with pytest.raises((ValueError, RecursionError)):
        dumps(circle)
