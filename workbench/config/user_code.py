"""Import users' Python code, named on the command line as `module:Class`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from workbench.output.exit_codes import CommandError


def named(adapters: Iterable[str]) -> frozenset[str]:
    """Return the names of the form `module:Class`, the only user code that may be imported.

    If there are any, modules of the working folder become importable, after all installed modules.
    """
    names = frozenset(name for name in adapters if ":" in name)
    if names and (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    return names


def function(place: str, said: str, example: str) -> Callable[..., Any]:
    """Import the function `module:function` that the user typed; errors begin with `said`.

    Raises `CommandError` with an example for any other form, if the import fails, or if the object is not callable.
    """
    module, _, name = place.partition(":")
    if not (module and name):
        raise CommandError(f"{said}: write module:function, e.g. {example}")
    named([place])
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever the user's module raises
        raise CommandError(f"{said}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise CommandError(f"{said}: {name} is not a function")
    made: Callable[..., Any] = found
    return made


def is_named_in(options: argparse.Namespace) -> bool:
    """Return whether a command line names user code: an adapter, or a function for tools or verdicts."""
    adapters: Iterable[str] = getattr(options, "adapters", None) or ()
    functions = [
        *(getattr(options, "handlers", None) or ()),
        *(getattr(options, "expect", None) or ()),
        getattr(options, "metric", None),
    ]
    return any(":" in name for name in adapters) or any(functions)
