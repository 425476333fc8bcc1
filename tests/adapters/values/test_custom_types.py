"""Plain JSON of a session becomes custom types where the annotation asks for them, and nothing else changes."""

from __future__ import annotations

import dataclasses
import datetime
import json
from typing import Annotated, Any, Literal, NotRequired, Optional

import dspy
import pydantic
import pytest
import typing_extensions
from dspy.adapters.types.document import Document as DspyDocument
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.prompts.content_markers import END, START
from adapters.signatures.signature import Field, Signature
from adapters.types import (
    Audio,
    Citations,
    Code,
    Document,
    File,
    History,
    Image,
    Reasoning,
    Tool,
    ToolCallResults,
    ToolCalls,
    Type,
)
from adapters.values.custom_types import BuildError, build, build_inputs, plain_value
from adapters.values.value_text import serialize_for_json
from tests.support.pace import LOOPS_A_SECOND, loops

URL = "https://x.y/z.png"
MARKED = f'{START}[{{"type": "image_url", "image_url": {{"url": "{URL}"}}}}]{END}'
CITATION = {"cited_text": "c", "document_index": 0, "start_char_index": 0, "end_char_index": 1}


class Photo(pydantic.BaseModel):
    image: Image
    taken: float = 0
    others: list[Photo] = []
    cover: Image | None = pydantic.Field(None, alias="coverImage")


Shot = typing_extensions.TypedDict("Shot", {"image": NotRequired[Image], "n": int})  # noqa: UP013
Scan = dataclasses.make_dataclass("Scan", [("pages", list[Image])])


class Formatted(pydantic.BaseModel):
    text: str

    def format(self) -> list[dict[str, Any]]:
        return [{"type": "text", "text": self.text}]


class Event(Type):
    name: str
    at: float = 0

    def format(self) -> str:
        return f"{self.name} at {self.at}"


class DspyEvent(dspy.Type):
    name: str

    def format(self) -> str:
        return self.name


BUILT: list[tuple[Any, Any, Any]] = [
    (Image, URL, Image(URL)),
    (Image, {"url": URL}, Image(URL)),
    (Image | None, URL, Image(URL)),
    (Optional[Image], {"url": URL}, Image(URL)),  # noqa: UP045
    (Annotated[Image, "a photo"], URL, Image(URL)),
    (list[Image], [URL, {"url": URL}], [Image(URL), Image(URL)]),
    (list[dict[str, Image]], [{"a": URL}], [{"a": Image(URL)}]),
    (tuple[str, Image], [URL, URL], [URL, Image(URL)]),
    (tuple[Image, ...], [URL, URL], [Image(URL), Image(URL)]),
    (dict[str, Image | str], {"a": {"url": URL}, "b": URL}, {"a": Image(URL), "b": URL}),
    (Image | Document, {"data": "text"}, Document(data="text")),
    (Image | list[Image], [URL], [Image(URL)]),
    (Audio, "data:audio/wav;base64,QUJD", Audio(data="QUJD", audio_format="wav")),
    (File, "data:text/plain;base64,QUJD", File(file_data="data:text/plain;base64,QUJD")),
    (File, {"file_id": "f", "filename": "a"}, File(file_id="f", filename="a")),
    (Code, {"code": "x = 1"}, Code(code="x = 1")),
    (Code["java"], {"code": "int x;"}, Code["java"](code="int x;")),
    (Reasoning, {"content": "hm"}, Reasoning(content="hm")),
    (Document, "text", Document(data="text")),
    (Citations, [CITATION], Citations.from_dict_list([CITATION])),
    (ToolCalls, {"tool_calls": [{"name": "f", "args": {}}]}, ToolCalls.from_dict_list([{"name": "f", "args": {}}])),
    (ToolCallResults, [{"name": "f", "value": 1}], ToolCallResults(tool_call_results=[{"name": "f", "value": 1}])),  # type: ignore[list-item]
    (History, {"messages": [{"q": "a"}]}, History(messages=[{"q": "a"}])),
    (Event, {"name": "start", "at": 1}, Event(name="start", at=1)),
    (DspyEvent, {"name": "start"}, DspyEvent(name="start")),
    (dspy.Image, URL, dspy.Image(URL)),
    (dspy.History, {"messages": []}, dspy.History(messages=[])),
    (list[DspyDocument], ["text"], [DspyDocument(data="text")]),
    (Photo, {"image": URL, "taken": 12}, {"image": Image(URL), "taken": 12}),
    (
        Photo,
        {"coverImage": URL, "others": [{"image": URL}]},
        {"coverImage": Image(URL), "others": [{"image": Image(URL)}]},
    ),
    (Shot, {"n": "1", "image": URL}, {"n": "1", "image": Image(URL)}),
    (Scan, {"pages": [URL]}, {"pages": [Image(URL)]}),
]


@pytest.mark.parametrize(("annotation", "plain", "value"), BUILT, ids=[str(row[0]) for row in BUILT])
def test_plain_json_becomes_the_custom_types_of_the_annotation(annotation: Any, plain: Any, value: Any) -> None:
    built = build(annotation, plain)
    assert built == value
    assert serialize_for_json(built) == serialize_for_json(value)


@pytest.mark.parametrize(("annotation", "plain", "value"), BUILT, ids=[str(row[0]) for row in BUILT])
def test_what_is_built_survives_saving(annotation: Any, plain: Any, value: Any) -> None:
    saved = json.loads(json.dumps(plain_value(value)))
    assert build(annotation, saved) == value


UNTOUCHED: list[tuple[Any, Any]] = [
    (float, 12),
    (str, 5),
    (Any, {"url": URL}),
    (list[int], ["a"]),
    (Formatted, {"text": "a"}),
    (dict[str, Formatted], {"a": {"text": "b"}}),
    (Literal["a"], URL),
    (Image, None),
    (Image, MARKED),
    (Image, f"see {MARKED}"),
    (list[Image], [MARKED]),
    (list[Image], MARKED),
    (Image | str, URL),
    (Image | dict[str, str], {"a": "b"}),
    (Image | int, 5),
    (Code, "```python\nx\n```"),
    (Reasoning, "hm"),
    (Tool, "search. It takes arguments {}."),
    (Event, "start at 0"),
    (Photo, {"taken": 12}),
    (Photo, "text"),
    (Image, Image(URL)),
    (Image, dspy.Image(URL)),
    (list[Image], [Image(URL), None]),
    ("a forward reference", URL),
]


@pytest.mark.parametrize(("annotation", "value"), UNTOUCHED, ids=[f"{row[0]} {row[1]!s:.20}" for row in UNTOUCHED])
def test_everything_else_stays_the_very_object_it_was(annotation: Any, value: Any) -> None:
    assert build(annotation, value) is value


REFUSED: list[tuple[Any, Any, str, str]] = [
    (Image, "cat.png", "field `x`: not a valid Image", 'give {"url"'),
    (list[Image], [URL, "cat.png"], "field `x` at [1]: not a valid Image", "data URI"),
    (dict[str, list[Image]], {"a": ["cat.png"]}, "field `x` at a[0]:", "data URI"),
    (list[Image], {"url": URL}, "a list is expected", "[…]"),
    (dict[str, Image], [URL], "an object is expected", "{NAME: …}"),
    (Image | None, 5, "not a valid Image", 'give {"url"'),
    (Image | Audio, {"a": 1}, "not a valid Image", 'give {"url"'),
    (Image, {"url": URL, "download": True}, "`download` and `verify`", 'give {"url"'),
    (Photo, {"image": "cat.png"}, "field `x` at image:", 'give {"url"'),
    (Audio, {"data": "QUJD"}, "not a valid Audio", '"audio_format"'),
    (File, {}, "not a valid File", '"file_data"'),
    (Code, {"text": "x"}, "`code` field is required", "as text"),
    (History, [{"q": "a"}], "not a valid History", '"messages"'),
    (Tool, {"desc": "Does it."}, "it has no name", '"args"'),
    (Tool, {"name": "f", "func": "os.system"}, "unknown key 'func'", '"args"'),
    (Tool, {"name": "f", "args": {"x": "int"}}, "`args` is not an object of JSON schemas", "JSON SCHEMA"),
    (Tool, {"name": "f", "desc": 5}, "`desc` is not text", '"desc"'),
    (list[Tool], [["f"]], "list where an object is expected", '"name"'),
    (Event, {"at": 1}, "`name`: Field required", ""),
]


@pytest.mark.parametrize(("annotation", "value", "message", "hint"), REFUSED)
def test_a_wrong_value_is_refused_with_its_place_and_what_would_work(
    annotation: Any, value: Any, message: str, hint: str
) -> None:
    with pytest.raises(BuildError) as refused:
        build(annotation, value, "x")
    assert message in str(refused.value)
    assert hint in refused.value.hint
    assert refused.value.field == "x"


def signature(**annotations: Any) -> Signature:
    return Signature.make(
        [*(Field(name, "input", kind) for name, kind in annotations.items()), Field("a", "output", Code)]
    )


def test_a_refusal_never_holds_a_whole_long_value() -> None:
    for annotation, value in (
        (Image, "x" * 1_000_000),
        (Tool, {"y" * 1_000_000: 1}),
        (dict[str, Image], {"k" * 999: 5}),
    ):
        with pytest.raises(BuildError) as refused:
            build(annotation, value, "x")
        assert len(str(refused.value)) < 700


class Meeting(Type):
    at: datetime.date
    room: str | None = "hall"
    tags: set[str] = pydantic.Field(set(), alias="labels")
    photo: Photo | None = None

    def format(self) -> str:
        return self.at.isoformat()


def test_a_custom_type_with_typed_fields_survives_saving() -> None:
    photo = Photo(image=Image(URL), coverImage=Image(URL))
    meeting = Meeting(at=datetime.date(2026, 11, 21), room=None, labels={"a"}, photo=photo)
    saved = json.loads(json.dumps(plain_value([meeting])))
    assert saved[0]["at"] == "2026-11-21"
    assert build(list[Meeting], saved) == [meeting]


def test_inputs_and_demos_keep_their_order_and_their_unknown_keys() -> None:
    built = build_inputs(signature(q=str, n=float, image=Image), {"image": URL, "z": URL, "a": {"code": "x"}, "n": 12})
    assert list(built.items()) == [("image", Image(URL)), ("z", URL), ("a", Code(code="x")), ("n", 12)]
    assert type(built["n"]) is int


def test_the_turns_of_a_history_are_built_by_the_other_fields() -> None:
    made = signature(history=History, image=Image, tools=list[Tool])
    turns = [{"image": URL, "a": "x", "z": URL}, {"image": {"url": URL}}]
    built = build_inputs(made, {"history": {"messages": turns}})["history"]
    assert built.messages == [{"image": Image(URL), "a": "x", "z": URL}, {"image": Image(URL)}]
    assert plain_value(built) == {"messages": [{"image": {"url": URL}, "a": "x", "z": URL}, {"image": {"url": URL}}]}
    with pytest.raises(BuildError, match=r"field `history` at messages\[1\]\.image"):
        build_inputs(made, {"history": {"messages": [{}, {"image": "cat.png"}]}})


def test_a_history_that_needs_nothing_stays_itself() -> None:
    given_history = History(messages=[{"q": "a"}])
    assert build_inputs(signature(history=History, q=str), {"history": given_history})["history"] is given_history


def test_a_session_s_tools_become_tools() -> None:
    plain = {"name": "search", "desc": "Search.", "args": {"q": {"type": "string"}}}
    (tool,) = build(list[Tool], [plain])
    assert tool.format_as_litellm_function_call()["function"]["parameters"]["required"] == ["q"]
    assert plain_value([tool]) == [plain]


def test_a_value_without_custom_types_is_saved_as_the_object_it_is() -> None:
    value = {"a": [1, (2, 3)], "b": {"c": None}}
    assert plain_value(value) is value


def test_nothing_named_in_a_value_is_opened(tmp_path: Any) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"png")
    for text in (str(path), f"file://{path}"):
        for annotation in (Image, Audio, File):
            with pytest.raises(BuildError):
                build(annotation, text)


def test_hostile_nesting_ends_in_a_clear_refusal_or_a_value() -> None:
    deep: Any = {"image": URL}
    for _ in range(5000):
        deep = {"image": URL, "others": [deep]}
    with pytest.raises(BuildError, match="nested too deeply"):
        build(Photo, deep, "x")


class Left(pydantic.BaseModel):
    inner: Left | Right | Image


class Right(pydantic.BaseModel):
    inner: Right | Left | Image


Left.model_rebuild()


def test_nested_unions_are_tried_once_a_part() -> None:
    deep: Any = 5
    for _ in range(60):
        deep = {"inner": deep}

    def tried() -> None:
        with pytest.raises(BuildError):
            build(Left, deep, "x")

    assert loops(tried, tries=1) < 2 * LOOPS_A_SECOND


def test_a_text_annotation_is_never_evaluated(tmp_path: Any) -> None:
    pwned = tmp_path / "pwned"
    hostile = dataclasses.make_dataclass("hostile", [("x", f"__import__('pathlib').Path({str(pwned)!r}).touch()")])
    build(list[hostile | Image], [{"x": 1}])  # type: ignore[valid-type]
    assert not pwned.exists()


PLAIN = st.recursive(
    st.none() | st.integers() | st.text(max_size=8) | st.just(URL),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["url", "data", "image"]), inner),
    max_leaves=6,
)
ANNOTATIONS = st.sampled_from([Image, Image | None, list[Image], dict[str, Image], Image | str, Photo, Document, Event])


@given(annotation=ANNOTATIONS, value=PLAIN)
@settings(max_examples=4 * settings().max_examples, deadline=None)
def test_building_never_changes_what_it_is_given_and_survives_saving(annotation: Any, value: Any) -> None:
    before = json.dumps(value)
    try:
        built = build(annotation, value)
    except BuildError:
        built = None
    assert json.dumps(value) == before
    if built is not None:
        assert build(annotation, plain_value(built)) == built
