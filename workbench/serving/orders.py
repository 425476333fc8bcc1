"""Orders for the program of a seat: its folder, its environment, its limits, and the session it shows."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from adapters.lm import addresses
from adapters.lm.capabilities import split_model

FILES, HOME = "files", "home"
"""Folders of a seat: the participant's files, and what the program keeps for itself (state, settings, log)."""
PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "PYTHONPATH", "LD_LIBRARY_PATH")
"""The variables of the server that a seat's process gets: how text and times are written, and where Python is."""
DISK_MB = 100
PROGRAM = "workbench.tui.launch_visitor"


@dataclass(frozen=True)
class Orders:
    """`session` is the name of a file in `files`, None for the first example; `lesson` is a step, from 1, that is
    opened at once; `models` may be called in addition to the offline models; `disk_mb` limits the folder. The teacher's
    program `leads`; `is_projected`: it starts in projector mode.
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

    def as_text(self) -> str:
        """Write them for the command line of the program."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Orders:
        """Read what `as_text` wrote."""
        given = json.loads(text)
        return cls(**{**given, "models": tuple(given["models"])})

    def environment(self, size: tuple[int, int], ours: Mapping[str, str]) -> dict[str, str]:
        """Return all variables of the process: of `ours`, the server's, only a few that are not secret.

        With `models` also the API keys of their providers.
        """
        home = str(self.home)
        passed = {name: ours[name] for name in (*PASSED_ON, *key_variables(self.models)) if ours.get(name)}
        return {
            **passed,
            "HOME": home,
            "XDG_CONFIG_HOME": os.path.join(home, "config"),
            "XDG_STATE_HOME": os.path.join(home, "state"),
            "XDG_DATA_HOME": os.path.join(home, "data"),
            "XDG_CACHE_HOME": os.path.join(home, "cache"),
            "TMPDIR": os.path.join(home, "tmp"),
            "PYTHONUTF8": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "TEXTUAL_DRIVER": "workbench.tui.textual_internals.visitor_driver:VisitorDriver",
            "TEXTUAL_COLOR_SYSTEM": "truecolor",
            "TEXTUAL_FPS": "60",
            "COLUMNS": str(size[0]),
            "ROWS": str(size[1]),
        }


def key_variables(models: tuple[str, ...]) -> tuple[str, ...]:
    """Return the variables that hold the API keys for these models, each once."""
    providers = dict.fromkeys(split_model(one)[0] for one in models)
    return tuple(dict.fromkeys(name for provider in providers for name in addresses.key_variables(provider)))
