"""The real program in a real terminal, from the first launch to a fixture that holds."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sessions.file import store
from tests.support.open_app import SIZES
from tests.support.terminal import Terminal

ROOT = str(Path(__file__).parents[2])
WORKBENCH = (sys.executable, "-m", "workbench")


def at(folder: Path, size: tuple[int, int] = (160, 45), *words: str) -> Terminal:
    environment = {"PYTHONPATH": ROOT, "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder)}
    return Terminal([*WORKBENCH, *words], folder, size, environment)


def columns_in_sight(size: tuple[int, int], columns: int) -> int:
    """Three stand side by side at 160 cells, two at 120; in a small terminal one of them is in sight."""
    return min(columns, 3 if size[0] >= 160 else 2 if size[0] >= 116 else 1)


@pytest.mark.parametrize("size", SIZES)
def test_from_the_first_launch_to_a_fixture_that_holds(tmp_path: Path, size: tuple[int, int]) -> None:
    with at(tmp_path, size) as terminal:
        terminal.wait_for("Signature")
        terminal.wait_for("offline/exact")
        terminal.press("f3")
        terminal.wait_for("system")
        terminal.press("f5")
        terminal.wait_for("reply ✓", times=columns_in_sight(size, 2))
        terminal.press("ctrl+r")
        terminal.wait_for("recorded chat")
        terminal.press("ctrl+s")
        terminal.wait_for("Save as")
        terminal.press("enter")
        terminal.wait_for("saved")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
    (saved,) = tmp_path.glob("*.json")
    case = store.load(saved).cases[0]
    assert "chat" in case.recordings
    checked = subprocess.run(
        [*WORKBENCH, "check", saved.name, "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
    )
    fixtures = json.loads(checked.stdout)["fixtures"]
    (recorded,) = [one for one in fixtures if (one["case"], one["column"]) == (case.name, "chat")]
    assert (recorded["verdicts"]["render"], recorded["verdicts"]["parse"]) == ("pass", "pass")


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_a_newcomer_changes_an_example_breaks_a_reply_reads_why_and_keeps_it(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    with at(tmp_path, size) as terminal:
        terminal.wait_for("offline/exact")
        terminal.press("ctrl+o")
        terminal.wait_for("Open a session")
        terminal.press("invoice")
        terminal.wait_for("example")
        terminal.press("enter")
        terminal.wait_for("from datetime import date")
        terminal.press("escape")  # what to look at stands no longer in the way
        # an output field more
        terminal.press("ctrl+end", "enter", "    paid: bool = dspy.OutputField()")
        terminal.wait_for("demo 1 has no paid")
        # a demo more
        terminal.press("f2", "f2")
        terminal.wait_for("^n")
        terminal.press("ctrl+n")
        terminal.wait_for("no value")
        terminal.press("PAID IN FULL")
        terminal.wait_for("dropped")
        # to two adapters
        terminal.press("ctrl+p")
        terminal.wait_for("Search")
        terminal.press("hide column: xml")
        terminal.wait_for("Remove it from the screen")
        terminal.press("down", "enter")
        terminal.press("f3", "f5")
        terminal.wait_for("✓ invoice", times=columns_in_sight(size, 2))
        # the first reply is broken, says why, and is mended
        terminal.press("f4", "ctrl+home", *["delete"] * 9)
        terminal.wait_for("no field")
        terminal.press("ctrl+z")
        terminal.wait_for("reply ✓")
        terminal.press("ctrl+r")
        terminal.wait_for("recorded chat")
        terminal.press("ctrl+s")
        terminal.wait_for("Save as")
        terminal.press("enter")
        terminal.wait_for("saved")
        terminal.press("f9")
        terminal.wait_for("the recording matches")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
    (saved,) = tmp_path.glob("*.json")
    session = store.load(saved)
    assert "paid" in session.signature.read().output_fields
    assert "PAID IN FULL" in [demo.values.get("document") for demo in session.demos]
    assert set(session.cases[0].recordings) == {"chat"}


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT])
def test_a_closed_terminal_leaves_a_copy_of_the_work_that_is_offered_again(number: int, tmp_path: Path) -> None:
    subprocess.run(
        [*WORKBENCH, "new", "question -> answer", "-o", "q.json", "--input", "question=Is it raining?"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        check=True,
    )
    with at(tmp_path, (160, 45), "q.json") as terminal:
        terminal.wait_for("question")
        terminal.press("later, ")
        terminal.wait_for("later")
        os.kill(terminal.pid, number)
        assert terminal.wait_for_end() == 130
    assert "later" not in (tmp_path / "q.json").read_text()
    with at(tmp_path, (160, 45), "q.json") as terminal:
        terminal.wait_for("Recover unsaved work?")
        terminal.press("\x1bt")
        terminal.wait_for("later")


@pytest.mark.slow
def test_what_is_copied_goes_to_the_terminal_and_to_the_tmux_around_it(tmp_path: Path) -> None:
    tmux = tmp_path / "tmux"
    tmux.write_text('#!/bin/sh\ncat > copied.part && mv copied.part copied && echo "$@" > asked\n')
    tmux.chmod(0o755)
    environment = {"PYTHONPATH": ROOT, "XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}
    environment |= {"TMUX": "socket,1,0", "PATH": f"{tmp_path}:{os.environ['PATH']}", "SSH_TTY": "/dev/pts/1"}
    with Terminal([*WORKBENCH], tmp_path, (160, 45), environment) as terminal:
        terminal.wait_for("system")
        terminal.press("f3", "ctrl+g")
        terminal.wait_for("Copy from chat")
        terminal.press("p")
        terminal.wait_for("copied prompt")
        patience = 600
        while not (tmp_path / "asked").exists() and patience:
            terminal.reads_within(0.1)
            patience -= 1
        (sent,) = re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", terminal.painted)
    copied = (tmp_path / "copied").read_bytes()
    assert copied.startswith(b"system:") and base64.b64decode(sent) == copied


def test_what_is_not_a_session_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"signature": \x1b[2J')
    with at(tmp_path, (160, 45), "bad.json") as terminal:
        assert terminal.wait_for_end() == 2
        assert b"\x1b[2J" not in terminal.painted
        assert b"Traceback" not in terminal.painted


def test_the_users_editor_gets_the_terminal_and_gives_it_back(tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\necho "IN THE EDITOR"\nprintf "question -> verdict" > "$1"\n')
    editor.chmod(0o755)
    environment = {"PYTHONPATH": ROOT, "XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path), "EDITOR": str(editor)}
    with Terminal([*WORKBENCH], tmp_path, (160, 45), {**environment, "VISUAL": ""}) as terminal:
        terminal.wait_for("Predict")
        terminal.press("\x1c")
        terminal.wait_for("IN THE EDITOR")
        terminal.wait_for("verdict")


@pytest.mark.slow
def test_what_is_copied_goes_to_the_terminals_clipboard_too(tmp_path: Path) -> None:
    with at(tmp_path) as terminal:
        terminal.wait_for("system")
        terminal.press("f3", "ctrl+g")
        terminal.wait_for("Copy from chat")
        terminal.press("p")
        terminal.wait_for("copied prompt")
        (copied,) = re.findall(rb"\x1b\]52;c;([A-Za-z0-9+/=]+)\x07", terminal.painted)
    assert base64.b64decode(copied).decode().startswith("system:\n\nYour input fields are:")


@pytest.mark.slow
def test_without_colour_nothing_is_coloured_and_every_sign_is_there(tmp_path: Path) -> None:
    environment = {"PYTHONPATH": ROOT, "XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path), "NO_COLOR": "1"}
    with Terminal([*WORKBENCH], tmp_path, (160, 45), {**environment, "COLORTERM": "truecolor"}) as terminal:
        terminal.wait_for("system")
        terminal.press("f3", "f5")
        terminal.wait_for("reply ✓", times=3)
        terminal.press("down")
        terminal.wait_for("┃")
        # what was read last may end within a number
        colours = re.findall(rb"[34]8;2;(\d+);(\d+);(\d+)[;m]", terminal.painted)
    assert colours and all(red == green == blue for red, green, blue in colours)
