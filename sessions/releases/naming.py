"""Engines by the names that people give them: `ours`, `installed`, `3.0.4`, the path of a Python."""

from __future__ import annotations

import os
import sys

from sessions.releases import environments
from sessions.releases.engine import Engine, ReleaseError
from sessions.releases.ours import Ours
from sessions.releases.release import Release


def open_engine(name: str) -> Engine:
    """The engine of that name, started. `installed` is the dspy beside the workbench.

    Raises `ReleaseError`: of a release that was not added with how to add it.
    """
    if name == "ours":
        return Ours()
    if name == "installed":
        return Release(sys.executable, hint="install dspy beside the workbench, or name a release as `3.0.4`")
    if environments.VERSION.fullmatch(name):
        return environments.open_release(name)
    if os.sep in name or name.startswith("python"):
        return Release(name, hint="install dspy there, or name another Python")
    message = f"`{name[:80]}` names no engine"
    raise ReleaseError("missing", "", message, "there are `ours`, `installed`, a release as `3.0.4`, a Python's path")
