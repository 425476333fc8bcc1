"""Actions of the app, each with the dialogs that it alone asks.

A file is imported when a key first needs it, so that none delays the first picture.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tui.actions import (
        attaching,
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
