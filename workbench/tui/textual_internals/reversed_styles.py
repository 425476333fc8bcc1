"""Reverse what a component class of a widget reverses, which Textual's visual styles leave out."""

from __future__ import annotations

from textual.style import Style
from textual.widget import Widget
from textual.widgets import OptionList

REVERSED = Style(reverse=True)


class KeepsReverse(Widget):
    """A widget whose rows may be reversed, as themes without a second background need.

    List this class after the widget's main base: Textual takes styles from the first base alone.
    """

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        style = super().get_visual_style(*component_classes, partial=partial)
        if self.app.native_ansi_color:
            if any(self.get_component_styles(name).text_style.reverse for name in component_classes):
                style += REVERSED
        return style


class Options(OptionList, KeepsReverse):
    """A list of options, the highlighted one reversed where there are no colors."""
