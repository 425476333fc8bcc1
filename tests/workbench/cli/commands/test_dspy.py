"""`workbench dspy`: releases added, listed, used and removed on the command line."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.hostile import HOSTILE
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of releases, an empty one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "adapter-workbench" / "dspy"


@pytest.fixture
def theirs(tmp_path: Path) -> str:
    """A Python of the user's with dspy 9.9.1."""
    python = tmp_path / "theirs"
    python.write_text('#!/bin/sh\necho \'{"dspy": "9.9.1"}\'\nread question\n')
    python.chmod(0o755)
    return str(python)


def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str) -> None:
    """A `uv` that says `lines` of a shell script."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "uv").write_text(f"#!/bin/sh\n{lines}")
    (folder / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def test_nothing_was_added(run: Run) -> None:
    done = run("dspy")
    assert (done.code, done.out) == (exit_codes.OK, "")
    assert "workbench dspy add 3.0.4" in done.err
    assert run("dspy", "list", "--json").json == {"releases": [], "project": None}


def test_an_environment_of_the_users_is_used_listed_and_forgotten(run: Run, theirs: str) -> None:
    done = run("dspy", "use", theirs)
    assert (done.code, done.out) == (exit_codes.OK, "added dspy 9.9.1: use it as a column, chat@9.9.1\n")
    assert run("dspy").out == f"9.9.1      yours      {theirs}\n"
    one = {"version": "9.9.1", "python": theirs, "own": False, "is_there": True}
    assert run("dspy", "list", "--json").json == {"releases": [one], "project": None}
    assert run("dspy", "use", theirs, "--json").json == one
    assert run("dspy", "remove", "9.9.1").code == exit_codes.OK
    again = run("dspy", "remove", "9.9.1")
    assert (again.code, again.err.count("\n")) == (exit_codes.USAGE, 1)
    assert Path(theirs).exists()


@pytest.mark.parametrize(
    ("said", "code", "words"),
    [
        ("error: Failed to fetch: dns error", exit_codes.PROVIDER, "the package index does not answer"),
        ("Because there is no version of dspy==9.9.1 and", exit_codes.USAGE, "there is no dspy 9.9.1"),
        ("error: the disk is full", exit_codes.USAGE, "cannot be installed: error: the disk is full"),
        ("\x1b[31m[/red]error", exit_codes.USAGE, "cannot be installed"),
    ],
)
def test_what_cannot_be_added_is_one_line_and_leaves_nothing(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, code: int, words: str
) -> None:
    uv(tmp_path, monkeypatch, f"cat <<'END'\n{said}\nEND\nexit 1\n")
    done = run("dspy", "add", "9.9.1")
    assert (done.code, done.out) == (code, "")
    assert [line for line in done.err.splitlines() if words in line] == [done.err.splitlines()[-1]]
    assert "\x1b" not in done.err
    assert list(data.iterdir()) == []


def test_a_python_that_is_too_old_or_not_there_is_one_line(run: Run, data: Path, tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho 3.9\n")
    old.chmod(0o755)
    for python, words in ((str(old), "is Python 3.9, and"), ("/nowhere", "/nowhere cannot be run")):
        done = run("dspy", "add", "9.9.1", "--python", python)
        assert done.code == exit_codes.USAGE
        assert words in done.err and "--python" in done.err
        assert list(data.iterdir()) == []


@pytest.mark.parametrize("action", ["add", "remove"])
@pytest.mark.parametrize("kind", ["shell", "path", *HOSTILE])
def test_a_name_that_is_no_release_is_one_line(run: Run, data: Path, kind: str, action: str) -> None:
    name = {"shell": "3.0.4; rm", "path": "../x", **HOSTILE}[kind]
    done = run("dspy", action, "--", name)
    assert done.code == exit_codes.USAGE
    assert done.err.count("\n") == 1 and "\x1b" not in done.err
    assert len(done.err) < 300
    assert not data.exists()


@pytest.mark.parametrize("action", ["add", "use", "remove"])
def test_an_action_without_a_name_says_what_it_needs(run: Run, action: str) -> None:
    done = run("dspy", action)
    assert done.code == exit_codes.USAGE and f"{action} needs" in done.err


def test_a_folder_that_cannot_be_made_is_one_line(run: Run, theirs: str, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    done = run("dspy", "use", theirs)
    assert done.code == exit_codes.USAGE and "cannot be" in done.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, theirs: str) -> Path:
    """A project, in whose environment is dspy 9.9.1."""
    place = tmp_path / "project"
    packages = place / ".venv/lib/python3.12/site-packages"
    (packages / "dspy-9.9.1.dist-info").mkdir(parents=True)
    (place / ".git").mkdir()
    (place / ".venv/pyvenv.cfg").touch()
    (place / ".venv/bin").mkdir()
    (place / ".venv/bin/python").symlink_to(theirs)
    monkeypatch.chdir(place)
    return place


def test_the_dspy_of_the_project_is_listed_and_used_in_place(run: Run, folder: Path) -> None:
    python = str(folder / ".venv/bin/python")
    assert run("dspy", "list", "--json").json["project"] == {"version": "9.9.1", "source": ".venv", "python": python}
    assert "this project has dspy 9.9.1 (.venv); `workbench dspy use project` makes it a column" in run("dspy").err
    assert run("dspy", "use", "project").out == "added dspy 9.9.1: use it as a column, chat@9.9.1\n"
    assert "this project has dspy 9.9.1 (.venv); use it as a column, chat@9.9.1" in run("dspy").err
    (used,) = run("dspy", "list", "--json").json["releases"]
    assert (used["python"], used["own"]) == (python, False)


def test_a_project_that_moved_on_no_longer_has_the_release(run: Run, folder: Path) -> None:
    run("dspy", "use", "project")
    run("new", "question -> answer", "-o", "q.session.json", "--input", "question=Rain?")
    assert run("send", "q.session.json", "--save").code == exit_codes.OK
    text = Path("q.session.json").read_text("utf-8")
    Path("q.session.json").write_text(re.sub(r'("adapter": "\w+)"', r'\1@9.9.1"', text), "utf-8")
    packages = folder / ".venv/lib/python3.12/site-packages"
    (packages / "dspy-9.9.1.dist-info").rename(packages / "dspy-9.9.2.dist-info")
    done = run("dspy", "list")
    assert "this project has dspy 9.9.2 (.venv); `workbench dspy use project` makes it a column" in done.err
    assert "not found: `workbench dspy add 9.9.1` adds it" in done.out
    done = run("check", "q.session.json")
    assert done.code == exit_codes.DIFFERENT
    assert "nothing recorded" not in done.out
    assert f"dspy 9.9.1 is no longer in {folder / '.venv/bin/python'}: `workbench dspy add 9.9.1` adds it" in done.out
    assert "this project has dspy 9.9.2 (.venv), and 1 session follows 9.9.1" in done.err


def test_a_project_that_only_names_a_release_is_told_how_to_add_it(run: Run, folder: Path) -> None:
    (folder / "nested").mkdir()
    (folder / "nested/requirements.txt").write_text("dspy==9.9.2\n")
    os.chdir(folder / "nested")
    assert "this project has dspy 9.9.2 (requirements.txt); `workbench dspy add 9.9.2`" in run("dspy").err
    done = run("dspy", "use", "project")
    assert done.code == exit_codes.USAGE
    assert "requirements.txt names dspy 9.9.2, but no environment here has it; `workbench dspy add 9.9.2`" in done.err


def test_without_a_dspy_in_the_project_there_is_nothing_to_use(run: Run, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir(exist_ok=True)
    done = run("dspy", "use", "project")
    assert done.code == exit_codes.USAGE and "names a dspy" in done.err
