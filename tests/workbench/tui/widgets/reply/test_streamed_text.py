"""Text that arrives piece by piece: it is followed, and paints little; the screen shows what a full repaint would."""

from __future__ import annotations

import random

import pytest
from textual.pilot import Pilot

from tests.support.screen import Stage, on_stage, painted, painted_anew, seen
from workbench.tui.widgets.text.editor import LONGEST_STREAMED_LINE, StreamedText

PIECES = ["word ", "\n", "日本", "line\n", "many words in a row " * 6, "\r\n", "\t", "\x1b[2J", "{", "\n\n\n"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12)]])
def test_after_any_sequence_of_pieces_the_screen_is_right_and_shows_the_end(seed: int) -> None:
    chance = random.Random(seed)

    async def act(stage: Stage[StreamedText], pilot: Pilot[None]) -> None:
        widget = stage.widget
        for _ in range(60):
            if chance.random() < 0.05:
                await pilot.resize_terminal(chance.randint(12, 70), chance.randint(4, 30))
                await pilot.pause()
            for _ in "ab":
                widget.append("".join(chance.choices(PIECES, k=chance.randint(1, 3))))
                await pilot.pause()
            assert painted(widget) == painted_anew(widget)
            for _ in range(20):  # a scrollbar that appears is laid out first, and then scrolled
                last = widget.wrapped_document.height - 1 - widget.scroll_offset.y
                if last >= widget.size.height:
                    await pilot.pause()
            assert 0 <= last < widget.size.height
        widget.end_stream()
        assert widget.virtual_size.height == widget.wrapped_document.height

    on_stage(StreamedText(read_only=True), act, (40, 12))


def test_a_piece_paints_its_own_row_alone() -> None:
    async def act(stage: Stage[StreamedText], pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.append("one\ntwo\nthr")
        await pilot.pause()
        widget.append("ee")
        assert [(one.y, one.height) for one in widget._repaint_regions] == [(2, 1)]

    on_stage(StreamedText(read_only=True), act)


def test_a_reader_who_scrolled_away_is_left_where_they_are() -> None:
    async def act(stage: Stage[StreamedText], pilot: Pilot[None]) -> None:
        widget = stage.widget
        for number in range(60):
            widget.append(f"line {number}\n")
        await pilot.pause()
        widget.scroll_to(y=10, animate=False, force=True)
        for number in range(60, 90):
            widget.append(f"line {number}\n")
            await pilot.pause()
        assert seen(widget)[0].strip() == "line 10"

    on_stage(StreamedText(read_only=True), act)


def test_a_line_that_becomes_too_long_is_wrapped_no_more() -> None:
    async def act(stage: Stage[StreamedText], pilot: Pilot[None]) -> None:
        widget = stage.widget
        for _ in range(3):
            widget.append("x" * (LONGEST_STREAMED_LINE // 2))
            await pilot.pause()
        assert not widget.soft_wrap and widget.raw == "x" * (LONGEST_STREAMED_LINE // 2 * 3)
        assert painted(widget) == painted_anew(widget)

    on_stage(StreamedText(read_only=True), act)
