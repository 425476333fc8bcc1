"""The folder of a visitor: the sessions of the class, what he makes of them, and what his program keeps."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from workbench.serving.orders import FILES, HOME

MARK = "# The top of this folder's project: a session in it is linked to nothing above.\n"
"""Of a `pyproject.toml`, which is what `sessions.source.project` looks for upwards."""


def make(top: Path, number: int, sessions: Sequence[Path]) -> Path:
    """A new folder below `top`, for nobody else to read, with a copy of each session.

    Raises OSError, and then leaves none.
    """
    folder = top / f"visitor-{number:02}"
    while True:
        try:
            folder.mkdir(mode=0o700, parents=True)
            break
        except FileExistsError:  # kept from an earlier class
            number += 1
            folder = top / f"visitor-{number:02}"
    try:
        _fill(folder, sessions)
    except OSError:
        remove(folder)
        raise
    return folder


def _fill(folder: Path, sessions: Sequence[Path]) -> None:
    files = folder / FILES
    files.mkdir(mode=0o700)
    os.makedirs(folder / HOME / "tmp", mode=0o700)
    (files / "pyproject.toml").write_text(MARK, "utf-8")
    for one in sessions:
        shutil.copyfile(one, files / one.name)


def remove(folder: Path) -> str:
    """Removes a visitor's folder with all that is in it; says in words what could not be removed."""
    left: list[str] = []
    shutil.rmtree(folder, onerror=lambda _, path, __: left.append(str(path)))
    return f"{left[-1]} could not be removed" if left else ""
