"""Python of the user's own, named on the command line as `module:Class`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from workbench.output.exit_codes import CommandError


def named(adapters: Iterable[str]) -> frozenset[str]:
    """Those of the names that are `module:Class`: typed by the user, and so the only code that may be imported.

    Modules of the working folder can then be imported, behind all others: never before an installed module.
    """
    names = frozenset(name for name in adapters if ":" in name)
    if names and (folder := str(Path.cwd())) not in sys.path:
        sys.path.append(folder)
    return names


def function(place: str, said: str) -> Callable[..., Any]:
    """The function at `module:function`, which is imported because the user typed it; `said` is how, for errors.

    Raises `CommandError` for what cannot be imported or is no function.
    """
    module, _, name = place.partition(":")
    named([place])
    try:
        found = getattr(importlib.import_module(module), name)
    except Exception as error:  # whatever the user's module runs into
        raise CommandError(f"{said}: {type(error).__name__}: {error}") from error
    if not callable(found):
        raise CommandError(f"{said}: {name} is no function")
    made: Callable[..., Any] = found
    return made


def is_named_in(options: argparse.Namespace) -> bool:
    """Return whether a command line names code of the user's: an adapter, or a function for tools or verdicts."""
    adapters: Iterable[str] = getattr(options, "adapters", None) or ()
    functions = [
        *(getattr(options, "handlers", None) or ()),
        *(getattr(options, "expect", None) or ()),
        getattr(options, "metric", None),
    ]
    return any(":" in name for name in adapters) or any(functions)
