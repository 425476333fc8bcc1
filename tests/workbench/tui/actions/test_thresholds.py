"""The dialog in which an output's threshold, cuts or weights are set: what is in sight, kept, refused and undone."""

from __future__ import annotations

from typing import Any

from textual.widgets import Input

from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import MIDDLE, SMALL, Desk, at_the_desk
from tests.workbench.editing.test_decision_edits import TRIAGE
from workbench.tui.actions.thresholds import ThresholdsScreen
from workbench.tui.widgets.text.plain import PlainStatic

TEXT = TRIAGE.replace('("bug", "it breaks")', '("[/x]", "\\x1b[2J")').replace("    bare", "    # bare")
EVIDENCE = """[[ ## blocked ## ]]
{"noul": 0.62}

[[ ## quality ## ]]
{"probabilities": {"0": 0.1, "1": 0.6, "2": 0.3}, "confidence": 0.8}

[[ ## topic ## ]]
{"probabilities": {"billing": 0.6, "[/x]": 0.4}, "confidence": 0.7}

[[ ## urgent ## ]]
true

[[ ## kind ## ]]
{"noul": 0.2}

[[ ## note ## ]]
fine

[[ ## completed ## ]]
"""
SESSION = Session(
    SignatureText(TEXT, "Triage"),
    columns=(Column("chat", "chat"),),
    cases=(Case("first", {"message": "I cannot pay."}, replies={"chat": Reply(EVIDENCE)}),),
)


def said(desk: Desk, kind: str) -> str:
    return str(desk.app.screen.query_one(kind, PlainStatic).render())


def kept(desk: Desk) -> dict[str, Any]:
    return {name: dict(one) for name, one in desk.document.session.signature.decisions.items()}


async def open_at(desk: Desk, output: str) -> None:
    """By the key on the output's line in the form of the signature."""
    desk.main.query_one("SignatureForm").go_to(output)  # type: ignore[attr-defined]
    await desk.settle()
    await desk.press("t")
    await desk.until(lambda: isinstance(desk.app.screen, ThresholdsScreen), f"for the dialog of {output}")


def test_what_the_replies_come_to_follows_each_key_and_what_is_set_is_kept() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("f11")
        await open_at(desk, "blocked")
        assert said(desk, ".thresholds-outcomes") == "chat: 0.62 → True"
        await desk.fill_in("0.7")
        assert said(desk, ".thresholds-outcomes") == "chat: 0.62 → False"
        await desk.fill_in("0,7")
        await desk.press("enter")
        assert "0,7 is no number: write one such as 0.5" in said(desk, ".field-error")
        await desk.fill_in("7")
        await desk.press("enter")
        assert "must be in [0, 1]" in said(desk, ".field-error") and kept(desk) == {}
        await desk.fill_in("0.7")
        await desk.press("enter")
        assert kept(desk) == {"blocked": {"threshold": 0.7}}
        await open_at(desk, "quality")
        assert said(desk, ".thresholds-outcomes") == "chat: 0 0.1, 1 0.6, 2 0.3 → 1.2, level 1"
        cuts = desk.app.screen.query(Input)
        cuts[1].value = "1.1"
        await desk.settle()
        assert said(desk, ".thresholds-outcomes").endswith("level 2")
        await desk.press("escape")
        await open_at(desk, "topic")
        assert said(desk, ".thresholds-outcomes") == "chat: billing 0.6, [/x] 0.4 → billing"
        desk.app.screen.query(Input)[1].value = "2"
        await desk.settle()
        assert said(desk, ".thresholds-outcomes").endswith("→ [/x]")
        await desk.press("enter")
        assert kept(desk)["topic"] == {"weights": {"billing": 1.0, "[/x]": 2.0}}
        await desk.press("ctrl+z")
        assert kept(desk) == {"blocked": {"threshold": 0.7}}

    at_the_desk(act, session=SESSION, size=MIDDLE)


def test_a_plain_bool_is_decided_where_that_is_chosen_and_any_other_output_is_none() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("signature")
        await desk.press("f11")
        await open_at(desk, "urgent")
        assert not desk.app.screen.query_one(".thresholds-rows").display
        await desk.press("left", "enter")
        assert kept(desk) == {"urgent": {}}
        await open_at(desk, "urgent")
        await desk.fill_in("0.9")
        await desk.press("enter")
        assert kept(desk) == {"urgent": {"threshold": 0.9}}
        await open_at(desk, "urgent")
        await desk.press("shift+tab", "right", "enter")
        assert kept(desk) == {}
        desk.main.query_one("SignatureForm").go_to("note")  # type: ignore[attr-defined]
        await desk.press("t")
        await desk.until(lambda: desk.app._notifications, "for the word about it")
        assert desk.app.screen is desk.main

    at_the_desk(act, session=SESSION, size=SMALL)
