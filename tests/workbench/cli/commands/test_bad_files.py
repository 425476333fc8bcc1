"""Files that are no session, and folders in which none can be written: one clear error, exit 2, nothing changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.output import exit_codes

ROOT = Path(__file__).parents[4]
Run = Callable[..., Any]

COMMANDS = {
    "render": ("render", "FILE"),
    "send": ("send", "FILE", "--save"),
    "record": ("record", "FILE"),
    "parse": ("parse", "FILE", "--adapter", "chat"),
    "check": ("check", "FILE", "--update"),
    "diff": ("diff", "FILE", "FILE"),
    "export": ("export", "FILE"),
    "import": ("import", "demos.json", "--into", "FILE"),
}


def _content(change: Callable[[dict[str, Any]], None]) -> Callable[[bytes], bytes]:
    def changed(good: bytes) -> bytes:
        data = json.loads(good)
        change(data)
        return json.dumps(data).encode()

    return changed


BAD: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "0 bytes": (lambda good: b"", "the file is empty"),
    "half a file": (lambda good: good[: len(good) // 2], "ends in the middle"),
    "no JSON": (lambda good: b"name: rain\n", "not valid JSON"),
    "another kind of JSON": (lambda good: b'{"jsonrpc": "2.0"}', 'it has no "format"'),
    "a newer version": (_content(lambda data: data.update(format=99)), "written by a newer workbench: format 99"),
    "10,000 levels": (lambda good: b'{"format": 1, "x": ' + b"[" * 10_000 + b"]" * 10_000 + b"}", "nested too deep"),
    "a wrong type": (_content(lambda data: data.update(columns="chat")), "columns: expected a list, got a text"),
    "a wrong type inside": (
        _content(lambda data: data["cases"][0].update(inputs=[1])),
        "cases[0].inputs: expected an object, got a list",
    ),
    "not UTF-8": (lambda good: good.decode().encode("utf-16"), "not UTF-8"),
}


def tree(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() and path.stat().st_size < 10**7 else None
        for path in folder.rglob("*")
        if "state" not in path.parts
    }


def refuses(run: Run, command: str, said: str, folder: Path) -> None:
    (folder / "demos.json").write_text('[{"question": "q", "answer": "yes"}]')
    before = tree(folder)
    done = run(*("q.json" if word == "FILE" else word for word in COMMANDS[command]))
    assert done.code == exit_codes.USAGE, done.out + done.err
    (line,) = done.err.splitlines()
    assert line.startswith("workbench: q.json")
    assert said in line
    assert "Traceback" not in done.out + done.err
    assert tree(folder) == before


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_one_line_and_exit_2_for_every_command(
    kind: str, command: str, rain: str, run: Run, tmp_path: Path
) -> None:
    change, said = BAD[kind]
    Path(rain).write_bytes(change(Path(rain).read_bytes()))
    refuses(run, command, said, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_200_megabytes_are_refused_unread(command: str, rain: str, run: Run, tmp_path: Path) -> None:
    with Path(rain).open("r+b") as file:
        file.truncate(200_000_000)
    refuses(run, command, "too large for a session: 200,000,000 bytes", tmp_path)


@pytest.mark.parametrize("command", [one for one in COMMANDS if one != "check"])
def test_a_folder_in_the_files_place_is_said(command: str, rain: str, run: Run, tmp_path: Path) -> None:
    Path(rain).unlink()
    Path(rain).mkdir()
    refuses(run, command, "this is a folder", tmp_path)


@pytest.mark.parametrize("command", ["send", "record", "check", "import"])
def test_a_link_out_of_the_folder_is_not_written_through(command: str, rain: str, run: Run, tmp_path: Path) -> None:
    assert run("send", rain, "--save").code == exit_codes.OK
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    data = json.loads(Path(rain).read_text())
    data["signature"]["instructions"] = ["Answer otherwise."]  # so that an update has something to write
    (elsewhere / "real.json").write_text(json.dumps(data))
    Path(rain).unlink()
    Path(rain).symlink_to("elsewhere/real.json")
    refuses(run, command, "a link that leads out of its folder", tmp_path)


def test_a_file_that_is_not_there_is_guessed_by_its_name_and_not_by_its_ending(rain: str, run: Run) -> None:
    Path("rain.session.json").write_bytes(Path(rain).read_bytes())
    Path("demos.csv").write_text("a,b")
    for wrong, said in {
        "rian.session.json": "did you mean rain.session.json?",
        "rain.json": "did you mean rain.session.json?",
        "demos.json": "did you mean demos.csv?",
        "missing.session.json": "`workbench new` makes a session",
    }.items():
        assert run("render", wrong).err == f"workbench: {wrong}: there is no such file ({said})\n"


def test_unreadable_files_are_counted_by_check_and_not_called_unrecorded_by_review(rain: str, run: Run) -> None:
    assert run("send", rain, "--save").code == exit_codes.OK
    Path("empty.json").write_text("")
    done = run("check", rain, "empty.json")
    assert done.out.splitlines()[0].endswith(" passed, 1 file not read") and done.code == exit_codes.USAGE
    done = run("review", "empty.json")
    assert done.err == "workbench: empty.json: the file is empty (`workbench new` makes a session)\n"
    assert "the file is empty" in run("import", "empty.json", "--into", rain).err
    assert run("import", "-", "-o", "new.json", stdin="\n").err == "workbench: standard input: the file is empty\n"


def test_unknown_keys_survive_what_is_written(rain: str, run: Run) -> None:
    data = json.loads(Path(rain).read_text())
    data["of_another_tool"] = {"kept": [1, 2]}
    data["cases"][0]["rating"] = "good"
    Path(rain).write_text(json.dumps(data))
    assert run("send", rain, "--save").code == exit_codes.OK
    after = json.loads(Path(rain).read_text())
    assert (after["of_another_tool"], after["cases"][0]["rating"]) == ({"kept": [1, 2]}, "good")


def test_without_a_home_folder_a_file_is_written_and_the_lack_is_said(
    rain: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    before = Path(rain).read_bytes()
    done = run("send", rain, "--save")
    assert done.code == exit_codes.OK, done.err
    assert Path(rain).read_bytes() != before
    assert "Traceback" not in done.err


def _may_mount() -> bool:
    unshare = shutil.which("unshare")
    script = 'mount -t tmpfs tmpfs "$0"'
    return (
        unshare is not None
        and not subprocess.run([unshare, "-rm", "sh", "-c", script, "/mnt"], capture_output=True).returncode
    )


DISKS = {
    "full": ("head -c 1000000 /dev/zero > filler 2>&-", "cannot be written: no space left on device"),
    "read-only": ("mount -o remount,ro tmpfs .", "the file is read-only"),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or not _may_mount(), reason="needs the right to mount a file system")
@pytest.mark.parametrize("kind", DISKS)
def test_on_a_full_or_a_read_only_disk_the_old_file_stays_and_is_alone(kind: str, rain: str, tmp_path: Path) -> None:
    spoil, said = DISKS[kind]
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f"""
        mount -t tmpfs -o size=64k tmpfs disk && cp q.json disk && cd disk && {{ {spoil}; }}
        for words in "send q.json --save" "check q.json --update"; do
            {sys.executable} -m workbench $words > ../out; echo "exit $?" >&2
        done
        cmp q.json ../q.json && ls -A >&2
    """
    assert not subprocess.run(
        [sys.executable, "-m", "workbench", "send", rain, "--save"], capture_output=True
    ).returncode
    data = json.loads(Path(rain).read_text())
    data["signature"]["instructions"] = ["Answer otherwise."]
    Path(rain).write_text(json.dumps(data))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, text=True, env=environment)
    *lines, left = done.stderr.split("exit 2\n")
    assert len(lines) == 2, done.stderr
    assert all(one.startswith("workbench: q.json: ") and said in one and one.count("\n") == 1 for one in lines)
    assert set(left.split()) <= {"filler", "q.json"}
    assert "q.json" in left
