"""The installed dspy as a judge: messages, what else goes out, and readings with their native parts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from adapters.requests.capabilities import Capabilities
from sessions.checking import checking, upstream
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText, Tool
from sessions.releases.release import Release
from sessions.running import recording

ABLE = Capabilities(True, True, True, frozenset({"response_format", "tools", "tool_choice", "reasoning_effort"}))
TOOLS = [{"name": "search", "desc": "looks it up", "args": {"query": {"type": "string"}}}]
CALL = {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": '{"query": "rain"}'}}
NATIVE = "question, tools: list[dspy.Tool] -> reasoning: dspy.Reasoning, answer: list[int], calls: dspy.ToolCalls"
ANSWERS = {
    "chat": "[[ ## answer ## ]]\n[1, 2]\n\n[[ ## completed ## ]]",
    "json": '{"answer": [1, 2]}',
    "xml": "<answer><item>1</item><item>2</item></answer>",
}


@pytest.fixture(scope="module")
def dspy() -> Iterator[Release]:
    with Release(sys.executable) as one:
        yield one


def recorded(signature: str, column: Column, reply: dict[str, Any], **more: Any) -> Session:
    inputs = {"question": "Is it raining?"} | ({"tools": TOOLS} if "tools:" in signature else {})
    case = Case("rain", inputs, replies={column.id: Reply(**reply)})
    session = Session(SignatureText(signature), columns=(column,), cases=(case,), **more)
    return recording.record(session, case, column, capabilities=ABLE)


def judged(dspy: Release, session: Session) -> tuple[str, list[str]]:
    (result,) = checking.check(session)
    assert result.verdicts["render"] == result.verdicts["parse"] == "pass", result.drift
    word, drift = upstream.check(dspy, session, session.cases[0], session.columns[0])
    return word, [f"{one.place}: {one.message}" for one in drift]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("adapter", ANSWERS)
def test_tools_reasoning_and_response_format_are_as_dspy_has_them(dspy: Release, adapter: str, native: bool) -> None:
    column = Column(adapter, adapter, options={"use_native_function_calling": native}, params={"temperature": 0.3})
    reply = {"text": ANSWERS[adapter], "reasoning": "It pours.", "tool_calls": (CALL,)}
    session = recorded(NATIVE, column, reply)
    assert judged(dspy, session) == ("pass", [])
    request = session.cases[0].recordings[adapter].request
    assert ("tools" in request) is native
    assert ("response_format" in request) is (adapter == "json")


def test_a_schema_for_structured_output_is_compared(dspy: Release) -> None:
    column = Column("json", "json")
    session = recorded("question -> answer: list[int], mood: Literal['a', 'b']", column, {"text": ANSWERS["json"]})
    assert judged(dspy, session) == ("pass", [])
    made = session.cases[0].recordings["json"]
    assert made.request["response_format"]["type"] == "json_schema"
    changed = replace(made, request={**made.request, "response_format": {"type": "json_object"}})
    case = replace(session.cases[0], recordings={"json": changed})
    word, drift = upstream.check(dspy, session.replace_case(case), case, column)
    assert (word, [one.place for one in drift]) == ("drift", ["request.response_format"])


def test_a_native_part_that_is_read_otherwise_is_drift(dspy: Release) -> None:
    column = Column("chat", "chat", options={"use_native_function_calling": True})
    session = recorded(NATIVE, column, {"text": ANSWERS["chat"], "tool_calls": (CALL,)})
    made = session.cases[0].recordings["chat"]
    (completion,) = made.attempts[0].completions
    renamed = {**CALL, "function": {"name": "look", "arguments": "{}"}}
    attempt = replace(made.attempts[0], completions=(replace(completion, tool_calls=(renamed,)),))
    case = replace(session.cases[0], recordings={"chat": replace(made, attempts=(attempt,))})
    word, drift = upstream.check(dspy, session.replace_case(case), case, column)
    assert (word, [one.place for one in drift]) == ("drift", ["attempts[0].completions[0].values.calls"])


def test_a_piece_that_differs_is_named_though_the_prompt_changed_since(dspy: Release) -> None:
    session = recorded("question -> answer: list[int]", Column("chat", "chat"), {"text": ANSWERS["chat"]})
    made = session.cases[0].recordings["chat"]
    system, *others = made.messages
    older = {**system, "content": str(system["content"]).replace("Your input fields", "The input fields")}
    case = replace(session.cases[0], recordings={"chat": replace(made, messages=(older, *others))})
    word, (drift,) = upstream.check(dspy, session.replace_case(case), case, session.columns[0])
    assert (
        word == "drift" and drift.message == f"against {dspy.name}: the fixed text of the system message differs there"
    )


@pytest.mark.parametrize("adapter", ANSWERS)
def test_a_reply_that_dspy_refuses_too_is_no_drift(dspy: Release, adapter: str) -> None:
    session = recorded("question -> answer: list[int]", Column(adapter, adapter), {"text": "nonsense"})
    assert judged(dspy, session) == ("pass", [])


def test_a_recorded_message_that_we_make_no_more_is_told_as_one_of_the_recorded_prompt(dspy: Release) -> None:
    session = recorded("question -> answer: list[int]", Column("chat", "chat"), {"text": ANSWERS["chat"]})
    made = session.cases[0].recordings["chat"]
    system, last = made.messages
    older = replace(made, messages=(system, {"role": "user", "content": "Is it hot?"}, last))
    case = replace(session.cases[0], recordings={"chat": older})
    _, drift = upstream.check(dspy, session.replace_case(case), case, session.columns[0])
    assert [one.message for one in drift] == [f"{dspy.name} has no user message of the recorded prompt"]


def test_a_session_with_tools_of_its_own_is_not_judged(dspy: Release) -> None:
    session = recorded("question -> answer: list[int]", Column("chat", "chat"), {"text": ANSWERS["chat"]})
    with_tool = replace(session, tools=(Tool("search", parameters="query: str"),))
    assert upstream.check(dspy, with_tool, with_tool.cases[0], with_tool.columns[0]) == ("empty", ())
    assert "has its own tools" in upstream.why_not(dspy, with_tool, with_tool.cases[0], with_tool.columns[0])


def test_a_column_of_a_release_is_asked_of_that_release_and_of_no_other(dspy: Release) -> None:
    session = recorded("question -> answer: list[int]", Column("old", "chat"), {"text": ANSWERS["chat"]})
    session = replace(session, columns=(Column("old", "chat@3.0.4"),))
    assert upstream.check(dspy, session, session.cases[0], session.columns[0]) == ("empty", ())
    assert upstream.why_not(dspy, session, session.cases[0], session.columns[0]) == (
        f"{dspy.name} was not asked: `chat@3.0.4` is asked of dspy 3.0.4 itself; "
        "`workbench upgrade --from 3.0.4` compares the two"
    )
