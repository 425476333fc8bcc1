"""A title in a border is painted without the widget that it stands over."""

from __future__ import annotations

from textual.content import Content
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Static

from tests.support.screen import Stage, lower_edge, on_stage, seen
from workbench.tui.textual_internals.access import put_border_title


class Lines(Static):
    """Tells which of its lines were asked for."""

    DEFAULT_CSS = "Lines { border: round white; height: 1fr; }"

    def __init__(self) -> None:
        super().__init__("\n".join(map(str, range(30))))
        self.asked: list[int] = []

    def render_line(self, y: int) -> Strip:
        self.asked.append(y)
        return super().render_line(y)


def test_another_title_paints_its_row_alone() -> None:
    async def act(stage: Stage[Lines], pilot: Pilot[None]) -> None:
        lines = stage.widget
        put_border_title(lines, Content("Before"))
        await pilot.pause()
        lines.asked.clear()
        put_border_title(lines, Content("After\tit\nand no more"))
        await pilot.pause()
        assert "After   it" in seen(lines)[0] and "no more" not in seen(lines)[0]
        assert lines.asked == []
        lines.border_title = Content("As Textual does")
        await pilot.pause()
        assert lines.asked, "what is compared with: a title put by Textual asks for every line"

    on_stage(Lines(), act)


def test_another_title_at_the_lower_edge_paints_its_row_alone_and_an_empty_one_takes_it_away() -> None:
    async def act(stage: Stage[Lines], pilot: Pilot[None]) -> None:
        lines = stage.widget
        lines.asked.clear()
        for said in ("Before", "After", ""):
            put_border_title(lines, Content(said), is_below=True)
            await pilot.pause()
            assert said in lower_edge(lines) and ("r" in lower_edge(lines)) == bool(said)
        assert lines.asked == []

    on_stage(Lines(), act)
