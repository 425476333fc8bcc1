"""Another wording as a diff, to be taken or left."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from workbench.output.prompt_diff import SectionDiff
from workbench.tui.keys.key_words import keys_of
from workbench.tui.pages.differences import section_blocks
from workbench.tui.widgets.text.plain import PlainStatic, content, lines
from workbench.tui.widgets.text.text_view import TextView

_GROUP = Binding.Group("This suggestion")
QUIET = "$foreground 60%"


class SuggestionScreen(ModalScreen[bool]):
    """Returns whether it is taken. `head` says whose it is and what it took; `diff` is what changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "dismiss(True)", "Take it", id="suggestion.take", tooltip="Keep it as a variant", group=_GROUP),
        Binding(
            "escape,l", "dismiss(False)", "Leave it", id="suggestion.leave", tooltip="Nothing changes", group=_GROUP
        ),
    ]

    def __init__(self, head: str, diff: SectionDiff) -> None:
        super().__init__()
        self._head = head
        self._diff = diff
        self._text = TextView(id="suggestion-text")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -large") as dialog:
            dialog.border_title = content(" A suggestion ")
            yield PlainStatic(lines((self._head, QUIET)))
            yield self._text
            hint = "{suggestion.take|t} take it, as a variant   {suggestion.leave|esc} leave it   ↑↓ all of it"
            yield PlainStatic(lines((keys_of(self.app)(hint), QUIET)), classes="dialog-hint")

    def on_mount(self) -> None:
        self._text.show(section_blocks(self._diff))
        self._text.focus()
