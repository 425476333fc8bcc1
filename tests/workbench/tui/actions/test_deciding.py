"""F9 leads to the review where something drifted; what is accepted there is a change of the session like any other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.checking import checking
from sessions.file import store
from sessions.file.whole_files import state_folder
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session
from sessions.running.recording import record
from sessions.source.linking import Follower, linked
from tests.support.open_app import Desk, at_the_desk
from tests.workbench.tui.screens.test_review import fixture_session
from workbench.checks.checking import Plan, check_file
from workbench.state.document import Place
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


@pytest.mark.slow
def test_what_was_decided_before_the_app_was_killed_is_decided_the_next_time_and_one_key_takes_it_back(
    tmp_path: Path,
) -> None:
    async def decide(desk: Desk) -> None:
        await desk.press("f9", "a")  # and the app is gone without leaving the review

    async def again(desk: Desk) -> None:
        await desk.press("f9")
        review = desk.app.screen
        assert isinstance(review, ReviewScreen)
        assert review.decisions.accepted == {one.id for one in review.decisions.causes}
        assert any("1 decision is back" in one.message for one in desk.app._notifications)
        await desk.press("u")
        assert not review.decisions.accepted
        await desk.press("a", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        await desk.press("ctrl+z", "f9")
        assert isinstance(desk.app.screen, ReviewScreen)
        assert not desk.app.screen.decisions.accepted, "that review ended"

    for act in (decide, again):
        at_the_desk(act, DRIFTED, home=tmp_path)


@pytest.mark.slow
def test_a_decision_about_another_change_is_not_taken_for_one_about_this(tmp_path: Path) -> None:
    async def decide(desk: Desk) -> None:
        await desk.press("f9", "a")

    async def again(desk: Desk) -> None:
        await desk.press("f9")
        assert isinstance(desk.app.screen, ReviewScreen)
        assert not desk.app.screen.decisions.accepted
        assert not any("back" in one.message for one in desk.app._notifications)

    at_the_desk(decide, DRIFTED, home=tmp_path)
    hailing = replace(RECORDED, signature=replace(RECORDED.signature, instructions="Say whether it hails."))
    at_the_desk(again, hailing, home=tmp_path)


@pytest.mark.slow
def test_where_decisions_cannot_be_kept_the_first_one_says_so(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f9")
        folder = state_folder()
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "decisions").write_text("no folder")
        await desk.press("a", "u", "a")
        told = [one for one in desk.app._notifications if "not kept" in one.title]
        assert len(told) == 1 and "decisions" in told[0].message
        await desk.press("escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert passes(desk)

    at_the_desk(act, DRIFTED, home=tmp_path)


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
        assert any("match" in one.title for one in desk.app._notifications)

    at_the_desk(act, RECORDED)


PROGRAM = '''import dspy

class Answer(dspy.Signature):
    """Read the note."""
    note: str = dspy.InputField(desc="what was written")
    sure: bool = dspy.OutputField()
'''


def beside_its_program(tmp_path: Path, act: Callable[[Desk], Awaitable[None]], *changes: tuple[str, str]) -> Path:
    """A recorded session whose program was changed on disk before the app opened it."""
    (tmp_path / "pyproject.toml").touch()
    program, path = tmp_path / "qa.py", tmp_path / "q.session.json"
    program.write_text(PROGRAM)
    reply = Reply("[[ ## sure ## ]]\nTrue\n\n[[ ## completed ## ]]", source="pasted")
    case = Case("one", {"note": "x"}, replies={"chat": reply})
    session = Session(linked(program, "Answer", tmp_path), columns=(Column("chat", "chat"),), cases=(case,))
    session = record(session, session.cases[0], session.columns[0])
    store.save(session, path)
    text = PROGRAM
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    program.write_text(text)
    at_the_desk(act, store.load(path), path)
    return path


LETTER, SAID = ("Read the note.", "Read the letter."), ("what was written", "what was said")


@pytest.mark.slow
def test_a_program_that_says_otherwise_fails_f9_with_the_words_of_check(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f9")
        assert isinstance(desk.app.screen, ReviewScreen)
        review = desk.app.screen
        path = tmp_path / "q.session.json"
        (result,) = check_file(path, Plan(), None, Follower()).results
        assert result.verdicts["source"] == "drift"
        assert [one.example.drift for one in review.decisions.causes] == [result.drift]
        await desk.until(lambda: "once pulled, messages[0]" in review.text, "for what pulling changes")
        await desk.press("A", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert "Read the letter." in desk.document.session.signature.text and desk.document.dirty
        assert any("the program's text" in one.message for one in desk.app._notifications)
        await desk.press("f9")
        assert isinstance(desk.app.screen, ReviewScreen)
        assert [one.key.kind for one in desk.app.screen.decisions.causes] == ["instructions"]
        await desk.press("A", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert passes(desk)
        await desk.press("ctrl+z", "ctrl+z")
        assert "Read the note." in desk.document.session.signature.text and not desk.document.dirty

    beside_its_program(tmp_path, act, LETTER)


def test_of_two_changes_of_a_program_one_that_was_left_is_never_taken_over(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        before = desk.document.state
        await desk.press("f9")
        assert isinstance(desk.app.screen, ReviewScreen)
        assert "depends on another cause" in desk.app.screen.text
        await desk.press("a", "S", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert desk.document.state is before
        (said,) = [one for one in desk.app._notifications if "program's text waits for another cause" in one.message]
        assert said.title == "Accepted, waiting for another cause" and "F9 asks again" in said.message

    beside_its_program(tmp_path, act, LETTER, SAID)


@pytest.mark.slow
def test_a_program_that_says_the_same_holds_and_f9_names_it(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f9")
        assert desk.app.screen is desk.main
        assert any("match" in one.title and "source pass" in one.message for one in desk.app._notifications)

    beside_its_program(tmp_path, act)


def test_own_edits_are_recorded_by_accepting_all_and_never_lost_to_the_program(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        session = desk.document.session
        text = session.signature.text.replace("Read the note.", "Read my note.")
        mine = replace(session, signature=replace(session.signature, text=text))
        desk.main.edit(lambda state: replace(state, session=mine), Place("signature"), "mine")
        await desk.press("f9", "A", "escape")
        await desk.until(lambda: desk.app.screen is desk.main, "for the panes")
        assert desk.document.session.signature.text == text and passes(desk)
        assert any("not pulled: the session was edited" in one.message for one in desk.app._notifications)

    beside_its_program(tmp_path, act)
