"""The user's own keys: `[keymap]` of the config file laid over the bindings, and what is wrong with it in words."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from textual.binding import Binding

from workbench.output.suggestions import nearest
from workbench.tui.keys.bindings import APP_BINDINGS

_WITH_BINDINGS = ("panes", "screens", "dialogs", "widgets")


class Bound(NamedTuple):
    """A binding and the name of the class that has it; `""` for those of the app."""

    owner: str
    binding: Binding


@lru_cache(maxsize=1)
def every_binding() -> tuple[Bound, ...]:
    """The bindings of the app, then those of every pane, screen and widget. Imports all of them."""
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
    """What is wrong with a keymap, one sentence each: ids there are not, and keys that two actions share."""
    bound = every_binding()
    ids = {one.binding.id or "" for one in bound}
    wrong = []
    for id in keymap:
        if id not in ids:
            near = nearest(id, ids)
            question = f"; did you mean {near}?" if near else ""
            wrong.append(f"there is no key binding {id!r}{question}")
    changed = [Bound(owner, _with_keys(binding, keymap)) for owner, binding in bound]
    keys: dict[tuple[str, str], list[str]] = {}
    for owner, binding in changed:
        for key in binding.key.split(","):
            ids_of_key = keys.setdefault((owner, key.strip()), [])
            if binding.id and binding.id not in ids_of_key:
                ids_of_key.append(binding.id)
    before = {(owner, key.strip(), one.id) for owner, one in bound for key in one.key.split(",")}
    over_all = {key for owner, one in changed if not owner and one.priority for key in one.key.split(",")}
    for (owner, key), sharing in keys.items():
        if len(sharing) > 1 and any(id in keymap for id in sharing):
            wrong.append(f"{key} is given to {' and '.join(sharing)}: only one of them can have it")
        app_id = next(iter(keys.get(("", key), ())), "")
        for id in sharing if owner and key in over_all else ():
            if ("", key, app_id) not in before or (owner, key, id) not in before:
                wrong.append(f"{key} of {app_id} works everywhere, so that {id} can not have it")
    return tuple(wrong)


def usable(keymap: Mapping[str, str]) -> dict[str, str]:
    """The entries whose id there is."""
    ids = {one.binding.id for one in every_binding()}
    return {id: keys for id, keys in keymap.items() if id in ids}


def first_key(binding: Binding, keymap: Mapping[str, str]) -> Binding:
    """The binding with the first of its keys in force, for those who show it."""
    keys = keymap.get(binding.id or "", binding.key)
    return replace(binding, key=keys.partition(",")[0].strip())


def _with_keys(binding: Binding, keymap: Mapping[str, str]) -> Binding:
    return replace(binding, key=keymap.get(binding.id or "", binding.key))
