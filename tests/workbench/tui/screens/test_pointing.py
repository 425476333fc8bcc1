"""What an editor makes is lit and in sight in every prompt, and the reverse."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from sessions.model.session import Demo
from tests.support.open_app import SMALL, TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.panes.column import ColumnPane


def lit(column: ColumnPane) -> tuple[str, str | None, str] | None:
    return column.prompt._lit


MANY = replace(
    TICKETS,
    demos=tuple(
        Demo({"ticket": f"Ticket {n}", "channel": "mail", "tags": [], "label": "bug", "urgency": n}) for n in range(40)
    ),
)


@pytest.mark.slow
def test_the_field_being_edited_is_lit_and_in_sight_in_every_column() -> None:
    async def edit(desk: Desk) -> None:
        await desk.go_to("demo", "ticket", 30)
        for column in desk.main.columns.all:
            assert lit(column) == ("value", "ticket", "demo 31")
            assert any("Ticket 30" in row for row in seen(column.prompt))
        await desk.go_to("input", "ticket")
        assert {lit(column) for column in desk.main.columns.all} == {("value", "ticket", "inputs")}

    at_the_desk(edit, MANY)


@pytest.mark.slow
def test_the_first_value_of_a_field_comes_into_sight_in_every_column() -> None:
    async def edit(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.type("A ticket of today")
        await desk.settle()
        for column in desk.main.columns.all:
            assert any("A ticket of today" in row for row in seen(column.prompt)), column.column_id

    at_the_desk(edit, replace(MANY, cases=(replace(MANY.cases[0], inputs={}),)))


def test_the_cursor_in_the_signature_lights_the_field_it_declares() -> None:
    async def edit(desk: Desk) -> None:
        first = desk.main.columns.all[0]
        assert lit(first) is None
        await desk.go_to("signature", "urgency")
        assert lit(first) == ("name", "urgency", "system")
        await desk.press("ctrl+home")
        assert lit(first) is None

    at_the_desk(edit)


@pytest.mark.slow
def test_f3_goes_from_an_editor_to_its_place_in_the_prompt_and_enter_back() -> None:
    async def edit(desk: Desk) -> None:
        await desk.go_to("demo", "label", 20)
        await desk.press("f3")
        column = desk.main.columns.current
        assert column is not None and column.prompt.has_focus
        assert lit(column) == ("value", "label", "demo 21")
        assert any("demo 21" in row for row in seen(column.prompt))
        await desk.press("enter")
        assert desk.main.editors.demos.form.focused_field is not None
        assert desk.main.editors.demos.edited_place is not None
        assert desk.main.editors.demos.edited_place[2:] == (20, "label")
        await desk.press("f3", "f4")
        assert lit(column) is None

    at_the_desk(edit, MANY, size=SMALL)


@pytest.mark.slow
def test_other_columns_follow_the_cursor_of_one() -> None:
    async def walk(desk: Desk) -> None:
        await desk.press("f3", "end")
        other = desk.main.columns.all[1].prompt
        await desk.press("[", "[", "[")
        assert other.message_at_cursor is not None
        assert other.message_at_cursor.turn == desk.main.columns.all[0].prompt.message_at_cursor.turn  # type: ignore[union-attr]

    at_the_desk(walk, MANY)


@pytest.mark.slow
def test_a_reply_says_that_its_prompt_has_changed_until_it_is_sent_again() -> None:
    async def edit(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert "old reply" not in desk.verdict("chat")
        await desk.go_to("input", "ticket")
        await desk.type("!")
        assert re.fullmatch(r"old reply ✓.* · F5 again", desk.verdict("chat"))
        await desk.press("ctrl+z")
        assert "old reply" not in desk.verdict("chat")
        await desk.go_to("demo", row=0)
        await desk.press("x")
        assert "old reply" not in desk.verdict("chat"), "the others got other numbers, which nobody is sent"
        await desk.press("x")
        assert "old reply" in desk.verdict("chat")

    off = Demo({"ticket": "Switched off."}, enabled=False)
    at_the_desk(edit, replace(TICKETS, demos=(off, *TICKETS.demos)))
