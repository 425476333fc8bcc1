"""The last line: keys in their order, the way out in sight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import OptionList

from sessions import examples
from sessions.model.replies import RecordedAttempt, RecordedCompletion, RecordedReading
from sessions.model.session import Case, Recording
from tests.support.cells import rows_of
from tests.support.open_app import MIDDLE, SIZES, SMALL, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.actions.cases import CasesScreen
from workbench.tui.panes.status import KEYS, StatusLine, case_word


@pytest.mark.parametrize("size", SIZES)
def test_keys_stand_in_their_order_and_quit_is_among_them(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        said = desk.app.screen.query_one(StatusLine).render().plain
        names = [name for _, name, _, _ in KEYS if f" {name} " in said]
        places = [said.index(f" {name} ") for name in names]
        assert places == sorted(places)
        assert {"send", "quit", "help", "commands"} <= set(names)

    at_the_desk(act, size=size)


@pytest.mark.parametrize(
    ("example", "size", "least"),
    [("triage", MIDDLE, {"send", "quit", "help", "commands"}), ("receipt", (42, 31), {"send", "commands"})],
)
def test_long_names_and_a_phone_leave_room_for_the_main_keys(
    example: str, size: tuple[int, int], least: set[str]
) -> None:
    async def act(desk: Desk) -> None:
        last = list(desk.app.screen._compositor.render_strips())[-1].text
        assert {name for _, name, _, _ in KEYS if f" {name} " in f"{last} "} >= least

    at_the_desk(act, session=examples.load(example), size=size)


@pytest.mark.parametrize("size", [MIDDLE, SMALL])
def test_a_name_is_whole_where_there_is_room_and_the_keys_that_the_guide_names_are_told(
    size: tuple[int, int], tmp_path: Path
) -> None:
    async def act(desk: Desk) -> None:
        said = desk.app.screen.query_one(StatusLine).render().plain
        assert "triage.session.json" in said and "^q quit" in said and (size == MIDDLE or "F4 reply" in said)

    session = examples.load("question")
    session = replace(session, cases=session.cases[:1])
    at_the_desk(act, session=session, path=tmp_path / "triage.session.json", size=size)


def test_what_the_keys_leave_shows_more_of_a_name_that_is_cut() -> None:
    async def act(desk: Desk) -> None:
        said = desk.app.screen.query_one(StatusLine).render().plain
        assert "model offline/exact " in said and "^q quit" in said

    at_the_desk(act, session=examples.load("triage"), size=(120, 35))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_send_alone_is_filled_and_a_click_on_it_sends(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        status = desk.app.screen.query_one(StatusLine)
        last = list(desk.app.screen._compositor.render_strips())[-1]
        filled = "".join([text for text, style, _ in last if style is not None and style.reverse])
        assert filled.strip() == "F5 send"
        await desk.pilot.click(status, offset=(last.text.index("F5 send") + 1, status.size.height - 1))
        await desk.sent()

    at_the_desk(act, size=size)


def test_a_message_of_the_start_leaves_the_keys_that_begin_a_session() -> None:
    async def act(desk: Desk) -> None:
        status = desk.app.screen.query_one(StatusLine)
        for said in (
            "^o opens questions.session.json again",
            "the first example is under Restore an earlier version",
        ):
            status.say(said)
            shown = status.render().plain
            assert said in shown and all(one in shown for one in ("F1 help", "F2 edit", "^s save")), shown

    at_the_desk(act, size=MIDDLE)


def test_a_line_that_what_was_done_fills_names_no_key() -> None:
    async def act(desk: Desk) -> None:
        status = desk.app.screen.query_one(StatusLine)
        status.say("the reply of a model with a very long name was kept " * 9)
        assert " send " not in status.render().plain

    at_the_desk(act, size=MIDDLE)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_what_is_done_again_while_it_is_still_said_is_counted(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        status = desk.app.screen.query_one(StatusLine)
        for times in ("", " ×2", " ×3"):
            await desk.press("ctrl+z")
            before, _, after = status.render().plain.partition(f"nothing to undo{times}")
            assert before and "×" not in after
        await desk.press("ctrl+y")
        assert "nothing to redo" in status.render().plain and "×" not in status.render().plain
        long = "the reply of a model with a very long name was kept " * 9
        status.say(long)
        status.say(long)
        assert " ×2" in status.render().plain, "and words that fill the line"

    at_the_desk(act, size=size)


def test_what_is_said_again_stays_as_long_as_what_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(desk: Desk) -> None:
        status = desk.app.screen.query_one(StatusLine)
        moments: list[Callable[[], None]] = []
        monkeypatch.setattr(status, "set_timer", lambda seconds, then: moments.append(then))
        status.say("copied")
        status.say("copied")
        first, second = moments
        first()
        assert "copied ×2" in status.render().plain, "the moment of the first one is over, and not that of the second"
        second()
        assert "copied" not in status.render().plain
        status.say("copied")
        assert "×" not in status.render().plain

    at_the_desk(act)


def test_ctrl_c_says_how_to_quit_where_there_is_nothing_to_copy() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "ctrl+c")
        assert "ctrl+q quits" in desk.app.screen.query_one(StatusLine).render().plain
        assert desk.app.is_running

    at_the_desk(act)


@pytest.mark.slow
def test_ctrl_n_is_new_in_a_list_a_row_and_elsewhere_a_session() -> None:
    async def act(desk: Desk) -> None:
        count = len(desk.document.session.demos)
        await desk.go_to("demo", row=0)
        await desk.press("ctrl+n")
        assert len(desk.document.session.demos) == count + 1
        await desk.press("ctrl+z", "f3", "ctrl+n")
        await desk.until(lambda: not desk.document.session.signature.text, "for the new session")
        assert desk.main.editors.signature.view == "form"
        assert " new session " in desk.app.screen.query_one(StatusLine).render().plain

    at_the_desk(act)


def test_a_case_that_says_what_it_is_is_not_called_so_twice() -> None:
    assert (case_word("case 1"), case_word("Case of the lost laptop"), case_word("bakery")) == ("", "", "case ")


async def click_on(desk: Desk, words: str) -> None:
    status = desk.app.screen.query_one(StatusLine)
    await desk.pilot.click(status, offset=(status.render().plain.index(words) + 1, 0))
    await desk.settle()


def test_a_click_on_how_many_columns_are_in_sight_goes_on_to_the_others() -> None:
    async def act(desk: Desk) -> None:
        xml = desk.main.columns.column("xml")
        assert xml is not None and not desk.main.region.contains_region(xml.region)
        await click_on(desk, "2 of 3 columns")
        assert desk.main.region.contains_region(xml.region)
        await click_on(desk, "2 of 3 columns")
        assert not desk.main.region.contains_region(xml.region), "from the last one to the first"

    at_the_desk(act, size=MIDDLE)


def test_a_click_on_the_line_that_names_the_case_shows_all_of_them() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", field="ticket")
        await desk.pilot.click("#inputs-pane", offset=(3, 0))
        await desk.settle()
        assert isinstance(desk.app.screen, CasesScreen)

    at_the_desk(act, size=MIDDLE)


def test_a_long_list_of_cases_leaves_room_for_its_keys_and_a_long_name_for_the_number_of_cases() -> None:
    cases = tuple([Case(f"a long name of case {at}, of a customer", {"ticket": "crash"}) for at in range(1200)])

    async def act(desk: Desk) -> None:
        await desk.go_to("input", field="ticket")
        assert "1 of 1,200 · ^t" in "".join(rows_of(desk.main))
        await desk.press("ctrl+t")
        shown = "".join(rows_of(desk.app.screen))
        assert "enter show" in shown and "esc close" in shown

    at_the_desk(act, session=replace(TICKETS, cases=cases), size=SMALL)


def test_the_list_of_cases_marks_those_whose_recorded_reply_did_not_parse() -> None:
    wrong = RecordedAttempt("json", completions=(RecordedCompletion("{", reading=RecordedReading(False)),))
    right = RecordedAttempt("json", completions=(RecordedCompletion("{}", reading=RecordedReading(True)),))
    recordings = {"mended": Recording((), attempts=(wrong, right)), "good": Recording((), attempts=(right,))}
    cases = (
        Case("crash", {"ticket": "crash"}, recordings=recordings),
        Case(
            "late", {"ticket": "It came late. " * 9}, recordings={**recordings, "bad": Recording((), attempts=(wrong,))}
        ),
    )

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+t")
        crash, late = [row.rstrip() for row in seen(desk.app.screen.query_one(OptionList))]
        assert crash == "● crash   2 recorded"
        assert late.startswith("  late    ✗ 1 not parsed   3 recorded   It came late. "), "whole, before what is cut"

    at_the_desk(act, session=replace(TICKETS, cases=cases), size=SMALL)
