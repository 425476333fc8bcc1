"""Find the session files that command line arguments name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.output.exit_codes import CommandError

PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})
HEAD_BYTES = 65_536
_FORMAT = re.compile(rb'"format"\s*:\s*\d')


def find(paths: Sequence[str]) -> list[Path]:
    """List the named files and all sessions in named folders, sorted, once each. Raises `CommandError`."""
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            found.update(dict.fromkeys(_below(path)))
        elif path.exists():
            found[path] = None
        else:
            raise CommandError(f"{name}: no such file or folder")
    return list(found)


def _below(folder: Path) -> Iterator[Path]:
    """Yield the sessions in a folder, skipping hidden folders, packages and links to folders."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        for name in sorted(files):
            path = Path(root, name)
            if name.endswith(".session.json") or (name.endswith(".json") and looks_like_session(path)):
                yield path


def looks_like_session(path: Path) -> bool:
    """Return whether the beginning of a file has the first keys of a session."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return head.lstrip()[:1] == b"{" and b'"signature"' in head and _FORMAT.search(head) is not None
