"""Tool turns: what goes back to the model, what fails and what goes on (weakincentives C11 to C20, and R6)."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from scripted_lm import Clock, ScriptedLM

from adapters.formats.catalog import make
from adapters.lm.protocol import Chunk, ToolCallPart
from adapters.requests.capabilities import Capabilities
from adapters.running import events
from adapters.running.runner import run as run_prompt
from adapters.running.runs import Run
from adapters.signatures.notation import read
from adapters.tools.tools import (
    LONGEST_RESULT,
    DeadlineExceededError,
    RunTool,
    ToolResult,
    Tools,
    ToolValidationError,
)

QA = read("question -> answer")
INPUTS = {"question": "Which policies are there?"}
FINAL = '{"answer": "Policy summary"}'
CAN_CALL = Capabilities(function_calling=True, params=frozenset({"tools", "tool_choice", "parallel_tool_calls"}))
SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "additionalProperties": False,
    "required": ["query"],
}
FORCED = {"type": "function", "function": {"name": "search_notes"}}


@dataclass
class Payload:
    answer: str


def search(arguments: Mapping[str, Any]) -> Any:
    return ToolResult("completed", Payload(f"R:{arguments['query']}"))


def tool(answer: Callable[[Mapping[str, Any]], Any] | None = search) -> RunTool:
    return RunTool("search_notes", "Search stored notes.", SCHEMA, answer)


def calls(*arguments: str, name: str = "search_notes", text: str = "") -> list[Any]:
    parts = tuple(ToolCallPart(index, f"c{index + 1}", name, one) for index, one in enumerate(arguments))
    return [Chunk(text=text, tool_calls=parts)]


def run(*replies: Any, tools: Tools | None = None, adapter: str = "json", **options: Any) -> tuple[Run, ScriptedLM]:
    lm = ScriptedLM(*replies, capabilities=options.pop("capabilities", CAN_CALL))
    used = make(adapter, {"use_native_function_calling": True})
    offered = Tools((tool(),)) if tools is None else tools
    return run_prompt(used, lm, QA, [], INPUTS, fallback=False, tools=offered, **options), lm


def told(result: Run) -> list[events.ToolInvoked]:
    return [event for event in result.events if isinstance(event, events.ToolInvoked)]


def tool_messages(lm: ScriptedLM) -> list[str]:
    return [one["content"] for one in lm.requests[-1]["messages"] if one["role"] == "tool"]


def sent_back(arguments: str, answer: Callable[[Mapping[str, Any]], Any] | None = search, **names: str) -> str:
    result, lm = run(calls(arguments, **names), FINAL, tools=Tools((tool(answer),)))
    assert result.ok, "a call that fails ends nothing"
    (one,) = told(result)
    assert one.result.success is False
    assert one.result.value is None
    (text,) = tool_messages(lm)
    assert text == one.rendered_output
    return text


def test_a_call_and_an_answer_are_two_attempts_with_the_tool_between() -> None:
    result, lm = run(calls('{"query": "policies"}'), FINAL)
    assert result.values == {"answer": "Policy summary"}
    kept = ("PromptRendered", "RequestSent", "ToolInvoked", "PromptExecuted")
    assert [event.kind for event in result.events if event.kind in kept] == [
        "PromptRendered",
        "RequestSent",
        "ToolInvoked",
        "RequestSent",
        "PromptExecuted",
    ]
    assert [attempt.purpose for attempt in result.attempts] == ["first", "tools"]
    assert [attempt.request for attempt in result.attempts] == lm.requests


def test_the_tool_goes_out_with_its_whole_schema_and_leaves_the_prompt() -> None:
    _, lm = run(FINAL)
    (request,) = lm.requests
    assert request["tools"] == [
        {
            "type": "function",
            "function": {"name": "search_notes", "description": "Search stored notes.", "parameters": SCHEMA},
        }
    ]
    assert "search_notes" not in json.dumps(request["messages"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('{"query": "p", "x": 1}', "Tool validation failed: Extra keys not permitted: ['x']"),
        ("", "Tool validation failed: Missing required field: 'query'"),
        ('{"query": null}', "Tool validation failed: query: value cannot be None"),
        ("{", "Failed to decode tool call arguments."),
        ("[1]", "Tool call arguments must be a JSON object."),
        ("null", "Tool call arguments must be a JSON object."),
    ],
)
def test_arguments_that_do_not_fit_are_a_failed_result(arguments: str, message: str) -> None:
    def never(_: Mapping[str, Any]) -> Any:
        raise AssertionError("a tool is not called with arguments that do not fit")

    assert sent_back(arguments, never) == message


def test_a_number_where_a_text_is_wanted_is_taken_as_text() -> None:
    result, _ = run(calls('{"query": 42}'), FINAL)
    (one,) = told(result)
    assert (one.arguments, one.result.success) == ({"query": "42"}, True)


def test_an_unknown_tool_and_one_that_nobody_answers_are_failed_results() -> None:
    assert sent_back("{}", name="nope") == "Unknown tool 'nope' requested by provider."
    expected = "Tool 'search_notes' does not have a registered handler."
    assert sent_back('{"query": "p"}', None) == expected


def test_a_tool_that_refuses_or_crashes_is_a_failed_result() -> None:
    def refuse(_: Mapping[str, Any]) -> Any:
        raise ToolValidationError("too vague")

    def crash(_: Mapping[str, Any]) -> Any:
        raise RuntimeError("handler crash")

    def leave(_: Mapping[str, Any]) -> Any:
        raise SystemExit

    assert sent_back('{"query": "p"}', refuse) == "Tool validation failed: too vague"
    assert sent_back('{"query": "p"}', crash) == "Tool 'search_notes' execution failed: handler crash"
    assert sent_back('{"query": "p"}', leave) == "Tool 'search_notes' execution failed: SystemExit"


def test_what_an_async_tool_gives_in_the_end_is_the_result() -> None:
    async def answer(query: str) -> Any:
        return ToolResult("completed", Payload(f"R:{query}"))

    async def crash(query: str) -> Any:
        raise RuntimeError("in the end")

    result, lm = run(calls('{"query": "p"}'), FINAL, tools=Tools((tool(lambda given: answer(**given)),)))
    assert result.ok and tool_messages(lm) == ['completed\n\n{"answer": "R:p"}']
    failed = sent_back('{"query": "p"}', lambda given: crash(**given))
    assert failed == "Tool 'search_notes' execution failed: in the end"


def test_an_async_tool_that_hangs_ends_with_the_deadline() -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    result, _ = run(calls('{"query": "p"}'), FINAL, tools=Tools((tool(lambda _: hang()),)), deadline_s=0.2)
    assert result.error is not None and "exceeded the deadline" in result.error.message


def test_a_result_that_is_too_long_is_not_sent_and_the_model_is_told_to_ask_for_less() -> None:
    whole, lm = run(calls('{"query": "p"}'), FINAL, tools=Tools((tool(lambda _: "x" * LONGEST_RESULT),)))
    assert whole.ok and tool_messages(lm) == ["x" * LONGEST_RESULT]
    expected = "Tool 'search_notes' gave 10,000,000 characters, and the limit is 100,000. Ask it for less."
    assert sent_back('{"query": "p"}', lambda _: "x" * 10_000_000) == expected


def test_the_assistants_turn_stands_before_the_results_in_order() -> None:
    _, lm = run(calls('{"query": "a"}', "", text="thinking"), FINAL)
    assert lm.requests[1]["messages"][len(lm.requests[0]["messages"]) :] == [
        {
            "role": "assistant",
            "content": "thinking",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "search_notes", "arguments": '{"query": "a"}'}},
                {"id": "c2", "type": "function", "function": {"name": "search_notes", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": 'completed\n\n{"answer": "R:a"}'},
        {
            "role": "tool",
            "tool_call_id": "c2",
            "content": "Tool validation failed: Missing required field: 'query'",
        },
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        (FORCED, [FORCED, "auto"]),
        ({"type": "allowed_tools"}, [{"type": "allowed_tools"}] * 2),
        ("required", ["required"] * 2),
        (None, [None, None]),
    ],
)
def test_a_forced_choice_relaxes_to_auto_after_the_first_turn(choice: Any, sent: list[Any]) -> None:
    params = {} if choice is None else {"tool_choice": choice}
    _, lm = run(calls('{"query": "p"}'), FINAL, params=params)
    assert [request.get("tool_choice") for request in lm.requests] == sent


def test_parallel_tool_calls_is_the_adapters_option() -> None:
    lm = ScriptedLM(FINAL, capabilities=CAN_CALL)
    used = make("json", {"parallel_tool_calls": False})
    run_prompt(used, lm, QA, [], INPUTS, fallback=False, tools=Tools((tool(),)))
    assert (lm.requests[0]["parallel_tool_calls"], lm.requests[0]["tool_choice"]) == (False, "auto")


def test_a_model_that_calls_for_ever_is_stopped() -> None:
    result, lm = run(*[calls('{"query": "p"}')] * 4, tools=Tools((tool(),), most_turns=3))
    assert result.error is not None
    assert result.error.phase == "tool"
    assert result.error.message == "The model still calls tools after 3 turns, which is as many as it may take."
    assert (len(lm.requests), len(told(result)), len(result.tool_turns)) == (4, 3, 3)


def test_a_model_that_calls_what_nobody_answers_is_told_once_and_then_stopped() -> None:
    result, lm = run(*[calls('{"query": "p"}')] * 21, tools=Tools((tool(None),)))
    assert result.error is not None and (result.error.phase, len(lm.requests)) == ("tool", 2)
    assert result.error.message == (
        "The model calls search_notes again, which has no result here. Give the tool a result."
    )
    result, _ = run(calls("{}", name="nope"), calls('{"query": "p"}'), calls("{}", name="nope"), FINAL)
    assert result.ok, "between them it called a tool that answers"


class Notes:
    """A slice of state whose changes are refused."""

    def __init__(self, *errors: Exception) -> None:
        self.slice: tuple[Any, ...] = ("baseline",)
        self.errors = errors

    def snapshot(self) -> Any:
        return self.slice

    def commit(self, result: ToolResult) -> Sequence[Exception]:
        self.slice = (result.value,)
        return self.errors

    def restore(self, snapshot: Any) -> None:
        self.slice = snapshot


def test_changes_that_are_refused_roll_back_and_the_model_reads_why() -> None:
    notes = Notes(RuntimeError("Reducer crashed"), KeyError())
    result, lm = run(calls('{"query": "policies"}'), FINAL, tools=Tools((tool(),), state=notes))
    assert notes.slice == ("baseline",)
    assert tool_messages(lm) == [
        'Reducer errors prevented applying tool result: Reducer crashed; KeyError\n\n{"answer": "R:policies"}'
    ]
    (one,) = told(result)
    assert (one.rolled_back, one.result.success, one.result.value) == (True, True, Payload("R:policies"))
    assert result.ok


def test_changes_that_are_accepted_stay() -> None:
    notes = Notes()
    result, _ = run(calls('{"query": "policies"}'), FINAL, tools=Tools((tool(),), state=notes))
    assert notes.slice == (Payload("R:policies"),)
    assert told(result)[0].rolled_back is False


def failure(result: Run) -> tuple[str, str]:
    assert result.error is not None
    return result.error.phase, result.error.message


def test_a_deadline_is_looked_at_before_every_tool_and_every_call() -> None:
    clock = Clock()

    def slow(arguments: Mapping[str, Any]) -> Any:
        clock.jump()
        return search(arguments)

    options: dict[str, Any] = {"deadline_s": 5.0, "clock": clock}
    result, _ = run([clock.jump, *calls('{"query": "a"}')], **options)
    assert failure(result) == ("tool", "Deadline expired before executing tool 'search_notes'.")
    result, _ = run(calls('{"query": "a"}'), tools=Tools((tool(slow),)), **options)
    assert failure(result) == ("request", "Deadline expired before provider request.")
    assert len(told(result)) == 1
    result, _ = run(calls('{"query": "a"}', '{"query": "b"}'), tools=Tools((tool(slow),)), **options)
    assert failure(result) == ("tool", "Deadline expired before executing tool 'search_notes'.")
    assert len(told(result)) == 1
    assert result.error is not None
    assert result.error.payload == {"deadline_seconds": 5.0}


@pytest.mark.parametrize(
    ("said", "message"), [("no time", "no time"), ("", "Tool 'search_notes' exceeded the deadline.")]
)
def test_a_tool_without_time_ends_the_run(said: str, message: str) -> None:
    def late(_: Mapping[str, Any]) -> Any:
        raise DeadlineExceededError(said)

    result, _ = run(calls('{"query": "a"}'), tools=Tools((tool(late),)))
    assert failure(result) == ("tool", message)


def test_a_tool_that_hangs_ends_with_the_deadline_and_with_a_cancel() -> None:
    released, cancel, clock = threading.Event(), threading.Event(), Clock()

    def hanging(once_it_hangs: Callable[[], None]) -> Tools:
        def hang(_: Mapping[str, Any]) -> Any:
            once_it_hangs()
            released.wait()

        return Tools((tool(hang),))

    result, _ = run(calls('{"query": "a"}'), tools=hanging(clock.jump), deadline_s=5, clock=clock)
    assert failure(result) == ("tool", "Tool 'search_notes' exceeded the deadline.")
    result, _ = run(calls('{"query": "a"}'), tools=hanging(cancel.set), cancel=cancel)
    assert result.cancelled
    released.set()


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml"])
def test_a_model_without_function_calling_calls_in_text(adapter: str) -> None:
    asked = {"tool_calls": [{"name": "search_notes", "args": {"query": "policies"}}]}
    call, final = {
        "chat": (
            f"[[ ## answer ## ]]\n\n[[ ## tool_calls ## ]]\n{json.dumps(asked)}\n\n[[ ## completed ## ]]",
            "[[ ## answer ## ]]\nPolicy summary\n\n[[ ## completed ## ]]",
        ),
        "json": (json.dumps({"answer": "", "tool_calls": asked}), FINAL),
        "xml": (
            f"<answer></answer>\n<tool_calls>{json.dumps(asked)}</tool_calls>",
            "<answer>Policy summary</answer>\n<tool_calls>[]</tool_calls>",
        ),
        "baml": (json.dumps({"answer": "", "tool_calls": asked}), FINAL),
    }[adapter]
    result, lm = run(call, final, adapter=adapter, capabilities=Capabilities())
    assert result.error is None, result.error.message
    assert result.values == {"answer": "Policy summary"}
    first, second = lm.requests
    assert "tools" not in first
    assert "search_notes" in str(first["messages"])
    assert second["messages"][: len(first["messages"])] == first["messages"]
    reply, answer = second["messages"][len(first["messages"]) :]
    assert reply == {"role": "assistant", "content": call}
    assert answer["role"] == "user"
    assert "R:policies" in answer["content"]


def test_a_signature_with_tool_fields_of_its_own_keeps_them() -> None:
    signature = read("question, tools: list[dspy.Tool] -> answer, calls: dspy.ToolCalls")
    lm = ScriptedLM(calls('{"query": "p"}'), FINAL, capabilities=CAN_CALL)
    result = run_prompt(make("json"), lm, signature, [], INPUTS, fallback=False, tools=Tools((tool(),)))
    assert result.values == {"answer": "Policy summary", "calls": None}
    assert lm.requests[0]["tools"][0]["function"]["name"] == "search_notes"


def test_without_tools_a_run_is_what_it_was() -> None:
    plain = ScriptedLM(FINAL, capabilities=CAN_CALL)
    run_prompt(make("json"), plain, QA, [], INPUTS, fallback=False)
    offered = ScriptedLM(FINAL, capabilities=CAN_CALL)
    run_prompt(make("json"), offered, QA, [], INPUTS, fallback=False, tools=Tools())
    assert plain.requests == offered.requests
    assert "tools" not in plain.requests[0]


def test_tool_turns_are_ready_for_a_history() -> None:
    import dspy

    result, lm = run(calls('{"query": "a"}', "{"), FINAL, adapter="chat")
    (turn,) = result.tool_turns
    assert json.loads(json.dumps(turn)) == turn

    class Asked(dspy.Signature):
        question: str = dspy.InputField()
        history: dspy.History = dspy.InputField()
        tools: list[dspy.Tool] = dspy.InputField()
        tool_calls: dspy.ToolCalls = dspy.OutputField()

    adapter = dspy.ChatAdapter(use_native_function_calling=True)
    history = dspy.History(messages=[{**INPUTS, **turn}])
    messages = adapter.format_conversation_history(Asked, "history", {"history": history})
    theirs = [one["content"] for one in messages if one["role"] == "tool"]
    assert theirs == tool_messages(lm)


def test_markdown_gives_the_results_of_tools_as_a_section_with_its_reminder() -> None:
    wanted = '{"tool_calls": [{"name": "search_notes", "args": {"query": "p"}}]}'
    call = f'```json\n{{"answer": null, "tool_calls": {wanted}}}\n```'
    final = '```json\n{"answer": "Policy summary", "tool_calls": {"tool_calls": []}}\n```'
    lm = ScriptedLM(call, final)
    result = run_prompt(make("markdown"), lm, QA, [], INPUTS, fallback=False, tools=Tools((tool(),)))
    assert [one.name for one in told(result)] == ["search_notes"]
    last = lm.requests[-1]["messages"][-1]
    assert last["role"] == "user"
    assert last["content"].startswith("## 1. Tool Call Results\n\n")
    assert "Reply with one fenced block of JSON" in last["content"]


KEY = "canary-0123-AAAABBBB"
"""The user's own, which no pattern of a provider's keys would find."""


class Rendered:
    def render(self) -> str:
        return f"it is {KEY}"


@pytest.mark.parametrize("adapter", ["json", "markdown"])
@pytest.mark.parametrize(
    ("given", "told_to_the_model"),
    [
        (f"it is {KEY}", "it is [OPENAI_API_KEY]"),
        (f"it is {KEY}".encode(), "it is [OPENAI_API_KEY]"),
        ({"environment": [KEY]}, '{"environment": ["[OPENAI_API_KEY]"]}'),
        ([f"{KEY} one", "two"], "[OPENAI_API_KEY] one\n\ntwo"),
        (Payload(KEY), '{"answer": "[OPENAI_API_KEY]"}'),
        (Rendered(), "it is [OPENAI_API_KEY]"),
        (ToolResult(f"see {KEY}", KEY), "see [OPENAI_API_KEY]\n\n[OPENAI_API_KEY]"),
        (ToolResult("see", KEY, exclude_value_from_context=True), "see"),
    ],
)
def test_the_users_own_key_in_a_result_is_neither_sent_nor_told(
    given: Any, told_to_the_model: str, adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    result, lm = run(calls('{"query": "x"}'), FINAL, tools=Tools((tool(lambda _: given),)), adapter=adapter)
    (one,) = told(result)
    assert one.rendered_output == told_to_the_model
    assert tool_messages(lm) == [told_to_the_model]
    assert KEY not in f"{lm.requests} {result.tool_turns} {one.result}"


def test_a_key_that_json_escapes_is_found_in_an_object_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", 'a"quoted\\key')
    result, _ = run(calls('{"query": "x"}'), FINAL, tools=Tools((tool(lambda _: {"key": 'a"quoted\\key'}),)))
    assert [one.rendered_output for one in told(result)] == ['{"key": "[OPENAI_API_KEY]"}']


@pytest.mark.parametrize("error", [RuntimeError(f"401 for {KEY}"), ToolValidationError(f"not {KEY}")])
def test_the_users_own_key_in_what_a_tool_raises_is_not_sent(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def fail(_: Mapping[str, Any]) -> Any:
        raise error

    text = sent_back('{"query": "x"}', fail)
    assert KEY not in text and "[OPENAI_API_KEY]" in text


def test_the_users_own_key_is_not_in_the_error_of_a_tool_that_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def fail(_: Mapping[str, Any]) -> Any:
        raise DeadlineExceededError(f"no time for {KEY}")

    result, _ = run(calls('{"query": "x"}'), FINAL, tools=Tools((tool(fail),)))
    assert result.error is not None and result.error.message == "no time for [OPENAI_API_KEY]"


def test_a_result_without_a_key_is_the_value_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    given = Payload("sk-looks-like-a-key-of-another")
    result, _ = run(calls('{"query": "x"}'), FINAL, tools=Tools((tool(lambda _: given),)))
    (one,) = told(result)
    assert one.result.value is given
