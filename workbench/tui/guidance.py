"""Show the guide: next steps with an example, ticked off when done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.late_dataclasses import dataclass
from workbench.state.document import Document
from workbench.tui.preferences import Preferences
from workbench.tui.screens.main import MainScreen

if TYPE_CHECKING:
    from workbench.tui.widgets.guide import Kind

MOST_ACTIONS = 200
"""The number of latest actions that a step can check."""


@dataclass(eq=False)
class Guidance:
    """Shows the guide among the panes of `main` and hides it again."""

    _document: Document
    _main: MainScreen
    _preferences: Preferences
    _actions: tuple[str, ...] = ()
    """The actions since the guide was shown, oldest first."""
    kind: Kind | None = None
    """The kind of the shown guide; None without one."""

    def show(self, kind: Kind = "notes") -> None:
        """Show a guide until it is dismissed."""
        from workbench.tui.widgets.guide import Guide

        self.hide()
        guide = Guide(self._document.session, kind)
        if kind == "first":
            guide.done |= self._preferences.toured
        if guide.steps and (guide.next_step is not None or kind != "first"):
            self._actions, self.kind = (), kind
            self._main.guide = guide
            self._main.editors.mount(guide, before="#notes-pane")
            self.look()

    def end(self) -> None:
        """Hide the guide because another session replaces the open one."""
        from workbench.tui.widgets.guide import LOADED

        self.look(LOADED)
        self.hide()

    def hide(self) -> None:
        if self._main.guide is not None:
            self._main.guide.remove()
            self._main.guide = self.kind = None

    def look(self, action: str = "") -> None:
        """Tick off completed steps; `action` is the latest action, if any."""
        guide = self._main.guide
        if guide is not None:
            self._actions = (*self._actions, action)[-MOST_ACTIONS:]
            from workbench.tui.widgets.guide import Seen

            document = self._document
            is_saved = document.path is not None and not document.dirty
            guide.look(Seen(document.session, self._main.columns.rendered, self._actions, is_saved))
            if self.kind == "first" and not guide.done <= self._preferences.toured:
                self._preferences.note("toured", sorted(guide.done))
            elif self.kind == "own" and guide.next_step is None and self._preferences.wants_guides:
                self._preferences.note("welcomed", True)  # an own session was made: the next start needs no guide

    def example(self, has_files: bool) -> str:
        """Return the example that the guide's next step opens, or ""; without files, that of any step."""
        guide = self._main.guide
        steps = guide.steps if guide is not None else ()
        if guide is not None and has_files:
            steps = steps[guide.next_step : guide.next_step + 1] if guide.next_step is not None else ()
        return next((one.example for one in steps if one.example), "")

    def focus_editors(self) -> None:
        """Focus the editors, or their next tab if they have the focus.

        While a step of the guide names an editor, focus that editor first.
        """
        editors, guide = self._main.editors, self._main.guide
        asked, is_inside = guide.editor if guide is not None else "", editors.has_focus_within
        if not asked or (is_inside and "focus_editors" in self._actions):
            editors.focus_next()
            return
        if is_inside and editors.tab == asked:
            said = f"you are in the {asked}; {{app.focus_editors|F2}} again: the next tab"
            self._main.status.say(self._preferences.key_words(said))
        editors.focus_on(asked)

    def put_away(self) -> None:
        """Dismiss the guide for good."""
        if self._main.guide is not None:
            self.hide()
            self._preferences.note("welcomed", True)
