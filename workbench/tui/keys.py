"""Every key by id, so that keymaps can change it and help and texts can name it.

`python -P -m workbench.tui.keys` reads a keymap (`[keymap]` of the config file) as JSON and writes its errors and every
key as JSON. It is a program of its own because it imports every screen, and only the app may import textual.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from textual.app import App
from textual.binding import Binding, BindingType

from adapters.late_dataclasses import replace
from workbench.output.exit_codes import nearest

NAMED_KEY = re.compile(r"\{([a-z_]+\.[a-z_]+)\|([^{}|]+)\}")

_WRITTEN = {"escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "minus": "-", "plus": "+"}
_WRITTEN |= {"backslash": "\\", "slash": "/", "at": "@", "underscore": "_", "circumflex_accent": "^"}


class KeyWords:
    """Insert the current keys into texts that name them as `{id|usual}`.

    `keymap` contains keys by binding id, as in the config file: `{"app.send_all": "f6,ctrl+j"}`.
    """

    def __init__(self, keymap: Mapping[str, str] | None = None) -> None:
        self._keymap = dict(keymap or {})
        self._said: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        """Return `text` with the current keys inserted; results are cached."""
        said = self._said.get(text)
        if said is None:
            said = self._said[text] = NAMED_KEY.sub(self._word, text)
        return said

    def _word(self, found: re.Match[str]) -> str:
        id, usual = found.groups()
        if id not in self._keymap:
            return usual
        key = self._keymap[id].partition(",")[0].strip()
        return short_form(key) if usual.startswith("^") else plain_words(key)


USUAL = KeyWords()


def plain_words(key: str) -> str:
    """Return a key's name for texts, such as `F5`, `shift+F5`, `ctrl+]` or `esc`."""
    *held, last = key.split("+")
    if re.fullmatch(r"f\d{1,2}", last):
        last = last.upper()
    elif last in _WRITTEN:
        last = _WRITTEN[last]
    elif len(last) > 1:
        try:
            sign = unicodedata.lookup(last.replace("_", " "))
        except KeyError:
            sign = ""
        last = sign if sign.strip() and sign.isprintable() else last
    return "+".join((*held, last))


def short_form(key: str) -> str:
    """Return a key's name for the status line, such as `F5` or `^s`."""
    return plain_words(key).replace("ctrl+", "^")


def keys_of(app: App[Any]) -> KeyWords:
    """Return the app's key names, or the usual names."""
    found = getattr(app, "key_words", USUAL)
    return found if isinstance(found, KeyWords) else USUAL


KeyRow = tuple[str, str, str, str, str] | tuple[str, str, str, str, str, bool]
"""Keys separated by commas, action, name, id, tooltip (a verb first), and whether it precedes other keys."""


def pane_keys(group: str, *rows: KeyRow) -> list[BindingType]:
    """Return the bindings of a pane, dialog or widget, listed in the help below the name of their group."""
    shared = Binding.Group(group)
    return [
        Binding(keys, action, name, id=id, tooltip=tooltip, group=shared, priority=bool(priority))
        for keys, action, name, id, tooltip, *priority in rows
    ]


RUN, FILE, EDIT, VIEW, KEEP = map(Binding.Group, ("Run", "File", "Edit", "View", "Keep"))

_KEYS = (
    (RUN, "f5,ctrl+j", "send_all", "Send", "Send every column to its model"),
    (RUN, "f8", "send_column", "Send column", "Send the focused column"),
    (RUN, "shift+f5,f17,alt+s", "send_otherwise", "Send with…", "Send several times, with a deadline, or unparsed"),
    (RUN, "alt+n", "continue_run", "Continue", "Append this run to the history: turns, or the agent's next step"),
    (RUN, "escape", "cancel", "Cancel", "Cancel active runs"),
    (RUN, "ctrl+l", "choose_model", "Model", "Choose the model"),
    (RUN, "shift+f8,f20,alt+u", "set_up_column", "Column", "Set model and variant, or add columns for other models"),
    (RUN, "alt+c,shift+f3", "add_column", "Add column", "Add a column with another adapter, model or variant"),
    (RUN, "alt+x,shift+f4,f16", "fixes", "Fixes", "Show fixes of this reply and prompt, and apply one"),
    (FILE, "ctrl+s", "save", "Save", "Save the session"),
    (FILE, "f12", "save_as", "Save as", "Save the session under another name"),
    (FILE, "ctrl+n", "new_session", "New session", "Create an empty session; in a list, add a row"),
    (FILE, "ctrl+o", "open", "Open", "Open a session or an example"),
    (FILE, "ctrl+q", "leave", "Quit", "Quit (asks about unsaved changes)"),
    (EDIT, "ctrl+z", "undo", "Undo", "Undo the last change, wherever it was"),
    (EDIT, "ctrl+y", "redo", "Redo", "Redo what was undone"),
    (EDIT, "ctrl+backslash,alt+e", "edit_outside", "Editor", "Edit the focused text in your editor"),
    (EDIT, "ctrl+t", "cases", "Cases", "Choose, add, rename, copy or delete a case"),
    (VIEW, "ctrl+f", "find", "Find", "Search prompts, replies, signature, inputs and demos"),
    (VIEW, "ctrl+right_square_bracket,alt+j", "jump", "Jump", "Show a letter on everything; type it to go there"),
    (VIEW, "f2", "focus_editors", "Edit", "Go to the editors; again: the next tab"),
    (VIEW, "f3", "focus_prompts", "Prompts", "Go to the prompts; again: the next column"),
    (VIEW, "f4", "focus_replies", "Replies", "Go to the replies; again: the next column"),
    (VIEW, "f6", "lesson", "Lesson", "Step through how this prompt is built and its reply parsed"),
    (VIEW, "f7", "look", "Inspect", "Inspect card, request, calls, reply × parser, differences, lint, tokens, stream"),
    (VIEW, "f11", "signature_view", "Form", "Show the signature as form, form and source, or source"),
    (EDIT, "shift+f11,f23,alt+l", "program", "Program", "Compare with the linked program; choose the version to keep"),
    (VIEW, "shift+f7,f19,alt+r", "past_runs", "Runs", "List this case's runs and compare two"),
    (VIEW, "alt+h", "everything_sent", "Everything sent", "Search every run of every session"),
    (VIEW, "f10", "maximize_pane", "Maximise", "Show only the focused pane, or all panes again"),
    (VIEW, "shift+f6,f18,alt+p", "project", "Projector", "Toggle projector mode: large headings, high contrast"),
    (VIEW, "alt+f", "follow_teacher", "Follow the teacher", "Go where the teacher goes, or stop following"),
    (KEEP, "ctrl+g", "copy_menu", "Copy", "Copy a prompt, a message, a reply or the request"),
    (KEEP, "ctrl+r", "record", "Record", "Record this column's prompt and reply for checks"),
    (KEEP, "f9", "check", "Check", "Check all recordings; accept or reject the changes"),
    (KEEP, "shift+f9,f21,alt+t", "break_replies", "Stress test", "Damage good replies and see which parsers survive"),
    (VIEW, "ctrl+p", "command_palette", "Commands", "Search all commands by name"),
    (VIEW, "f1", "help", "Help", "Explain this pane and list its keys; on a column, open its card"),
)
"""Group, keys, action (which is also the id), label and tooltip of each key."""

PANES_FIRST = ("cancel", "new_session")
"""Actions whose keys panes handle first."""
APP_BINDINGS: tuple[Binding, ...] = tuple(
    [
        Binding(keys, id, name, priority=id not in PANES_FIRST, id=f"app.{id}", tooltip=tooltip, group=group)
        for group, keys, id, name, tooltip in _KEYS
    ]
)

ACTIONS = frozenset(one.action.partition("(")[0] for one in APP_BINDINGS)
ON_A_DIALOG = frozenset({"help", "command_palette"})
ON_A_PAGE = frozenset(
    "help command_palette look send_all send_column undo redo save leave project follow_teacher".split()
)
ON_A_LESSON = frozenset({"help", "command_palette", "lesson", "leave", "project", "follow_teacher"})
ON_A_REVIEW = frozenset({"help"})
"""Actions of the app that still work on a screen in front of the panes.

A screen names its set as `APP_ACTIONS`; a screen without that is treated as a dialog.
"""


class Bound(NamedTuple):
    """A binding and the name of its class; `""` for the app."""

    owner: str
    binding: Binding


@lru_cache(maxsize=1)
def every_binding() -> tuple[Bound, ...]:
    """Return the bindings of the app, then of every pane, screen and widget, importing all of them."""
    import pkgutil  # only for this

    found = [Bound("", one) for one in APP_BINDINGS]
    seen: set[type] = set()
    for package in ("panes", "screens", "dialogs", "actions", "widgets"):
        home = f"workbench.tui.{package}"
        path = importlib.import_module(home).__path__
        for module in sorted(one.name for one in pkgutil.walk_packages(path, f"{home}.")):
            for cls in vars(importlib.import_module(module)).values():
                if isinstance(cls, type) and cls.__module__.startswith("workbench.") and cls not in seen:
                    seen.add(cls)
                    own: Iterable[Any] = cls.__dict__.get("BINDINGS", ())
                    found += [Bound(cls.__name__, one) for one in own if isinstance(one, Binding)]
    return tuple(found)


def problems(keymap: Mapping[str, str]) -> tuple[str, ...]:
    """Return the errors of a keymap: unknown ids, and keys that two actions share."""
    usual = every_binding()
    changed = [Bound(owner, replace(one, key=keymap.get(one.id or "", one.key))) for owner, one in usual]
    ids = {one.binding.id or "" for one in usual}
    unknown: list[str] = []
    for id in keymap:
        if id not in ids:
            near = nearest(id, ids)
            unknown.append(f"there is no key binding {id!r}{f'; did you mean {near}?' if near else ''}")
    return (*unknown, *_shared_keys(keymap, usual, changed))


def _shared_keys(keymap: Mapping[str, str], usual: Iterable[Bound], changed: Iterable[Bound]) -> Iterator[str]:
    """Report keys that the keymap gives to two actions of a pane, or takes from a pane for the app.

    Actions that share a key by default do so on purpose.
    """
    before = {(owner, key, one.id) for owner, one in usual for key in _keys(one)}
    over_all = {key for owner, one in changed if not owner and one.priority for key in _keys(one)}
    ids: dict[tuple[str, str], list[str]] = {}
    for owner, binding in changed:
        for key in _keys(binding):
            listed = ids.setdefault((owner, key), [])
            if binding.id and binding.id not in listed:
                listed.append(binding.id)
    for (owner, key), sharing in ids.items():
        if len(sharing) > 1 and any(id in keymap for id in sharing):
            yield f"{key} is given to {' and '.join(sharing)}: only one of them can have it"
        if not owner or key not in over_all:
            continue
        app_id = next(iter(ids.get(("", key), ())), "")
        for id in sharing:
            if not {("", key, app_id), (owner, key, id)} <= before:
                yield f"{key} of {app_id} works everywhere, so {id} cannot use it"


def usable(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the entries with known ids."""
    ids = {one.binding.id for one in every_binding()}
    return {id: keys for id, keys in keymap.items() if id in ids}


def _keys(binding: Binding) -> list[str]:
    return [key.strip() for key in binding.key.split(",")]


def keys(own: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return every binding with an id, with its current keys: `{"id", "keys", "about", "group"}`."""
    found: dict[str, dict[str, Any]] = {}
    for _, one in every_binding():
        if one.id and one.id not in found:
            group = one.group.description if one.group is not None else ""
            about = one.tooltip or one.description
            found[one.id] = {"id": one.id, "keys": own.get(one.id, one.key), "about": about, "group": group}
        elif one.id and one.id not in own and one.key not in found[one.id]["keys"].split(","):
            found[one.id]["keys"] += f",{one.key}"
    return list(found.values())


if __name__ == "__main__":
    own = json.load(sys.stdin)
    sys.stdout.write(json.dumps({"problems": problems(own), "keys": keys(own)}))
