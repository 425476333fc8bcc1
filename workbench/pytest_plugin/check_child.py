"""Run `workbench check --json` in a child process, for callers that must not import our packages.

The child finds our packages and never those of the caller's project: `-P` keeps the working folder out of its path, and
it does not inherit `PYTHONPATH`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES_AT_ONCE = 100
"""The number of files per child: starting one takes about half a second, and command lines are limited."""

_NOT_INHERITED = ("PYTHONPATH", "PYTHONWARNINGS", "PYTHONSTARTUP", "PYTHONINSPECT")


@dataclass(frozen=True)
class FileCheck:
    """A check's result for a file: fixtures by (case, column), as in `check --json`, or its error."""

    fixtures: Mapping[tuple[str, str], Mapping[str, Any]]
    error: str = ""
    lints: Sequence[Mapping[str, Any]] = ()


def check(files: Sequence[Path], folder: Path, options: Sequence[str] = ()) -> dict[Path, FileCheck]:
    """Check these files from `folder`, to which paths in texts are relative. Never raises."""
    found: dict[Path, FileCheck] = {}
    for start in range(0, len(files), FILES_AT_ONCE):
        found |= _check(files[start : start + FILES_AT_ONCE], folder, options)
    return found


def _check(files: Sequence[Path], folder: Path, options: Sequence[str]) -> dict[Path, FileCheck]:
    named: dict[str, Path] = {}
    for file in files:
        short = str(file.relative_to(folder)) if file.is_relative_to(folder) else str(file)
        named[str(file) if short.startswith("-") else short] = file
    # `--json` precedes the files, so that no file is parsed as an option's value.
    command = [sys.executable, "-P", "-m", "workbench", "check", *options, "--json", *named]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
        )
    except OSError as error:
        return {file: FileCheck({}, f"the check could not be started: {error}") for file in files}
    try:
        answer = json.loads(done.stdout)
        fixtures: dict[str, dict[tuple[str, str], Any]] = {name: {} for name in named}
        for one in answer["fixtures"]:
            fixtures.get(one["path"], {})[one["case"], one["column"]] = one
        errors = {one["path"]: one["message"] for one in answer["errors"]}
        lints = {name: [one for one in answer.get("lints", ()) if one["session"] == name] for name in named}
    except (ValueError, TypeError, KeyError):
        said = done.stderr.strip() or "it said nothing"
        return {file: FileCheck({}, f"the check ended with exit code {done.returncode}: {said}") for file in files}
    return {file: FileCheck(fixtures[name], errors.get(name, ""), lints[name]) for name, file in named.items()}


def environment() -> dict[str, str]:
    """Return the environment without variables of the caller's project.

    For an editable install, `PYTHONPATH` is the folder of our packages alone, so that they precede the project's.
    """
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_INHERITED}
    home = Path(__file__).parents[2]
    # Never the folder of installed packages: its backports would shadow the standard library.
    return kept if home.name in ("site-packages", "dist-packages") else {**kept, "PYTHONPATH": str(home)}
