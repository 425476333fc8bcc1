"""`workbench serve` on the command line: what is refused before a class begins, and what a teacher is told."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.workbench.conftest import Run
from workbench.serving import board
from workbench.serving.class_room import Setup, hold, own_host


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing.json",), "nothing.json"),
        (("--max", "0"), "expected a number from 1 to 200"),
        (("--port", "70000"), "expected a number from 0 to 65535"),
        (("--lesson", "0"), "expected a number from 1"),
        (("--lesson", "²"), "expected a number from 1"),
        (("--idle", "-1"), "expected a number of minutes"),
        (("--public-url", "class.example.org"), "https://class.example.org"),
        (("--public-url", "https://[class"), "https://class.example.org"),
        (("--public-url", "https://class:99999"), "https://class.example.org"),
        (("--public-url", "https://class.example.org/room"), "leave out the path"),
        (("--keep", "file"), "--keep file"),
        (("--allow-models", ""), "the name is empty"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    Path("file").write_text("")
    done = run("serve", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_two_sessions_of_one_name_are_refused(run: Run, rain: str) -> None:
    Path("sub").mkdir()
    Path("sub", rain).write_bytes(Path(rain).read_bytes())
    done = run("serve", rain, f"sub/{rain}")
    assert done.code == 2
    assert "same name" in done.err


def test_a_port_that_is_taken_is_said(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--port", str(port))
    assert (done.code, done.out) == (2, "")
    assert done.err == f"workbench: 127.0.0.1:{port}: address already in use\n"


@pytest.mark.parametrize(
    ("host", "is_loopback"), [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("a", False)]
)
def test_which_addresses_only_this_machine_can_reach(host: str, is_loopback: bool) -> None:
    assert Setup(host=host).is_loopback is is_loopback


def test_an_address_as_a_browser_takes_it() -> None:
    assert Setup(host="::1").url(80) == "http://[::1]:80"
    assert Setup(public_url="https://class.example.org/").url(80) == "https://class.example.org"


def test_the_terminal_shows_a_picture_of_the_address() -> None:
    lines = board.qr_lines("http://192.168.1.5:8000/join/k7mq-x2pf-9wtd").split("\n")
    assert {len(one) for one in lines} == {len(lines) * 2 - 1}
    assert set("".join(lines)) == set("█▀▄ ")


def test_a_teacher_types_orders_into_the_terminal(tmp_path: Path) -> None:
    said: list[str] = []
    typed, terminal = os.openpty()

    def say(line: str) -> None:
        said.append(line)
        if line == board.ORDERS:
            os.kill(os.getpid(), signal.SIGINT)

    with open(terminal) as lines:
        os.write(typed, b"who\nclose\n\nhelp\n")
        asyncio.run(hold(Setup(top=tmp_path, port=0), say, lambda _: None, lines))
    os.close(typed)
    assert said[0] == "nobody has joined yet"
    assert "closed to newcomers" in said[1]
    assert len(said) == 3


def test_addresses_take_the_number_of_seats_that_an_option_says(run: Run) -> None:
    done = run("serve", "--per-address", "-1")
    assert (done.code, "expected a number from 0" in done.err) == (2, True)


def test_a_script_is_told_in_json_where_the_class_is(tmp_path: Path) -> None:
    words = ("serve", "--port", "0", "--max", "3", "--keep", str(tmp_path / "kept"), "--json")
    process = subprocess.Popen([sys.executable, "-m", "workbench", *words], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while lines[-1] not in ("}\n", ""):
            lines.append(process.stdout.readline())
        told = json.loads("".join(lines))
        process.send_signal(signal.SIGTERM)
        assert process.wait(100) == 0
    finally:
        process.kill()
    assert told["address"].startswith(f"{told['url']}/join/")
    assert (told["max"], told["folder"], told["port"] > 0) == (3, str(tmp_path / "kept"), True)


def test_a_class_begins_and_ends(tmp_path: Path) -> None:
    """In a process of its own, as a teacher starts it; ctrl+c is a signal."""
    environment = {**os.environ, "TMPDIR": str(tmp_path), "OPENAI_API_KEY": "sk-x"}
    words = ("serve", "--port", "0", "--host", "0.0.0.0", "--allow-models", "openai/gpt-6-luna")
    process = subprocess.Popen(
        [sys.executable, "-m", "workbench", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    try:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=100)
    finally:
        process.kill()
    assert re.search(re.escape(f"http://{own_host()}:") + r"\d+/join/\w{4}-\w{4}-\w{4}\n", "".join(lines))
    assert process.returncode == 0, errors
    assert "nothing is encrypted" in errors
    assert "the process of every seat holds OPENAI_API_KEY" in errors
    assert list(tmp_path.iterdir()) == []


def test_the_folders_of_a_class_that_was_killed_are_found_by_the_next(tmp_path: Path) -> None:
    def begin() -> tuple[subprocess.Popen[str], dict[str, object]]:
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", "serve", "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        while lines[-1] not in ("}\n", ""):
            lines.append(process.stdout.readline())
        return process, json.loads("".join(lines))

    def end(process: subprocess.Popen[str]) -> str:
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=100)[1]

    killed, told = begin()
    with pytest.raises(urllib.error.HTTPError, match="403"):  # it follows to the page without the cookie it was given
        urllib.request.urlopen(urllib.request.Request(str(told["address"]), method="POST"))
    killed.kill()
    killed.communicate()
    left = Path(str(told["folder"]))
    (left / "seat-01" / "files" / "mine.json").write_text("{}")
    running, _ = begin()
    second, _ = begin()
    for errors in (end(second), end(running)):
        assert f"the files of 1 seat are in {left}." in errors, "and nothing is said of a class that goes on"
        assert errors.count("\n") == 1
    assert (left / "seat-01" / "files" / "mine.json").exists()
    os.utime(left / "class.lock", (0, 0))
    assert end(begin()[0]) == ""
    assert list(tmp_path.iterdir()) == []
