"""The runs of a case, the newest first: what each gave, two of them compared, and one taken up again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen

from workbench.output.display import one_line
from workbench.tui.keys.key_words import keys_of
from workbench.tui.pages.runs_compared import SIGNS, one_run, two_runs
from workbench.tui.runs.run_history import PastRun
from workbench.tui.widgets.row_list import RowList
from workbench.tui.widgets.text.plain import PlainStatic, content, lines
from workbench.tui.widgets.text.text_view import TextView

_RUNS = Binding.Group("Runs")
QUIET = "$foreground 60%"
COLOURS = {"ok": "$text-success", "error": "$text-error", "warning": "$text-warning", "note": QUIET}


class RunHistoryScreen(ModalScreen[PastRun | None]):
    """Returns the run whose reply is to be shown again, None after escape."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Close", id="runs.close", tooltip="Close", group=_RUNS),
        Binding("space", "mark", "Compare", id="runs.mark", tooltip="Compare this one with others", group=_RUNS),
        Binding("enter", "take", "Take up", id="runs.take", tooltip="Show this reply under its column", group=_RUNS),
    ]

    def __init__(self, case: str, runs: Sequence[PastRun]) -> None:
        super().__init__()
        self._case = case
        self._runs = tuple(runs)
        self._current = 0
        self._marked: int | None = None
        self._list = RowList(self._line)
        self._text = TextView(id="runs-text")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -large") as dialog:
            dialog.border_title = content(f" Runs of {one_line(self._case, 40)} ")
            yield self._list
            yield self._text
            hint = (
                "↑↓ look   {runs.mark|space} marks one to compare with   {runs.take|enter} shows its reply again   "
                "tab to the text   {runs.close|esc} closes"
            )
            yield PlainStatic(lines((keys_of(self.app)(hint), QUIET)), classes="dialog-hint")

    def on_mount(self) -> None:
        self._list.styles.height = min(10, max(2, len(self._runs)))
        self._list.show(len(self._runs), 0)
        self._list.focus()
        self._look()

    @on(RowList.Moved)
    def _moved(self, event: RowList.Moved) -> None:
        self._current = event.index
        self._look()

    def action_mark(self) -> None:
        self._marked = None if self._marked == self._current else self._current
        self._list.show(len(self._runs), self._current)
        self._look()

    def action_take(self) -> None:
        self.dismiss(self._runs[self._current])

    def _look(self) -> None:
        run = self._runs[self._current]
        if self._marked is None or self._marked == self._current:
            self._text.show(one_run(run))
            return
        older, newer = sorted((self._marked, self._current), reverse=True)
        self._text.show(two_runs(self._runs[older], self._runs[newer]))

    def _line(self, index: int) -> Content:
        run = self._runs[index]
        sign, style = SIGNS.get(run.phase, ("?", "note"))
        mark = "◆ " if index == self._marked else "  "
        rated = {"good": " ★", "bad": " ✗"}.get(run.rating, "")
        said = run.note or run.error or " ".join(run.text.split())
        return lines(
            (mark, "$text-accent bold"),
            (f"{sign} ", COLOURS[style]),
            (f"{run.time[5:]}  ", QUIET),
            (f"{one_line(run.column, 16):<10}", "bold"),
            (f" {one_line(run.model, 24)} ", "$text-accent"),
            (f"{run.seconds:.1f} s{rated}  ", QUIET),
            one_line(said, 80),
        )
