"""Setting up a column: parameters, fallback and variants, each a change that can be undone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.model.session import Variant
from tests.support.open_app import SMALL, TICKETS, Desk, at_the_desk
from workbench.tui.actions.columns import refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"temperature": 0.7, "n": 3}', ""),
        ("", ""),
        ("{", "column"),
        ("[]", "no object"),
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
