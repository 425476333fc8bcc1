"""The dspy of a project is found in its environment, lock file or requirements; nothing is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.releases import project


def environment(folder: Path, version: str, package: str = "dspy") -> Path:
    """Make a folder that looks like an environment with dspy; its Python would fail if it were started."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    (folder / f"lib/python3.12/site-packages/{package}-{version}.dist-info").mkdir(parents=True)
    python = folder / "bin/python"
    python.write_text("#!/bin/sh\ntouch started\nexit 1\n")
    python.chmod(0o755)
    return python


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The root of a repository."""
    (tmp_path / ".git").mkdir()
    return tmp_path


@pytest.mark.parametrize("name", project.ENVIRONMENTS)
def test_an_environment_says_its_dspy_and_its_python_and_is_not_started(folder: Path, name: str) -> None:
    python = environment(folder / name, "3.2.1")
    assert project.find(folder) == project.Project("3.2.1", folder / name, str(python))
    assert not list(folder.rglob("started"))


def test_a_real_environment_is_recognised(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")], check=True)
    assert project.find(folder) is None
    (packages,) = (folder / ".venv").glob("[lL]ib/**/site-packages")
    (packages / "dspy-3.2.1.dist-info").mkdir()
    found = project.find(folder)
    assert found is not None and found.version == "3.2.1" and os.access(found.python or "", os.X_OK)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("uv.lock", '[[package]]\nname = "dspy"\nversion = "3.2.1"\nsource = { registry = "x" }\n'),
        ("poetry.lock", '[[package]]\nname = "dspy"\nversion = "3.2.1"\ndescription = "DSPy"\n'),
        ("pdm.lock", '[[package]]\nname = "dspy-ai"\nversion = "3.2.1"\n'),
        ("Pipfile.lock", '{"default": {"dspy": {"hashes": ["sha256:0"], "version": "==3.2.1"}}}'),
        ("requirements.txt", "# ours\nlitellm>=1\ndspy==3.2.1  # pinned\n"),
        ("requirements.txt", "dspy[optuna] == 3.2.1 ; python_version > '3.10'\n"),
        ("pyproject.toml", '[project]\ndependencies = [\n    "litellm",\n    "dspy==3.2.1",\n]\n'),
        ("pyproject.toml", '[project]\ndependencies = ["dspy==3.2.1"]\n'),
    ],
)
def test_a_file_that_names_a_release_is_its_source(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    assert project.find(folder) == project.Project("3.2.1", folder / name, None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements.txt", "dspy>=3\nnot-dspy==3.2.1\ndspy-plugin==1.0\n"),
        ("requirements.txt", "dspy==3.*\n"),
        ("pyproject.toml", '[project]\nname = "dspy"\nversion = "3.2.1"\n'),
        ("uv.lock", '[[package]]\nname = "dspy-plugin"\nversion = "3.2.1"\n\n[[package]]\nname = "dspy"\n'),
        ("uv.lock", "\0\x1b[31m[[["),
    ],
)
def test_a_file_that_names_no_release_says_nothing(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    assert project.find(folder) is None


def test_an_environment_counts_before_what_a_file_names(folder: Path) -> None:
    environment(folder / ".venv", "3.2.1")
    (folder / "uv.lock").write_text('name = "dspy"\nversion = "3.3.1"\n')
    found = project.find(folder)
    assert found is not None and found.version == "3.2.1"


def test_a_folder_inside_the_project_has_its_dspy_and_a_nearer_file_wins(folder: Path) -> None:
    environment(folder / ".venv", "3.2.1")
    (folder / "prompts/old").mkdir(parents=True)
    inside = project.find(folder / "prompts/old")
    assert inside is not None and inside.version == "3.2.1"
    (folder / "prompts/requirements.txt").write_text("dspy==2.6.27\n")
    nearer = project.find(folder / "prompts/old")
    assert nearer is not None and nearer.version == "2.6.27"


def test_what_is_outside_the_repository_is_not_the_projects(folder: Path) -> None:
    (folder / "inner/.git").mkdir(parents=True)
    environment(folder / ".venv", "3.2.1")
    assert project.find(folder / "inner") is None


def test_blanks_without_end_are_read_in_no_time(folder: Path) -> None:
    (folder / "requirements.txt").write_text(f"{' ' * 2_000_000}\ndspy{' ' * 2_000_000}\n{'x' * 2_000_000}\n")
    assert project.find(folder) is None
