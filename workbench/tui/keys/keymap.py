"""Apply the user's keys (`[keymap]` of the config file) to the bindings, and find errors in them.

`python -P -m workbench.tui.keys.keymap` reads a keymap as JSON and writes its errors and every key as JSON. It is a
program of its own because it imports every screen, and only the app may import textual.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from textual.binding import Binding

from workbench.output.exit_codes import nearest
from workbench.tui.keys.bindings import APP_BINDINGS

_WITH_BINDINGS = ("panes", "screens", "dialogs", "actions", "widgets")


class Bound(NamedTuple):
    """A binding and the name of its class; `""` for the app."""

    owner: str
    binding: Binding


@lru_cache(maxsize=1)
def every_binding() -> tuple[Bound, ...]:
    """Return the bindings of the app, then of every pane, screen and widget, importing all of them."""
    found = [Bound("", one) for one in APP_BINDINGS]
    seen: set[type] = set()
    for package in _WITH_BINDINGS:
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
                yield f"{key} of {app_id} works everywhere, so that {id} cannot have it"


def usable(keymap: Mapping[str, str]) -> dict[str, str]:
    """Return the entries with known ids."""
    ids = {one.binding.id for one in every_binding()}
    return {id: keys for id, keys in keymap.items() if id in ids}


def first_key(binding: Binding, keymap: Mapping[str, str]) -> Binding:
    """Return the binding with the first of its current keys, for display."""
    keys = keymap.get(binding.id or "", binding.key)
    return replace(binding, key=keys.partition(",")[0].strip())


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
