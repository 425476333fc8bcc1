"""Replies past the length up to which errors are counted: the same verdict and text as dspy's, found in time."""

from __future__ import annotations

import enum
import json
from typing import Annotated, Any, Literal

import pydantic
import pytest
from oracle.engines import theirs
from oracle.outcomes import outcome
from oracle.signatures import built

from adapters import InputField, OutputField, Signature
from adapters.formats.catalog import make
from adapters.replies.reading_builder import COUNTED_LENGTH, NOT_COUNTED
from adapters.types.recognition import stopping_validator, type_adapter
from adapters.types.tools import Tool
from tests.support.pace import LOOPS_A_SECOND, loops


class Leaf(pydantic.BaseModel):
    name: str
    sizes: list[int] = [1, 2]


class Named(pydantic.BaseModel):
    title: str = pydantic.Field(alias="Title")
    leaves: list[Leaf] = []
    by_name: dict[str, Leaf] = {}


class Color(enum.Enum):
    red = "red"


class Apple(pydantic.BaseModel):
    kind: Literal["apple"]


class Pear(pydantic.BaseModel):
    kind: Literal["pear"]
    weight: float


Fruit = Annotated[Apple | Pear, pydantic.Field(discriminator="kind")]


def telling(items: Any, handler: Any) -> Any:
    """Return the items, or the number of their errors."""
    try:
        return handler(items)
    except pydantic.ValidationError as refused:
        return [refused.error_count()]


def not_seven(item: object) -> object:
    """Return the item; raise an error that pydantic lets through for 7."""
    if item == 7:
        raise TypeError("seven")
    return item


class Node(pydantic.BaseModel):
    name: str
    nodes: list[Node] = []


class Nodes(pydantic.BaseModel):
    top: Node
    told: Annotated[Node, pydantic.WrapValidator(telling)]


class Counted(pydantic.BaseModel):
    sizes: list[int]

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except pydantic.ValidationError as refused:
            raise TypeError(refused.error_count()) from None


class Checked(pydantic.BaseModel):
    sizes: list[int]

    @pydantic.model_validator(mode="after")
    def check(self) -> Checked:
        return self


class Titled(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(title="Another name", strict=True)
    sizes: list[int]


class Private(pydantic.BaseModel):
    sizes: list[int]
    _known: bool = pydantic.PrivateAttr(default=False)


WITH_OWN_CODE: tuple[tuple[Any, object], ...] = (
    (Annotated[list[int], pydantic.WrapValidator(telling)], ["x", "y"]),
    (Nodes, {"top": {"name": "a"}, "told": {"name": 1, "nodes": [{}, {}]}}),
    (list[Annotated[int, pydantic.BeforeValidator(not_seven)]], ["x", 7]),
    (list[Annotated[int, pydantic.BeforeValidator(int)]], ["x", {}]),
    (list[Counted], [{"sizes": 1}, {"sizes": ["x", "y"]}]),
    (Checked, {"sizes": ["x", "y"]}),
    (list[Tool], [1, {}]),
)
"""Types whose own code may count the errors, or raise others for a later item."""
VALUES: tuple[tuple[Any, object], ...] = (
    (list[Leaf], [{"name": "a"}, {}, 1, {"sizes": ["x", "y"]}]),
    (list[Leaf], [{"name": "a", "sizes": ["1", 2.0]}, {"name": "b"}]),
    (list[Leaf] | None, [{}, {"name": "a"}, None]),
    (list[Leaf] | None, [{"name": "a"}]),
    (list[list[int]], [[1], ["x", "y"], ["z"]]),
    (list[Color], ["red", "blue", "green"]),
    (list[Literal["a", "b"]], ["a", "c", "d"]),
    (list[int | bool], [1, {}, "x"]),
    (list[int] | list[str], ["a", 1, {}]),
    (list[int] | list[str], ["a", "1"]),
    (list[Leaf | Named], [{"Title": "x"}, {"name": 1}, {}]),
    (list[Fruit], [{"kind": "pear", "weight": "x"}, {"kind": "plum"}, {}]),
    (list[Fruit], [{"kind": "pear", "weight": 1}, {"kind": "apple"}]),
    (dict[str, Leaf], {"a": {}, "b": 1, "c": {"name": "x"}}),
    (dict[int, list[int]], {"1": ["x", "y"], "z": [1]}),
    (tuple[int, ...], ["x", "y", 1]),
    (tuple[int, list[int]], ["x", ["y", "z"]]),
    (set[int], ["x", {}, 1, 1]),
    (frozenset[int], [1, 2, 2]),
    (Named, {"title": "x", "leaves": [{}, {}], "by_name": {"a": 1, "b": {}}}),
    (Named, {"Title": "x", "leaves": [{"name": "y"}], "by_name": {"b": {"name": "z"}}}),
    (Annotated[list[int], pydantic.Field(min_length=3)], [1, "x"]),
    (Titled, {"sizes": ["1", 2]}),
    (list[Private], [{}, {"sizes": ["x"]}]),
    (Node, {"name": "a", "nodes": [{"name": 1}, {"nodes": [{}]}]}),
    (int, {}),
)


@pytest.mark.parametrize("adapter", ["json", "chat", "xml", "markdown"])
@pytest.mark.parametrize(("annotation", "value"), VALUES)
def test_uncounted_errors_change_neither_verdict_nor_values_nor_text(
    adapter: str, annotation: Any, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), annotation)
    text = f"[[ ## v ## ]]\n{json.dumps(value)}" if adapter == "chat" else json.dumps({"v": value})
    if adapter == "xml":
        items = value if isinstance(value, list) else [value]
        text = "".join([f"<v>{_as_xml(one)}</v>" for one in items])
    whole = make(adapter).read(signature, text)
    monkeypatch.setattr("adapters.replies.reading_builder.COUNTED_LENGTH", 0)
    first = make(adapter).read(signature, text)
    assert (first.values, first.spans) == (whole.values, whole.spans)
    assert type(first.exception) is type(whole.exception)
    if adapter != "markdown":  # whose text is ours
        assert str(first.exception) == str(whole.exception)
    if whole.error is None or first.error is None:
        assert first.error == whole.error
        return
    assert (first.error.type, first.error.field, first.error.start) == ("AdapterParseError", "v", whole.error.start)
    assert first.error.message == whole.error.message.partition(" (and ")[0] + NOT_COUNTED
    assert NOT_COUNTED in str(first.fields["v"].error)
    assert {one.name for one in first.flags} <= {one.name for one in whole.flags}


def _as_xml(value: object) -> str:
    if isinstance(value, dict):
        return "".join([f"<{key}>{_as_xml(one)}</{key}>" for key, one in value.items() if key.isalpha()])
    return "".join(map(_as_xml, value)) if isinstance(value, list) else str(value)


@pytest.mark.parametrize(("annotation", "value"), VALUES)
def test_a_stopping_validator_accepts_the_same_values(annotation: Any, value: object) -> None:
    assert type(stopping_validator(annotation)) is not type(type_adapter(annotation))
    assert _validated(stopping_validator(annotation), value) == _validated(type_adapter(annotation), value)


@pytest.mark.parametrize(("annotation", "value"), WITH_OWN_CODE)
def test_a_type_with_code_of_its_own_is_validated_whole(annotation: Any, value: object) -> None:
    assert stopping_validator(annotation) is type_adapter(annotation)


@pytest.mark.parametrize("adapter", ["json", "chat"])
def test_an_error_that_leaks_behind_the_first_wrong_item_leaks_in_a_long_reply(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.replies.reading_builder.COUNTED_LENGTH", 0)
    annotation: Any = list[Annotated[int, pydantic.BeforeValidator(not_seven)]]
    signature = Signature.make(()).append("v", OutputField(), annotation)
    text = '[[ ## v ## ]]\n["x", 7]' if adapter == "chat" else '{"v": ["x", 7]}'
    assert str(make(adapter).read(signature, text).exception) == "seven"


def _validated(validator: Any, value: object) -> object:
    try:
        return validator.validate_python(value)
    except pydantic.ValidationError as refused:
        return refused.title, refused.errors(include_url=False, include_context=False)[0]


def test_a_stopping_validator_stops_at_the_first_wrong_item() -> None:
    with pytest.raises(pydantic.ValidationError) as refused:
        stopping_validator(Named).validate_python({"Title": "x", "leaves": [{}] * 9, "by_name": dict.fromkeys("abc")})
    assert [one["loc"][:2] for one in refused.value.errors()] == [("leaves", 0), ("by_name", "a")]


@pytest.mark.parametrize("adapter", ["json", "chat"])
def test_the_text_of_a_reply_past_the_length_is_dspys(adapter: str) -> None:
    signature = built({"v": list[int]})
    items = json.dumps([1, "x" * COUNTED_LENGTH, "y"])
    text = f"[[ ## v ## ]]\n{items}" if adapter == "chat" else f'{{"v": {items}}}'
    reading = make(adapter).read(signature.ours, text)
    expected = outcome(lambda: theirs(adapter).parse(signature.theirs, text)).error
    assert reading.error is not None
    assert reading.error.message.endswith(NOT_COUNTED)
    assert str(reading.exception) == str(expected)
    assert "2 validation errors" in str(expected)


SIZE = 10_000_000
MOST_LOOPS = 1.4 * LOOPS_A_SECOND
"""At least 2.6 times what is needed; to count all errors takes 1.6 to 24 times as much as this."""
HOSTILE: dict[str, tuple[Any, str]] = {
    "objects for models": (list[Leaf], "{}"),
    "numbers for models": (list[Leaf], "1"),
    "objects for one of several models": (list[Leaf | Named | Pear], "{}"),
    "objects for an optional list": (list[Leaf] | None, "{}"),
    "objects for one of two types": (list[int | bool], "{}"),
    "unknown members": (list[Color], '"b"'),
    "other values than those allowed": (list[Literal["a", "b"]], '"c"'),
}


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["json", "chat"])
@pytest.mark.parametrize("name", HOSTILE)
def test_millions_of_wrong_items_have_a_verdict_and_a_diagnosis_in_time(adapter: str, name: str) -> None:
    annotation, item = HOSTILE[name]
    items = f"[{','.join([item] * (SIZE // (len(item) + 1)))}]"
    text = f"[[ ## v ## ]]\n{items}" if adapter == "chat" else f'{{"v": {items}}}'
    assert loops(lambda: _diagnosed(adapter, annotation, text), tries=1) < MOST_LOOPS


@pytest.mark.slow
@pytest.mark.parametrize("annotation", [dict[str, Leaf], Named])
def test_a_million_wrong_values_of_keys_are_not_counted(annotation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    items = ",".join([f'"k{number}":{{}}' for number in range(SIZE // 14)])
    inside = f"{{{items}}}" if annotation is not Named else f'{{"Title": "x", "by_name": {{{items}}}}}'
    text = f'{{"v": {inside}}}'
    taken = loops(lambda: _diagnosed("json", annotation, text), tries=1)
    monkeypatch.setattr("adapters.replies.reading_builder.stopping_validator", type_adapter)
    monkeypatch.setattr("adapters.types.recognition.stopping_validator", type_adapter)
    # To count them all takes more than twice as long.
    assert taken < loops(lambda: _diagnosed("json", annotation, text), tries=1) / 1.4


def _diagnosed(adapter: str, annotation: Any, text: str) -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), annotation)
    reading = make(adapter).read(signature, text)
    assert reading.error is not None
    assert NOT_COUNTED in reading.error.message
    assert reading.diagnosis
