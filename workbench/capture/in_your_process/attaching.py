"""Listen to an unchanged program: wait until it imports dspy, then receive every call as a callback."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

from .listening import Listener
from .outlet import Outlet

VARIABLE = "WORKBENCH_CAPTURE"
"""The environment variable with the folder for calls, set by `workbench capture` for its child programs."""


def from_environment() -> None:
    """Attach a listener if `workbench capture` requested it."""
    given = os.environ.get(VARIABLE)
    if given:
        attach(Listener(Outlet(None, given)))


def attach(listener: Listener) -> None:
    """Add a listener to the callbacks of dspy, now or when it is imported."""
    if "dspy" in sys.modules and hasattr(sys.modules["dspy"], "settings"):
        _add(sys.modules["dspy"], listener)
    else:
        sys.meta_path.insert(0, _Waiting(listener))


def detach(listener: Listener) -> None:
    """Remove a listener."""
    settings = getattr(sys.modules.get("dspy"), "settings", None)
    added = getattr(type(settings), "_workbench_listeners", [])
    if listener in added:
        added.remove(listener)
    sys.meta_path[:] = [one for one in sys.meta_path if not (isinstance(one, _Waiting) and one.listener is listener)]


def _add(dspy: Any, listener: Listener) -> None:
    """Add a listener beside the program's own callbacks, whatever it configures.

    dspy gets `callbacks` from its settings at every call; other settings are unchanged.
    """
    kind = type(dspy.settings)
    added = kind.__dict__.get("_workbench_listeners")
    if added is not None:
        added.append(listener)
        return
    listeners = [listener]
    get = kind.get

    @functools.wraps(get)
    def with_ours(self: Any, key: str, *default: Any) -> Any:
        found = get(self, key, *default)
        if key != "callbacks" or not listeners:
            return found
        return [*(found or []), *[one for one in listeners if one not in (found or [])]]

    kind._workbench_listeners = listeners
    kind.get = with_ours


class _Waiting(importlib.abc.MetaPathFinder):
    """Waits for dspy to be imported; other finders locate it."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != "dspy":
            return None
        sys.meta_path[:] = [one for one in sys.meta_path if one is not self]
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loading(spec.loader, self.listener)
        return spec


class _Loading(importlib.abc.Loader):
    """dspy's own loader, followed by adding the listener."""

    def __init__(self, loader: Any, listener: Listener) -> None:
        self._loader = loader
        self._listener = listener

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        spec = module.__spec__
        spec.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            _add(module, self._listener)
        except Exception as error:  # the program comes first
            self._listener.outlet.say(f"this dspy cannot be listened to: {type(error).__name__}: {error}")
