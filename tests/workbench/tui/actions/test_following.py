"""A session beside its program: what another editor saves is on screen, and own edits are never written over."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from textual.notifications import Notification
from textual.widgets import OptionList

from sessions.file import store
from sessions.model.session import DEFAULT_COLUMNS, Case, Session
from sessions.source.linking import linked
from sessions.source.pull_push import Push
from tests.support.open_app import MIDDLE, SMALL, Desk, at_the_desk
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.actions import following
from workbench.tui.actions.following import Following
from workbench.tui.dialogs.ask import ConfirmScreen
from workbench.tui.panes.status import StatusLine
from workbench.tui.widgets.text.plain import PlainStatic

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


def run(path: Path, act: Callable[[Desk, Path], Awaitable[None]], size: tuple[int, int] = MIDDLE) -> None:
    async def at(desk: Desk) -> None:
        await desk.until(lambda: desk.app._is_following, "for the watch")
        await act(desk, path.parents[1] / "qa.py")

    at_the_desk(at, store.load(path), path, size=size)


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize(("key", "wanted"), [("t", "Read the letter."), ("m", "Read it."), ("b", "Read it.")])
def test_own_edits_are_kept_until_it_is_chosen_whose_text_stands(session: Path, key: str, wanted: str) -> None:
    opened = store.load(session)
    text = opened.signature.text.replace("Read the note.", "Read it.")
    store.save(replace(opened, signature=replace(opened.signature, text=text)), session)

    async def act(desk: Desk, program: Path) -> None:
        program.write_text(QA.replace("Read the note.", "Read the letter."))
        said = "and this session differ"
        await desk.until(lambda: any(said in one.message for one in desk.app._notifications), "for the question")
        assert "Read it." in desk.prompt("chat")
        await desk.press("shift+f11")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the choice")
        await desk.press(key)
        await desk.until(lambda: wanted in desk.prompt("chat"), "for the chosen text")
        columns = [one.id for one in desk.document.session.columns]
        assert ("chat · program" in columns) is (key == "b")
        if key == "b":
            await desk.until(lambda: "Read the letter." in desk.prompt("chat · program"), "for the program's")

    run(session, act)


def test_a_reply_that_comes_while_the_program_is_written_stays(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(desk: Desk, program: Path) -> None:
        push = following.pushed

        def pushed(of: Session, folder: Path) -> Push:
            reply = partial(edits.edit_reply, case="one", column="chat", text="came meanwhile")
            desk.app.call_from_thread(desk.main.edit, reply, Place("case", "one"), "reply")
            return push(of, folder)

        monkeypatch.setattr(following, "pushed", pushed)
        text = desk.document.session.signature.text.replace("Read the note.", "Read it.")
        desk.main.edit(partial(edits.set_signature, text=text), Place("signature"), "edit")
        await asked(desk)
        await desk.press("w")
        await desk.until(lambda: "Read it." in program.read_text(), "for the program")
        await desk.settle()
        assert desk.document.session.case("one").replies["chat"].text == "came meanwhile"

    run(session, act)


def test_a_program_that_is_not_written_names_the_key_for_its_version(session: Path) -> None:
    async def act(desk: Desk, program: Path) -> None:
        program.write_text(program.read_text().replace("note: str", "note: int"))
        text = desk.document.session.signature.text.replace("Read the note.", "Read it.")
        desk.main.edit(partial(edits.set_signature, text=text), Place("signature"), "edit")
        await asked(desk)
        await desk.press("w")
        await desk.until(lambda: any(one.title == "Not written" for one in desk.app._notifications), "for the reason")
        (said,) = [one.message for one in desk.app._notifications if one.title == "Not written"]
        assert "shift+F11, The program's, takes it over" in said and "`workbench" not in said

    run(session, act)


@pytest.mark.slow
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


def edited(path: Path, before: str, after: str) -> None:
    """The session's own text, edited."""
    opened = store.load(path)
    assert before in opened.signature.text
    text = opened.signature.text.replace(before, after)
    store.save(replace(opened, signature=replace(opened.signature, text=text)), path)


async def asked(desk: Desk) -> str:
    """The question of shift+F11, when it is there."""
    await desk.press("shift+f11")
    await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the choice")
    return str(desk.app.screen.query_one(".dialog-text", PlainStatic).render())


def toasts(desk: Desk) -> list[str]:
    return [one.message for one in desk.app._notifications]


@pytest.mark.slow
@pytest.mark.parametrize("key", ["t", "b"])
def test_what_is_saved_while_it_is_asked_is_what_the_program_says(
    session: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Following, "look", lambda self: None)  # the answer alone has to see it
    edited(session, "Read the note.", "Read it.")

    async def act(desk: Desk, program: Path) -> None:
        program.write_text(QA.replace("Read the note.", "Read the letter."))
        await asked(desk)
        program.write_text(QA.replace("Read the note.", "Read the newest letter."))
        await desk.press(key)
        column = "chat · program" if key == "b" else "chat"
        await desk.until(lambda: desk.main.columns.column(column) is not None, "for the column")
        await desk.until(lambda: "letter." in desk.prompt(column), "for the program's word")
        assert "Read the newest letter." in desk.prompt(column)

    run(session, act)


def test_a_program_that_is_broken_while_it_is_asked_takes_nothing_over(session: Path) -> None:
    edited(session, "Read the note.", "Read it.")

    async def act(desk: Desk, program: Path) -> None:
        await asked(desk)
        program.write_text(QA.replace("class Answer(", "class Answer(("))
        await desk.press("t")
        await desk.until(lambda: any("qa.py: line" in one for one in toasts(desk)), "for the mistake")
        assert "Read it." in desk.document.session.signature.text

    run(session, act)


def test_a_mistake_of_the_sessions_own_text_is_called_that_and_the_programs_can_be_had(session: Path) -> None:
    edited(session, "sure: bool", "sure: bool = = ")

    async def act(desk: Desk, program: Path) -> None:
        question = " ".join((await asked(desk)).split())
        assert "This session's own text cannot be read: line 7" in question
        await desk.press("t")
        await desk.until(lambda: "= =" not in desk.document.session.signature.text, "for the program's text")
        await desk.until(lambda: "Read the note." in desk.prompt("chat"), "for the prompt")

    run(session, act)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("sure: bool", "sure: float", "the type of `sure` has changed"),
        ("    sure:", "    desc: str = dspy.OutputField()\n    sure:", "the output field `desc` is gone"),
        ("import dspy", "import dspy  # ours", "no prompt shows the differences"),
    ],
)
def test_why_the_two_cannot_stand_side_by_side_is_said(session: Path, before: str, after: str, why: str) -> None:
    edited(session, before, after)

    async def act(desk: Desk, program: Path) -> None:
        question = " ".join((await asked(desk)).split())
        assert "Cannot show both side by side" in question and f": {why}" in question
        await desk.press("b")
        assert isinstance(desk.app.screen, ConfirmScreen)

    run(session, act)


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, MIDDLE])
def test_the_last_line_says_that_program_and_session_differ_as_long_as_they_do(
    session: Path, size: tuple[int, int]
) -> None:
    edited(session, "Read the note.", "Read it.")
    opened = store.load(session)
    more = (*opened.cases, Case("of a customer with a long name", {"note": "y"}))
    store.save(replace(opened, cases=more, model="anthropic/claude-with-a-long-name-of-its-own"), session)
    mark = "≠ program shift+F11"

    async def act(desk: Desk, program: Path) -> None:
        line = desk.main.query_one(StatusLine)

        def said() -> str:
            return "\n".join(line.render_line(row).text for row in range(line.size.height))

        await desk.until(lambda: mark in said(), "for the mark")
        program.write_text(QA.replace("Read the note.", "Read it."))
        await desk.until(lambda: mark not in said(), "for the mark to go, both say the same")
        program.write_text(QA)
        await desk.until(lambda: mark in said(), "for the mark")
        await asked(desk)
        await desk.press("t")
        await desk.until(lambda: mark not in said(), "for the mark to go, the program's was taken")
        desk.app.action_undo()
        await desk.until(lambda: mark in said(), "for the mark: the edits are back")

    run(session, act, size)


def test_the_answers_are_in_sight_however_much_differs(session: Path) -> None:
    fields = "".join(f"    field_{number}: str = dspy.InputField()\n" for number in range(40))
    edited(session, "    sure: bool", f"{fields}    sure: bool")

    async def act(desk: Desk, program: Path) -> None:
        assert "more lines" in await asked(desk)
        dialog = desk.app.screen.query_one(".dialog")
        answers = desk.app.screen.query_one(OptionList)
        assert answers.option_count == 3
        assert answers.region.bottom < dialog.region.bottom <= desk.app.size.height

    run(session, act, SMALL)


@pytest.mark.slow
def test_that_the_two_differ_is_told_once_and_no_longer_than_they_do(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "TOAST_S", 600)  # time alone ends none here
    edited(session, "Read the note.", "Read it.")

    async def act(desk: Desk, program: Path) -> None:
        def told() -> list[Notification]:
            return [one for one in desk.app._notifications if "and this session differ" in one.message]

        await desk.until(told, "for the words")
        (first,) = told()
        program.write_text(QA.replace("Read the note.", "Read the letter."))
        await desk.until(lambda: any(one is not first for one in told()), "for the words on the new text")
        assert first not in told() and len(told()) == 1
        program.write_text(QA.replace("Read the note.", "Read it."))
        await desk.until(lambda: not told(), "for the words to go: both say the same")
        program.write_text(QA)
        await desk.until(told, "for the words")
        await asked(desk)
        assert not told()

    run(session, act)
