"""Choosing a theme: the one under the cursor is what everything looks like."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.widgets import OptionList

from workbench.tui.dialogs.choose import ChooseScreen, Entry

OURS = "workbench-"


class ChooseThemeScreen(ChooseScreen):
    """Whoever opens it puts the theme back, or chooses."""

    def __init__(self, names: Sequence[str], current: str) -> None:
        ordered = sorted(names, key=lambda name: (not name.startswith(OURS), name))
        entries = [Entry(name, name, "ours" if name.startswith(OURS) else "") for name in ordered]
        super().__init__(
            "Theme", entries, hint="↑↓ shows it   enter takes it   {choose.close|esc} keeps the last", current=current
        )

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_index < len(self._shown):
            self.app.theme = self._shown[event.option_index].value
