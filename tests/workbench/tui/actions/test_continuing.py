"""A run with its tool turns becomes the history that the next question goes on from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.model.session import Case, Column, Session, SignatureText, Tool
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.tui.actions.past_runs import continue_from_run

SESSION = Session(
    SignatureText("question, history: dspy.History -> answer"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "What is the weather in Paris?"}),),
    tools=(Tool("weather", "The weather.", "place: str", ({"result": "sunny"},)),),
)


def test_inputs_tool_turns_and_answer_become_turns_that_every_prompt_shows_and_undo_takes_back() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.sent()
        before = desk.prompt("chat")
        continue_from_run(desk.app)
        await desk.settle()
        first, last = desk.document.state.case.history
        assert first["question"] == "What is the weather in Paris?"
        (call,) = first["tool_calls"]["tool_calls"]
        assert call["name"] == "weather" and call["args"] == {"place": "Paris"}
        assert "answer" in last
        assert len(desk.prompt("chat")) > len(before) and "sunny" in desk.prompt("chat")
        await desk.press("ctrl+z")
        assert not desk.document.state.case.history and desk.prompt("chat") == before

    at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_without_a_run_or_room_for_a_history_it_says_what_is_missing() -> None:
    async def act(desk: Desk) -> None:
        continue_from_run(desk.app)
        await desk.settle()
        assert any("has no history" in one.message for one in desk.app._notifications)
        assert desk.document.session is TICKETS

    at_the_desk(act)

    async def without_run(desk: Desk) -> None:
        continue_from_run(desk.app)
        await desk.settle()
        assert any("F8 sends it" in one.message for one in desk.app._notifications)

    at_the_desk(without_run, session=replace(SESSION, tools=()))
