"""One key opens the fixes of a parse error; enter applies one, undo reverts it, the next run says whether it helped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

import pytest
from scripted_lm import ScriptedLM

from adapters.lm import Chunk, ProviderError
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import rendering
from tests.support.open_app import SIZES, Desk, at_the_desk
from workbench.editing import edits
from workbench.sending import sending
from workbench.state.document import Place
from workbench.tui.actions.fixing import FixesScreen

WRONG = Reply("[[ ## label ## ]]\nrefund [/x]\n\n[[ ## completed ## ]]", source="pasted")
SESSION = Session(
    SignatureText("ticket -> label: Literal['bug', 'billing']"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"ticket": "T"}, replies={"chat": WRONG}),),
)


def on_screen(desk: Desk) -> str:
    return "\n".join(strip.text for strip in desk.app.screen._compositor.render_strips())


async def open_fixes(desk: Desk) -> None:
    await desk.press("f4", "alt+x")
    await desk.until(lambda: isinstance(desk.app.screen, FixesScreen), "for the fixes")


@pytest.mark.parametrize("size", SIZES)
def test_fixes_are_shown_with_their_effect_and_enter_applies_one(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        before = desk.document.session
        assert "alt+x fixes" in desk.verdict("chat")
        await open_fixes(desk)
        await desk.until(lambda: "Allow 'refund [/x]' in `label`." in on_screen(desk), "for the list")
        assert "Fixes for chat" in on_screen(desk)
        assert "This reply would parse" in on_screen(desk)
        assert desk.document.session is before
        await desk.press("enter")
        assert "'refund [/x]'" in desk.document.session.signature.text
        await desk.until(lambda: desk.verdict("chat").startswith("reply ✓"), "for the new parse result")
        await desk.press("ctrl+z")
        assert desk.document.session == before

    at_the_desk(act, SESSION, size=size)


def test_escape_changes_nothing() -> None:
    async def act(desk: Desk) -> None:
        before = desk.document.session
        await open_fixes(desk)
        await desk.press("down", "escape")
        assert desk.document.session is before

    at_the_desk(act, SESSION)


def test_the_next_run_says_whether_it_helped() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4", "f8")
        await desk.sent()
        again = partial(edits.set_reply, case="c", column="chat", reply=replace(WRONG, source="sent"))
        desk.main.edit(again, Place("reply", "c", field="chat"), "the wrong reply")
        await desk.settle()
        await open_fixes(desk)
        await desk.press("enter")
        await desk.press("f8")
        await desk.sent()
        await desk.until(lambda: "It helped" in on_screen(desk), "to hear of it")
        assert "Before: parse error." in on_screen(desk)
        assert "shows both replies" in on_screen(desk)

    at_the_desk(act, SESSION, size=(120, 35))


def test_a_reply_that_parses_by_copying_a_demo_is_no_help(monkeypatch: pytest.MonkeyPatch) -> None:
    good = "[[ ## reason ## ]]\nThe page stays white.\n\n[[ ## completed ## ]]"
    monkeypatch.setattr(sending, "open_model", lambda *_, **__: ScriptedLM(good))
    cases = (Case("bad", {"ticket": "T"}, replies={"chat": Reply("It is a bug.", source="pasted")}),)
    cases += (Case("good", {"ticket": "U"}, replies={"chat": Reply(good, source="pasted")}),)
    session = Session(SignatureText("ticket -> reason"), (), (Column("chat", "chat"),), cases)

    async def act(desk: Desk) -> None:
        await open_fixes(desk)
        await desk.until(lambda: "as a demo of the format" in on_screen(desk), "for the list")
        await desk.press("enter", "f8")
        await desk.sent()
        await desk.until(lambda: "It parses, but copies a demo" in on_screen(desk), "to hear of it")
        said = " ".join(on_screen(desk).split())
        assert "It helped" not in said and "repeats the values of demo 1" in said
        assert desk.document.session.demos[0].values["ticket"] == "U"

    at_the_desk(act, session, size=(120, 35))


def test_a_run_without_the_fix_says_nothing_of_it() -> None:
    async def act(desk: Desk) -> None:
        await open_fixes(desk)
        await desk.press("enter", "ctrl+z", "f8")
        await desk.sent()
        assert "Before:" not in on_screen(desk)

    at_the_desk(act, SESSION)


def test_a_pasted_reply_is_no_run_to_compare_with() -> None:
    """The list of runs does not hold it: undo brings it back, and redo the new one."""
    pasted = replace(WRONG, source="pasted")
    case = replace(SESSION.cases[0], replies={"chat": pasted})

    async def act(desk: Desk) -> None:
        await open_fixes(desk)
        await desk.press("enter")
        assert "applied: F8 sends it again, ctrl+z reverts it" in on_screen(desk)
        await desk.press("f8")
        await desk.sent()
        await desk.until(lambda: "It helped" in on_screen(desk), "to hear of it")
        assert "shows both replies" not in on_screen(desk)
        assert "ctrl+z shows the earlier reply" in " ".join(on_screen(desk).split())
        await desk.press("ctrl+z")
        assert desk.document.session.cases[0].replies["chat"] == pasted

    at_the_desk(act, replace(SESSION, cases=(case,)), size=(120, 35))


def test_nothing_to_fix_is_said() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4", "alt+x")
        await desk.until(lambda: "There is no reply to fix yet." in on_screen(desk), "to be told")

    at_the_desk(
        act, Session(SignatureText("a -> b"), columns=(Column("chat", "chat"),), cases=(Case("c", {"a": "1"}),))
    )


def test_the_values_beside_the_reply_name_the_best_fixes() -> None:
    async def act(desk: Desk) -> None:
        pane = desk.main.columns.column("chat")
        assert pane is not None

        def rows() -> str:
            return " ".join(" ".join(text for row in pane.fields.rows for text, _ in row.pieces).split())

        await desk.until(lambda: "Allow 'refund [/x]'" in rows(), "for the best fix")

    at_the_desk(act, SESSION)


@pytest.mark.parametrize("size", SIZES)
def test_the_first_fix_corrects_a_misspelt_marker_in_the_reply_itself(size: tuple[int, int]) -> None:
    misspelt = Reply("[[ label ]]\nbug", source="sent", model="offline/exact")
    case = Case("c", {"ticket": "T"}, replies={"chat": misspelt})

    async def act(desk: Desk) -> None:
        before = desk.document.session
        await open_fixes(desk)
        await desk.until(lambda: "Edit this reply:" in on_screen(desk), "for the list")
        assert "+ [[ ## label ## ]]" in on_screen(desk)
        await desk.press("enter")
        now = desk.document.session
        assert now.cases[0].replies["chat"].text == "[[ ## label ## ]]\nbug"
        assert now.cases[0].replies["chat"].source == "edited"
        assert now.signature == before.signature and now.columns == before.columns
        assert "The reply was edited" in on_screen(desk)
        await desk.until(lambda: desk.verdict("chat").startswith("reply ✓"), "for the new parse result")
        await desk.press("ctrl+z")
        assert desk.document.session == before

    at_the_desk(act, replace(SESSION, cases=(case,)), size=size)


def test_a_demo_to_fill_in_is_opened_at_its_first_output() -> None:
    prose = Reply("It is a bug, I think, as the page is white.", source="pasted")
    case = Case("c", {"ticket": "T"}, replies={"chat": prose})

    async def act(desk: Desk) -> None:
        await open_fixes(desk)
        await desk.until(lambda: "fill in its outputs" in on_screen(desk), "for the list")
        assert "The demo is sent once its outputs are filled in" in on_screen(desk)
        await desk.press("enter")
        assert desk.document.session.demos == (Demo({"ticket": "T"}),)
        await desk.until(lambda: desk.main.focused is not None, "for the row")
        await desk.press("b", "u", "g")
        await desk.until(lambda: desk.document.session.demos[0].values.get("label") == "bug", "for the typed output")

    at_the_desk(act, replace(SESSION, cases=(case,)))


def test_a_rejected_schema_is_left_out_by_a_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    class RejectsSchemas(ScriptedLM):
        def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[Chunk]:
            if request.get("response_format", {}).get("type") == "json_schema":
                raise ProviderError("No schemas [/x]", "request", payload={"rejected": "response_schema"})
            return super().stream(request, cancel)

    def opened(session: Session, column: Column, *_: Any, **__: Any) -> ScriptedLM:
        return RejectsSchemas('{"b": "x"}', capabilities=rendering.capabilities_for(session, column).capabilities)

    monkeypatch.setattr(sending, "open_model", opened)
    session = Session(
        SignatureText("a -> b"), (), (Column("json", "json"),), (Case("c", {"a": "1"}),), "openai/gpt-6-luna"
    )

    async def act(desk: Desk) -> None:
        await desk.press("f4", "f8")
        await desk.sent()
        await desk.until(lambda: "alt+x fixes" in desk.verdict("json"), "for the offer")
        await open_fixes(desk)
        await desk.until(lambda: "Set the capability `response_schema`" in on_screen(desk), "for the list")
        assert "No schemas [/x]" in on_screen(desk)
        await desk.press("enter")
        assert desk.document.session.columns[0].params == {"capabilities": {"response_schema": False}}
        await desk.press("f8")
        await desk.sent()
        await desk.until(lambda: "It helped" in on_screen(desk), "to hear of it")

    at_the_desk(act, session, size=(120, 35))


@pytest.mark.slow
def test_enter_on_a_fix_in_the_table_opens_the_fixes() -> None:
    async def act(desk: Desk) -> None:
        pane = desk.main.columns.column("chat")
        assert pane is not None
        await desk.until(lambda: any(row.is_fix for row in pane.fields.rows), "for the fixes below the fields")
        await desk.press("f4")
        pane.fields.focus()
        pane.fields.action_row(next(y for y, row in enumerate(pane.fields.rows) if row.is_fix))
        await desk.press("enter")
        await desk.until(lambda: isinstance(desk.app.screen, FixesScreen), "for the fixes")

    at_the_desk(act, session=SESSION)
