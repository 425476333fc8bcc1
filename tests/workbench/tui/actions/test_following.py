"""A session beside its program: what another editor saves is on screen, and own edits are never written over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.file import store
from sessions.model.session import DEFAULT_COLUMNS, Case, Session
from sessions.source.linking import linked
from tests.support.open_app import Desk, at_the_desk
from workbench.tui.dialogs.confirm import ConfirmScreen

QA = '''import dspy

class Answer(dspy.Signature):
    """Read the note."""
    note: str = dspy.InputField(desc="what was written")
    sure: bool = dspy.OutputField()

raise SystemExit("never run")
'''


@pytest.fixture
def session(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "qa.py").write_text(QA)
    (tmp_path / "prompts").mkdir()
    path = tmp_path / "prompts" / "q.session.json"
    signature = linked(tmp_path / "qa.py", "Answer", path.parent)
    store.save(Session(signature, columns=DEFAULT_COLUMNS, cases=(Case("one", {"note": "x"}),)), path)
    return path


def run(path: Path, act: Callable[[Desk, Path], Awaitable[None]]) -> None:
    async def at(desk: Desk) -> None:
        await desk.until(lambda: desk.app._is_following, "for the watch")
        await act(desk, path.parents[1] / "qa.py")

    at_the_desk(at, store.load(path), path)


def test_what_another_editor_saves_is_in_every_column_and_can_be_undone(session: Path) -> None:
    async def act(desk: Desk, program: Path) -> None:
        program.write_text(QA.replace("Read the note.", "Read the letter."))
        await desk.until(lambda: "Read the letter." in desk.prompt("chat"), "for the program's word")
        assert "Read the letter." in desk.prompt("xml")
        assert desk.document.dirty
        desk.app.action_undo()
        await desk.settle()
        assert "Read the note." in desk.prompt("chat")

    run(session, act)


def test_a_program_that_cannot_be_read_leaves_the_last_good_text(session: Path) -> None:
    async def act(desk: Desk, program: Path) -> None:
        program.write_text(QA.replace("class Answer(", "class Answer(("))
        await desk.until(lambda: any("qa.py: line" in one.message for one in desk.app._notifications), "for the words")
        assert "Read the note." in desk.prompt("chat")
        program.unlink()
        await desk.until(lambda: any("no such file" in one.message for one in desk.app._notifications), "for the words")
        program.write_text(QA.replace("what was written", "what was said"))
        await desk.until(lambda: "what was said" in desk.prompt("chat"), "for the program's word")

    run(session, act)


@pytest.mark.parametrize(("key", "wanted"), [("t", "Read the letter."), ("m", "Read it."), ("b", "Read it.")])
def test_own_edits_are_kept_until_it_is_chosen_whose_text_stands(session: Path, key: str, wanted: str) -> None:
    opened = store.load(session)
    text = opened.signature.text.replace("Read the note.", "Read it.")
    store.save(replace(opened, signature=replace(opened.signature, text=text)), session)

    async def act(desk: Desk, program: Path) -> None:
        program.write_text(QA.replace("Read the note.", "Read the letter."))
        said = "says otherwise than this session"
        await desk.until(lambda: any(said in one.message for one in desk.app._notifications), "for the question")
        assert "Read it." in desk.prompt("chat")
        await desk.press("shift+f11")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the choice")
        await desk.press(key)
        await desk.until(lambda: wanted in desk.prompt("chat"), "for the chosen text")
        columns = [one.id for one in desk.document.session.columns]
        assert ("chat program" in columns) is (key == "b")
        if key == "b":
            await desk.until(lambda: "Read the letter." in desk.prompt("chat program"), "for the program's")

    run(session, act)


def test_a_session_without_a_link_watches_nothing(session: Path) -> None:
    opened = store.load(session)
    bare = replace(opened, signature=replace(opened.signature, source=None))

    async def act(desk: Desk) -> None:
        assert not desk.app._is_following
        await desk.press("shift+f11")
        assert any("no link to a program" in one.message for one in desk.app._notifications)

    at_the_desk(act, bare, session)


def test_a_class_of_the_users_own_program_is_not_covered_by_the_guide_of_the_example(
    session: Path, tmp_path: Path
) -> None:
    async def act(desk: Desk) -> None:
        await desk.until(lambda: desk.app._is_following, "for the watch")
        assert desk.main.guide is None

    at_the_desk(act, store.load(session), None, home=tmp_path / "home")
