"""What the app does in steps: questions that are asked on the way, and what then happens.

A file of it is imported when a key first asks for one, so that none holds up the first picture: `actions.files` is
enough.
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
        drifting,
        external_editor,
        files,
        finding,
        following,
        looking,
        models,
        past_runs,
        recording,
        sending,
        suggesting,
        thresholds,
    )

__all__ = [
    "breaking",
    "browsing",
    "cases",
    "checking",
    "columns",
    "copying",
    "deciding",
    "drifting",
    "external_editor",
    "files",
    "finding",
    "following",
    "looking",
    "models",
    "past_runs",
    "recording",
    "sending",
    "suggesting",
    "thresholds",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"{__name__} has no {name}")
    return import_module(f"{__name__}.{name}")
