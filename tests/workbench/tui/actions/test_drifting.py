"""A column that is no longer as recorded says so in its title while one edits, and no more when it is again."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from textual.content import Content

from sessions.model.session import Case, Column, Reply
from sessions.running.recording import record
from tests.support.open_app import SIZES, SMALL, Desk, at_the_desk
from tests.workbench.tui.screens.test_review import fixture_session
from workbench.state.document import Place
from workbench.tui.panes.verdicts import VerdictStrip

MARK = "≠ recorded"
RECORDED = fixture_session()
PART = replace(RECORDED, cases=(replace(RECORDED.cases[0], recordings={"chat": RECORDED.cases[0].recordings["chat"]}),))


def title(desk: Desk, column: str) -> str:
    pane = desk.main.columns.column(column)
    assert pane is not None
    return str(pane.border_title)


async def edit_instructions(desk: Desk, text: str) -> None:
    signature = replace(desk.document.session.signature, instructions=text)
    desk.main.edit(
        lambda state: replace(state, session=replace(state.session, signature=signature)), Place("instructions"), "edit"
    )
    await desk.settle()


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_an_edit_that_changes_a_recorded_prompt_is_said_and_its_undo_too(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await edit_instructions(desk, "Say whether it snows.")
        await desk.until(lambda: MARK in title(desk, "chat"), "for the mark")
        assert MARK not in title(desk, "json")
        assert [MARK in one.words for one in desk.main.columns.verdicts] == [True, False]
        await desk.press("ctrl+z")
        await desk.until(lambda: MARK not in title(desk, "chat"), "for the mark to go")

    at_the_desk(act, PART, size=size)


REFUSED = Reply("No marker, and so nothing that could be read as a field.", source="pasted")


@pytest.mark.slow
@pytest.mark.parametrize("reply", [RECORDED.cases[0].replies["chat"], REFUSED], ids=["read", "refused"])
def test_where_the_verdicts_are_cut_the_mark_stays(reply: Reply) -> None:
    columns = tuple([Column(name, "chat") for name in "abc"])
    session = replace(RECORDED, columns=columns, cases=(Case("one", RECORDED.cases[0].inputs),))
    session = replace(session, cases=(replace(session.cases[0], replies={one.id: reply for one in columns}),))
    for column in columns:
        session = record(session, session.cases[0], column)

    async def act(desk: Desk) -> None:
        await edit_instructions(desk, "Say whether it snows.")
        await desk.until(lambda: all(MARK in one.words for one in desk.main.columns.verdicts), "for the marks")
        strip = desk.main.query_one(VerdictStrip).render()
        assert isinstance(strip, Content)
        assert strip.plain.count(MARK) == 3 and "…" in strip.plain

    at_the_desk(act, session, size=SMALL)


@pytest.mark.slow
def test_a_column_that_has_drifted_is_not_shown_as_one_that_is_well() -> None:
    async def act(desk: Desk) -> None:
        assert {one.tone for one in desk.main.columns.verdicts} == {"success"}
        await edit_instructions(desk, "Say whether it snows.")
        await desk.until(lambda: {one.tone for one in desk.main.columns.verdicts} == {"warning"}, "for the tones")

    at_the_desk(act, RECORDED)


@pytest.mark.slow
def test_the_number_of_tokens_is_never_another_one_for_want_of_room() -> None:
    columns = tuple([replace(one, model="offline/sloppy") for one in RECORDED.columns])

    async def act(desk: Desk) -> None:
        await edit_instructions(desk, "Say whether it snows.")
        await desk.until(lambda: MARK in title(desk, "chat"), "for the mark")
        told = set()
        for width in range(120, 170, 2):
            await desk.pilot.resize_terminal(width, 45)
            await desk.settle()
            drawn = "".join([text for text, *_ in desk.app.screen._compositor.render_strips()[0]])
            assert MARK in drawn and "offline" in drawn
            told |= set(re.findall(r"~\d*.", drawn))
        assert told and not [one for one in told if "…" in one], told

    at_the_desk(act, replace(RECORDED, columns=columns))


@pytest.mark.slow
def test_accepting_takes_the_mark_away() -> None:
    async def act(desk: Desk) -> None:
        await edit_instructions(desk, "Say whether it snows.")
        await desk.until(lambda: MARK in title(desk, "json"), "for the mark")
        await desk.press("f9", "A", "escape")
        await desk.until(lambda: MARK not in title(desk, "json") + title(desk, "chat"), "for the mark to go")

    at_the_desk(act, RECORDED)


def test_a_session_that_is_opened_says_at_once_what_has_drifted_and_another_case_does_not() -> None:
    changed = replace(RECORDED, signature=replace(RECORDED.signature, instructions="Say whether it snows."))
    session = replace(changed, cases=(*changed.cases, replace(changed.cases[0], name="two", recordings={})))

    async def act(desk: Desk) -> None:
        await desk.until(lambda: MARK in title(desk, "chat"), "for the mark")
        desk.document.look_at_case(1)
        desk.main.show()
        await desk.until(lambda: MARK not in title(desk, "chat"), "for the mark to go")

    at_the_desk(act, session)
