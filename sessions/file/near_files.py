"""A suggestion where a path names no file: the one nearest to it by name."""

from __future__ import annotations

import difflib
from contextlib import suppress
from pathlib import Path


def did_you_mean(path: str) -> str:
    """`did you mean notes/demos.csv?` for the name nearest in the same folder; empty where none is near."""
    file = Path(path)
    with suppress(OSError, ValueError):
        near = difflib.get_close_matches(file.name, [one.name for one in file.parent.iterdir()], n=1)
        if near:
            return f"did you mean {file.parent / near[0]}?"
    return ""
