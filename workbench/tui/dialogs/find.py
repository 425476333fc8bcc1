"""One line to find a text anywhere: what is found is gone to at once, in the panes behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.state.finding import MOST_HITS, Hit
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.text.plain import PlainStatic, lines

_FIND = Binding.Group("Find")
QUIET = "$foreground 60%"


class FindScreen(ModalScreen[bool]):
    """`search` gives the hits of a text, `show` brings one into sight. Returns whether to stay at the hit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(False)", "Close", id="find.close", tooltip="Back to where you were", group=_FIND),
        Binding("enter", "stay", "Go there", priority=True, id="find.stay", tooltip="Go to what is shown", group=_FIND),
        Binding(
            "down,ctrl+f,ctrl+n", "step(1)", "Next", priority=True, id="find.next", tooltip="The next hit", group=_FIND
        ),
        Binding("up", "step(-1)", "Before", priority=True, id="find.before", tooltip="The hit before", group=_FIND),
    ]

    def __init__(self, search: Callable[[str], list[Hit]], show: Callable[[Hit], None], start: str = "") -> None:
        super().__init__()
        self._search = search
        self._show_hit = show
        self._start = start
        self._hits: list[Hit] = []
        self._at = 0

    def compose(self) -> ComposeResult:
        with Horizontal(id="find-line"):
            yield PlainStatic(lines(("find ", QUIET)), classes="find-word")
            yield Input(self._start, compact=True, placeholder="a text, in any pane")
            yield PlainStatic(id="find-where")

    def on_mount(self) -> None:
        self._say()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._hits = self._search(event.value)
        self._at = 0
        self._arrive()

    def action_step(self, by: int) -> None:
        if self._hits:
            self._at = (self._at + by) % len(self._hits)
            self._arrive()

    def action_stay(self) -> None:
        self.dismiss(bool(self._hits))

    @property
    def wanted(self) -> str:
        return self.query_one(Input).value

    def _arrive(self) -> None:
        self._say()
        if self._hits:
            self._show_hit(self._hits[self._at])

    def _say(self) -> None:
        self.query_one("#find-where", PlainStatic).show(self._words())

    def _words(self) -> Content:
        keys = keys_of(self.app)
        if not self.wanted:
            hint = "{find.next|↓}{find.before|↑} hits   {find.stay|enter} stays there   {find.close|esc} goes back"
            return lines((keys(hint), QUIET))
        if not self._hits:
            return lines(("nothing   ", "$text-warning"), (keys("{find.close|esc} goes back"), QUIET))
        hit = self._hits[self._at]
        before, found, behind = hit.context
        more = "+" if len(self._hits) == MOST_HITS else ""
        count = f"{self._at + 1} of {len(self._hits)}{more}"
        return lines(
            (f"{count}  ", "bold"),
            (f"{hit.of.name}  ", "$text-accent"),
            (before[-20:], QUIET),
            (found, "reverse"),
            (behind, QUIET),
        )
