"""What a model can do, set by hand in a column or for the whole session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sessions.checking import checking as fixtures
from sessions.errors import SessionError
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import recording, rendering
from workbench.sending import sending

SERVER = "hosted_vllm/our/own-model"
SCHEMA = {"capabilities": {"response_schema": True}}


def session(column: Column, **more: Any) -> Session:
    case = Case("one", {"question": "?"}, replies={column.id: Reply('{"tags": ["a"]}', source="sent")})
    text = SignatureText("question -> tags: list[str]")
    return Session(text, columns=(column,), cases=(case,), model=SERVER, **more)


def format_of(of: Session) -> Any:
    request = rendering.request_of(of, of.columns[0], of.cases[0])
    assert "capabilities" not in request.params
    return request.params.get("response_format", {}).get("type")


def test_a_server_of_ones_own_is_sent_a_schema_once_it_is_said_to_take_one() -> None:
    assert format_of(session(Column("json", "json"))) is None
    forced = session(Column("json", "json", params=SCHEMA))
    assert format_of(forced) == "json_schema"
    known = rendering.capabilities_for(forced, forced.columns[0])
    assert known.said_by == "set by hand"
    assert known.capabilities == sending.open_model(forced, forced.columns[0]).capabilities


def test_what_a_column_says_wins_over_what_the_session_says() -> None:
    assert format_of(session(Column("json", "json"), params=SCHEMA)) == "json_schema"
    of_column = {"capabilities": {"response_format": True}}
    assert format_of(session(Column("json", "json", params=of_column), params=SCHEMA)) == "json_object"


def test_what_the_tables_say_can_be_taken_away_by_hand() -> None:
    column = Column("json", "json", model="openai/gpt-6-sol")
    assert format_of(session(column)) == "json_schema"
    assert format_of(session(replace(column, params={"capabilities": {"response_schema": False}}))) == "json_object"
    assert format_of(session(replace(column, params={"capabilities": {"response_format": False}}))) is None


@pytest.mark.parametrize("name", ["function_calling", "reasoning"])
def test_tools_and_reasoning_bring_their_parameters(name: str) -> None:
    of = session(Column("chat", "chat", params={"capabilities": {name: True}}))
    can = rendering.capabilities_for(of, of.columns[0]).capabilities
    assert getattr(can, name)
    assert {"function_calling": "tools", "reasoning": "reasoning_effort"}[name] in can.params


def test_a_recording_keeps_what_it_used_and_check_uses_that() -> None:
    forced = session(Column("json", "json", params=SCHEMA))
    recorded = recording.record(forced, forced.cases[0], forced.columns[0])
    kept = recorded.cases[0].recordings["json"]
    assert kept.capabilities["response_schema"] is True
    assert kept.request["response_format"]["type"] == "json_schema"
    reopened = store.loads(store.dumps(recorded))
    without = replace(reopened, columns=(replace(reopened.columns[0], params={}),))
    for one in (reopened, without):
        (result,) = fixtures.check(one)
        assert result.verdicts["render"] == "pass", result.drift


@pytest.mark.parametrize("wrong", [True, {"tools": True}, {"reasoning": "yes"}, {"reasoning": None}, [], "all"])
def test_anything_else_is_refused_with_what_would_work(wrong: Any) -> None:
    text = store.dumps(session(Column("json", "json", params=SCHEMA))).replace('"response_schema": true', '"x": 1')
    assert '"x": 1' in text
    with pytest.raises(SessionError, match="function_calling, reasoning, response_schema and response_format"):
        store.loads(text)
    with pytest.raises(SessionError, match="each true or false"):
        store.dumps(session(Column("json", "json", params={"capabilities": wrong})))
