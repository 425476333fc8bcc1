"""F9 leads to the review where something drifted; what is accepted there is a change of the session like any other."""

from __future__ import annotations

from dataclasses import replace

from sessions.fixtures import checking
from tests.support.open_app import Desk, at_the_desk
from tests.workbench.tui.screens.test_review import fixture_session
from workbench.tui.screens.review import ReviewScreen
from workbench.tui.widgets.prompt.prompt_view import PromptView

RECORDED = fixture_session()
DRIFTED = replace(RECORDED, signature=replace(RECORDED.signature, instructions="Say whether it snows."))


def passes(desk: Desk) -> bool:
    return all(one.passed for one in checking.check(desk.document.session))


def test_one_key_accepts_and_leaving_records_anew_which_undo_takes_back() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f9")
        assert isinstance(desk.app.screen, ReviewScreen)
        await desk.press("a")
        assert not passes(desk) and not desk.document.dirty
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert passes(desk) and desk.document.dirty
        assert any("1 cause accepted" in one.title for one in desk.app._notifications)
        await desk.press("ctrl+z")
        assert not passes(desk) and not desk.document.dirty

    at_the_desk(act, DRIFTED)


def test_left_without_a_decision_nothing_changes() -> None:
    async def act(desk: Desk) -> None:
        before = desk.document.state
        await desk.press("f9", "s", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert desk.document.state is before

    at_the_desk(act, DRIFTED)


def test_o_puts_the_prompt_of_the_fixture_in_front_in_its_case() -> None:
    session = replace(DRIFTED, cases=(replace(DRIFTED.cases[0], name="zero", recordings={}), *DRIFTED.cases))

    async def act(desk: Desk) -> None:
        assert desk.document.state.case.name == "zero"
        await desk.press("f9", "right", "o")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        await desk.until(lambda: isinstance(desk.app.focused, PromptView), "for the prompt")
        assert desk.document.state.case.name == "one"
        assert desk.main.columns.current is desk.main.columns.column("json")

    at_the_desk(act, session)


def test_where_all_holds_f9_says_so_and_opens_nothing() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f9")
        assert desk.app.screen is desk.main
        assert any("hold" in one.title for one in desk.app._notifications)

    at_the_desk(act, RECORDED)
