"""Calls in traces that the tools themselves exported become cases; the messages are those that the program sent.

The libraries made the files in `traces/`: a program of dspy 3.4.1 with a DummyLM under OpenInference's and MLflow's
instrumentation, what a Phoenix server returned for such a program that also calls tools, and the messages of one call
sent through OpenAI's client under OpenTelemetry's and LangSmith's. Langfuse's is an observation written by its own
client's model, or its SDK's spans. Stack traces and paths were removed.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import dspy
import pytest

from sessions.errors import SessionError
from sessions.imports import lm_call, trace_sessions, traces
from sessions.imports.trace_sessions import Choice
from sessions.running import rendering
from sessions.running.recording import as_json
from tests.support.hostile import HOSTILE

FOLDER = Path(__file__).parent / "traces"
FILES = sorted(one.name for one in FOLDER.iterdir())
OF_PROGRAM = ("openinference.otlp.json", "openinference_sdk.jsonl", "mlflow.json", "phoenix.json")


class Sort(dspy.Signature):
    """Sort a ticket."""

    ticket: str = dspy.InputField(desc="what the user wrote")
    label: str = dspy.OutputField()
    urgency: int = dspy.OutputField(desc="from 1 to 5")


def imported(name: str, **wanted: Any) -> dict[str, Any]:
    found = trace_sessions.from_trace(str(FOLDER / name), Choice(**wanted), None, "call")
    return {key: one.session for key, one in found.items()}


def in_order(messages: object) -> str:
    return json.dumps(messages, sort_keys=True)


def calls(name: str) -> list[traces.TracedCall]:
    text = (FOLDER / name).read_text()
    return traces.calls_in(map(json.loads, text.splitlines()) if name.endswith(".jsonl") else [json.loads(text)])


@pytest.mark.parametrize("name", FILES)
def test_every_session_renders_the_messages_of_its_calls_and_has_the_fields(name: str) -> None:
    assert trace_sessions.holds_spans(str(FOLDER / name))
    sent = [one.entry["messages"] for one in calls(name)]
    rendered = []
    for session in imported(name).values():
        for case in session.cases:
            request = rendering.request_of(session, session.columns[0], case)
            rendered.append(as_json(request.prompt.as_dicts()))
    assert sorted(map(in_order, rendered)) == sorted(map(in_order, sent))
    (sort,) = [one for one in imported(name).values() if "ticket" in one.signature.read().fields]
    assert list(sort.signature.read().fields) == ["ticket", "label", "urgency"]
    assert sort.signature.read().instructions == "Sort a ticket."


@pytest.mark.parametrize("name", FILES)
def test_each_reply_is_recorded_for_check(name: str) -> None:
    for session in imported(name).values():
        for case in session.cases:
            (recorded,) = case.recordings.values()
            (reply,) = case.replies.values()
            assert [one.text for one in recorded.attempts[0].completions] == [reply.text]


@pytest.mark.parametrize("name", OF_PROGRAM)
def test_the_last_call_of_a_step_that_failed_is_the_failed_one(name: str) -> None:
    (failed,) = [one for one in calls(name) if one.failure]
    assert "complaint" in failed.entry["outputs"][0] and failed.failure.startswith("Failed to parse field label")
    (session,) = imported(name, failed=True).values()
    assert [case.inputs["ticket"] for case in session.cases] == ["This is bad <b>&</b> 日本"]


@pytest.mark.parametrize("name", ["langfuse.json", "langfuse_sdk.jsonl"])
def test_an_observation_marked_as_an_error_is_a_failed_call(name: str) -> None:
    assert [one.failure for one in calls(name)] == ["AdapterParseError: x"]


def test_a_session_is_named_after_its_predictor_or_its_outputs() -> None:
    assert list(imported("openinference.otlp.json")) == ["Sort", "answer"]
    assert list(imported("mlflow.json")) == ["label-urgency", "answer"]
    assert list(imported("openinference.otlp.json", predictor="answer")) == ["answer"]


def test_the_provider_is_part_of_the_models_name_and_parameters_are_kept() -> None:
    for name in (
        "genai.otlp.json",
        "genai_events.jsonl",
        "genai_events_sdk.jsonl",
        "langsmith.json",
        "langfuse_sdk.jsonl",
    ):
        (call,) = calls(name)
        assert (call.entry["model"], call.entry["kwargs"]) == ("openai/gpt-x", {"temperature": 0.5}), name


def test_calls_are_chosen_by_model_and_what_is_there_is_named() -> None:
    assert imported("mlflow.json", model="dummy")
    with pytest.raises(SessionError, match=r"none of its 2 calls is chosen.*models: dummy; failed: 1"):
        imported("mlflow.json", model="gpt-x")
    with pytest.raises(SessionError, match=r"no predictor 'Sorting' in it.*Sort, answer"):
        imported("openinference.otlp.json", predictor="Sorting")


@pytest.mark.parametrize("pattern", [r"\d+", r"[1-9]", "ticket"])
def test_a_mask_hides_values_and_never_the_signature(pattern: str) -> None:
    plain, masked = (imported("openinference.otlp.json", mask=one) for one in ((), (re.compile(pattern),)))
    assert plain.keys() == masked.keys()
    fields = [[list(one.signature.read().fields) for one in made.values()] for made in (plain, masked)]
    assert fields[0] == fields[1]
    assert "(masked)" in repr(masked)


def test_masked_text_is_nowhere_in_the_session() -> None:
    session = imported("openinference.otlp.json", mask=(re.compile("日本"), re.compile("crash")), predictor="Sort")[
        "Sort"
    ]
    assert "日本" not in repr(session) and "(masked)" in session.cases[-1].inputs["ticket"]


KEY, BEARER, MAIL = "sk-proj-abcdefghijklmnop0123456789", "Bearer hdr-9f8e7d6c5b4a3928", "ada@example.org"
SENT = {"temperature": 0.5, "api_key": KEY, "extra_headers": {"authorization": BEARER}, "user": MAIL}
SENT |= {"aws_secret_access_key": "AKIAABCDEFGHIJKLMNOP", "api_base": f"https://me:{KEY}@host", "metadata": {"k": KEY}}


def spans_with_secrets(tools: list[Any]) -> dict[str, Any]:
    """The same failed call with API keys, headers and personal data in every place, as each format has it."""
    asked = f"{MAIL} says: {KEY} and AKIAABCDEFGHIJKLMNOP fail"
    messages = dspy.ChatAdapter().format(Sort, [], {"ticket": asked})
    reply = f"[[ ## label ## ]]\n{MAIL} {BEARER}"
    said = f"Incorrect API key: {KEY}, {BEARER} for {MAIL}"
    status = {"code": "ERROR", "message": said}
    genai = {"gen_ai.request.model": "m", "gen_ai.input.messages": json.dumps(messages), "http.request.header": BEARER}
    genai |= {"gen_ai.output.messages": json.dumps([{"content": reply}]), "gen_ai.tool.definitions": json.dumps(tools)}
    llm = {"model_name": "m", "invocation_parameters": json.dumps(SENT), "input_messages": messages}
    llm |= {"output_messages": [{"content": reply}], "tools": [{"tool": {"json_schema": one}} for one in tools]}
    mlflow = {"mlflow.spanInputs": json.dumps({"messages": messages}), "mlflow.spanOutputs": json.dumps([reply])}
    own = {"id": "1", "name": BEARER, "resource": {"k": KEY}, "metadata": {"headers": BEARER}}
    return {
        "genai": {**own, "spanId": "1", "status": status, "attributes": genai},
        "openinference": {**own, "spanId": "1", "status": status, "attributes": {"llm": llm, "authorization": BEARER}},
        "mlflow": {**own, "spanId": "1", "status": status, "attributes": {**mlflow, **SENT, "tools": tools}},
        "langfuse": {
            **(own | {"traceId": "t", "type": "GENERATION", "modelParameters": SENT, "output": reply}),
            "input": {"messages": messages, "tools": tools},
            "level": "ERROR",
            "statusMessage": said,
        },
        "langsmith": {
            **(own | {"run_type": "llm", "inputs": {"messages": messages}, "outputs": {"content": reply}}),
            "error": said,
            "extra": {"invocation_params": {**SENT, "tools": tools}},
        },
    }


@pytest.mark.parametrize("kind", ["genai", "openinference", "mlflow", "langfuse", "langsmith"])
def test_no_api_key_header_or_masked_text_of_a_trace_is_kept_or_said(kind: str, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"api_key": {"type": "string", "default": KEY}}}
    tools = [{"type": "function", "function": {"name": "f", "description": f"{MAIL} {KEY}", "parameters": schema}}]
    file = tmp_path / "trace.json"
    file.write_text(json.dumps(spans_with_secrets(tools)[kind]))
    made = trace_sessions.from_trace(str(file), Choice(mask=(re.compile(r"\w+@[\w.]+"),)), None, "call")
    (imported,) = made.values()
    (case,) = imported.session.cases
    text = repr(imported) + "".join(made)
    assert [one for one in (KEY, BEARER, BEARER[7:], MAIL, "AKIA") if one in text] == []
    assert case.inputs["ticket"] == "(masked) says: [key] and [key] fail"
    assert any(
        "failed, first with: Incorrect API key: [key], Bearer [key] for (masked)" in one for one in imported.notes
    )
    assert "API keys are replaced by [key], in 1 of the calls" in imported.notes


def test_a_row_of_phoenixs_table_of_spans_is_read() -> None:
    messages = dspy.ChatAdapter().format(Sort, [], {"ticket": "It crashes."})
    row = {
        "name": "LM.__call__",
        "span_kind": "LLM",
        "parent_id": None,
        "status_code": "ERROR",
        "status_message": "AdapterParseError",
        "context.span_id": "1",
        "attributes.llm.model_name": "gpt-x",
        "attributes.llm.input_messages": [{f"message.{key}": one[key] for key in one} for one in messages],
        "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": "bug"}],
        "attributes.llm.invocation_parameters": '{"temperature": 0, "api_key": "x", "extra_headers": {}}',
    }
    (call,) = traces.calls_in([[row]])
    assert call.entry == {"messages": messages, "outputs": ["bug"], "model": "gpt-x", "kwargs": {"temperature": 0}}
    assert call.failure == "AdapterParseError"


def test_a_reply_of_tool_calls_alone_is_a_reply() -> None:
    """Phoenix's export of an agent's spans has only such replies, except for the last one."""
    messages = dspy.ChatAdapter().format(Sort, [], {"ticket": "It crashes."})
    function = {"name": "look", "arguments": '{"text": "[/x] private"}'}
    attributes: dict[str, Any] = {
        "llm.provider": "anthropic",
        "llm.model_name": "claude-x",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.id": "call-1",
    }
    for key, value in function.items():
        attributes[f"llm.output_messages.0.message.tool_calls.0.tool_call.function.{key}"] = value
    for number, one in enumerate(messages):
        attributes |= {f"llm.input_messages.{number}.message.{key}": one[key] for key in one}
    span = {"id": "s", "name": "claude-x", "context": {"span_id": "1"}, "parent_id": None, "attributes": attributes}
    (call,) = traces.calls_in([[span]])
    asked = {"id": "call-1", "type": "function", "function": function}
    assert call.entry["outputs"] == [{"text": "", "tool_calls": [asked]}]
    assert call.entry["model"] == "anthropic/claude-x"


def test_tool_calls_in_messages_become_turns_with_results() -> None:
    """Phoenix's `llm.input_messages` have no tool calls; `input.value` has the messages that were sent."""
    native, text = (imported("phoenix.json")[name] for name in ("Chat", "Chat-2"))
    called = {"name": "search", "args": {"query": "Paris"}}
    result = {"call_id": "c1", "name": "search", "value": "found <b>"}
    calls = {"tool_calls": [{**called, "id": "c1"}], "tool_call_results": {"tool_call_results": [result]}}
    turns = ({"question": "Where is it?", "tool_calls": calls}, {"question": "And now?", "answer": "a2"})
    assert native.cases[0].history == turns
    assert [(one.name, one.description) for one in native.tools] == [("search", "Search the web.")]
    (recorded,) = native.cases[0].recordings.values()
    reading = recorded.attempts[0].completions[0].reading
    assert reading is not None and reading.ok and "Berlin" in repr(reading.values["tool_calls"])
    assert list(text.signature.read().fields) == ["question", "history", "tools", "answer", "calls"]
    told = {"tool_call_results": {"tool_call_results": [{**result, "is_error": False}]}}
    assert text.cases[0].history[0]["calls"] == {"tool_calls": [called], **told}
    assert trace_sessions.from_trace(str(FOLDER / "phoenix.json"), Choice(), None, "call")["Chat-2"].questions == ()


CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"text": "日本"}'}}
IN_MESSAGES = {
    "openai": ({"content": None, "tool_calls": [CALL]}, {"tool_call_id": "c1", "name": "look", "content": "[/x]"}),
    "genai": (
        {"parts": [{"type": "tool_call", "id": "c1", "name": "look", "arguments": {"text": "日本"}}]},
        {"parts": [{"type": "tool_call_response", "id": "c1", "response": "[/x]"}]},
    ),
    "anthropic": (
        {"content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {"text": "日本"}}]},
        {"content": [{"type": "tool_result", "tool_use_id": "c1", "content": "[/x]"}]},
    ),
    "langchain": (
        {"content": "", "tool_calls": [{"id": "c1", "name": "look", "args": {"text": "日本"}}]},
        {"content": "[/x]", "tool_call_id": "c1"},
    ),
}


@pytest.mark.parametrize("written", IN_MESSAGES.values(), ids=IN_MESSAGES)
def test_tool_calls_and_results_of_every_format_stay_in_the_messages(written: Any) -> None:
    called, answered = written
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", **called}, {"role": "tool", **answered}]
    told = {"type": "GENERATION", "traceId": "1", "id": "2", "input": {"messages": messages}, "output": {**called}}
    (call,) = traces.calls_in([told])
    asked, result = call.entry["messages"][1:]
    assert (asked["content"] or None, asked["tool_calls"]) == (None, [CALL])
    assert (result["role"], result["content"], result["tool_call_id"]) == ("tool", "[/x]", "c1")
    assert call.entry["outputs"] == [{"text": "", "tool_calls": [CALL]}]


@pytest.mark.parametrize("broken", [None, 1, "x", [1], [{}], [{"function": 1}], [{"function": {"name": 1}}], {"a": 1}])
def test_broken_tool_calls_end_no_import(broken: Any) -> None:
    messages = dspy.ChatAdapter().format(Sort, [], {"ticket": "It crashes."})
    turn = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "x", "tool_calls": broken}]
    entry = {"messages": [messages[0], *turn, {"role": "tool", "content": broken}, messages[1]], "outputs": ["bug"]}
    entry["kwargs"] = {"tools": broken}
    with suppress(SessionError):
        assert lm_call.from_call(entry, "x").session.cases[0].inputs == {"ticket": "It crashes."}
    told = {"type": "GENERATION", "traceId": "1", "id": "2", "input": entry, "output": {"tool_calls": broken}}
    assert traces.calls_in([{**told, "output": "bug"}]) and not traces.calls_in([told])


def test_messages_as_langchain_writes_them_are_read() -> None:
    kinds = ("SystemMessage", "HumanMessage")
    messages = dspy.ChatAdapter().format(Sort, [], {"ticket": "It crashes."})
    written = [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", kind], "kwargs": {"content": one["content"]}}
        for kind, one in zip(kinds, messages, strict=True)
    ]
    generation = {"text": "bug", "message": {"kwargs": {"content": "bug"}}}
    run = {
        "id": "1",
        "run_type": "llm",
        "name": "ChatOpenAI",
        "inputs": {"messages": [written]},
        "outputs": {"generations": [[generation]]},
        "extra": {"invocation_params": {"model": "gpt-x", "temperature": 0.2, "headers": {"authorization": "x"}}},
        "error": None,
    }
    (call,) = traces.calls_in([{"child_runs": [run]}])
    assert call.entry == {"messages": messages, "outputs": ["bug"], "model": "gpt-x", "kwargs": {"temperature": 0.2}}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_in_any_place_of_a_span_is_only_text(kind: str) -> None:
    text = HOSTILE[kind]
    span = {"spanId": text, "name": text, "attributes": [{"key": text, "value": {text: text}}], "events": [text, {}]}
    llm = {"key": "llm.input_messages.0.message.content", "value": {"stringValue": text}}
    reply = {"key": "llm.output_messages.0.message.content", "value": {"stringValue": text}}
    assert traces.calls_in([span, {"spans": [{**span, "attributes": [llm, {"value": 1}, {"key": text}]}]}]) == []
    for one in traces.calls_in([{**span, "spanId": "1", "attributes": [llm, reply]}]):
        assert one.entry["outputs"] == [text]


def test_spans_nested_without_end_are_no_trace() -> None:
    data: Any = {"spanId": "1"}
    for _ in range(200):
        data = {"data": [data]}
    assert not traces.is_trace(data)
    assert traces.calls_in([{"spanId": "1", "attributes": {".".join(["a"] * 5_000): 1}}]) == []


@pytest.mark.parametrize(
    "results",
    [
        [{"type": "tool_result", "tool_use_id": f"c{one}", "content": f"r{one}"} for one in (1, 2)],
        [{"type": "tool_call_response", "id": f"c{one}", "response": f"r{one}"} for one in (1, 2)],
    ],
)
def test_every_result_in_a_message_is_kept_and_its_text(results: list[dict[str, Any]]) -> None:
    messages = [{"role": "user", "content": [*results, {"type": "text", "text": "Go on."}]}]
    told = {"type": "GENERATION", "traceId": "1", "id": "2", "input": {"messages": messages}, "output": "x"}
    (call,) = traces.calls_in([told])
    assert call.entry["messages"] == [
        {"role": "tool", "content": "r1", "tool_call_id": "c1"},
        {"role": "tool", "content": "r2", "tool_call_id": "c2"},
        {"role": "user", "content": "Go on."},
    ]


@pytest.mark.parametrize("key", ["choices", "message", "content"])
def test_a_reply_nested_too_deeply_is_left_out(key: str) -> None:
    output: object = "x"
    for _ in range(900):
        output = {key: output}
    told = {"type": "GENERATION", "traceId": "1", "id": "2", "input": [{"role": "user", "content": "?"}]}
    assert traces.calls_in([{**told, "output": output}]) == []
    assert traces.calls_in([{**told, "output": [{key: {"content": "x"}}]}])[0].entry["outputs"] == ["x"]
