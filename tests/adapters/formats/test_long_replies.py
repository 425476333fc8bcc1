"""Long replies: Python looks for no garbage meanwhile, and hostile ones end within their steps."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated
from xml.etree import ElementTree

import pydantic
import pytest

from adapters import InputField, OutputField, Signature
from adapters.formats.base import LONG_REPLY
from adapters.formats.catalog import make
from adapters.formats.xml_reading import MOST_PLACED, MOST_REPEATS
from adapters.json_text.json_document import APART, LONG_ROW
from adapters.json_text.repair_limits import REPAIR_STEPS
from adapters.json_text.repaired_json import repair_json
from adapters.replies.reading_builder import MOST_LINES, reason
from adapters.types.recognition import BEGINNING, first_errors, type_adapter
from tests.support.pace import LOOPS_A_SECOND, loops


class Node(pydantic.BaseModel):
    name: str
    children: list[Node] = []


NODES = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), list[Node])


@contextmanager
def searches() -> Iterator[list[str]]:
    """The searches for garbage that begin within the block."""
    found: list[str] = []

    def tell(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            found.append(phase)

    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.callbacks.append(tell)
    try:
        yield found
    finally:
        gc.callbacks.remove(tell)
        gc.set_threshold(*before)


def reply(count: int) -> str:
    return json.dumps({"v": [{"name": f"node {number}"} for number in range(count)]})


def test_garbage_is_not_looked_for_while_a_long_reply_is_parsed() -> None:
    text = reply(10_000)
    adapter = make("json")
    adapter.read(NODES, reply(1))
    assert len(text) > LONG_REPLY
    with searches() as within:
        reading = adapter.read(NODES, text)
    assert reading.ok
    assert len(reading.values["v"]) == 10_000
    assert len(within) <= 2, "one before it and one after it"
    assert gc.isenabled()
    with searches() as later:
        kept = [[number] for number in range(10_000)]
    assert len(kept) == 10_000
    assert later


@pytest.mark.parametrize("is_valid", [True, False])
def test_a_program_that_looks_for_no_garbage_is_left_so(is_valid: bool) -> None:
    gc.disable()
    try:
        make("json").read(NODES, reply(1_000) if is_valid else "no JSON " * 2_000)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_nested_openings_end_within_the_steps_of_a_reading() -> None:
    text = "{[" * 49_500
    reading = make("chat").read(NODES, f"[[ ## v ## ]]\n{text}")
    assert reading.error is not None
    assert "too large to read" in reading.error.message
    assert reading.repair_steps > REPAIR_STEPS
    with pytest.raises(ValueError, match="too large to read"):
        repair_json(text)


@pytest.mark.parametrize(
    ("before", "unit", "after"),
    [
        ("<v>x</v>", "<b/>", ""),
        ("<v>x</v> ", "<b>x</b>", "<v>y</v>"),
        ("", "<v> x </v>", ""),
        ("<v/>", "<v> </v>", "\n<w>z</w>"),
        ("<v/>", "<v/>", "<v>x</v>"),
        ("a<b/>", "<v>x<c> y</c></v>", "<v>z</v>"),
        ("", '<entry key="v"> x</entry>', "b"),
    ],
)
def test_elements_in_a_long_row_differ_in_their_spans_alone(before: str, unit: str, after: str) -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), list[str])
    text = f"{before}{unit * (MOST_REPEATS + 2)}{after}"
    reading = make("xml").read(signature, text)
    assert "".join([text[one.start : one.end] for one in reading.spans]) == text
    assert len(reading.spans) < 20
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adapters.formats.xml_reading.MOST_REPEATS", MOST_REPEATS + 2)
        apart = make("xml").read(signature, text)
    assert len(apart.spans) > MOST_REPEATS
    assert (reading.values, reading.fields, reading.error) == (apart.values, apart.fields, apart.error)
    assert (reading.flags, reading.diagnosis) == (apart.flags, apart.diagnosis)


@pytest.mark.parametrize("before", ["", "<![CDATA[ ]]>"])
@pytest.mark.parametrize("units", ["<v>x</v><w/>", "<v> x</v> <b>y</b>", "<w>x</w><b>y</b>"])
def test_elements_past_the_first_ten_thousand_differ_in_their_spans_alone(before: str, units: str) -> None:
    made = Signature.make(()).append("q", InputField(), str)
    signature = made.append("v", OutputField(), list[str]).append("u", OutputField(), str)
    text = f"{before}{units * (MOST_PLACED // 2 + 9)}<v>z</v><u>last</u>"
    reading = make("xml").read(signature, text)
    assert "".join([text[one.start : one.end] for one in reading.spans]) == text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adapters.formats.xml_reading.MOST_PLACED", MOST_PLACED * 2)
        apart = make("xml").read(signature, text)
    assert len(apart.spans) > len(reading.spans)
    assert reading.ok
    assert (reading.values, reading.error) == (apart.values, apart.error)
    assert reading.values["u"] == "last"
    assert text[reading.spans[-1].start :].endswith("<v>z</v><u>last</u>")
    assert reading.fields["u"].raw == ""
    assert {one.name for one in reading.flags} <= {one.name for one in apart.flags}


def test_of_a_million_errors_the_verdict_tells_all_and_the_field_their_number() -> None:
    items = [*["x"] * MOST_LINES, "last"]
    reading = make("json").read(NODES, json.dumps({"v": items}))
    assert reading.fields["v"].error == f"{MOST_LINES + 1} validation errors for list[Node]"
    assert isinstance(reading.exception, Exception)
    text = str(reading.exception)
    assert text.startswith(f"Failed to parse field v: {reading.fields['v'].error}\n0\n  Input should be")
    assert f"\n{MOST_LINES}\n  Input should be" in text
    assert reading.exception.args == (text,)
    assert repr(reading.exception) == f"AdapterParseError({text!r})"


@pytest.mark.parametrize("wrong", [0, BEGINNING - 1, BEGINNING, 3 * BEGINNING + 7])
def test_errors_late_in_a_list_or_dict_have_their_places(wrong: int) -> None:
    numbers: list[object] = [*range(4 * BEGINNING)]
    numbers[wrong] = numbers[-1] = "x"
    errors = first_errors(list[int], numbers, 50)
    assert [one["loc"] for one in errors] == [(wrong,), (len(numbers) - 1,)]
    named = {f"k{number}": one for number, one in enumerate(numbers)}
    errors = first_errors(dict[str, int], named, 1)
    assert [one["loc"] for one in errors] == [(f"k{wrong}",)]


def test_a_long_row_in_a_fenced_object_is_one_span() -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), int)
    text = "```json\n{" + '"v": 1, ' * (LONG_ROW + APART + 2) + '"v": 2}\n```'
    reading = make("markdown").read(signature, text)
    assert reading.values == {"v": 2}
    assert "".join([text[one.start : one.end] for one in reading.spans]) == text
    assert len(reading.spans) < LONG_ROW


class Named(pydantic.BaseModel):
    title: str = ""
    nodes: list[Node] | None = None
    more: list[list[int]] = []


MANY: list[object] = [{}] * 3 * BEGINNING


@pytest.mark.parametrize(
    ("annotation", "given", "is_of_beginning"),
    [
        (Named, {"nodes": MANY}, True),
        (tuple[int, ...], MANY, True),
        (list[int] | None, MANY, True),
        (list[list[int]], [["x"] * 3 * BEGINNING], True),
        (Named, {"more": [[1], MANY, MANY]}, True),
        (Named, {"more": [["x"] * 60] * 3 * BEGINNING}, True),
        (Named, {"more": MANY, "title": 1}, False),
        (Named, {"more": MANY, "nodes": MANY}, False),
        (Named, {"more": [[1] * 3 * BEGINNING, MANY]}, False),
        (Named, {"more": [[*[1] * 3 * BEGINNING, "x"], MANY]}, False),
        (Named, {"nodes": [{"name": "x"}] * BEGINNING + MANY}, False),
        (list[int] | list[str], MANY, False),
        (Annotated[list[int], pydantic.Field(max_length=2 * BEGINNING)], MANY, False),
    ],
)
def test_errors_of_a_long_list_inside_a_value_are_those_of_its_beginning(
    annotation: object, given: object, is_of_beginning: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type_adapter(annotation).validate_python
    with pytest.raises(pydantic.ValidationError) as refused:
        whole(given)
    validated: list[object] = []

    class Noting:
        core_schema = type_adapter(annotation).core_schema

        def validate_python(self, value: object, by_name: bool | None) -> object:
            validated.append(value)
            return whole(value, by_name=by_name)

    monkeypatch.setattr("adapters.types.recognition.type_adapter", lambda annotation: Noting())
    expected = refused.value.errors(include_url=False, include_context=False)[:50]
    found = first_errors(annotation, given, 50)
    assert [(one["loc"], one["type"], one["msg"]) for one in found] == [
        (one["loc"], one["type"], one["msg"]) for one in expected
    ]
    assert (given not in validated) == is_of_beginning


ROW = ", ".join(f'"k{number}": {number}' for number in range(LONG_ROW + APART + 2))
SAME = '"{}": 1e-1, ' * (LONG_ROW + APART + 2)


@pytest.mark.parametrize(
    "text",
    [
        "{" + ROW + "}",
        '{"v": ["x"], ' + ROW + "}",
        "{" + SAME.format(*["v"] * (LONG_ROW + APART + 2)) + '"v": ["x"]}',
        "{" + SAME.format(*["w"] * (LONG_ROW + APART + 2)) + '"w" :\n[2],"V": ["x"]}',
        "{" + ROW.replace("k7", "V") + ', "v": []}',
        "{" + ROW.replace("k7", "7" * 201) + ', "8\\"": [], "v": [], ' + SAME.replace("{}", "v") + '"x": null}',
        "\n{" + ROW + ', "v": ["x"]}\n',
        "{" + '"v": ["a", "b"], "w": {}, "V": {"v": [1]}, ' * (LONG_ROW + APART) + '"u": "v"}',
        "{" + '"w": {"v": [[[1]]], "w": 2}, ' * APART + SAME.format(*"uv" * (LONG_ROW // 2 + APART)) + '"v": []}',
    ],
    ids=("none", "after", "same", "another", "nearly", "mixed", "around", "several", "nested"),
)
def test_members_in_a_long_row_differ_in_their_spans_alone(text: str) -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), list[str])
    reading = make("json").read(signature, text)
    assert "".join([text[one.start : one.end] for one in reading.spans]) == text
    assert reading.flags
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adapters.json_text.json_document.LONG_ROW", len(text))
        apart = make("json").read(signature, text)
        assert len(apart.spans) > LONG_ROW
        assert (reading.values, reading.fields, reading.error) == (apart.values, apart.fields, apart.error)
        assert (reading.flags, reading.diagnosis) == (apart.flags, apart.diagnosis)
    assert len(reading.spans) < len(apart.spans) - LONG_ROW + 20


@pytest.mark.parametrize("adapter", ["xml", "json", "chat", "markdown"])
@pytest.mark.parametrize("valid", [0, BEGINNING - 10, BEGINNING + 10])
def test_the_first_of_many_errors_are_those_of_the_beginning(adapter: str, valid: int) -> None:
    items = [{"name": "x"}] * valid + ["x"] * 2 * BEGINNING
    text = json.dumps(items if adapter == "chat" else {"v": items})
    if adapter == "xml":
        text = "<v><name>x</name></v>" * valid + "<v>x</v>" * 2 * BEGINNING
    reading = make(adapter).read(NODES, f"[[ ## v ## ]]\n{text}" if adapter == "chat" else text)
    assert reading.error is not None
    assert reading.exception is not None
    cause = reading.exception.__cause__
    said = f"v: {valid}: Input should be a valid dictionary or instance of Node (and {2 * BEGINNING - 1} more)"
    assert reading.error.message == said
    assert cause is None or reading.error.message == f"v: {reason(cause)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adapters.types.recognition.BEGINNING", len(items))
        patch.setattr("adapters.replies.reading_builder.BEGINNING", len(items))
        apart = make(adapter).read(NODES, reading.completion)
        assert (reading.error, reading.fields) == (apart.error, apart.fields)
        assert str(reading.exception) == str(apart.exception)
        assert (reading.flags, reading.diagnosis) == (apart.flags, apart.diagnosis)


@pytest.mark.parametrize(
    "text",
    [
        'a<b>x &lt; &amp; "y" > z</b> tail &amp; <c/><d></d>\n<e> </e>',
        "<b k='\"&#10;'>x<c><d/>y</c>z</b> tail",
        "<n:b xmlns:n='u'/><b/><m:c xmlns:m='w'>x</m:c>",
        "<b><c xmlns='u'/></b><b m:k='1' xmlns:m='u'/>",
        "<b xml:lang='de'>x</b><!-- y --><![CDATA[<z>]]><b>é</b>",
    ],
)
def test_markup_in_a_text_is_that_of_its_elements_one_by_one(text: str) -> None:
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), str)
    root = ElementTree.fromstring(f"<v>{text}</v>")
    written = "".join([ElementTree.tostring(child, encoding="unicode") for child in root])
    assert make("xml").read(signature, f"<v>{text}</v>").values == {"v": (root.text or "") + written}


MILLION = 1_000_000
LONG = {
    "elements in a row": ("xml", "<v>x</v>" + "<b/>" * MILLION),
    "the answer in a row": ("xml", "<v>x</v>" * MILLION),
    "a broken object of one key": ("json", "{" + '"v": 1, ' * MILLION + ",}"),
    "an object of one key": ("json", "{" + '"v": 1, ' * MILLION + '"v": 1}'),
    "an object of one other key": ("json", "{" + '"k": 1, ' * MILLION + '"v": 1}'),
    "an object of other keys": ("json", "{" + ", ".join(f'"k{number}": 1' for number in range(MILLION // 3)) + "}"),
    "elements within the answer": ("xml", "<v>" + "<b>x</b>" * MILLION + "</v>"),
    "items within the answer": ("xml", "<v>" + "<item>x</item>" * (MILLION // 2) + "</v>"),
    "white space before a marker": ("chat", " " * (10 * MILLION) + "[[ ## v ## ]]\nx"),
    "opening brackets": ("chat", "[[ ## v ## ]]\n" + "[" * (10 * MILLION)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_millions_of_pieces_are_read_and_explained_at_once(name: str) -> None:
    adapter, text = LONG[name]
    signature = Signature.make(()).append("q", InputField(), str).append("v", OutputField(), str)

    def explained() -> None:
        assert isinstance(make(adapter).read(signature, text).diagnosis, tuple)

    assert loops(explained, tries=1) < 2 * LOOPS_A_SECOND
