"""What another program does to an open file is asked about, and nothing that was typed is ever lost."""

from __future__ import annotations

import errno
import os
import signal
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest
from open_app import MIDDLE, SMALL, TICKETS, Desk, at_the_desk
from textual.widgets import Input

from sessions.file import autosave, saving, store
from sessions.model.session import Case, Session, SignatureText
from workbench.__main__ import main
from workbench.state.document import Place, session_with_drafts
from workbench.tui.actions import files
from workbench.tui.dialogs.ask import AskScreen, ConfirmScreen
from workbench.tui.widgets.text.plain import PlainStatic

ELSEWHERE = replace(TICKETS, notes="theirs")
THEIRS = ELSEWHERE.replace_case(replace(TICKETS.cases[0], inputs={**TICKETS.cases[0].inputs, "ticket": "theirs"}))


def question_of(desk: Desk) -> str:
    return str(desk.app.screen.query_one(".dialog-text", PlainStatic).render())


def changed_on_disk(path: Path, answer: str) -> Desk:
    """Opens the file, edits, has another program change the same in it, saves, and gives `answer`."""
    store.save(TICKETS, path)
    desks = []

    async def act(desk: Desk) -> None:
        desks.append(desk)
        assert files.open_path(desk.app, path)
        await desk.go_to("input", "ticket")
        await desk.paste_over("mine")
        store.save(THEIRS, path)
        await desk.press("ctrl+s")
        await desk.until(lambda: len(desk.app.screen_stack) > 1, "for the question")
        assert "changed on disk in the same places: cases · first · inputs · ticket" in question_of(desk)
        await desk.press(answer)
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "for the answer")
        await desk.settle()
        desk.kept = [store.load(one.place) for one in saving.restore_points(path)]  # type: ignore[attr-defined]

    at_the_desk(act)
    return desks[0]


@pytest.mark.slow
def test_keep_mine_writes_over_the_change_and_keeps_it_as_an_earlier_version(tmp_path: Path) -> None:
    desk = changed_on_disk(tmp_path / "q.json", "k")
    assert store.load(tmp_path / "q.json").cases[0].inputs["ticket"] == "mine"
    assert not desk.document.dirty
    assert desk.kept == [THEIRS]  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("size", [MIDDLE, SMALL])
def test_that_unsaved_work_is_not_kept_is_said_in_the_last_line_once_and_that_it_is_again(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    """A disk becomes full while one types, and has room again."""
    fsync = os.fsync
    is_full = [False]

    def write_through(descriptor: int) -> None:
        if is_full[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", write_through)

    async def act(desk: Desk) -> None:
        said: list[str] = []
        say = desk.main.status.say
        monkeypatch.setattr(desk.main.status, "say", lambda *words: (said.append(words[0]), say(*words)))
        await desk.go_to("input", "ticket")
        await desk.type("a")
        assert said == []
        is_full[0] = True
        await desk.type("b")
        await desk.until(lambda: said, "for the word on the copy")
        shown = desk.main.status.render().plain
        assert "unsaved work not backed up: the disk is full; free some space" in shown
        tries = autosave.write(desk.document.session, None)
        await desk.settle()
        assert tries and len(said) == 1, "once is enough"
        is_full[0] = False
        await desk.type("c")
        await desk.until(lambda: len(said) > 1, "for the word that it works again")
        assert "unsaved work is backed up again" in desk.main.status.render().plain
        assert len(said) == 2

    at_the_desk(act, size=size)


@pytest.mark.slow
def test_reload_takes_the_file_and_keeps_mine_as_an_earlier_version(tmp_path: Path) -> None:
    desk = changed_on_disk(tmp_path / "q.json", "r")
    assert desk.document.session == THEIRS
    assert not desk.document.dirty
    assert [one.cases[0].inputs["ticket"] for one in desk.kept] == ["mine"]  # type: ignore[attr-defined]


def test_keep_both_takes_over_the_rest_of_the_file(tmp_path: Path) -> None:
    desk = changed_on_disk(tmp_path / "q.json", "b")
    saved = store.load(tmp_path / "q.json")
    assert (saved.cases[0].inputs["ticket"], saved.notes) == ("mine", "theirs")
    assert (desk.document.session, desk.document.dirty) == (saved, False)
    assert desk.kept == [THEIRS]  # type: ignore[attr-defined]


def test_what_another_program_changed_elsewhere_in_the_file_is_taken_over_and_can_be_undone(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        desk.main.show_case(1)
        await desk.go_to("input", "ticket")
        await desk.paste_over("mine")
        store.save(replace(ELSEWHERE, cases=(Case("new"), *ELSEWHERE.cases)), path)
        await desk.press("ctrl+s")
        await desk.until(lambda: not desk.document.dirty, "for the save")
        saved = store.load(path)
        assert [case.name for case in saved.cases] == ["new", "first", "second"]
        assert (saved.case("second").inputs["ticket"], saved.notes) == ("mine", "theirs")
        assert desk.document.session == saved
        assert desk.document.state.case.name == "second"
        (said,) = desk.app._notifications
        assert said.title == "Saved and merged q.json" and "cases · new, notes" in said.message
        assert [store.load(one.place).notes for one in saving.restore_points(path)] == ["theirs"]
        desk.document.undo()
        assert desk.document.session.notes == TICKETS.notes and desk.document.dirty

    at_the_desk(act)


@pytest.mark.slow
def test_without_an_answer_nothing_is_written(tmp_path: Path) -> None:
    desk = changed_on_disk(tmp_path / "q.json", "escape")
    assert store.load(tmp_path / "q.json") == THEIRS
    assert desk.document.dirty


def test_saving_twice_is_no_conflict_with_oneself(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        for word in ("one", "two"):
            await desk.go_to("input", "ticket")
            await desk.paste_over(word)
            await desk.press("ctrl+s")
            await desk.until(lambda: not desk.document.dirty)

    at_the_desk(act)
    assert store.load(path).cases[0].inputs["ticket"] == "two"


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="ends a process by a signal")
@pytest.mark.parametrize("answer", ["alt+t", "alt+l"])
def test_work_of_a_killed_app_is_offered_and_stays_whatever_the_answer(tmp_path: Path, answer: str) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        child = os.fork()
        if not child:
            autosave.Autosave().write(THEIRS, path)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        assert files.open_path(desk.app, path)
        desk.app.ask(files.offer_left_over(desk.app))
        await desk.until(lambda: len(desk.app.screen_stack) > 1, "for the question")
        await desk.press(answer)
        await desk.until(lambda: saving.restore_points(path), "for the copy to be put away")
        assert desk.document.session == (THEIRS if answer == "alt+t" else TICKETS)
        assert autosave.left_over(path) is None
        assert [store.load(one.place) for one in saving.restore_points(path)] == [THEIRS]

    at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("sender", ["app", "command line"])
def test_a_reply_to_an_older_prompt_is_still_marked_as_old_when_the_file_is_opened_again(
    tmp_path: Path, sender: str
) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)
    if sender == "command line":
        assert main(["send", str(path), "--save", "--adapter", "chat", "--model", "offline/exact"]) == 0

    async def work(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        if sender == "app":
            await desk.press("f5")
            await desk.sent()
        assert "old reply" not in desk.verdict("chat")
        await desk.go_to("input", "ticket")
        await desk.type("!")
        assert "old reply" in desk.verdict("chat")
        await desk.press("ctrl+s")

    async def again(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        assert "old reply" in desk.verdict("chat")
        await desk.go_to("input", "ticket")
        await desk.paste_over(TICKETS.cases[0].inputs["ticket"])
        assert "old reply" not in desk.verdict("chat"), "the prompt that it answers"

    for act in (work, again):
        at_the_desk(act)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="ends a process by a signal")
@pytest.mark.parametrize("way", ["edited", "sent"])
def test_a_reply_to_an_older_prompt_is_still_marked_as_old_when_killed_work_is_taken_up(
    tmp_path: Path, way: str
) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)
    copies: list[Session] = []

    async def work(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        await desk.press("f5")
        await desk.sent()
        if way == "edited":
            await desk.press("f4", "ctrl+end")
            await desk.type("!")
        await desk.go_to("input", "ticket")
        await desk.type("!")
        assert "old reply" in desk.verdict("chat")
        copies.append(session_with_drafts(desk.document.state))

    async def again(desk: Desk) -> None:
        child = os.fork()
        if not child:
            autosave.Autosave().write(copies[0], path)
            os.kill(os.getpid(), signal.SIGKILL)
        os.waitpid(child, 0)
        assert files.open_path(desk.app, path)
        desk.app.ask(files.offer_left_over(desk.app))
        await desk.until(lambda: len(desk.app.screen_stack) > 1, "for the question")
        await desk.press("t", "l")
        assert isinstance(desk.app.screen, ConfirmScreen), "letters that were meant for the editor answer nothing"
        await desk.press("alt+t")
        await desk.until(lambda: desk.reply("chat"), "for the work")
        assert "old reply" in desk.verdict("chat")
        await desk.go_to("input", "ticket")
        await desk.paste_over(TICKETS.cases[0].inputs["ticket"])
        assert "old reply" not in desk.verdict("chat"), "the prompt that it answers"
        await desk.type("?")
        assert "old reply" in desk.verdict("chat")

    for act in (work, again):
        at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["edited", "sent"])
@pytest.mark.parametrize("key", ["ctrl+q", "ctrl+o"])
def test_a_reply_is_asked_about_before_it_would_be_lost(way: str, key: str, tmp_path: Path) -> None:
    other = tmp_path / "other.session.json"
    store.save(THEIRS, other)

    async def act(desk: Desk) -> None:
        if way == "edited":
            await desk.press("f4")
            await desk.type("my own reply")
        else:
            await desk.press("f5")
            await desk.sent()
        before = desk.document.session
        await desk.press(key)
        if key == "ctrl+o":
            await desk.fill_in(str(other))
            await desk.press("end", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        await desk.press("c")
        assert desk.app.is_running and desk.document.session is before
        assert desk.document.state.case.replies

    at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["ctrl+n", "ctrl+o"])
def test_a_text_that_is_no_value_is_asked_about_before_another_session_takes_its_place(
    key: str, tmp_path: Path
) -> None:
    path, other = tmp_path / "q.json", tmp_path / "other.session.json"
    store.save(TICKETS, path)
    store.save(THEIRS, other)

    async def let_go(desk: Desk) -> None:
        await desk.press("f3", key)  # ctrl+n in a row is a new row
        if key == "ctrl+o":
            await desk.fill_in(str(other))
            await desk.press("end", "enter")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")

    async def act(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        await desk.go_to("input", "tags")
        await desk.paste_over('["unfinished')
        await desk.press("ctrl+s")
        assert not desk.document.dirty
        await let_go(desk)
        assert "One field has an invalid value: input tags." in question_of(desk)
        await desk.press("c")
        assert desk.document.path == path and desk.document.state.drafts
        await let_go(desk)
        await desk.press("d")
        assert isinstance(desk.app.screen, ConfirmScreen), "a letter of a typed text"
        await desk.press("alt+d")
        await desk.until(lambda: desk.document.path != path, "for the other session")
        assert not desk.document.state.drafts

    at_the_desk(act)


@pytest.mark.slow
def test_leaving_asks_where_a_text_that_is_no_value_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)

    def refuse(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async def act(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        await desk.go_to("input", "tags")
        await desk.paste_over('["unfinished')
        monkeypatch.setattr(os, "fsync", refuse)
        await desk.press("ctrl+q")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        assert "the disk is full; free some space" in question_of(desk)
        await desk.press("c")
        assert desk.app.is_running and desk.document.state.drafts
        await desk.press("ctrl+q")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        await desk.press("q")
        await desk.until(lambda: not desk.app.is_running, "for the end")

    at_the_desk(act)


def test_the_name_that_is_proposed_is_one_that_pytest_collects() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f12")
        assert desk.app.screen.query_one(Input).value.endswith("/tickets.session.json")

    at_the_desk(act)


@pytest.mark.slow
def test_a_new_session_is_proposed_to_be_saved_under_the_name_of_its_signature() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("ctrl+n")
        await desk.press("f12")
        assert desk.app.screen.query_one(Input).value.endswith("/session.session.json")
        await desk.press("escape")
        for text, name in (("review, shop -> mood, reasons", "review-mood"), ("", "session"), ("a -> b)", "session")):
            short = replace(desk.document.session, signature=SignatureText(text))
            assert files._file_name(short) == name
        made = replace(desk.document.session, signature=TICKETS.signature)
        desk.main.edit(lambda state: replace(state, session=made), Place("signature"), "paste")
        await desk.settle()
        await desk.press("f12")
        assert desk.app.screen.query_one(Input).value.endswith("/classify.session.json")

    at_the_desk(act)


def test_a_new_session_takes_the_name_of_the_file_it_is_saved_to(tmp_path: Path) -> None:
    path = tmp_path / "support-mail.session.json"

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+n")
        await desk.press("ctrl+s")
        await desk.fill_in(str(path))
        await desk.press("enter")
        await desk.until(lambda: desk.document.path == path, "for the file")
        assert desk.document.session.name == "support-mail"
        assert not desk.document.dirty

    at_the_desk(act)
    assert store.load(path).name == "support-mail"


@pytest.mark.slow
def test_a_typed_name_replaces_the_name_alone_and_keeps_the_folder(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        with chdir(tmp_path):
            await desk.press("ctrl+n", "f12")
        await desk.press(*"mine")
        assert desk.app.screen.query_one(Input).value == str(tmp_path / "mine.session.json")

    at_the_desk(act)


def test_a_file_name_without_an_ending_gets_that_of_sessions(tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        for typed, written in (("mail", "mail.session.json"), ("v1.json", "v1.json")):
            await desk.press("f12")
            await desk.fill_in(str(tmp_path / typed))
            await desk.press("enter")
            path = tmp_path / written
            await desk.until(lambda path=path: desk.document.path == path, "for the file")

    at_the_desk(act)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mail.session.json", "v1.json"]


def test_a_session_with_a_name_keeps_it_under_another_file_name(tmp_path: Path) -> None:
    path = tmp_path / "other.session.json"

    async def act(desk: Desk) -> None:
        await desk.press("f12")
        await desk.fill_in(str(path))
        await desk.press("enter")
        await desk.until(lambda: desk.document.path == path, "for the file")

    at_the_desk(act)
    assert store.load(path).name == "tickets"


def test_quitting_ends_nothing_while_the_changes_are_not_saved(tmp_path: Path) -> None:
    too_long = str(tmp_path / ("x" * 250))  # with its ending

    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.paste_over("mine")
        for keys in (("escape",), ("enter",)):
            await desk.press("ctrl+q")
            await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
            await desk.press("s")
            await desk.until(lambda: isinstance(desk.app.screen, AskScreen), "for the file's name")
            await desk.fill_in(too_long)
            await desk.press(*keys)
            await desk.until(lambda: len(desk.app.screen_stack) == 1, "for the main screen")
        await desk.until(lambda: desk.app._notifications, "to be told")
        (said,) = desk.app._notifications
        assert (said.title, said.severity, said.timeout) == ("Not saved", "error", 15)
        assert "name too long" in said.message
        assert desk.app.is_running and desk.document.dirty

    at_the_desk(act)


def test_quitting_with_an_invalid_value_names_it_and_leads_to_it(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        assert files.open_path(desk.app, path)
        await desk.go_to("demo", "tags", 1)
        await desk.paste_over('["unfinished')
        await desk.press("ctrl+s")
        assert any("demo 2, tags" in str(one.message) for one in desk.app._notifications)
        await desk.press("f3", "ctrl+q")
        await desk.until(lambda: isinstance(desk.app.screen, ConfirmScreen), "for the question")
        assert "One field has an invalid value: demo 2, tags." in question_of(desk)
        await desk.press("c")
        assert desk.editor.raw == '["unfinished', "keep editing leads there"
        await desk.press("ctrl+q", "q")
        await desk.until(lambda: not desk.app.is_running, "for the end")

    at_the_desk(act)
