"""The page of repeats: what came how often, and how many replies could not be read."""

from __future__ import annotations

from adapters.errors import RunError
from adapters.lm.protocol import Completion
from adapters.running.runs import Attempt, Run
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running.repeats import collapse
from workbench.state.document import RenderedColumn
from workbench.tui.pages import reply_pages
from workbench.tui.pages.page import LookedAt
from workbench.tui.runs.runs import ColumnRun

CHAT, JSON = Column("chat", "chat"), Column("json", "json")
CASE = Case("c")
SESSION = Session(SignatureText("question -> answer"), columns=(CHAT, JSON), cases=(CASE,))


def answer(value: object) -> Run:
    return Run(True, {"answer": value}, (), (Attempt(1, "chat", "m", {}, (Completion("x"),)),))


def unread(message: str) -> Run:
    attempt = Attempt(1, "chat", "m", {}, (Completion("x"),))
    return Run(False, {}, (), (attempt,), RunError(message, "response"))


def page(runs: dict[str, list[Run]]) -> str:
    rendered = tuple(RenderedColumn(one) for one in (CHAT, JSON))
    known = {
        id: ColumnRun(1, "c", id, "m", 0.0, times=len(them), phase="done", repeats=collapse(them))
        for id, them in runs.items()
    }
    blocks = reply_pages.repeat_blocks(LookedAt(SESSION, CASE, rendered[0], rendered, known))
    return "\n".join(
        (one.lead.text if one.lead else "") + "".join(piece.text for piece in one.pieces) for one in blocks
    )


def test_equal_values_are_collapsed_and_counted_by_field_and_their_types_told_apart() -> None:
    shown = page({"chat": [answer(1), answer(1), answer(True), answer("[/x]\x1b"), unread("no marker")]})
    assert "5" in shown and "1 (20%)" in shown
    assert "2 ×" in shown and "True" in shown and "[/x]" in shown
    assert "no marker" in shown


def test_the_rates_of_all_columns_stand_beside_each_other() -> None:
    shown = page({"chat": [answer(1), unread("x")], "json": [answer(1), answer(1)]})
    assert "1 not parsed (50%)" in shown and "0 not parsed (0%)" in shown


def test_a_column_that_was_sent_once_says_how_to_send_it_several_times() -> None:
    assert "shift+F5" in page({})
