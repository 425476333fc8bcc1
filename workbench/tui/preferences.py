"""How a user likes the workbench: settings of the config file, theme, spacing, and the layout as it was left."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from textual.app import App

from workbench.state.document import Document
from workbench.tui import remembered
from workbench.tui.keys.key_words import USUAL, KeyWords
from workbench.tui.remembered import Remembered, number, text
from workbench.tui.screens.main import EDITORS, MainScreen
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.config.settings import InForce, Settings

    _Base = App[int]
else:
    _Base = object


MOST_UNFOLDED = 50
"""Long values of a column that are open the next time as well."""


class Taste(_Base):
    """To be put in front of an app's base class. Without `use_config` nothing is read, applied or remembered."""

    main: MainScreen
    document: Document
    _in_force: InForce | None = None
    _remembers = False
    _remembered = Remembered()
    _complaint = ""
    _actions: frozenset[str] = frozenset()
    """The actions that keys have called since the guide was shown."""
    key_words = USUAL
    """How texts on the screen name the keys in force."""

    @property
    def settings(self) -> Settings | None:
        """What the config file and the environment say; None where there is neither."""
        return self._in_force.settings if self._in_force is not None else None

    def use_config(self) -> None:
        """Before the first picture: theme and spacing. A config that can not be read is told once there is one."""
        if _has_config():
            from adapters.lm.config_file import ConfigError
            from workbench.config import settings

            try:
                self._in_force = settings.load()
            except ConfigError as error:
                self._complaint = str(error)
        found = self.settings
        if found is not None and found.keymap:
            self.key_words = KeyWords(found.keymap)
        self._remembers = found is None or found.remember_layout
        self._remembered = remembered.load() if self._remembers else Remembered()
        wanted = text(self._remembered.user, "theme")
        if self._in_force is not None and self._in_force.origins["theme"].source != "default":
            wanted = self._in_force.settings.theme
        if wanted in self.available_themes:
            self.theme = wanted
        is_compact = self._remembered.user.get("compact") is True
        if self._in_force is not None and self._in_force.origins["compact"].source != "default":
            is_compact = self._in_force.settings.compact
        self.set_class(is_compact, "-compact")

    def settle_taste(self) -> None:
        """After the first picture: keys, layout, and what is wrong with the config."""
        found = self.settings
        if self._complaint:
            said = f"{self._complaint}\nUntil it is mended nothing of the file holds."
            plain_notify(self, said, title="The config file", severity="error", timeout=20)
        if found is not None and found.keymap:
            from workbench.tui.keys import keymap

            self.set_keymap(keymap.usable(found.keymap))
            wrong = keymap.problems(found.keymap)
            if wrong:
                where = self._in_force.file.place_of("keymap") if self._in_force is not None else ""
                said = f"{where}\n" + "\n".join(wrong) + self.key_words("\n{app.help|F1} names every key and its id.")
                plain_notify(self, said, title="Keys of the config file", severity="warning", timeout=20)
            self.main.show()
        self.lay_out()
        if self._remembers and self.document.path is None and not self._remembered.user.get("welcomed"):
            self.show_guide(is_first=True)

    def show_guide(self, is_first: bool = False) -> None:
        """What to do with the example that was opened, until it is put away."""
        from workbench.tui.widgets.guide import Guide

        self.hide_guide()
        guide = Guide(self.document.session, is_first)
        if guide.steps:
            self._actions = frozenset()
            self.main.guide = guide
            self.main.query_one("#left").mount(guide, before="#notes-pane")
            self.look_at_guide()

    def hide_guide(self) -> None:
        if self.main.guide is not None:
            self.main.guide.remove()
            self.main.guide = None

    def look_at_guide(self, action: str = "") -> None:
        """Ticks off what is done by now."""
        guide = self.main.guide
        if guide is not None:
            self._actions |= {action}
            guide.look(self.document.session, self.main.columns.lives, self._actions)

    def put_welcome_away(self) -> None:
        """The first launch is over."""
        if self.main.guide is not None:
            self.hide_guide()
            self._remembered = replace(self._remembered, user={**self._remembered.user, "welcomed": True})
            self.remember_layout()

    @property
    def keys_in_force(self) -> dict[str, str]:
        """The user's keys by binding id."""
        return dict(self.settings.keymap) if self.settings is not None else {}

    # -- the layout

    def lay_out(self) -> None:
        """The layout of what is open, as it was left."""
        parts = self._remembered.of(self.document.path) if self._remembers else {}
        self.main.left_share = number(parts, "editors", 0.0, 1.0)
        self.main.columns.set_share(number(parts, "prompts", 0.0, 1.0))
        self.main.share_room()
        self._unfold(parts.get("unfolded"))
        case = text(parts, "case")
        names = [one.name for one in self.document.session.cases]
        if case in names:
            self.document.look_at_case(names.index(case))
        tab = text(parts, "tab")
        if tab in EDITORS:
            self.main.open_tab(tab)
        view = text(parts, "signature")
        if view in ("form", "both", "source"):
            self.main.signature.show_as(view, focus=False)  # type: ignore[arg-type]

    def _unfold(self, kept: Any) -> None:
        """The long values that were open, by column."""
        for column in self.main.columns.all:
            found = kept.get(column.column_id) if isinstance(kept, dict) else None
            origins = [Origin(*one) for one in found if _is_origin(one)] if isinstance(found, list) else []
            if origins or column.prompt.unfolded:
                column.prompt.unfold(origins)

    def remember_layout(self) -> None:
        """Keeps the layout of what is open for the next time."""
        if not self._remembers or not self.main.is_attached:
            return
        said = {"prompts": self.main.columns.share, "editors": self.main.left_share}
        sizes: dict[str, Any] = {name: round(share, 3) for name, share in said.items() if share is not None}
        welcomed = {"welcomed": True} if self._remembered.user.get("welcomed") else {}
        user = {**sizes, **welcomed, "theme": self.theme, "compact": self.has_class("-compact")}
        own = {
            **sizes,
            "tab": self.main.tab,
            "case": self.document.state.case.name,
            "signature": self.main.signature.view,
            "unfolded": {
                one.column_id: sorted(map(list, one.prompt.unfolded), key=repr)[:MOST_UNFOLDED]
                for one in self.main.columns.all
                if one.prompt.unfolded
            },
        }
        # another workbench may have written since this one began
        self._remembered = remembered.load().with_session(self.document.path, user, own)
        remembered.save(self._remembered)

    # -- theme and spacing

    def choose_taste(self, theme: str) -> None:
        self.theme = theme
        self._tell_if_config_wins("theme")

    def action_compact(self) -> None:
        """Less empty space, or the usual."""
        self.toggle_class("-compact")
        self._tell_if_config_wins("compact")

    async def choose_theme(self) -> None:
        """Asks for a theme; the one under the cursor is what the screen looks like meanwhile."""
        from workbench.tui.dialogs.choose_theme import ChooseThemeScreen

        before = self.theme
        chosen = await self.push_screen_wait(ChooseThemeScreen(sorted(self.available_themes), before))
        self.theme = before
        if chosen is not None:
            self.choose_taste(chosen)

    def _tell_if_config_wins(self, name: str) -> None:
        if self._in_force is None or self._in_force.origins[name].source == "default":
            return
        place = self._in_force.origins[name].place
        plain_notify(self, f"{place} sets `{name}`, and will again the next time.", title="For now")


def _is_origin(one: Any) -> bool:
    is_shape = isinstance(one, list) and len(one) == 3
    return is_shape and isinstance(one[0], str) and isinstance(one[1], (str, NoneType)) and isinstance(one[2], str)


def _has_config() -> bool:
    """Whether anything is set, found out without loading what would read it."""
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.environ.get("HOME", ""), ".config")
    file = Path(base) / "adapter-workbench" / "config.toml"
    return bool(os.environ.get("WORKBENCH_THEME")) or file.is_file()
