"""An editor for the signature's source, with suggestions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.geometry import Offset
from textual.widgets import TextArea

from adapters.signatures.read.source_text import quiet_parse
from workbench.tui.keys import pane_keys
from workbench.tui.messages import PastedCall
from workbench.tui.widgets.text.editor import Editor
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, lines

if TYPE_CHECKING:
    from workbench.editing.completion import Candidate, Completion

WIDEST = 60


def _is_source(text: str) -> bool:
    """Return whether a text is the source of a signature, whose strings may look like a call."""
    if "dspy.Signature" not in text:
        return False
    try:
        quiet_parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


class Offer(PlainStatic):
    """A list of suggestions at the cursor, which never gets the focus."""

    candidates: tuple[Candidate, ...] = ()
    marked = 0
    was_moved = False

    def offer(self, candidates: Sequence[Candidate], place: Offset) -> None:
        """Show candidates at a position of the screen, or hide the list if there are none."""
        self.candidates, self.marked, self.was_moved = tuple(candidates), 0, False
        self.display = bool(candidates)
        if candidates:
            self.absolute_offset = place
            self.mark(0)

    def mark(self, index: int) -> None:
        """Mark the candidate at `index`, which wraps around at both ends."""
        self.marked = index % len(self.candidates)
        longest = max(len(one.text) for one in self.candidates)
        parts: list[tuple[str, str] | str] = []
        for index, one in enumerate(self.candidates):
            sign = "▸ " if index == self.marked else "  "
            parts.append((f"{sign}{one.text:<{longest}}", "bold reverse" if index == self.marked else "bold"))
            parts.append((f"  {one.about}\n"[: WIDEST - longest] if one.about else "\n", QUIET))
        parts.append(("tab accept   ↑↓ choose   esc hide", QUIET))
        self.show(lines(*parts))


class SourceEditor(Editor):
    """An editor with suggestions: tab accepts, and so does enter after ↑ or ↓.

    `own_types` returns the text's models and enums.
    """

    BINDINGS = pane_keys(
        "This text",
        ("ctrl+@,ctrl+space", "offer", "Complete", "editor.complete", "Suggest types and field options"),
    )

    def __init__(self, own_types: Callable[[], Sequence[str]], **options: Any) -> None:
        super().__init__(**options)
        self._own_types = own_types
        self.offered = Offer()
        self._length = 0

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """Suggest after the key is painted, so that suggestions never delay it."""
        if self.has_focus:
            self.call_after_refresh(self.action_offer, asked=False)

    def on_paste(self, event: events.Paste) -> None:
        """Open a pasted call as a session, because it is not a signature's source.

        Runs before Textual's handler.
        """
        from sessions.imports.pasted_text import holds_calls, names_error

        is_call = holds_calls(event.text) or (not self.text.strip() and names_error(event.text))
        if is_call and not _is_source(event.text):
            event.prevent_default()
            event.stop()
            self.post_message(PastedCall(event.text))

    def on_key(self, event: events.Key) -> None:
        if not self.offered.candidates:
            return
        key = event.key
        takes = key == "tab" or (key == "enter" and self.offered.was_moved)
        if key in ("up", "down"):
            self.offered.was_moved = True
            self.offered.mark(self.offered.marked + (1 if key == "down" else -1))
        elif takes:
            candidate = self.offered.candidates[self.offered.marked]
            row, column = self.cursor_location
            self._hide()
            self.type_over(candidate.text, (row, column - self._length), (row, column))
            inner = max(candidate.text.find('""'), candidate.text.find("()"))
            if inner >= 0:
                self.move_cursor((row, column - self._length + inner + 1))
        elif key == "escape":
            self._hide()
        else:
            if key in ("left", "right", "home", "end", "pageup", "pagedown", "enter"):
                self._hide()
            return
        event.prevent_default()
        event.stop()

    def action_offer(self, asked: bool = True) -> None:
        from workbench.editing.completion import complete  # with the first key

        found: Completion | None = None
        if self.selection.is_empty and not self.read_only:
            found = complete(self.text, self._offset(self.cursor_location), self._own_types, asked=asked)
        if found is None:
            self._hide()
            return
        self._length = found.length
        if not self.offered.is_attached:
            self.screen.mount(self.offered)
        x, y = self.cursor_screen_offset
        self.offered.offer(found.candidates, Offset(max(0, x - found.length - 2), y + 1))

    @on(events.Blur)
    @on(events.MouseDown)
    def _hide(self) -> None:
        if self.offered.candidates:
            self.offered.offer((), Offset(0, 0))
