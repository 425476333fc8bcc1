"""A model without function calling writes its calls into a field, which a reading knows as one that was asked for."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.formats.catalog import make
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Request, postprocess, prepare, read_reply
from adapters.signatures.notation import read
from adapters.tools.tools import RunTool
from adapters.types import ToolCalls

QA = read("question -> answer")
SEARCH = RunTool("search", "Search.", {"type": "object", "properties": {"q": {"type": "string"}}})
NO_CALLS = {"tool_calls": []}
REPLIES = {
    "chat": "[[ ## answer ## ]]\nParis\n\n[[ ## tool_calls ## ]]\n{}\n\n[[ ## completed ## ]]",
    "json": '{{"answer": "Paris", "tool_calls": {}}}',
    "baml": '{{"answer": "Paris", "tool_calls": {}}}',
    "xml": "<answer>Paris</answer>\n<tool_calls>{}</tool_calls>",
    "markdown": '```json\n{{"answer": "Paris", "tool_calls": {}}}\n```',
}
ADAPTERS = sorted(REPLIES)


def request_of(adapter: str, capabilities: Capabilities | None = None) -> Request:
    return prepare(make(adapter), QA, [], {"question": "?"}, capabilities or Capabilities(), tools=(SEARCH,))


def reply_of(adapter: str, calls: str) -> str:
    text = REPLIES[adapter]
    return text.replace("{}", calls) if adapter == "chat" else text.format(calls)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_answer_with_the_empty_list_that_was_asked_for_surprises_nobody(adapter: str) -> None:
    reply = reply_of(adapter, json.dumps(NO_CALLS))
    outcome = postprocess(make(adapter), request_of(adapter), QA, reply)
    reading = outcome.reading
    assert reading.error is None
    assert outcome.values == reading.values == {"answer": "Paris"}
    assert reading.flags == ()
    assert reading.fields["tool_calls"].value == ToolCalls(tool_calls=[])
    assert {span.field for span in reading.spans if span.kind == "value"} == {"answer", "tool_calls"}
    assert "".join(reply[span.start : span.end] for span in reading.spans) == reply


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_what_is_no_call_is_told_of_and_the_answer_stays(adapter: str) -> None:
    reading = read_reply(make(adapter), request_of(adapter), reply_of(adapter, '"none needed"'))
    assert reading.error is None
    assert dict(reading.values) == {"answer": "Paris"}
    assert reading.fields["tool_calls"].state == "failed"
    assert reading.fields["tool_calls"].error
    assert [flag.field for flag in reading.flags if flag.field is None] == []


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_answer_without_the_field_is_as_good_as_one_without_tools(adapter: str) -> None:
    text = {
        "chat": "[[ ## answer ## ]]\nParis\n\n[[ ## completed ## ]]",
        "xml": "<answer>Paris</answer>",
        "markdown": '```json\n{"answer": "Paris"}\n```',
    }.get(adapter, '{"answer": "Paris"}')
    reading = read_reply(make(adapter), request_of(adapter), text)
    assert reading == make(adapter).read(request_of(adapter).signature, text)
    assert dict(reading.values) == {"answer": "Paris"}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_reply_that_lacks_the_answer_fails_for_the_answer(adapter: str) -> None:
    text = reply_of(adapter, json.dumps(NO_CALLS)).replace("answer", "anser")
    reading = read_reply(make(adapter), request_of(adapter), text)
    assert reading.error is not None
    assert "tool_calls" not in reading.error.message
    assert reading.error.field in ("answer", None)


def test_a_section_that_nobody_asked_for_is_flagged_still() -> None:
    text = reply_of("chat", json.dumps(NO_CALLS)).replace("[[ ## completed", "[[ ## other ## ]]\nx\n\n[[ ## completed")
    (ended, unknown) = read_reply(make("chat"), request_of("chat"), text).flags
    assert (ended.name, ended.field) == ("value-ended-by-unknown-marker", "tool_calls")
    assert "`other`" in unknown.message
    assert "tool_calls" not in unknown.message


@pytest.mark.parametrize(("adapter", "options"), [("json", {}), ("baml", {}), ("markdown", {"native_schema": True})])
def test_no_schema_forbids_the_calls_that_the_prompt_asks_for(adapter: str, options: dict[str, Any]) -> None:
    takes_schemas = Capabilities(response_schema=True, params=frozenset({"response_format"}))
    inputs = {"question": "?"}
    plain = prepare(make(adapter, options), QA, [], inputs, takes_schemas)
    assert plain.params["response_format"]["type"] == "json_schema"
    offered = prepare(make(adapter, options), QA, [], inputs, takes_schemas, tools=(SEARCH,))
    assert offered.calls_field == "tool_calls"
    assert offered.params.get("response_format") == ({"type": "json_object"} if adapter != "markdown" else None)


def test_calls_that_come_natively_leave_the_schema_strict() -> None:
    both = Capabilities(function_calling=True, response_schema=True, params=frozenset({"response_format", "tools"}))
    request = request_of("json", both)
    assert request.calls_field is None
    assert request.params["response_format"]["json_schema"]["strict"] is True


def test_a_native_call_in_place_of_an_answer_is_named() -> None:
    request = prepare(make("chat"), QA, [], {"question": "?"}, Capabilities())
    reply = {"text": "", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]}
    reading = postprocess(make("chat"), request, QA, reply).reading
    assert [one.message for one in reading.flags] == ["The reply has no text: the model only called `f`."]
