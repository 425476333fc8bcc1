from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.hostile import HOSTILE
from tests.support.screen import Stage, assert_harmless, on_stage, seen
from workbench.tui.widgets.text.text_view import Block, Piece, TextView, block

TextStage = Stage[TextView]


def test_pieces_of_a_block_share_rows_and_wrap_together() -> None:
    async def act(stage: TextStage, pilot: Pilot[None]) -> None:
        stage.widget.show([Block((Piece("one two "), Piece("three four five", "name"))), block("next", indent=2)])
        await pilot.pause()
        assert [row.rstrip() for row in seen(stage.widget)[:4]] == ["  one two three", "  four five", "    next", ""]

    on_stage(TextView(), act, size=(18, 6))


def test_lit_rows_carry_a_mark_beside_their_colour_and_are_scrolled_to() -> None:
    async def act(stage: TextStage, pilot: Pilot[None]) -> None:
        stage.widget.show([block("line\n" * 50), Block((Piece("here", "value", "lit"),)), block("after\n" * 50)])
        stage.widget.show_lit()
        await pilot.pause()
        assert next(row for row in seen(stage.widget) if "here" in row).startswith("▌ here")

    on_stage(TextView(), act)


def test_the_arrows_go_from_target_to_target_and_enter_leads_there() -> None:
    async def act(stage: TextStage, pilot: Pilot[None]) -> None:
        stage.widget.show([block("title"), block("a", target="1"), block("between"), block("b", target="2")])
        stage.widget.focus()
        await pilot.press("down", "enter")
        await pilot.pause()
        assert [one.target for one in stage.heard if isinstance(one, TextView.Chosen)] == ["2"]

    on_stage(TextView(), act)


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_text(text: str) -> None:
    async def act(stage: TextStage, pilot: Pilot[None]) -> None:
        stage.widget.show([Block((Piece(text, "value", "lit"), Piece(text)), 4, text[:10])])
        await pilot.pause()
        assert_harmless(stage.widget)
        await pilot.press("down", "enter", "pagedown", "end")
        await pilot.resize_terminal(31, 9)
        await pilot.pause()
        assert_harmless(stage.widget)

    on_stage(TextView(), act)
