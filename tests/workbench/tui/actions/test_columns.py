"""Setting up a column: parameters, fallback and variants, each a change that can be undone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sessions import examples
from sessions.model.session import DEFAULT_COLUMNS, Session, SignatureText, Variant
from tests.support.open_app import MIDDLE, SMALL, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.actions.columns import refused
from workbench.tui.dialogs.ask import ConfirmScreen
from workbench.tui.panes.status import StatusLine


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"temperature": 0.7, "n": 3}', ""),
        ("", ""),
        ("{", "column"),
        ("[]", "expected an object"),
        ('{"temprature": 1}', "temperature"),
        ('{"n": "three"}', "whole number"),
        ('{"api_key": "x"}', "secret"),
        ('{"user": "sk-canary-0123456789abcdef"}', "secret"),
    ],
)
def test_parameters_are_a_closed_list_and_hold_no_secret(text: str, said: str) -> None:
    assert (said in refused(text)) if said else refused(text) == ""
    assert "canary" not in refused(text)


@pytest.mark.slow
def test_parameters_of_a_column_and_of_the_session_reach_the_request() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "shift+f8", "p")
        await desk.fill_in('{"temprature": 1}')
        await desk.press("enter")
        assert "did you mean temperature" in str(desk.app.screen.query_one("#ask-error").render())
        await desk.fill_in('{"temperature": 0.5}')
        await desk.press("enter")
        await desk.press("shift+f8", "o")
        await desk.fill_in('{"max_tokens": 9}')
        await desk.press("enter")
        params = [one.rendered.request.params for one in desk.main.columns.all if one.rendered and one.rendered.request]
        assert params[0] == {"max_tokens": 9, "temperature": 0.5} and params[1]["max_tokens"] == 9
        await desk.press("ctrl+z", "ctrl+z")
        assert desk.document.session is TICKETS

    at_the_desk(act)


def test_the_fallback_is_switched_on_and_off() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("shift+f8", "f")
        assert desk.document.session.fallback
        await desk.press("shift+f8", "f")
        assert not desk.document.session.fallback

    at_the_desk(act, size=SMALL)


@pytest.mark.slow
def test_a_column_uses_a_variant_or_gets_one_beside_it() -> None:
    session = replace(TICKETS, variants=(Variant("terse", "instructions", "Briefly [/x]."),))

    async def act(desk: Desk) -> None:
        await desk.press("f3", "shift+f8", "w", "enter")
        assert "Briefly [/x]." in desk.prompt("chat · terse") and "Briefly" not in desk.prompt("chat")
        await desk.press("shift+f8", "v", "down", "enter")
        assert "Briefly" in desk.prompt("chat")
        await desk.press("shift+f8", "v", "up", "enter")
        assert "Briefly" not in desk.prompt("chat")

    at_the_desk(act, session=session)


@pytest.mark.slow
def test_a_model_for_columns_that_each_have_their_own_is_asked_about_and_sent_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # without releases of dspy, which lengthen the list

    async def act(desk: Desk) -> None:
        status = desk.app.screen.query_one(StatusLine)
        assert "model per column" in status.render().plain
        await desk.press("alt+c")
        await desk.until(lambda: len(shown_already(desk)) == 3, "for all of them, none cut off")
        listed = shown_already(desk)
        begins = {row.index(said) for row, said in zip(listed, SAID, strict=True)}
        assert len(begins) == 1, "what is said of them begins in one column"
        await desk.press("escape", "ctrl+l")
        await desk.type("offline/chatty")
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        await desk.press("a")
        await desk.until(lambda: desk.app.screen is desk.main, "for the answer")
        session = desk.document.session
        assert {session.model_of(one) for one in session.columns} == {"offline/chatty"}
        await desk.until(lambda: "model offline/chatty" in status.render().plain, "for the status")
        await desk.press("ctrl+z")
        session = desk.document.session
        assert len({session.model_of(one) for one in session.columns}) > 1

    at_the_desk(act, examples.load(examples.FIRST), size=MIDDLE)


SAID = ("[[ ## field ## ]] markers", "one JSON object", "one tag a field")


def shown_already(desk: Desk) -> list[str]:
    return [row for row in painted(desk) if "already shown" in row]


def painted(desk: Desk) -> list[str]:
    return [strip.text for strip in desk.app.screen._compositor.render_strips()]


def test_instructions_that_nobody_wrote_are_shown_whole() -> None:
    async def act(desk: Desk) -> None:
        words = " ".join(" ".join(seen(desk.main.query_one("#instructions-editor"))).replace("▌", "").split())
        assert words == "Given the fields `question`, `context`, produce the fields `answer`, `confidence`."

    session = Session(SignatureText("question, context -> answer, confidence: float"), columns=DEFAULT_COLUMNS)
    at_the_desk(act, session, size=MIDDLE)
