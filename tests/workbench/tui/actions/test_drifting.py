"""A column that is no longer as recorded says so in its title while one edits, and no more when it is again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.open_app import SIZES, Desk, at_the_desk
from tests.workbench.tui.screens.test_review import fixture_session
from workbench.state.document import Place

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
