"""What was sent before is seen, compared and taken up again; ratings of a file are kept."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from sessions.file import store
from sessions.model.replies import Reply
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.editing import edits
from workbench.sending.sent_runs import PastRun, SentRuns
from workbench.state.document import Place
from workbench.tui.actions import past_runs
from workbench.tui.actions.past_runs import toggle_private
from workbench.tui.dialogs.sent_runs import RunHistoryScreen, one_run
from workbench.tui.widgets.text.wrapping import rows


@pytest.mark.slow
def test_two_runs_are_compared_and_one_is_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        await desk.press("f3", "f8")
        await desk.sent()
        first = desk.reply("chat")
        desk.main.edit(partial(edits.set_session, model="offline/chatty"), Place("model"), "model")
        await desk.press("f8")
        await desk.sent()
        assert desk.reply("chat") != first
        await desk.press("shift+f7")
        screen = desk.app.screen
        assert isinstance(screen, RunHistoryScreen)
        await desk.press("space", "down")
        shown = "\n".join(screen._text.row(y, 90).text for y in range(20))
        assert "offline/chatty" in shown and "the same values" in shown
        await desk.press("enter")
        assert desk.reply("chat") == first

    at_the_desk(act, path=path)


def test_a_rating_from_the_file_is_shown_saved_unchanged_and_gone_with_an_edit(tmp_path: Path) -> None:
    reply = Reply("[[ ## label ## ]]\nbug", rating="good", note="so so [/x]")
    rated = replace(TICKETS, cases=(replace(TICKETS.cases[0], replies={"chat": reply}),))
    path, again = tmp_path / "s.json", tmp_path / "again.json"
    store.save(rated, path)

    async def act(desk: Desk) -> None:
        assert "★ good · “so so [/x]”" in desk.verdict("chat")
        store.save(desk.document.session, again)
        await desk.press("f4")
        await desk.type("x")
        assert desk.document.state.case.replies["chat"].rating is None

    at_the_desk(act, store.load(path), path)
    assert again.read_bytes() == path.read_bytes()


def test_the_unit_of_a_time_is_never_alone_on_a_row() -> None:
    head, *_ = one_run(PastRun("2026-11-01T12:00:00", "a case", "chat", "offline/exact", "done", 0.4, "text"))
    text = "".join([piece.text for piece in head.pieces])
    assert "0.4" in text
    for width in range(40, 120):
        assert "s" not in [text[start:end].strip() for start, end in rows(text, width)]


async def searched(desk: Desk, count: int) -> RunHistoryScreen:
    """Wait for what the search in front has found."""
    screen = desk.app.screen
    assert isinstance(screen, RunHistoryScreen)
    await desk.until(lambda: screen._found.count == count, f"for {count} runs")
    return screen


def test_everything_sent_is_searched_while_typing_and_opens_as_it_was(tmp_path: Path) -> None:
    path, other = tmp_path / "t.json", tmp_path / "other.json"
    store.save(TICKETS, path)
    store.save(replace(TICKETS, name="others"), other)

    async def act(desk: Desk) -> None:
        await desk.press("f3", "f8")
        await desk.sent()
        first = desk.reply("chat")
        desk.app.load(store.load(other), other)
        await desk.press("f3", "f8")
        await desk.sent()
        changed = replace(desk.document.session, signature=replace(TICKETS.signature, text="note -> label"))
        desk.main.edit(lambda state: replace(state, session=changed), Place("session"), "another signature")
        await desk.press("f5")
        await desk.sent()
        before = desk.document.session
        await desk.press("alt+h")
        await searched(desk, 5)
        await desk.press("alt+w")
        await searched(desk, 4)
        await desk.press("alt+w")
        await searched(desk, 4)
        await desk.press("alt+w", "alt+w")
        await searched(desk, 5)
        await desk.type("mail phone model:exact")
        await searched(desk, 2)
        await desk.press("enter")
        assert desk.document.session.signature.text == TICKETS.signature.text
        assert len(desk.document.session.cases) == 2 and desk.document.path == other
        await desk.press("ctrl+z")
        assert desk.document.session == before
        store.save(before, other)
        desk.app.load(store.load(other), other)
        await desk.press("alt+h")
        await searched(desk, 5)
        await desk.type("mail")
        await searched(desk, 2)
        await desk.press("down", "enter")
        assert desk.document.path is None and desk.document.session.name == "tickets"
        assert [one.name for one in desk.document.session.cases] == ["first"]
        assert desk.reply("chat") == first

    at_the_desk(act, store.load(path), path)


def test_runs_of_a_private_session_are_listed_and_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        toggle_private(desk.app)
        await desk.press("f3", "f8")
        await desk.sent()
        await desk.press("shift+f7")
        screen = await searched(desk, 1)
        await desk.press("r")
        assert desk.app.screen is not screen and desk.document.session.private
        await desk.press("alt+h")
        screen = await searched(desk, 0)
        await desk.until(lambda: "Nothing was sent here yet" in screen._text.row(0, 90).text)
        await desk.press("escape", "ctrl+s")
        assert store.load(path).private

    at_the_desk(act, store.load(path), path)


def test_a_search_that_fails_empties_the_list_and_the_next_one_fills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(desk: Desk) -> None:
        for _ in range(2):
            await desk.press("f3", "f8")
            await desk.sent()
        await desk.press("alt+h")
        screen = await searched(desk, 2)
        await desk.press("down")
        with monkeypatch.context() as broken:
            broken.setattr(SentRuns, "search", Mock(side_effect=OSError("the disk is gone")))
            await desk.type("m")
            await searched(desk, 0)
            await desk.until(lambda: "the disk is gone" in screen._text.row(0, 90).text)
            screen.action_mark()
        await desk.press("backspace")
        await searched(desk, 2)

    at_the_desk(act)


def test_the_columns_of_runs_of_other_cases_are_below_one_another() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "f8")
        await desk.sent()
        desk.main.show_case(1)
        await desk.press("f8")
        await desk.sent()
        await desk.press("alt+h")
        screen = desk.app.screen
        assert isinstance(screen, RunHistoryScreen)
        await desk.until(lambda: screen._found.count == 2, "for the runs")
        rows = [screen._line(row).plain for row in (0, 1)]
        assert "second  " in rows[0] and len({one.index("chat") for one in rows}) == 1, rows

    at_the_desk(act)


def test_why_runs_are_not_saved_is_told_once_until_it_works_again(monkeypatch: pytest.MonkeyPatch) -> None:
    add, said = Mock(), list[str]()
    monkeypatch.setattr(SentRuns, "add", add)
    monkeypatch.setattr(past_runs, "plain_notify", lambda _, text, **__: said.append(text))  # messages expire

    async def act(desk: Desk) -> None:
        failed = OSError("the disk is gone")
        for number, (error, told) in enumerate([(failed, 1), (failed, 1), (None, 1), (failed, 2)], 1):
            add.side_effect = error
            await desk.press("f8")
            await desk.sent()
            await desk.until(lambda calls=number: add.call_count == calls)
            await desk.app.past_runs.ask(lambda kept: None, False)
            await desk.until(lambda most=told: len(said) >= most)  # it is told from a thread
            assert said == ["the disk is gone. Runs sent now cannot be found later."] * told

    at_the_desk(act)


def test_hostile_runs_are_text_on_the_screen(tmp_path: Path) -> None:
    hostile = "[/x] \x1b]0;t\x07 \ud800 [@click=app.exit]"
    session = replace(TICKETS, cases=(replace(TICKETS.cases[0], name=hostile),), name=hostile)

    async def act(desk: Desk) -> None:
        await desk.press("f3", "f8")
        await desk.sent()
        await desk.press("alt+h")
        screen = await searched(desk, 1)
        await desk.until(lambda: "[/x]" in screen._text.row(0, 90).text)
        await desk.type('"[/x] OR (')
        await searched(desk, 1)

    at_the_desk(act, session)
