"""Python of the user's own, named on the command line as `module:Class`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path


def named(adapters: Iterable[str]) -> frozenset[str]:
    """Those of the names that are `module:Class`: typed by the user, and so the only code that may be imported.

    Modules of the working folder can then be imported, behind all others: a file there takes no installed one's place.
    """
    names = frozenset(name for name in adapters if ":" in name)
    folder = str(Path.cwd())
    if names and folder not in sys.path:
        sys.path.append(folder)
    return names


def is_named_in(options: argparse.Namespace) -> bool:
    """Whether a command line names code of the user's: an adapter, or a function that answers a tool."""
    adapters: Iterable[str] = getattr(options, "adapters", None) or ()
    return any(":" in name for name in adapters) or bool(getattr(options, "handlers", None))
