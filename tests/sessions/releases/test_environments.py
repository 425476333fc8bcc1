"""Releases that are added: whole or not there, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from sessions.errors import SessionError
from sessions.releases import environments, installing
from sessions.releases.engine import ReleaseError
from sessions.releases.installing import CannotAddError
from sessions.upgrades import sides

HELLO = 'echo \'{"dspy": "9.9.1"}\'\nread question\n'


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of releases, an empty one."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "adapter-workbench" / "dspy"


def program(place: Path, lines: str) -> str:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\n{lines}")
    place.chmod(0o755)
    return str(place)


def installs(monkeypatch: pytest.MonkeyPatch, lines: str = HELLO) -> None:
    """An installer without a network: the Python it makes is a shell script."""

    def install(version: str, folder: Path, tell: object, python: str) -> str:
        return program(folder / "bin" / "python", lines)

    monkeypatch.setattr(installing, "install", install)


def test_what_was_added_is_listed_and_found_and_removed(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    installs(monkeypatch)
    assert environments.added() == ()
    steps: list[str] = []
    made = environments.add("9.9.1", steps.append)
    assert made == environments.find("9.9.1")
    assert (made.version, made.is_own, made.is_there) == ("9.9.1", True, True)
    assert steps == ["trying it"]
    assert [one.name for one in data.iterdir()] == ["9.9.1"]
    assert environments.add("9.9.1", steps.append) == made
    assert steps == ["trying it"]
    assert environments.added() == (made,)
    assert environments.remove("9.9.1")
    assert not environments.remove("9.9.1")
    assert list(data.iterdir()) == []


def test_a_release_that_cannot_be_used_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    installs(monkeypatch, "echo 'no module named pydantic' >&2\n")
    with pytest.raises(CannotAddError, match="was installed, and has no dspy that can be used: no module named"):
        environments.add("9.9.1", lambda _: None)
    installs(monkeypatch)
    with pytest.raises(CannotAddError, match=r"calls itself 9\.9\.1"):
        environments.add("9.9.2", lambda _: None)
    assert list(data.iterdir()) == []


@pytest.mark.parametrize("broken_off", [KeyboardInterrupt, MemoryError])
def test_adding_that_is_broken_off_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, data: Path, broken_off: type[BaseException]
) -> None:
    def install(version: str, folder: Path, tell: object, python: str) -> str:
        program(folder / "bin" / "python", HELLO)
        raise broken_off

    monkeypatch.setattr(installing, "install", install)
    with pytest.raises(broken_off):
        environments.add("9.9.1", lambda _: None)
    assert list(data.iterdir()) == []


def test_what_a_killed_process_left_is_no_release_and_goes_with_the_next(
    monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    left = data / f".making-9.9.1-{ended.pid}"
    program(left / "python" / "bin" / "python", HELLO)
    under_way = data / f".making-9.9.1-{os.getppid()}"
    under_way.mkdir()
    assert environments.added() == ()
    installs(monkeypatch)
    environments.add("9.9.1", lambda _: None)
    assert {one.name for one in data.iterdir()} == {under_way.name, "9.9.1"}


def test_a_folder_that_is_no_whole_release_is_not_listed_and_is_made_anew(
    monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    for name, record in (
        ("9.9.1", None),
        ("9.9.2", "nonsense"),
        ("9.9.3", "[]"),
        ("9.9.4", json.dumps({"python": 3, "own": True})),
        ("notes", json.dumps({"python": "/bin/sh", "own": False})),
    ):
        (data / name).mkdir(parents=True)
        if record is not None:
            (data / name / "environment.json").write_text(record)
    assert environments.added() == ()
    installs(monkeypatch)
    assert environments.add("9.9.1", lambda _: None).is_there


def test_a_release_whose_python_is_gone_is_said_and_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    installs(monkeypatch)
    made = environments.add("9.9.1", lambda _: None)
    Path(made.python).unlink()
    (listed,) = environments.added()
    assert not listed.is_there
    with pytest.raises(ReleaseError, match=r"no longer in .*`workbench dspy add 9\.9\.1` adds it"):
        environments.open_release("9.9.1")
    assert environments.add("9.9.1", lambda _: None).is_there


def test_a_python_of_the_users_is_used_and_stays_theirs(tmp_path: Path) -> None:
    python = program(tmp_path / "theirs" / "python", HELLO)
    used = environments.use(python)
    assert (used.version, used.python, used.is_own) == ("9.9.1", python, False)
    with environments.open_release("9.9.1") as dspy:
        assert dspy.name == "dspy 9.9.1"
    assert environments.remove("9.9.1")
    assert Path(python).exists()
    with pytest.raises(ReleaseError, match="cannot be run"):
        environments.use(str(tmp_path / "nowhere"))
    assert environments.added() == ()


def test_the_python_of_a_release_that_was_made_here_is_used_already(monkeypatch: pytest.MonkeyPatch) -> None:
    installs(monkeypatch)
    made = environments.add("9.9.1", lambda _: None)
    assert environments.use(made.python) == made
    assert Path(made.python).exists()


def test_a_release_that_became_another_is_said(tmp_path: Path) -> None:
    python = program(tmp_path / "theirs" / "python", HELLO)
    environments.use(python)
    program(Path(python), HELLO.replace("9.9.1", "9.9.2"))
    with pytest.raises(ReleaseError, match=r"has dspy 9\.9\.2 now, not 9\.9\.1"):
        environments.open_release("9.9.1")


@pytest.mark.parametrize("name", ["", "x", "3", "../3.0.4", "3.0.4 --evil", "-r", "3.0.4\n", "\x1b[31m3.0.4", "9" * 90])
def test_what_is_no_version_is_refused_and_reaches_no_installer(name: str, data: Path) -> None:
    if name != "3":
        with pytest.raises(CannotAddError, match="is not a release of dspy"):
            environments.add(name, lambda _: None)
    assert environments.find(name) is None
    assert not environments.remove(name)
    assert not data.exists()


def test_versions_stand_in_their_order() -> None:
    mixed = ["3.10.0", "3.5.0rc1", "2.6.27", "3.5.0", "3.9.1"]
    assert sorted(mixed, key=environments.order) == ["2.6.27", "3.5.0rc1", "3.5.0", "3.9.1", "3.10.0"]


def test_engines_have_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert sides.open_engine("ours").version == "3.4.1"
    with pytest.raises(ReleaseError, match=r"dspy 9\.9\.1 is not added here: `workbench dspy add 9\.9\.1` adds it"):
        sides.open_engine("9.9.1")
    with pytest.raises(ReleaseError, match="names no engine"):
        sides.open_engine("newest")
    engine = sides.open_engine(program(tmp_path / "python", HELLO))
    engine.close()
    assert engine.version == "9.9.1"


def test_without_a_home_folder_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", "also-relative")
    with pytest.raises(SessionError, match="set XDG_DATA_HOME"):
        environments.add("9.9.1", lambda _: None)


def a_wheel(folder: Path, version: str) -> None:
    """A dspy of nothing but what the child needs, which takes pydantic and json_repair from this environment."""
    folder.mkdir(exist_ok=True)
    there = sysconfig.get_path("purelib")
    info = f"dspy-{version}.dist-info"
    with zipfile.ZipFile(folder / f"dspy-{version}-py3-none-any.whl", "w") as wheel:
        code = f"import sys\nsys.path.append({there!r})\nclass BaseLM: pass\nclass LM(BaseLM): pass\n"
        wheel.writestr("dspy/__init__.py", code)
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: dspy\nVersion: {version}\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.mark.slow
def test_pip_installs_from_where_it_is_set_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    a_wheel(tmp_path / "wheels", "9.9.1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "wheels"))
    monkeypatch.setattr("sessions.releases.installing.shutil.which", lambda name: None)
    steps: list[str] = []
    made = environments.add("9.9.1", steps.append)
    assert steps[0] == "making an environment for dspy 9.9.1" and steps[-1] == "trying it"
    with environments.open_release("9.9.1") as dspy:
        assert dspy.version == "9.9.1"
    assert Path(made.python).is_relative_to(data)
    with pytest.raises(CannotAddError, match=r"there is no dspy 9\.9\.2 \(there are 9\.9\.1\)"):
        environments.add("9.9.2", steps.append)
    assert [one.name for one in data.iterdir()] == ["9.9.1"]


def heard() -> None:
    """Has signals reach a process as a terminal's do."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_or_a_time_limit_ends_the_installer_and_leaves_nothing(
    tmp_path: Path, data: Path, number: signal.Signals
) -> None:
    """The installer is a `uv` that says a step and then waits for ever."""
    program(tmp_path / "bin" / "uv", "echo Installing by $$\nsleep 600\n")
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "workbench", "dspy", "add", "9.9.1"]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=heard,  # what a shell starts in the background, such as a test run, passes on deaf ears
    )
    assert process.stderr is not None
    pid = next(int(line.split()[-1]) for line in process.stderr if line.startswith("Installing by "))
    process.send_signal(number)
    assert process.wait(120) == 130
    process.stderr.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert list(data.iterdir()) == []
