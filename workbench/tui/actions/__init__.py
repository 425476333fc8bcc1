"""Actions of the app, each with the dialogs that only it uses.

A module is imported when a key first needs it, so that it does not delay the first screen.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tui.actions import (
        benching,
        browsing,
        cases,
        checking,
        columns,
        exporting,
        external_editor,
        files,
        finding,
        fixing,
        following,
        looking,
        past_runs,
        sending,
        suggesting,
    )


def __getattr__(name: str) -> Any:
    return import_module(f"{__name__}.{name}")
