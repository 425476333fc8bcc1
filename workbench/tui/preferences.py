"""Apply the user's preferences: config file, theme, spacing and layout.

The layout is remembered in a small JSON file in the user's state folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.app import App

from adapters.late_dataclasses import dataclass, field, replace
from adapters.user_folders import user_folder
from sessions.errors import SessionError
from sessions.file import whole_files
from workbench.state.document import Document
from workbench.tui import themes
from workbench.tui.keys import USUAL, KeyWords, problems, usable
from workbench.tui.panes.editors import EDITORS
from workbench.tui.panes.signature import VIEWS
from workbench.tui.screens.main import MainScreen
from workbench.tui.widgets.prompt.prompt_section import Origin
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.config.settings import InForce, Settings


NAME = "layout.json"
SECONDS_OF_LAST_FILE = 15
"""Seconds that the status line names the latest file at a start without a file."""
MOST_SESSIONS = 200
MOST_RECENT = 50
LARGEST = 1_000_000
"""The size limit of the layout file in bytes; a larger file is ignored."""

Parts = Mapping[str, Any]


@dataclass(frozen=True)
class Remembered:
    """Remembered layouts: `user` for every session, `sessions` by `key_of` their file. `recent` files, newest first."""

    user: Parts = field(default_factory=dict)
    sessions: Mapping[str, Parts] = field(default_factory=dict)
    recent: tuple[str, ...] = ()

    def of(self, path: Path | None) -> Parts:
        """Return a session's layout, in which its own values override the user's."""
        own = self.sessions.get(whole_files.key_of(path), {})
        return {**self.user, **own}

    def add_session_layout(self, path: Path | None, user: Parts, own: Parts) -> Remembered:
        """Return a copy with a session's layout; `user` becomes the default of other sessions."""
        others = {key: one for key, one in self.sessions.items() if key != whole_files.key_of(path)}
        kept = dict(list(others.items())[-(MOST_SESSIONS - 1) :])
        recent = self.recent
        if path is not None:
            name = os.path.realpath(path)
            recent = (name, *(one for one in recent if one != name))[:MOST_RECENT]
        return Remembered({**self.user, **user}, {**kept, whole_files.key_of(path): dict(own)}, recent)


def load() -> Remembered:
    """Load the layout file; an empty `Remembered` if it is missing or invalid."""
    try:
        place = whole_files.state_folder() / NAME
        if place.stat().st_size > LARGEST:
            return Remembered()
        data = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, SessionError):
        return Remembered()
    if not isinstance(data, dict):
        return Remembered()
    sessions = {key: one for key, one in _object(data.get("sessions")).items() if isinstance(one, dict)}
    recent = data.get("recent")
    names = tuple(one for one in recent if isinstance(one, str)) if isinstance(recent, list) else ()
    return Remembered(_object(data.get("user")), sessions, names)


def save(remembered: Remembered) -> str:
    """Write the layout file atomically; return why that failed, or ""."""
    content = json.dumps(
        {"user": dict(remembered.user), "sessions": remembered.sessions, "recent": list(remembered.recent)},
        default=dict,
        indent=1,
    )
    try:
        folder = whole_files.state_folder()
        whole_files.private(folder)
        whole_files.replace(str(folder / NAME), [content.encode("utf-8", "backslashreplace")], 0o600)
    except (OSError, SessionError) as error:
        return str(error)
    return ""


def share_in(parts: Parts, name: str) -> float | None:
    """Return the share `name` if it is a number from 0 to 1, else None."""
    value: Any = parts.get(name)
    return float(value) if type(value) in (int, float) and 0 <= value <= 1 else None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


MOST_UNFOLDED = 50
"""The number of unfolded values remembered per column."""


class Look(NamedTuple):
    """The look before projector mode; `scrolled` is the columns' scroll position in cells."""

    theme: str
    is_compact: bool
    is_quiet: bool
    scrolled: float


@dataclass(eq=False)
class Preferences:
    """The preferences of the running app; nothing is read, applied or remembered before `use_config`."""

    _app: App[int]
    _document: Document
    _main: MainScreen
    _in_force: InForce | None = None
    _remembers: bool = False
    _keeps: bool = True
    _remembered: Remembered = field(default_factory=Remembered)
    _complaint: str = ""
    _is_quiet_at_first: bool = False
    _usual_theme: str = themes.DARK.name
    _before_projector: Look | None = None
    _way_back: int = 0
    """The number of the message that names the key out of projector mode."""
    reminder: int = 0
    """The number of the message that names the last file."""
    key_words: KeyWords = USUAL
    """Names the user's keys in texts."""

    @property
    def settings(self) -> Settings | None:
        """The settings of config file and environment; None without any."""
        return self._in_force.settings if self._in_force is not None else None

    def use_config(self, keep: bool = True) -> None:
        """Apply theme and spacing before the first picture; `settle` reports errors of the config after it.

        Without `keep` the layout is not remembered.
        """
        self._keeps = keep
        folder = user_folder("XDG_CONFIG_HOME", ".config")
        has_file = folder is not None and (folder / "config.toml").is_file()
        if has_file or os.environ.get("WORKBENCH_THEME"):  # without a config, its reader is not imported
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
        self._remembered = load() if self._remembers else Remembered()
        self._app.theme = self._usual_theme = themes.usual(self._app.console.color_system)
        wanted = str(self._remembered.user.get("theme"))
        if wanted == themes.DARK.name:  # remembered for the default, too, which depends on the terminal
            wanted = self._usual_theme
        if self._in_force is not None and self._in_force.origins["theme"].source != "default":
            wanted = self._in_force.settings.theme
        if wanted in self._app.available_themes:
            self._app.theme = wanted
        is_compact = self._remembered.user.get("compact") is True
        if self._in_force is not None and self._in_force.origins["compact"].source != "default":
            is_compact = self._in_force.settings.compact
        self._app.set_class(is_compact, "-compact")
        self._is_quiet_at_first = True
        self._main.columns.is_quiet = self._is_quiet_as_left

    @property
    def _is_quiet_as_left(self) -> bool:
        """Tell whether the text that all prompts share was folded, which is the default."""
        parts = self._remembered.of(self._document.path) if self._remembers else {}
        return parts.get("quiet", self._is_quiet_at_first) is True

    def settle(self) -> None:
        """Apply keys and layout after the first picture, and report errors of the config."""
        found = self.settings
        if self._complaint:
            said = f"{self._complaint}\nDefaults apply until the file is fixed."
            plain_notify(self._app, said, title="Config file", severity="error", timeout=20)
        if found is not None and found.keymap:
            self._app.set_keymap(usable(found.keymap))
            wrong = problems(found.keymap)
            if wrong:
                where = self._in_force.file.place_of("keymap") if self._in_force is not None else ""
                said = f"{where}\n" + "\n".join(wrong) + self.key_words("\n{app.help|F1} lists every key and its id.")
                plain_notify(self._app, said, title="Keys in the config file", severity="warning", timeout=20)
            self._main.show()
        self.restore_layout()
        last = next(filter(os.path.isfile, self._remembered.recent), "")
        if last and self._document.path is None:
            said = f"{self.key_words('{app.open|^o}')} opens {os.path.basename(last)} again"
            self.reminder = self._main.status.say(said, SECONDS_OF_LAST_FILE)

    @property
    def megabytes_of_runs(self) -> int:
        """The size limit of stored runs in megabytes; with 0 no run is stored."""
        from workbench.config.settings import Settings

        return (self.settings or Settings()).keep_runs

    @property
    def wants_guide(self) -> bool:
        """Tell whether to show the guide: an example is open and the guide was never dismissed."""
        is_example = self._document.path is None and self._document.session.signature.source is None
        return self.wants_guides and is_example

    @property
    def wants_guides(self) -> bool:
        """Tell whether no guide was dismissed or done to its end with an own session."""
        return self._remembers and not self._remembered.user.get("welcomed")

    def note(self, name: str, value: object) -> None:
        """Remember a fact about the guide: `welcomed`, once it was dismissed, or the steps `toured`."""
        self._remembered = replace(self._remembered, user={**self._remembered.user, name: value})
        self.remember_layout()

    @property
    def toured(self) -> frozenset[int]:
        """The steps of the first example's guide that are done."""
        steps = self._remembered.user.get("toured") if self._remembers else None
        return frozenset(one for one in steps if isinstance(one, int)) if isinstance(steps, list) else frozenset()

    # -- the layout

    def restore_layout(self) -> None:
        """Restore the layout of the open session."""
        parts = self._remembered.of(self._document.path) if self._remembers else {}
        self._main.left_share = share_in(parts, "editors")
        self._main.columns.set_share(share_in(parts, "prompts"))
        is_quiet = self._is_quiet_as_left
        if self._before_projector is not None:
            self._before_projector = self._before_projector._replace(is_quiet=is_quiet, scrolled=0)
        else:
            self._main.columns.set_quiet(is_quiet)
        self._main.share_room()
        # Restore the unfolded values, by column
        kept = parts.get("unfolded")
        for column in self._main.columns.all:
            found = kept.get(column.column_id) if isinstance(kept, dict) else None
            origins: list[Origin] = []
            for one in found if isinstance(found, list) else ():
                match one:
                    case [str() as kind, str() | None as field, str() as turn]:
                        origins.append(Origin(kind, field, turn))
            if origins or column.prompt.unfolded:
                column.prompt.unfold(origins)
        case, tab = parts.get("case"), parts.get("tab")
        names = [one.name for one in self._document.session.cases]
        if case in names:
            self._document.look_at_case(names.index(case))
        if tab in EDITORS:
            self._main.editors.open(tab)
        for view in [one for one in VIEWS if one == parts.get("signature")]:
            self._main.editors.signature.show_as(view, focus=False)

    def remember_layout(self) -> None:
        """Remember the layout of the open session."""
        if not self._remembers or not self._keeps or not self._main.is_attached:
            return
        said = {"prompts": self._main.columns.shares.said, "editors": self._main.left_share}
        sizes: dict[str, Any] = {name: round(share, 3) for name, share in said.items() if share is not None}
        look = self._before_projector or self._look
        sizes["quiet"] = look.is_quiet
        guide = {name: self._remembered.user[name] for name in ("welcomed", "toured") if name in self._remembered.user}
        theme = themes.DARK.name if look.theme == self._usual_theme else look.theme
        user = {**sizes, **guide, "theme": theme, "compact": look.is_compact}
        own = {
            **sizes,
            "tab": self._main.editors.tab,
            "case": self._document.state.case.name,
            "signature": self._main.editors.signature.view,
            "unfolded": {
                one.column_id: sorted(map(list, one.prompt.unfolded), key=repr)[:MOST_UNFOLDED]
                for one in self._main.columns.all
                if one.prompt.unfolded
            },
        }
        # another workbench may have written the file in the meantime
        self._remembered = load().add_session_layout(self._document.path, user, own)
        save(self._remembered)

    # -- theme and spacing

    def set_theme(self, theme: str) -> None:
        """Use a theme now and at the next start."""
        self._app.theme = theme
        self._tell_if_config_wins("theme")

    def toggle_compact(self) -> None:
        """Toggle compact spacing."""
        self._app.toggle_class("-compact")
        self._tell_if_config_wins("compact")

    @property
    def _look(self) -> Look:
        columns = self._main.columns
        return Look(self._app.theme, self._app.has_class("-compact"), columns.is_quiet, columns.scroll_x)

    def toggle_projector(self) -> None:
        """Toggle projector mode, which is never remembered."""
        before, self._before_projector = self._before_projector, None
        is_projected = before is None
        if before is None:
            self._before_projector = self._look
            theme = themes.projected(self._app.theme, self._app.current_theme.dark)
            look = Look(theme, False, True, 0)
        else:
            look = before
        is_same = look.theme == self._app.theme  # another theme looks up every style itself
        with self._app.batch_update():
            classes = {"-projected": is_projected, "-compact": look.is_compact}
            self._app.update_classes(classes, update=False)
            self._app.theme = look.theme
            self._main.columns.set_quiet(look.is_quiet)
            self._main.project(is_projected)
            if is_same:
                self._app.update_node_styles(animate=False)
        if before is None:
            self._way_back = self._main.status.say(self.key_words("projector · {app.project|shift+F6} back"))
        else:
            self._main.status.hush(self._way_back)
            self._main.call_after_refresh(self._main.columns.scroll_to, x=before.scrolled, animate=False)

    async def choose_theme(self) -> None:
        """Ask for a theme, with a live preview."""
        from workbench.tui.dialogs.choose import ChooseThemeScreen

        before = self._app.theme
        chosen = await self._app.push_screen_wait(ChooseThemeScreen(sorted(self._app.available_themes), before))
        self._app.theme = before
        if chosen is not None:
            self.set_theme(chosen)

    def _tell_if_config_wins(self, name: str) -> None:
        if self._in_force is None or self._in_force.origins[name].source == "default":
            return
        place = self._in_force.origins[name].place
        plain_notify(self._app, f"{place} sets `{name}` again at the next start.", title="Only until you quit")
