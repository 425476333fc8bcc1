"""A session's tools in a run: canned, typed and handled results, what is kept of them, and their fixtures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from scripted_lm import ScriptedLM

from adapters.errors import SignatureError
from adapters.lm.protocol import Chunk, ToolCallPart
from adapters.requests.capabilities import Capabilities
from adapters.running import runner
from adapters.running.runs import Run
from adapters.tools.arguments import schema_of_line
from sessions.checking import checking
from sessions.file import store
from sessions.model.replies import RecordedReading, Reply
from sessions.model.session import Case, Column, Session, SignatureText, Tool
from sessions.running import recording, rendering
from sessions.running.tools import described_tools, history_of, run_tools

CAN_CALL = Capabilities(function_calling=True, params=frozenset({"tools"}))
WEATHER = Tool(
    "weather",
    "The weather of a town.",
    "town: str",
    ({"arguments": {"town": "Rome"}, "result": {"sky": "clear"}}, {"result": "rain"}),
)
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("json", "json", model="scripted/model"),),
    cases=(Case("one", {"question": "Is it raining?"}),),
    tools=(WEATHER,),
)
FINAL = '{"answer": "yes"}'


def call(town: Any) -> list[Any]:
    return [Chunk(tool_calls=(ToolCallPart(0, "c1", "weather", json.dumps({"town": town})),))]


def run(session: Session, *replies: Any, **options: Any) -> tuple[Run, list[str], Session]:
    column, case = session.columns[0], session.cases[0]
    lm = ScriptedLM(*replies, capabilities=CAN_CALL)
    tools, state = run_tools(session, **options)
    signature = session.signature.read()
    inputs = rendering.inputs_of(signature, case)
    result = runner.run(rendering.adapter_of(column), lm, signature, (), inputs, fallback=False, tools=tools)
    return result, [one["content"] for one in lm.requests[-1]["messages"] if one["role"] == "tool"], state.session


def test_a_canned_result_is_that_of_the_arguments_else_the_default() -> None:
    _, said, after = run(SESSION, call("Rome"), call("Oslo"), FINAL)
    assert said == ['{"sky": "clear"}', "rain"]
    assert after == SESSION


def test_without_a_result_or_with_an_error_the_call_fails_and_the_run_goes_on() -> None:
    only_rome = replace(SESSION, tools=(replace(WEATHER, results=WEATHER.results[:1]),))
    result, said, _ = run(only_rome, call("Oslo"), FINAL)
    assert result.ok
    assert said == ["Tool 'weather' execution failed: there is no result for these arguments"]
    broken = replace(SESSION, tools=(replace(WEATHER, results=({"error": "no network"},)),))
    assert run(broken, call("Oslo"), FINAL)[1] == ["Tool 'weather' execution failed: no network"]
    mute = replace(SESSION, tools=(replace(WEATHER, results=()),))
    assert run(mute, call("Oslo"), FINAL)[1] == ["Tool 'weather' does not have a registered handler."]


def test_a_typed_result_is_asked_for_once_and_kept_as_a_canned_one() -> None:
    asked: list[tuple[str, Mapping[str, Any]]] = []

    def ask(tool: Tool, arguments: Mapping[str, Any]) -> Any:
        asked.append((tool.name, arguments))
        return "sun"

    mute = replace(SESSION, tools=(replace(WEATHER, results=()),))
    _, said, after = run(mute, call("Oslo"), call("Oslo"), FINAL, ask=ask)
    assert asked == [("weather", {"town": "Oslo"})]
    assert said == ["sun", "sun"]
    assert after.tools[0].results == ({"arguments": {"town": "Oslo"}, "result": "sun"},)
    assert store.loads(store.dumps(after)) == after


def test_a_typed_result_that_no_session_may_hold_is_rolled_back_and_the_model_reads_why() -> None:
    mute = replace(SESSION, tools=(replace(WEATHER, results=()),))
    result, said, after = run(mute, call("Oslo"), FINAL, ask=lambda *_: "the key is sk-canary-abcdef123456")
    assert after == mute
    assert said[0].startswith("Reducer errors prevented applying tool result: ")
    assert result.ok


def test_a_handler_of_the_users_answers_before_anything_canned() -> None:
    assert run(SESSION, call("Rome"), FINAL, handlers={"weather": lambda town: f"asked {town}"})[1] == ["asked Rome"]


def test_the_preview_is_the_request_that_goes_out() -> None:
    column, case = SESSION.columns[0], SESSION.cases[0]
    preview = rendering.request_of(SESSION, column, case, capabilities=CAN_CALL)
    result, _, _ = run(SESSION, FINAL)
    assert preview.as_dict() == result.attempts[0].request
    assert preview.params["tools"][0]["function"]["parameters"] == schema_of_line("town: str")
    in_text = rendering.request_of(SESSION, column, case)
    assert "The weather of a town." in str(in_text.prompt.as_dicts())


def test_a_run_with_tools_is_recorded_and_checks() -> None:
    result, _, _ = run(SESSION, call("Rome"), FINAL)
    column, case = SESSION.columns[0], SESSION.cases[0]
    recorded = recording.record(SESSION, case, column, result, capabilities=CAN_CALL)
    made = recorded.cases[0].recordings["json"]
    assert [attempt.role for attempt in made.attempts] == ["main", "tools"]
    again = store.loads(store.dumps(recorded))
    (checked,) = checking.check(again)
    assert (checked.drift, checked.verdicts["render"], checked.verdicts["parse"]) == ((), "pass", "pass")
    changed = replace(again, tools=(replace(WEATHER, description="Changed."),))
    assert checking.check(changed)[0].verdicts["render"] == "drift"


def test_tool_turns_become_a_history() -> None:
    result, _, _ = run(SESSION, call("Rome"), FINAL)
    first, last = history_of(SESSION.cases[0], result)
    assert first["question"] == "Is it raining?"
    assert first["tool_calls"]["tool_calls"] == [{"id": "c1", "name": "weather", "args": {"town": "Rome"}}]
    assert last == {"answer": "yes"}


def test_a_typed_line_is_a_schema_that_lets_nothing_else_in() -> None:
    assert schema_of_line("query, tags: list[str], limit: int = 5, sort: Literal['new', 'old'] = 'new'") == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "limit": {"type": "integer", "default": 5},
            "sort": {"type": "string", "enum": ["new", "old"], "default": "new"},
        },
        "required": ["query", "tags"],
        "additionalProperties": False,
    }
    assert schema_of_line("") == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize(
    "line", ["query:", "*args", "x: open('/etc/passwd')", "x=open('y')", "): pass\nimport os", "x) -> int", "(" * 5000]
)
def test_what_is_no_line_of_arguments_is_refused_and_never_run(line: str) -> None:
    with pytest.raises(SignatureError):
        schema_of_line(line)
    with pytest.raises(SignatureError):
        described_tools(replace(SESSION, tools=(Tool("t", parameters=line),)))


@pytest.mark.parametrize("adapter", ["chat", "json", "markdown"])
def test_an_answer_that_calls_nothing_in_text_is_recorded_checked_and_read_as_it_was_asked_for(adapter: str) -> None:
    calls = '{"tool_calls": []}'
    answer = f'{{"answer": "yes", "tool_calls": {calls}}}'
    if adapter == "chat":
        answer = f"[[ ## answer ## ]]\nyes\n\n[[ ## tool_calls ## ]]\n{calls}\n\n[[ ## completed ## ]]"
    column = Column("one", adapter, model="scripted/model")
    shown = replace(SESSION.cases[0], replies={"one": Reply(answer, source="pasted")})
    session = replace(SESSION, columns=(column,), cases=(shown,))
    recorded = recording.record(session, shown, column, capabilities=Capabilities())
    assert recorded.cases[0].recordings["one"].attempts[0].completions[0].reading == RecordedReading(
        True, {"answer": "yes"}
    )
    (result,) = checking.check(recorded)
    assert (result.verdicts["render"], result.verdicts["parse"]) == ("pass", "pass")
    request = rendering.request_of(session, column, shown, capabilities=Capabilities())
    used = rendering.adapter_of(column)
    reading = recording.read_completion(used, request, session.signature.read(), Reply(answer))
    assert reading.flags == ()


def test_a_typed_result_is_kept_without_the_users_own_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-0123-AAAABBBB")
    session = replace(SESSION, tools=(replace(WEATHER, results=()),))
    typed = {"canary-0123-AAAABBBB": ["it is canary-0123-AAAABBBB", 1, None]}
    _, said, after = run(session, call("Rome"), FINAL, ask=lambda tool, arguments: typed)
    clean = {"[OPENAI_API_KEY]": ["it is [OPENAI_API_KEY]", 1, None]}
    assert [json.loads(one) for one in said] == [clean]
    assert after.tools[0].results == ({"arguments": {"town": "Rome"}, "result": clean},)
