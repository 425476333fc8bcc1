"""Our types beside dspy 3.4.1's: the same values, failures, serialised forms, schemas and descriptions."""

from __future__ import annotations

import inspect
import json
from typing import Any

import dspy.adapters.types as theirs
import pydantic
import pytest
from dspy.adapters.baml_adapter import _build_simplified_schema
from dspy.adapters.types.citation import Citations as TheirCitations
from dspy.adapters.types.document import Document as TheirDocument
from dspy.adapters.utils import parse_value
from hypothesis import given, settings
from hypothesis import strategies as st

import adapters.types as ours
from adapters.values.coercion import coerce
from tests.support.pace import LOOPS_A_SECOND, loops

PAIRS: dict[str, tuple[Any, Any]] = {
    "Image": (ours.Image, theirs.Image),
    "Audio": (ours.Audio, theirs.Audio),
    "File": (ours.File, theirs.File),
    "Code": (ours.Code, theirs.Code),
    "Code[java]": (ours.Code["java"], theirs.Code["java"]),
    "Code[C++]": (ours.Code["C++"], theirs.Code["C++"]),
    "History": (ours.History, theirs.History),
    "Reasoning": (ours.Reasoning, theirs.Reasoning),
    "Tool": (ours.Tool, theirs.Tool),
    "ToolCalls": (ours.ToolCalls, theirs.ToolCalls),
    "ToolCall": (ours.ToolCalls.ToolCall, theirs.ToolCalls.ToolCall),
    "ToolCallResults": (ours.ToolCallResults, theirs.ToolCallResults),
    "ToolCallResult": (ours.ToolCallResults.ToolCallResult, theirs.ToolCallResults.ToolCallResult),
    "Citations": (ours.Citations, TheirCitations),
    "Citation": (ours.Citations.Citation, TheirCitations.Citation),
    "Document": (ours.Document, TheirDocument),
}
TYPES = [name for name in PAIRS if name not in ("History", "ToolCallResults", "ToolCallResult")]
WITH_SCHEMA = [name for name in PAIRS if name != "Tool"]

CITATION = {"cited_text": "c", "document_index": 0, "start_char_index": 0, "end_char_index": 1}
CALL = {"name": "f", "args": {"x": 1}}

VALUES: list[Any] = [
    None,
    True,
    0,
    1.5,
    "",
    "text",
    " text ",
    b"bytes",
    [],
    {},
    [1],
    ["a"],
    {"a": 1},
    # images
    "https://x.y/z.png",
    " https://x.y/z.png ",
    "http://[broken",
    "ftp://x.y/z.png",
    "gs://bucket/a.png",
    "/etc/passwd",
    "file:///etc/passwd",
    "data:",
    "data:image/png;base64,QUJD",
    {"url": "https://x.y/z.png"},
    {"url": {"url": "https://x.y/z.png"}},
    {"url": "  https://x.y/z.png\n"},
    {"url": "/etc/passwd"},
    {"url": 5},
    {"url": None},
    {"url": b"\x89PNG"},
    {"url": "https://x.y/z.png", "download": True},
    {"url": "https://x.y/z.png", "verify": False},
    {"url": "https://x.y/z.png", "extra": 1},
    {"source": "https://x.y/z.png"},
    {"download": True},
    # audio
    {"data": "QUJD", "audio_format": "wav"},
    {"data": "QUJD", "audio_format": "wav", "sampling_rate": 16000},
    {"data": "QUJD"},
    {"data": 5, "audio_format": "wav"},
    {"data": " QUJD ", "audio_format": "x-wav"},
    "data:audio/wav;base64,QUJD",
    "data:audio/x-wav;base64,QUJD",
    "data:audio/wav",
    "data:audio/;base64,QUJD",
    "data:audio/;,",
    # files
    {"file_data": "data:text/plain;base64,QUJD"},
    {"file_data": "text", "filename": " a.txt "},
    {"file_id": "file-1"},
    {"filename": "a"},
    {"filename": "a", "extra": 1},
    {"file_id": 5},
    # code and reasoning
    {"code": "x = 1"},
    {"code": 5},
    {"code": "```python\nx = 1\n```", "extra": 1},
    {"content": "thought"},
    {"content": None},
    {"content": ["a"]},
    {"content": "a", "extra": 1},
    # histories
    {"messages": []},
    {"messages": [{" q ": " a ", "n": 1}]},
    {"messages": [{"q": {"deep": [1, None]}}], "extra": 1},
    {"messages": [{1: "a"}]},
    {"messages": ["a"]},
    {"messages": {}},
    # calls and results
    CALL,
    [CALL],
    [CALL, {"name": "g", "arguments": '{"y": 2}'}],
    {"tool_calls": [CALL]},
    {"tool_calls": [{**CALL, "id": "c1"}]},
    {"tool_calls": [{"name": "f", "args": {}, "call_id": "c2", "id": ""}]},
    {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x": 1,}'}}]},
    {"tool_calls": [{"function": None, "name": "f"}]},
    {"tool_calls": [{"function": {"arguments": {}}, "name": "f"}]},
    {"tool_calls": [{"function": "f"}]},
    {"tool_calls": [{"name": "f", "args": "[1, 2]"}]},
    {"tool_calls": [{"name": "f", "args": "no JSON at all"}]},
    {"tool_calls": [{"name": "f", "args": ""}]},
    {"tool_calls": [{"name": "f", "args": None}]},
    {"tool_calls": [{"name": "f", "args": {"x": 1}, "id": 5}]},
    {"tool_calls": [{"name": None, "args": {}}]},
    {"tool_calls": ["f"]},
    {"tool_calls": "f"},
    {"tool_calls": None},
    {"tool_calls": [CALL], "tool_call_results": None},
    {"tool_calls": [CALL], "tool_call_results": [{"name": "f", "value": {"k": [1]}}]},
    {"tool_calls": [CALL], "tool_call_results": {"tool_call_results": []}, "extra": 1},
    {"function": {"name": "f", "arguments": "{}"}},
    {"name": "f", "value": 1},
    [{"name": "f", "value": 1, "is_error": "yes", "call_id": "c"}],
    {"tool_call_results": [{"name": "f", "value": None, "is_error": 1}]},
    {"tool_call_results": [{"name": "f"}]},
    {"tool_call_results": "f"},
    # tools
    {"name": "f"},
    {"func": None},
    {"func": "os.system", "name": "f"},
    {"func": len, "name": "f", "unknown": 1},
    # citations and documents
    CITATION,
    [CITATION],
    {"citations": [CITATION]},
    {"citations": [{**CITATION, "document_title": "t", "supported_text": "s", "type": "page_location"}]},
    {"citations": [{**CITATION, "document_title": "", "supported_text": ""}]},
    {"citations": [{"cited_text": "c"}]},
    {"citations": ["c"]},
    {"citations": "c"},
    {"citations": None, "cited_text": "c"},
    {**CITATION, "document_index": "1"},
    {**CITATION, "document_index": 1.5},
    {"data": "text", "title": "T", "context": "C"},
    {"data": "text", "title": "", "context": ""},
    {"data": "JVBERg==", "media_type": "application/pdf"},
    {"data": "text", "media_type": "text/html"},
    {"data": "text", "metadata": {}},
    {"data": None},
]


def outcome(action: Any) -> tuple[str, Any]:
    try:
        return "value", action()
    except pydantic.ValidationError as error:
        return "raises", [(one["loc"], one["type"]) for one in error.errors()]
    except Exception as error:
        return "raises", type(error)


def shown(value: Any) -> tuple[Any, ...]:
    """A value as the prompt, a person and a comparison see it."""
    dumped = outcome(lambda: pydantic.TypeAdapter(type(value)).dump_python(value, mode="json", fallback=str))
    formatted = outcome(lambda: value.format()) if hasattr(value, "format") else None
    fields = {name: repr(getattr(value, name)) for name in type(value).model_fields if name != "func"}
    return type(value).__name__, dumped, formatted, fields, outcome(lambda: str(value)), outcome(lambda: repr(value))


def validated(cls: Any, value: Any) -> tuple[str, Any]:
    kind, result = outcome(lambda: pydantic.TypeAdapter(cls).validate_python(value))
    return kind, shown(result) if kind == "value" else result


def constructed(cls: Any, value: Any) -> tuple[str, Any]:
    kind, result = outcome(lambda: cls(**value) if isinstance(value, dict) else cls(value))
    return kind, shown(result) if kind == "value" else result


@pytest.mark.parametrize("name", PAIRS)
def test_every_plain_value_is_taken_or_refused_alike(name: str) -> None:
    mine, dspys = PAIRS[name]
    for value in VALUES:
        assert validated(mine, value) == validated(dspys, value), value


@pytest.mark.parametrize("name", [name for name in PAIRS if name != "Tool"])
def test_every_constructor_call_ends_alike(name: str) -> None:
    mine, dspys = PAIRS[name]
    for value in VALUES:
        if not (isinstance(value, dict) and not all(isinstance(key, str) for key in value)):
            assert constructed(mine, value) == constructed(dspys, value), value


TEXTS = st.text(max_size=40) | st.sampled_from(
    [
        "```python\nx\n```",
        "```x```",
        "a```b\nc```d```e\nf```",
        "``` \n```",
        "data:image/png;base64,QUJD",
        "data:audio/x-wav;base64,QUJD",
        "data:text/plain,abc",
        "https://x.y/z.png",
        "http://",
        '{"x": 1}',
    ]
)
KEYS = st.sampled_from(
    "url download data audio_format file_data file_id filename code content messages name args arguments id call_id "
    "function tool_calls tool_call_results value is_error citations cited_text document_index start_char_index "
    "end_char_index title media_type context type".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | TEXTS, inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.slow
@given(value=JSON, name=st.sampled_from(list(PAIRS)))
@settings(max_examples=1500, deadline=None)
def test_any_json_is_taken_or_refused_alike(value: Any, name: str) -> None:
    mine, dspys = PAIRS[name]
    assert validated(mine, value) == validated(dspys, value)


def is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


def replies() -> list[str]:
    """Each value as a model could write it: as JSON, in a fence, in prose, as Python, and its text alone."""
    plain = [value for value in VALUES if is_json(value)]
    texts = [value if isinstance(value, str) else json.dumps(value) for value in plain]
    fenced = [f"```json\n{text}\n```" for text in texts]
    return [*texts, *fenced, *(f"Here it is: {text} Done." for text in texts), *map(repr, plain)]


PLACES = {
    "alone": lambda cls: cls,
    "or nothing": lambda cls: cls | None,
    "in a list": lambda cls: list[cls],
}


@pytest.mark.parametrize("place", ["alone", *(pytest.param(one, marks=pytest.mark.slow) for one in list(PLACES)[1:])])
@pytest.mark.parametrize("name", PAIRS)
def test_every_reply_is_coerced_alike(name: str, place: str) -> None:
    mine, dspys = map(PLACES[place], PAIRS[name])
    for reply in replies():
        found = outcome(lambda reply=reply: coerce(reply, mine))
        expected = outcome(lambda reply=reply: parse_value(reply, dspys))
        assert told(found) == told(expected), reply


def told(result: tuple[str, Any]) -> tuple[str, Any]:
    kind, value = result
    if kind == "raises":
        return result
    values = value if isinstance(value, list) else [value]
    return kind, [shown(one) if isinstance(one, pydantic.BaseModel) else one for one in values]


FENCES = st.lists(st.sampled_from(["```", "`", "\n", " ", "a", "```py\n"]), max_size=12).map("".join)


@pytest.mark.slow
@given(text=FENCES)
@settings(max_examples=1000, deadline=None)
def test_a_program_is_taken_out_of_its_fence_alike(text: str) -> None:
    assert ours.Code(code=text).code == theirs.Code(code=text).code


def test_a_program_of_fences_alone_is_read_at_once() -> None:
    def read() -> None:
        assert ours.Code(code="`" * 1_000_000).code == ""
        assert ours.Code(code="```a" * 300_000).code == "a"

    assert loops(read) < LOOPS_A_SECOND


def wrapped_in_a_model(cls: Any) -> Any:
    return pydantic.create_model("Report", part=(cls, ...), parts=(list[cls], ...))


@pytest.mark.parametrize("name", WITH_SCHEMA)
def test_json_schemas_are_equal_with_titles_and_descriptions(name: str) -> None:
    mine, dspys = PAIRS[name]
    for make in (lambda cls: cls, lambda cls: list[cls] | None, lambda cls: dict[str, cls], wrapped_in_a_model):
        for by_alias in (True, False):
            texts = [
                json.dumps(pydantic.TypeAdapter(make(cls)).json_schema(by_alias=by_alias)) for cls in (mine, dspys)
            ]
            assert texts[0] == texts[1]


def test_a_tool_has_no_json_schema_for_either() -> None:
    for cls in PAIRS["Tool"]:
        with pytest.raises(pydantic.errors.PydanticInvalidForJsonSchema):
            pydantic.TypeAdapter(cls).json_schema()


@pytest.mark.parametrize("name", PAIRS)
def test_the_texts_and_fields_that_baml_prints_are_equal(name: str) -> None:
    mine, dspys = PAIRS[name]
    assert inspect.cleandoc(mine.__doc__ or "") == inspect.cleandoc(dspys.__doc__ or "")
    assert _build_simplified_schema(mine) == _build_simplified_schema(dspys)


@pytest.mark.parametrize("name", TYPES)
def test_descriptions_are_equal(name: str) -> None:
    mine, dspys = PAIRS[name]
    assert mine.description() == dspys.description()


SAID = [
    "reasoning_content",
    "an answer with reasoning_content=True",
    "an answer",
    {},
    {"text": "a"},
    {"reasoning_content": "thought"},
    {"reasoning_content": None},
    {"reasoning_content": ["a"]},
    {"citations": []},
    {"citations": [CITATION]},
    {"citations": [[CITATION]]},
    {"citations": [{"cited_text": "c"}]},
    {"citations": "c"},
]


@pytest.mark.parametrize("name", TYPES)
def test_what_a_response_holds_natively_is_read_alike(name: str) -> None:
    mine, dspys = PAIRS[name]
    for response in SAID:
        found = [outcome(lambda cls=cls, response=response: cls.parse_lm_response(response)) for cls in (mine, dspys)]
        told = [(kind, shown(value) if isinstance(value, pydantic.BaseModel) else value) for kind, value in found]
        assert told[0] == told[1], response


def test_text_that_names_reasoning_content_raises_as_in_dspy() -> None:
    with pytest.raises(TypeError):
        ours.Reasoning.parse_lm_response("set reasoning_content=True")


def test_reasoning_is_a_string_in_all_that_matters() -> None:
    for cls in PAIRS["Reasoning"]:
        thought = cls(content="Think.")
        assert thought == "Think."
        assert thought == cls(content="Think.")
        assert thought != 5
        assert (thought + " Twice.", "I " + thought) == ("Think. Twice.", "I Think.")
        assert thought + cls(content="!") == "Think.!"
        assert (len(thought), thought[0], "ink" in thought, list(thought)[:2]) == (6, "T", True, ["T", "h"])
        assert thought.upper() == "THINK."
        with pytest.raises(AttributeError, match="no attribute 'answer'"):
            _ = thought.answer
        with pytest.raises(TypeError):
            hash(thought)


def test_results_are_paired_with_their_calls() -> None:
    for calls, results in ((ours.ToolCalls, ours.ToolCallResults), (theirs.ToolCalls, theirs.ToolCallResults)):
        asked = calls.from_dict_list([{"id": "c1", **CALL}, CALL])
        given_back = results.from_tool_calls_and_values(asked, [1, "x"], [False, True])
        assert given_back.model_dump() == {
            "tool_call_results": [
                {"call_id": "c1", "name": "f", "value": 1, "is_error": False},
                {"call_id": None, "name": "f", "value": "x", "is_error": True},
            ]
        }
        with pytest.raises(ValueError, match="same length"):
            results.from_tool_calls_and_values(asked, [1])
        with pytest.raises(ValueError, match="same length"):
            results.from_tool_calls_and_values(asked, [1, 2], [True])


def test_a_language_gives_one_class() -> None:
    assert ours.Code["java"] is ours.Code["java"]
    assert ours.Code["java"].__name__ == theirs.Code["java"].__name__ == "Code_java"


def test_an_image_is_never_downloaded() -> None:
    with pytest.raises(ValueError, match="never downloaded"):
        ours.Image("http://127.0.0.1:9/x.png", download=True)
    with pytest.raises(ImportError, match="from_path"):
        ours.Image(b"\x89PNG")


def test_files_are_read_only_when_a_person_asks(tmp_path: Any) -> None:
    for name, content in (("a.png", b"png"), ("a.wav", b"wav"), ("a.pdf", b"pdf"), ("a.unknown", b"?")):
        (tmp_path / name).write_bytes(content)
    for kind, name in (("Image", "a.png"), ("Audio", "a.wav"), ("File", "a.pdf"), ("File", "a.unknown")):
        path = str(tmp_path / name)
        mine, dspys = (cls.from_path(path) for cls in PAIRS[kind])
        assert shown(mine) == shown(dspys)
        with pytest.raises(ValueError):
            pydantic.TypeAdapter(PAIRS[kind][0]).validate_python(path)
    for kind, name in (("Image", "missing.png"), ("Audio", "a.pdf"), ("Audio", "missing.wav"), ("File", "missing")):
        for cls in PAIRS[kind]:
            with pytest.raises(ValueError):
                cls.from_path(str(tmp_path / name))
