"""Find a project's dspy from its environment, lock file or requirements, without running anything.

The search goes from the given folder up to the root of its repository; the nearest folder that names a version wins.
Within a folder, an environment takes precedence over lock files, and they over requirements, because the environment
has the dspy that the program imports.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from adapters.late_dataclasses import dataclass

ENVIRONMENTS = (".venv", "venv", "env")
INSTALLED = re.compile(r"dspy(?:_ai)?-(\d[\w.]*)\.dist-info")
VERSION = r"v?(\d[\w.]*)"
LOCKED = re.compile(rf'^name\s*=\s*"dspy(?:-ai)?"\s*^version\s*=\s*"{VERSION}"', re.MULTILINE)
LOCKED_AS_JSON = re.compile(rf'"dspy(?:-ai)?"\s*:\s*\{{[^{{}}]*?"version"\s*:\s*"=={VERSION}"')
PINNED = re.compile(
    r"""^[ \t]*(?:[\w.-]+[ \t]*=[ \t]*\[[ \t]*)?["']?dspy(?:-ai)?(?:[ \t]*\[[^\]\n]*\])?[ \t]*==[ \t]*"""
    rf"{VERSION}(?![\w.*])",
    re.MULTILINE | re.IGNORECASE,
)
FILES = {
    **dict.fromkeys(("uv.lock", "poetry.lock", "pdm.lock"), LOCKED),
    "Pipfile.lock": LOCKED_AS_JSON,
    **dict.fromkeys(("requirements.txt", "pyproject.toml"), PINNED),
}
"""The files that name a release, most reliable first, with the pattern of the version in each."""
MOST_CHARACTERS = 20_000_000


@dataclass(frozen=True)
class Project:
    """The dspy of a project."""

    version: str
    source: Path
    """The environment's folder, or the file that names the release."""
    python: str | None
    """The environment's Python; None if the release is only named in a file."""


def find(folder: Path) -> Project | None:
    """Return the dspy of the project around `folder`; None if it has none."""
    start = Path(os.path.abspath(folder))
    for place in (start, *start.parents):
        for environment in (place / name for name in ENVIRONMENTS):
            pythons = [environment / one for one in ("bin/python", "Scripts/python.exe")]
            python = next((str(one) for one in pythons if os.access(one, os.X_OK)), None)
            if python is not None and (releases := releases_in(environment)):
                return Project(releases[0], environment, python)
        for name, pattern in FILES.items():
            with suppress(OSError), (place / name).open(encoding="utf-8", errors="replace") as file:
                if (found := pattern.search(file.read(MOST_CHARACTERS))) is not None:
                    return Project(found[1], place / name, None)
        if (place / ".git").exists() or place == Path.home():
            return None
    return None


def releases_in(environment: Path) -> list[str]:
    """List the releases of dspy that are installed in a virtual environment; empty for any other folder."""
    if not (environment / "pyvenv.cfg").is_file():
        return []
    packages = [
        *environment.glob("lib/python*/site-packages/dspy*-*.dist-info"),
        *environment.glob("Lib/site-packages/dspy*-*.dist-info"),
    ]
    return [found[1] for package in packages if (found := INSTALLED.fullmatch(package.name)) is not None]
