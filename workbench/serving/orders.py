"""Define the orders for a seat's program: its folder, environment, limits and session."""

from __future__ import annotations

import json
import os
import site
from collections.abc import Mapping
from pathlib import Path

from adapters.late_dataclasses import asdict, dataclass
from adapters.lm import addresses
from adapters.lm.capabilities import split_model

FILES, HOME = "files", "home"
"""Folders of a seat: the participant's files, and the program's own files (state, settings, log)."""
PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")
"""Environment variables of the server that a seat's process inherits: locale and time zone."""
PATHS = ("PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that it inherits with absolute folders: a relative one would mean the participant's own folder, whose files
would be imported before the walls stand."""
DISK_MB = 100
PROGRAM = "workbench.tui.launch_visitor"


@dataclass(frozen=True)
class Orders:
    """The options of a seat's program.

    `session` is the name of a file in `files`, None for the first example; `lesson` is the lesson's step (1-based) to
    start in. `models` may be called in addition to the offline models; `disk_mb` limits the size of the folder.
    `leads` is true for the teacher's program; `is_projected` starts it in projector mode.
    """

    folder: str
    session: str | None = None
    lesson: int | None = None
    models: tuple[str, ...] = ()
    disk_mb: int = DISK_MB
    leads: bool = False
    is_projected: bool = False

    @property
    def files(self) -> Path:
        return Path(self.folder) / FILES

    @property
    def home(self) -> Path:
        return Path(self.folder) / HOME

    @property
    def runs_mb(self) -> int:
        """The share of `disk_mb` for stored runs: SQLite limits that file, `serving.walls` all others."""
        return self.disk_mb // 10

    def as_text(self) -> str:
        """Write the orders for the program's command line."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Orders:
        """Read the output of `as_text`."""
        given = json.loads(text)
        return cls(**{**given, "models": tuple(given["models"])})

    def environment(self, size: tuple[int, int], ours: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of the process; `ours` is the server's.

        Only `PASSED_ON`, `PATHS` and the API keys for `models` are taken from `ours`.
        """
        home = str(self.home)
        passed = {name: ours[name] for name in (*PASSED_ON, *key_variables(self.models)) if ours.get(name)}
        paths = {name: found for name in PATHS if (found := _absolute(ours.get(name, "")))}
        return {
            **passed,
            **paths,
            "HOME": home,
            "XDG_CONFIG_HOME": os.path.join(home, "config"),
            "XDG_STATE_HOME": os.path.join(home, "state"),
            "XDG_DATA_HOME": os.path.join(home, "data"),
            "XDG_CACHE_HOME": os.path.join(home, "cache"),
            "TMPDIR": os.path.join(home, "tmp"),
            "PYTHONUSERBASE": site.getuserbase(),
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TEXTUAL_DRIVER": "workbench.tui.textual_internals.visitor_driver:VisitorDriver",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "TEXTUAL_FPS": "60",
            "COLUMNS": str(size[0]),
            "ROWS": str(size[1]),
        }


def _absolute(folders: str) -> str:
    return os.pathsep.join(os.path.abspath(one) for one in folders.split(os.pathsep) if one)


def key_variables(models: tuple[str, ...]) -> tuple[str, ...]:
    """Return the environment variables of the API keys for these models, without duplicates."""
    providers = dict.fromkeys(split_model(one)[0] for one in models)
    return tuple(dict.fromkeys(name for provider in providers for name in addresses.key_variables(provider)))
