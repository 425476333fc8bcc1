"""The guide: what to do next with an example that was opened, ticked off as it is done."""

from __future__ import annotations

from workbench.state.document import Document
from workbench.tui.preferences import Preferences
from workbench.tui.screens.main import MainScreen

FOCUS_EDITORS = "focus_editors"
MOST_ACTIONS = 200
"""The last keys of the app that a step may ask about."""


class Guidance:
    """Shows the guide among the panes of `main`, and takes it away again."""

    def __init__(self, document: Document, main: MainScreen, preferences: Preferences) -> None:
        self._document = document
        self._main = main
        self._preferences = preferences
        self._actions: tuple[str, ...] = ()
        """The actions that keys have called since the guide was shown."""

    def show(self, is_first: bool = False) -> None:
        """What to do with the example that was opened, until it is put away."""
        from workbench.tui.widgets.guide import Guide

        self.hide()
        guide = Guide(self._document.session, is_first)
        if guide.steps:
            self._actions = ()
            self._main.guide = guide
            self._main.editors.mount(guide, before="#notes-pane")
            self.look()

    def hide(self) -> None:
        if self._main.guide is not None:
            self._main.guide.remove()
            self._main.guide = None

    def look(self, action: str = "") -> None:
        """Ticks off what is done by now; `action` is what a key has just called."""
        guide = self._main.guide
        if guide is not None:
            self._actions = (*self._actions, action)[-MOST_ACTIONS:]
            guide.look(self._document.session, self._main.columns.rendered, self._actions)

    def focus_editors(self) -> None:
        """The focus to the editors, the next tab when it is there already; and where a step says that this key goes to
        an editor, it goes there from anywhere else, and the first time from there, too."""
        editors, guide = self._main.editors, self._main.guide
        asked, is_inside = guide.editor if guide is not None else "", editors.has_focus_within
        if not asked or (is_inside and FOCUS_EDITORS in self._actions):
            editors.focus_next()
            return
        if is_inside and editors.tab == asked:
            said = f"you are in the {asked}; {{app.focus_editors|F2}} again: the next tab"
            self._main.status.say(self._preferences.key_words(said))
        editors.focus_on(asked)

    def put_away(self) -> None:
        """The user has had enough of it, and does not want it at the next start."""
        if self._main.guide is not None:
            self.hide()
            self._preferences.note_welcomed()
