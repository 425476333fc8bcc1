"""What a key costs, counted: layouts of the screen, and the widgets that are asked what they look like."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from textual._compositor import Compositor
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

from sessions.model.session import Column, SignatureText
from tests.support.open_app import CLASSIFY, TICKETS, Desk, at_the_desk
from workbench.tui.panes.column import ColumnPane
from workbench.tui.panes.notes import NoteLines
from workbench.tui.widgets.prompt.prompt_view import PromptView
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.tab_line import TabLine
from workbench.tui.widgets.text.plain import PlainStatic

ASK = 'class Ask(dspy.Signature):\n    question: str = dspy.InputField(desc="")\n    answer: str = dspy.OutputField()\n'


class Work:
    """What the screen does from now on: its layouts, and each widget that is asked for rows, with the rows."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: list[tuple[str, range]] = []
        reflow, compositor = Compositor.reflow, desk.main._compositor

        def laid_out(*given: Any) -> Any:
            labels = [str(one.render()) for one in desk.main.editors.inputs.query(PlainStatic)]
            self.done.append((f"layout of {labels}", range(0)))
            return reflow(*given)

        def asked(renders: Iterable[tuple[Region, Region, list[Strip]]]) -> Any:
            for region, part, strips in renders:
                (widget,) = [one for one, (place, _) in compositor.visible_widgets.items() if place == region][:1]
                self.done.append((type(widget).__name__, part.intersection(region).line_range))
                yield region, part, strips

        renders = type(compositor)._get_renders
        monkeypatch.setattr(Compositor, "reflow", laid_out)
        monkeypatch.setattr(compositor, "_get_renders", lambda crop=None: asked(renders(compositor, crop)))

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.done]

    def layouts_with(self, label: str) -> list[int]:
        """Where in what was done a layout was, of the inputs with this label."""
        return [place for place, name in enumerate(self.names) if name.startswith("layout") and label in name]

    def of(self, *kinds: type[Widget]) -> list[range]:
        return [rows for name, rows in self.done if name in [one.__name__ for one in kinds]]


def test_a_key_repaints_the_rows_it_changed_and_columns_wait_for_no_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("down")
        source = desk.main.editors.signature.query_one("#signature-editor", TextArea)
        source.move_cursor((1, ASK.splitlines()[1].index('""') + 1))  # its line may be wrapped
        work = Work(desk, monkeypatch)
        await desk.press("x")
        await desk.until(lambda: work.layouts_with("question  str\\nx"), "for the second row of the label")
        assert "`question` (str): x" in desk.prompt("chat")
        assert work.names.index(PromptView.__name__) < work.layouts_with("question  str\\nx")[0]
        assert max(map(len, work.of(PromptView))) < 12

    at_the_desk(act, replace(TICKETS, signature=SignatureText(ASK), demos=()))


def test_another_title_paints_the_row_it_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(desk: Desk) -> None:
        column = desk.main.columns.all[0]
        work = Work(desk, monkeypatch)
        column.name_origin(("marker", "question", "inputs"))
        await desk.settle()
        assert work.of(ColumnPane) == [range(column.region.y, column.region.y + 1)]
        assert not work.of(PromptView)
        shown = "".join(segment.text for segment in desk.main._compositor.render_strips()[column.region.y])
        assert "▸ marker · question · " in shown

    at_the_desk(act)


@pytest.mark.parametrize(
    "signature",
    [CLASSIFY, pytest.param(CLASSIFY.replace("as the customer wrote it", 9 * "wrapped, "), marks=pytest.mark.slow)],
)
def test_one_pane_alone_and_all_again_are_laid_out_once_and_painted_once(
    signature: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("chat", "json", "xml", "baml", "twostep", "markdown")
    session = replace(TICKETS, signature=SignatureText(signature), columns=tuple([Column(one, one) for one in names]))

    async def act(desk: Desk) -> None:
        notes = desk.main.query_one(NoteLines)
        await desk.until(lambda: "`note`" in notes.plain_text and notes.size.height == 6, "for the notes found last")
        width = notes.region.width
        for _ in range(2):
            for panes in (1, 3):
                work = Work(desk, monkeypatch)
                await desk.press("f10")
                await desk.until(lambda panes=panes: notes.region.width == (158 if panes == 1 else width))
                assert len([name for name in work.names if name.startswith("layout")]) == 1
                assert len(work.of(NoteLines)) == 1
                assert len(work.of(PromptView)) == len(work.of(ReplyView)) == (0 if panes == 1 else 3)

    at_the_desk(act, session, size=(160, 50))  # high enough for inputs without a scroll bar, which costs a layout


@pytest.mark.parametrize("key", ["f2", pytest.param("f3", marks=pytest.mark.slow)])
def test_one_pane_alone_and_all_again_look_for_no_styles_of_the_others(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    styled: list[type] = []
    apply = Stylesheet.apply

    def applied(stylesheet: Stylesheet, node: DOMNode, **options: Any) -> None:
        styled.append(type(node))
        apply(stylesheet, node, **options)

    async def act(desk: Desk) -> None:
        await desk.press(key)
        monkeypatch.setattr(Stylesheet, "apply", applied)
        for panes in (1, 0):
            await desk.press("f10")
            main = desk.main
            shown = [one.display for one in (main.editors, main.query_one("#middle"), main.columns)]
            assert sum(shown) == (1 if panes else 3)
            assert PromptView not in styled and TabLine not in styled

    at_the_desk(act)
