"""Actions of the app, each with the dialogs that it alone asks.

A file is imported when a key first needs it, so that none delays the first picture.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tui.actions import (
        breaking,
        browsing,
        cases,
        checking,
        columns,
        copying,
        deciding,
        external_editor,
        files,
        finding,
        following,
        looking,
        past_runs,
        pasting,
        recording,
        sending,
        suggesting,
    )

__all__ = [
    "breaking",
    "browsing",
    "cases",
    "checking",
    "columns",
    "copying",
    "deciding",
    "external_editor",
    "files",
    "finding",
    "following",
    "looking",
    "past_runs",
    "pasting",
    "recording",
    "sending",
    "suggesting",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"{__name__} has no {name}")
    return import_module(f"{__name__}.{name}")
