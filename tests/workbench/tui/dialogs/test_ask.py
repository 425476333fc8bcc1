"""A letter answers a question, wherever the highlight is."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events
from textual.widgets import Input

from sessions.model.session import Case, Column
from tests.support.hostile import HOSTILE, NAMES
from tests.support.open_app import SMALL, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from tests.workbench.tui.screens.test_review import fixture_session
from tests.workbench.tui.test_hostile_screen import assert_harmless
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import PlainStatic


def test_a_letter_chooses_its_answer() -> None:
    async def act(desk: Desk) -> None:
        got: list[str | None] = []
        desk.app.push_screen(ConfirmScreen("Save", "", [Answer("a", "t", "A"), Answer("b", "w", "B")]), got.append)
        await desk.pilot.pause()
        await desk.press("w")
        assert got == ["b"]

    at_the_desk(act)


def test_an_ending_that_is_typed_before_the_one_left_there_is_not_doubled() -> None:
    async def act(desk: Desk) -> None:
        got: list[str | None] = []
        for typed in ("lease", "lease.session.json", "lease.v2"):
            desk.app.push_screen(AskScreen("Save as", "/a/new.session.json", lambda _: "", is_path=True), got.append)
            await desk.pilot.pause()
            await desk.type(typed)
            await desk.press("enter")
        assert got == ["/a/lease.session.json", "/a/lease.session.json", "/a/lease.v2.session.json"]

    at_the_desk(act)


def test_answers_are_whole_and_below_one_another_where_there_is_room() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "alt+s")
        rows = [strip.text for strip in desk.app.screen._compositor.render_strips()]
        starts = (
            "count equal",
            "the page Repeats",
            "stop then",
            "the same requests",
            "until the reply is edited",
        )
        places = {row.index(start) for start in starts for row in rows if start in row}
        assert len(places) == 1, places
        assert any("keep what has come" in row for row in rows)

    at_the_desk(act, size=(120, 35))


def test_keys_of_a_dialog_stay_beside_their_words() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("alt+r")
        # the dialog first shows the keys of a run, too, until it knows that there is none
        await desk.until(lambda: str(desk.app.screen.query_one(".dialog-hint").render()).startswith("alt+w where"))
        keys = desk.app.screen.query_one(".dialog-hint", PlainStatic)
        keys.show("enter open as it was   r its reply alone   space compare   alt+w where   / search   esc close")
        await desk.settle()
        assert seen(keys)[0].rstrip() == "enter open as it was   r its reply alone   space compare"
        assert seen(keys)[1].rstrip() == "alt+w where   / search   esc close"

    at_the_desk(act, size=(80, 24))


def test_an_empty_list_of_runs_offers_no_keys_for_a_run() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("alt+r")
        await desk.until(lambda: "compare" not in str(desk.app.screen.query_one(".dialog-hint").render()))
        assert desk.app.screen.query_one(RowList).size.height == 0
        await desk.press("escape", "f5")
        await desk.sent()
        await desk.press("alt+r")
        hint = desk.app.screen.query_one(".dialog-hint")
        await desk.until(lambda: "r its reply alone   space compare" in str(hint.render()))
        await desk.press("slash")
        assert "tab to the list: r its reply alone, space compare" in str(hint.render()), "here letters are typed"

    at_the_desk(act)


def test_cases_are_below_one_another_and_say_first_what_is_recorded() -> None:
    long = "a long text of an input that takes the room of what comes after it"
    session = fixture_session()
    session = replace(session, cases=(session.cases[0], Case("a second case", {"question": long})))

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+t")
        rows = [strip.text for strip in desk.app.screen._compositor.render_strips()]
        (one,) = [row for row in rows if " recorded" in row]
        (second,) = [row for row in rows if "a second case " in row and "a long text" in row]
        assert one.index("recorded") - len("1 ") == second.index("a long text")

    at_the_desk(act, session=session)


def test_descriptions_of_files_are_below_one_another_however_long_the_names() -> None:
    names = ("rain.session.json", "a.session.json", "desk")

    async def act(desk: Desk) -> None:
        desk.app.push_screen(ChooseScreen("Open", [Entry(one, one, "in this folder") for one in names]))
        await desk.settle()
        rows = [strip.text for strip in desk.app.screen._compositor.render_strips()]
        assert len({row.index("in this folder") for row in rows if "in this folder" in row}) == 1

    at_the_desk(act)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_pasted_into_a_line_reaches_the_terminal_without_control_sequences(name: str) -> None:
    async def act(desk: Desk) -> None:
        pasted = HOSTILE[name][:200]
        for key in ("f12", "ctrl+p"):
            await desk.press(key)
            desk.app.post_message(events.Paste(pasted))
            await desk.settle()
            assert_harmless(desk)
            await desk.press("escape")

    at_the_desk(act)


def test_a_line_keeps_the_characters_that_it_shows_otherwise() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f12", "ctrl+a", "ctrl+k")
        desk.app.post_message(events.Paste("a\x1b[31mb\u200dc"))
        await desk.settle()
        line = desk.app.screen.query_one(Input)
        assert line.value.startswith("a\x1b[31mb\u200dc")
        assert "a␛[31mb" in seen(line)[0]

    at_the_desk(act)


@pytest.mark.parametrize("key", ["alt+u", "alt+s"])
def test_on_a_small_screen_the_descriptions_of_answers_are_whole_and_below_one_another(key: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.press(key)
        screen = desk.app.screen
        assert isinstance(screen, ConfirmScreen)
        rows = [strip.text for strip in screen._compositor.render_strips()]
        found = [[row.index(one.about) for row in rows if one.about in row] for one in screen._answers]
        assert all(found), rows
        assert len({places[0] for places in found}) == 1

    columns = (Column("chat", "chat", model="offline/exact"), Column("json", "json"))
    at_the_desk(act, replace(TICKETS, columns=columns), size=SMALL)
