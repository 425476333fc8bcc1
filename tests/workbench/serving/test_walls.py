"""What a visitor's process cannot do: no file outside of its folder, no program, no connection."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sessions
from workbench.serving import walls
from workbench.serving.walls import CALLS_MODELS, CHECKS_PATTERNS, WallError

Watch = Callable[[str, tuple[object, ...]], None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "seat-01"
    own.mkdir()
    (tmp_path / "secret").write_text("of the teacher")
    (own / "link").symlink_to(tmp_path / "secret")
    return own


@pytest.fixture
def watch(folder: Path) -> Watch:
    return walls.watcher(folder, [CHECKS_PATTERNS], walls.MEGABYTE)


def test_a_file_of_the_folder_is_read_and_written(watch: Watch, folder: Path) -> None:
    for path in (folder / "a.json", os.fsencode(folder / "b"), folder / "sub" / ".." / "c"):
        watch("open", (path, "w", os.O_WRONLY | os.O_CREAT))
        watch("open", (path, "r", os.O_RDONLY))
    watch("os.rename", (folder / "a", folder / "b", -1, -1))
    watch("os.listdir", (folder,))
    watch("sqlite3.connect", (folder / "runs",))


def test_a_folder_that_is_full_is_read_and_emptied_and_not_written_to(watch: Watch, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "large").write_bytes(b"x" * (walls.MEGABYTE - 2 * walls.BLOCK))
    watch("open", (folder / "new", "w", os.O_WRONLY | os.O_CREAT))
    (folder / "small").write_bytes(b"x")
    with pytest.raises(walls.FullError, match=r"your folder here is full \(1 megabytes\): download"):
        watch("open", (folder / "new", "w", os.O_WRONLY | os.O_CREAT))
    with pytest.raises(walls.FullError):
        watch("sqlite3.connect", (str(folder / "runs"),))
    watch("sqlite3.connect", (":memory:",))
    watch("open", (folder / "small", "r", os.O_RDONLY))
    watch("open", ("/dev/null", None, os.O_RDWR))
    watch("os.remove", (folder / "small", -1))
    (folder / "small").unlink()
    watch("open", (folder / "new", "w", os.O_WRONLY | os.O_CREAT))


def test_what_belongs_to_python_and_to_us_is_read_only(watch: Watch) -> None:
    ours = Path(sessions.__file__)
    watch("open", (ours, "rb", os.O_RDONLY))
    watch("open", (json.__file__, "rb", os.O_RDONLY))
    watch("open", ("/dev/null", None, os.O_RDWR))
    with pytest.raises(WallError):
        watch("open", (ours, None, os.O_WRONLY))


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../secret", "link", "~/.bashrc", "/proc/self/environ", b"/etc/shadow", "/", "a\0b"]
)
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY | os.O_CREAT])
def test_no_file_outside_is_opened(
    watch: Watch, folder: Path, path: str | bytes, flags: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    if path == "~/.bashrc":
        path = os.path.expanduser(path)
    with pytest.raises(WallError):
        watch("open", (path, None, flags))


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("os.remove", ("/etc/hostname", -1)),
        ("os.rename", ("inside", "/etc/hostname", -1, -1)),
        ("os.rename", ("/etc/hostname", "inside", -1, -1)),
        ("os.mkdir", ("/tmp/elsewhere", 0o777, -1)),
        ("os.listdir", ("/",)),
        ("os.scandir", ("/home",)),
        ("os.symlink", ("/etc/passwd", "inside", -1)),
        ("os.system", (b"id",)),
        ("os.exec", ("/bin/sh", [], None)),
        ("os.posix_spawn", ("/bin/sh", [], None)),
        ("os.fork", ()),
        ("socket.connect", (None, ("127.0.0.1", 22))),
        ("socket.getaddrinfo", ("example.org", 80, 0, 0, 0)),
        ("subprocess.Popen", ("/bin/sh", ["sh", "-c", "id"], None, None)),
        ("subprocess.Popen", (sys.executable, [sys.executable, "-c", "1"], None, None)),
        ("subprocess.Popen", ("sh", "id", None, None)),
        ("subprocess.Popen", ("/bin/sh", [sys.executable, str(CHECKS_PATTERNS)], None, None)),
        ("subprocess.Popen", (sys.executable, [sys.executable, "-c", "1", str(CHECKS_PATTERNS)], None, None)),
        ("sqlite3.connect", ("/tmp/elsewhere.db",)),
        ("sqlite3.connect", ("../secret",)),
        ("os.setxattr", ("/etc/hostname", "user.a", b"b", 0)),
        ("subprocess.Popen", (sys.executable, [sys.executable, str(CALLS_MODELS)], None, None)),
    ],
)
def test_nothing_else_leads_out(
    watch: Watch, folder: Path, event: str, arguments: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(WallError):
        watch(event, arguments)


def test_the_program_that_looks_for_patterns_is_ours(watch: Watch, folder: Path) -> None:
    watch("subprocess.Popen", (sys.executable, [sys.executable, "-I", str(CHECKS_PATTERNS)], None, None))
    calls = walls.watcher(folder, [CALLS_MODELS], walls.MEGABYTE)
    calls("subprocess.Popen", (sys.executable, [sys.executable, "-P", str(CALLS_MODELS)], None, None))


def test_the_walls_stand_in_a_process_of_python(folder: Path) -> None:
    code = f"""
import json, os, socket, subprocess, sys
from pathlib import Path
from sessions.checking import patterns
from workbench.serving import walls
walls.put_up(Path({str(folder)!r}), walls.MEGABYTE)
tries = {{
    "read": lambda: open({str(folder.parent / "secret")!r}).read(),
    "through a link": lambda: open({str(folder / "link")!r}).read(),
    "passwd": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "write": lambda: Path({str(folder.parent / "new")!r}).write_text("x"),
    "list": lambda: os.listdir({str(folder.parent)!r}),
    "program": lambda: subprocess.run(["id"]),
    "shell": lambda: os.system("id"),
    "connect": lambda: socket.create_connection(("127.0.0.1", 9), 1),
    "own": lambda: Path({str(folder / "mine")!r}).write_text("x"),
    "import": lambda: __import__("xml.dom.minidom"),
    "pattern": lambda: patterns.matches("a+", "a"),
}}
done = {{}}
for name, attempt in tries.items():
    try:
        attempt()
        done[name] = "done"
    except PermissionError:
        done[name] = "refused"
print(json.dumps(done))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    done = json.loads(found.stdout)
    assert {name for name in done if done[name] == "done"} == {"own", "import", "pattern"}
    assert not (folder.parent / "new").exists()
