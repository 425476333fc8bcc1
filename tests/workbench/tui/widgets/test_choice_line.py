"""A few values to choose from: arrows, the first letter or a click choose, and enter goes on."""

from __future__ import annotations

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from tests.support.screen import Stage, on_stage, seen
from workbench.editing.field_values import ABSENT, Choice
from workbench.tui.widgets.tab_line import ChoiceLine

WORDS = [Choice(one, one) for one in ("bug", "bill", "question")]


def test_the_first_letter_chooses_and_enter_takes_the_first_or_goes_on() -> None:
    chosen: list[Any] = []

    def choose(value: Any) -> None:
        chosen.append(value)
        line.show(value)

    line = ChoiceLine(WORDS, ABSENT, choose)

    async def act(stage: Stage[ChoiceLine], pilot: Pilot[None]) -> None:
        await stage.screen.mount(beside := Input())
        beside.focus()
        await pilot.pause()
        assert "←→" not in seen(line)[0]
        line.focus()
        await pilot.pause()
        assert seen(line)[0].rstrip().endswith("question   ←→")
        await pilot.press("enter")
        assert chosen == ["bug"], "enter takes the first where nothing was chosen"
        await pilot.press("q", "b", "B", "z")
        assert chosen == ["bug", "question", "bug", "bill"], "the next that begins so; other letters choose nothing"
        await pilot.press("enter")
        assert chosen[-1] == "bill" and isinstance(stage.focused, Input), "enter goes on where one is chosen"

    on_stage(line, act)


def test_a_mark_stands_beside_its_choice_where_the_line_is_too_narrow_for_all() -> None:
    line = ChoiceLine([Choice(one, one) for one in ("invoice", "credit note", "reminder")], "invoice", lambda _: None)

    async def act(stage: Stage[ChoiceLine], pilot: Pilot[None]) -> None:
        line.styles.height = "auto"
        await pilot.pause()
        assert [row.rstrip() for row in seen(line)] == ["● invoice   ○ credit note", "○ reminder   ←→"]

    on_stage(line, act, size=(30, 8))
