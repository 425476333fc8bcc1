"""Entries of a dialog: made and painted in sight alone, each on a row, pointed at with keys and mouse."""

from __future__ import annotations

import random

from rich.cells import cell_len
from textual.content import Content
from textual.geometry import Region

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.textual_internals.access import EntryList, EntryRow


def painted(entries: EntryList) -> list[str]:
    width, height = entries.scrollable_content_region.size
    return [row.text for row in entries.render_lines(Region(0, 0, width, height))]


def test_only_entries_in_sight_are_made() -> None:
    made: list[int] = []

    def parts(number: int) -> list[tuple[str, str]]:
        made.append(number)
        return [(f"entry {number}", "bold")]

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        await desk.settle()
        entries = desk.app.screen.query_one(EntryList)
        entries.show([EntryRow(lambda number=number: parts(number)) for number in range(300)], 8)
        await desk.settle()
        assert set(made) <= set(range(entries.size.height)) and painted(entries)[0].startswith("entry 0")
        made.clear()
        entries.highlighted = 299
        await desk.settle()
        assert len(made) <= entries.size.height and painted(entries)[-1].startswith("entry 299")

    at_the_desk(act)


def test_a_row_ends_as_textual_would_end_it() -> None:
    chance = random.Random(3)
    texts = ["".join(chance.choices("ab 日é🙂", k=chance.randrange(40, 130))) for _ in range(12)]

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        await desk.settle()
        entries = desk.app.screen.query_one(EntryList)
        rows = [[(one[:20], ""), (one[20:], "bold")] for one in texts]
        entries.show([EntryRow(lambda row=row: row) for row in rows], 12)
        await desk.settle()
        width = entries.scrollable_content_region.width
        for text, row in zip(texts, painted(entries), strict=True):
            assert row == Content(text).truncate(width, ellipsis=True, pad=True).plain
            assert cell_len(row) == width

    at_the_desk(act)


def test_the_mouse_marks_the_entry_below_it_and_chooses_it() -> None:
    chosen: list[str | None] = []

    async def act(desk: Desk) -> None:
        desk.app.push_screen(ChooseScreen("Which?", [Entry(one, one) for one in ("a[/x]", "b", "c")]), chosen.append)
        await desk.settle()
        entries = desk.app.screen.query_one(EntryList)
        plain = entries.render_line(2)
        await desk.pilot.hover(entries, offset=(3, 2))
        await desk.settle()
        assert [one.text for one in (plain, entries.render_line(2))] == [plain.text] * 2
        assert entries.render_line(2) != plain
        await desk.pilot.hover(entries, offset=(3, 1))
        await desk.settle()
        assert entries.render_line(2) == plain
        await desk.pilot.click(entries, offset=(3, 1))
        await desk.settle()
        assert chosen == ["b"]

    at_the_desk(act)


def test_a_click_on_no_match_chooses_nothing() -> None:
    chosen: list[str | None] = []

    async def act(desk: Desk) -> None:
        desk.app.push_screen(ChooseScreen("Which?", [Entry("a", "a")]), chosen.append)
        await desk.settle()
        await desk.type("zz")
        await desk.settle()
        entries = desk.app.screen.query_one(EntryList)
        assert [row.rstrip() for row in painted(entries)] == ["  no match"]
        await desk.pilot.click(entries, offset=(3, 0))
        await desk.settle()
        assert not chosen and isinstance(desk.app.screen, ChooseScreen)

    at_the_desk(act)
