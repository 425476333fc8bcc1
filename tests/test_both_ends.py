"""The lowest and the newest dependencies that pyproject.toml allows, and each supported Python that is on this machine.

The wire, the providers, repaired JSON and sending in the app run in an environment of their own. What cannot be had is
skipped by name.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1500)]

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VARIED = ("json-repair", "litellm", "pydantic", "textual")
WALKS = (
    *("tests/adapters/lm/test_providers.py", "tests/adapters/lm/test_connections.py"),
    *("tests/adapters/lm/test_http_request.py", "tests/adapters/json_text", "tests/parity/test_wire.py"),
    *("tests/adapters/signatures/test_source_writer.py", "tests/workbench/tui/actions/test_sending.py"),
)
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def is_varied(requirement: str) -> bool:
    return re.split(r"[<>=\[]", requirement)[0] in VARIED


def requirements(end: str) -> list[str]:
    """The dependencies at one end of their ranges, and what the tests need beside them."""
    needed = [one for one in PROJECT["optional-dependencies"]["test"] if not is_varied(one)]
    for one in PROJECT["dependencies"]:
        lowest = re.sub(r">=([\d.]+).*", r"==\1", one)
        needed.append(lowest if end == "lowest" and is_varied(one) else one)
    return needed


def walk(python: str, end: str, folder: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "VIRTUAL_ENV"))}
    subprocess.run([python, "-m", "venv", folder], check=True, env=environment)
    own = folder / "bin" / "python"
    installed = subprocess.run(
        [own, "-m", "pip", "install", "-q", "--no-compile", "--upgrade", *requirements(end)],
        capture_output=True,
        text=True,
    )
    if installed.returncode:
        pytest.skip(f"{end} on {python}: pip cannot install: {installed.stderr.strip().splitlines()[-1][:200]}")
    done = subprocess.run(
        [own, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *WALKS],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("end", ["lowest", "newest"])
def test_both_ends_of_the_dependencies_walk(end: str, tmp_path: Path) -> None:
    walk(sys.executable, end, tmp_path / end)


@pytest.mark.parametrize("version", [one for one in PYTHONS if not sys.version.startswith(f"{one}.")])
def test_every_supported_python_walks(version: str, tmp_path: Path) -> None:
    python = shutil.which(f"python{version}")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip(f"Python {version} is not on this machine")
    walk(python, "newest", tmp_path / version)


def test_the_lowest_versions_are_those_that_pyproject_names() -> None:
    lowest = [one for one in requirements("lowest") if is_varied(one)]
    assert len(lowest) == len(VARIED) and all("==" in one for one in lowest)
    assert not any("==" in one for one in requirements("newest") if is_varied(one))
