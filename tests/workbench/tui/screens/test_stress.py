"""Broken replies on the screen: the grid, one cell of it, both readings side by side, and a reply that is taken."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from sessions import examples
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from tests.support.hostile_session import SHORT
from tests.support.open_app import MIDDLE, SIZES, SMALL, Desk, at_the_desk
from tests.workbench.tui.test_hostile_screen import assert_harmless
from workbench.tui.screens.stress import StressScreen
from workbench.tui.widgets.text.text_view import TextView


def painted(desk: Desk) -> str:
    return "\n".join([strip.text for strip in desk.app.screen._compositor.render_strips()])


def broken(
    act: Callable[[Desk, StressScreen], Awaitable[None]],
    session: Session | None = None,
    size: tuple[int, int] = MIDDLE,
) -> None:
    """The page of the session, of the first example without one, as soon as its replies are broken."""

    async def at(desk: Desk) -> None:
        await desk.press("shift+f9")
        screen = desk.app.screen
        assert isinstance(screen, StressScreen)
        await desk.until(lambda: screen.found is not None, "for the grid")
        await act(desk, screen)

    at_the_desk(at, examples.load("receipt") if session is None else session, size=size)


async def go_to(desk: Desk, screen: StressScreen, mutation: str, column: str) -> None:
    for _ in range(200):
        if screen.mutation is not None and screen.mutation.name == mutation:
            break
        await desk.press("n")
    assert screen.mutation is not None and screen.mutation.name == mutation
    while screen.column is not None and screen.column.id != column:
        await desk.press("right")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_the_grid_stands_with_its_counts_and_the_worst_is_looked_at_first(size: tuple[int, int]) -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        assert screen.found is not None and screen.cell is not None
        assert screen.cell.verdict == "silently_wrong"
        text = painted(desk)
        assert "Stress test" in text and "damaged replies" in text
        (heads,) = [line.split() for line in text.splitlines() if "chat json xml" in line]
        assert heads[-6:] == [one.id for one in screen.found.columns]
        for words in ("≠ silently wrong", "! flagged", "✗ parse error", "✓ same values"):
            assert words in text
        assert screen.mutation is not None
        (row,) = [line for line in text.splitlines() if line[2:].startswith(f"{screen.mutation.name}  ")]
        assert "›≠" in row
        assert ("Markdown's emphasis" in text) == (size != SMALL)
        assert "esc close" in text
        closing = " ".join(text.split())
        assert re.search(r"(\w+) survives \d+ of \d+ kinds of damage, (\w+) \d+; \2 loses: ", closing)
        assert "the fix: " in closing
        assert screen.done is not None and screen.done.summary in closing

    broken(act, size=size)


def test_the_line_that_sums_up_is_whole_in_the_smallest_terminal_and_cut_with_an_ellipsis() -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        await desk.settle()
        assert screen.done is not None
        assert screen.done.summary in " ".join(painted(desk).split())
        screen._begin(screen.done._replace(summary="at longer last " * 99))
        await desk.settle()
        assert re.search(r"[a-z ]…\n", re.sub(" +\n", "\n", painted(desk)))
        small = painted(desk).count("longer")
        await desk.pilot.resize_terminal(*MIDDLE)
        await desk.settle()
        assert painted(desk).count("longer") > small, "a wider terminal shows more of it"
        await desk.pilot.resize_terminal(*SMALL)
        await desk.settle()
        assert painted(desk).count("longer") == small
        assert re.search(r"[a-z ]…\n", re.sub(" +\n", "\n", painted(desk)))

    broken(act, size=SMALL)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_enter_shows_the_good_reading_beside_the_broken_one(size: tuple[int, int]) -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        await go_to(desk, screen, "texts in quotes", "xml")
        await desk.press("enter")
        good = screen.query_one("#stress-good", TextView).plain_text
        bad = screen.query_one("#stress-broken", TextView).plain_text
        assert "seller = 'Tim & Sons'" in good and "<seller>\nTim &amp; Sons\n</seller>" in good
        assert "≠ silently wrong" in bad and "seller = '\"Tim & Sons\"'" in bad
        assert '<seller>\n"Tim &amp; Sons"\n</seller>' in bad
        text = painted(desk)
        assert "chat ≠  json ·  xml ≠" in text
        assert "the good reply" in text and "texts in quotes" in text and "esc back" in text
        await desk.press("left")
        assert screen.column is not None and screen.column.id == "json"
        assert "not applicable" in screen.query_one("#stress-broken", TextView).plain_text
        await desk.press("escape")
        assert not screen.shows_readings and desk.app.screen is screen
        await desk.press("escape")
        assert desk.app.screen is not screen

    broken(act, size=size)


def test_fewer_rows_are_shown_and_the_one_looked_at_is_among_them() -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        grid = screen.query_one("#stress-grid", TextView)
        every = grid.plain_text.count("\n")
        assert "f all" in painted(desk)
        counts = []
        for words in ("≠ ! ✗", "≠ !", "≠"):
            await desk.press("f")
            assert f"f {words}  t take" in painted(desk)
            counts.append(grid.plain_text.count("\n"))
            assert screen.mutation is not None and screen.mutation.name in grid.plain_text
        assert every > counts[0] > counts[1] > counts[2] > 0
        assert all("≠" in line for line in grid.plain_text.splitlines() if "  " in line)
        await desk.press("f")
        assert grid.plain_text.count("\n") == every

    broken(act)


@pytest.mark.slow
@pytest.mark.parametrize("size", [MIDDLE, SMALL])
def test_a_broken_reply_that_is_taken_stands_in_sight_under_its_column_until_it_is_undone(
    size: tuple[int, int],
) -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        await go_to(desk, screen, "texts in bold", "chat")
        await desk.press("t")
        assert desk.app.screen is not screen
        assert "**Tim & Sons**" in desk.reply("chat")
        assert "✓" in desk.verdict("chat")
        assert "**Tim & Sons**" in painted(desk)
        await desk.press("ctrl+z")
        assert desk.reply("chat") == ""

    broken(act, size=size)


@pytest.mark.slow
def test_what_has_no_place_under_a_column_is_not_taken_and_said_why() -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        await go_to(desk, screen, "texts in bold", "baml")
        await desk.press("t")
        assert desk.app.screen is screen
        assert any("no column in the session" in one.message for one in desk.app._notifications)

    broken(act)


@pytest.mark.slow
def test_two_steps_second_reply_has_no_place_under_its_column() -> None:
    session = replace(examples.load("receipt"), columns=(Column("twostep", "twostep"),))

    async def act(desk: Desk, screen: StressScreen) -> None:
        await go_to(desk, screen, "texts in bold", "twostep")
        await desk.press("t")
        assert desk.app.screen is screen
        assert any("second model" in one.message for one in desk.app._notifications)

    broken(act, session)


@pytest.mark.slow
def test_an_adapter_without_a_good_reply_says_why() -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        await go_to(desk, screen, "fenced", "baml")
        assert "no prompt can be made" in screen.query_one("#stress-about", TextView).plain_text
        await desk.press("enter")
        assert "no prompt can be made" in screen.query_one("#stress-good", TextView).plain_text

    broken(act, examples.load("invoice"))


def test_the_same_case_is_broken_once_and_a_changed_one_anew() -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        rows = screen.query_one("#stress-grid", TextView)
        await desk.until(lambda: len(rows.rows) > 0, "for the rows")
        await desk.settle()
        first = painted(desk)
        await desk.press("escape", "shift+f9")
        again = desk.app.screen
        assert isinstance(again, StressScreen) and again is not screen and again.done is screen.done
        await desk.settle()
        assert painted(desk) == first
        await desk.press("escape")
        session = desk.main.document.session
        desk.app.restore(replace(session, demos=session.demos[1:]))
        await desk.press("shift+f9")
        anew = desk.app.screen
        assert isinstance(anew, StressScreen) and anew.done is not screen.done

    broken(act)


def test_a_signature_that_cannot_be_read_is_told_and_nothing_opens() -> None:
    async def at(desk: Desk) -> None:
        await desk.press("shift+f9")
        assert not isinstance(desk.app.screen, StressScreen)
        assert any(one.title == "Nothing to break" for one in desk.app._notifications)

    at_the_desk(at, Session(SignatureText("question -> answer: nonsense")))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_hostile_texts_are_text(size: tuple[int, int]) -> None:
    nasty = " ".join(SHORT.values())[:2_000]
    demo = Demo({"question": "?", "answer": nasty})
    case = Case(f"[/x]{nasty[:80]}", {"question": "?"})
    session = Session(SignatureText("question -> answer"), (demo,), (Column("chat", "chat"),), (case,))

    async def act(desk: Desk, screen: StressScreen) -> None:
        assert_harmless(desk)
        for _ in range(3):
            await desk.press("enter")
            assert_harmless(desk)
            await desk.press("escape", "n", "right")
            assert_harmless(desk)

    broken(act, session, size)


@pytest.mark.slow
def test_help_names_the_keys_of_the_page() -> None:
    async def act(desk: Desk, screen: StressScreen) -> None:
        await desk.press("f1")
        assert desk.app.screen is not screen
        assert "Stress test" in painted(desk)

    broken(act)
