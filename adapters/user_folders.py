"""Find the workbench's folders for settings and state by the XDG base directory rules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

NAME = "adapter-workbench"


def user_folder(variable: str, below_home: str, environment: Mapping[str, str] | None = None) -> Path | None:
    """Return the workbench's folder below the folder in `variable`, else below `below_home` of the home folder.

    `variable` is defined by the XDG base directory specification (`XDG_STATE_HOME`, …); a relative path in it is
    ignored. Returns None without a home folder. The folder need not exist.
    """
    env = os.environ if environment is None else environment
    named = env.get(variable, "")
    home = os.path.expanduser("~") if environment is None else environment.get("HOME", "")
    base = named if os.path.isabs(named) else os.path.join(home, below_home)
    return Path(base) / NAME if os.path.isabs(base) else None
