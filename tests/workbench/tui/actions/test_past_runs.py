"""What was sent before is seen, compared and taken up again; ratings of a file are kept."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sessions.file import store
from sessions.model.replies import Reply
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.editing import edits
from workbench.state.document import Place
from workbench.tui.actions.past_runs import RunHistoryScreen


@pytest.mark.slow
def test_two_runs_are_compared_and_one_is_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    store.save(TICKETS, path)

    async def act(desk: Desk) -> None:
        await desk.press("f3", "f8")
        await desk.sent()
        first = desk.reply("chat")
        desk.main.edit(partial(edits.set_model, model="offline/chatty"), Place("model"), "model")
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
