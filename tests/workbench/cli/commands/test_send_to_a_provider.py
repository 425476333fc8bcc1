"""`send` to a provider over loopback: the real litellm in its child process, a server that misbehaves on demand."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer, refused_port
from terminal import Terminal

from sessions.file import store
from sessions.model.replies import Reply
from workbench.output import exit_codes

ROOT = Path(__file__).parents[4]
Run = Callable[..., Any]

REPLY = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]"


@pytest.fixture
def at_loopback(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Sends every OpenAI model to an address, with a key that must show up nowhere."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def use(url: str) -> None:
        monkeypatch.setenv("OPENAI_API_BASE", url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    return use


def send(session: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "workbench", "send", session, "--adapter", "chat", *words],
        capture_output=True,
        timeout=120,
    )


@pytest.mark.slow
def test_chunks_are_shown_as_they_come_and_an_interrupt_ends_the_call(
    rain: str, at_loopback: Callable[[str], None]
) -> None:
    with LoopbackServer(REPLY, "hang-in-stream") as server:
        at_loopback(server.url)
        process = subprocess.Popen(
            [sys.executable, "-m", "workbench", "send", rain, "--adapter", "chat", "--model", "openai/any-name"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        shown = b""
        while b"[[ ##" not in shown:
            piece = process.stdout.read1(4096)
            assert piece, "the reply's first half never came"
            shown += piece
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        (request,) = server.requests
        assert request.closed_by_client.wait(timeout=30), "the child that called the model is still there"
    assert (process.returncode, errors) == (exit_codes.INTERRUPTED, b"workbench: interrupted\n")


def test_a_streamed_reply_is_read_and_saved(rain: str, at_loopback: Callable[[str], None]) -> None:
    with LoopbackServer(REPLY) as server:
        at_loopback(server.url)
        done = send(rain, "--model", "openai/any-name", "--save")
    assert done.returncode == 0, done.stderr
    assert b"[chat] parsed" in done.stdout
    assert CANARY not in Path(rain).read_text()
    (request,) = server.requests
    assert request.headers["authorization"] == f"Bearer {CANARY}"


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", ["401", "close-in-stream", "refused"])
def test_a_failing_provider_is_exit_3_and_one_line_and_the_session_stays(
    behaviour: str, rain: str, at_loopback: Callable[[str], None]
) -> None:
    before = Path(rain).read_bytes()
    with LoopbackServer(REPLY, behaviour if behaviour != "refused" else "ok") as server:
        at_loopback(f"http://127.0.0.1:{refused_port()}/v1" if behaviour == "refused" else server.url)
        done = send(rain, "--model", "openai/any-name", "--save")
    assert done.returncode == exit_codes.PROVIDER, done.stderr
    assert len(done.stderr.decode().splitlines()) == 1
    assert done.stderr.startswith(b"workbench: chat: ")
    assert CANARY.encode() not in done.stdout + done.stderr
    assert Path(rain).read_bytes() == before


@pytest.mark.slow
def test_an_address_of_the_session_gets_a_key_only_when_its_host_is_allowed(
    rain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    with LoopbackServer(REPLY) as server:
        store.save(replace(store.load(rain), params={"api_base": server.url}), rain)
        send(rain, "--model", "openai/any-name")
        assert all(CANARY not in str(request.headers) for request in server.requests)
        done = send(rain, "--model", "openai/any-name", "--allow-host", "127.0.0.1")
        assert done.returncode == 0, done.stderr
        assert server.requests[-1].headers["authorization"] == f"Bearer {CANARY}"


@pytest.mark.slow
def test_an_interrupt_keeps_what_had_arrived(rain: str, at_loopback: Callable[[str], None]) -> None:
    with LoopbackServer(REPLY, "hang-in-stream") as server:
        at_loopback(server.url)
        command = [sys.executable, "-m", "workbench", "send", rain, "--adapter", "chat", "--save", "--json"]
        process = subprocess.Popen([*command, "--model", "openai/any-name"], stdout=subprocess.PIPE)
        assert server.half_sent.wait(timeout=60)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == exit_codes.INTERRUPTED
    shape = json.loads(out)["runs"]["chat"]
    assert shape["error"]["message"] == "Cancelled."
    arrived = "".join(one["text"] for one in shape["events"] if one["kind"] == "ChunkReceived")
    (attempt,) = shape["attempts"]
    assert "".join(one["text"] for one in attempt["completions"]) == arrived
    case = store.load(rain).cases[0]
    assert case.recordings == {}
    assert case.replies.get("chat", Reply("")).text == arrived


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "said"),
    [
        ("length", "cut off at its token limit"),
        ("content-filter", "stopped by a content filter"),
    ],
)
def test_why_a_reply_ended_is_said_before_it_is_read(
    rain: str, at_loopback: Callable[[str], None], behaviour: str, said: str
) -> None:
    with LoopbackServer(REPLY, behaviour) as server:
        at_loopback(server.url)
        shown = send(rain, "--model", "openai/any-name").stdout.decode()
    assert shown.index("[[ ## completed") < shown.index(f"[chat] {said}") < shown.rindex("yes")


@pytest.mark.slow
def test_what_the_model_thinks_is_shown_before_its_reply_and_dim_to_a_person(
    rain: str, at_loopback: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with LoopbackServer(REPLY, "reasoning") as server:
        at_loopback(server.url)
        piped = send(rain, "--model", "openai/any-name").stdout.decode()
        words = [sys.executable, "-m", "workbench", "send", rain, "--adapter", "chat", "--model", "openai/any-name"]
        with Terminal(words, tmp_path, (100, 30), {}) as terminal:
            terminal.wait_for("attempt 1")
            watched = terminal.painted
    assert "\nthinks:\nLet me think about it" in piped and "\nreplies:\n[[ ## " in piped and "\x1b" not in piped
    assert b"\x1b[2mLet me " in watched
    assert b"loading litellm" in watched


@pytest.mark.slow
def test_a_reply_is_asked_for_in_one_piece_by_an_option_or_a_parameter(
    rain: str, at_loopback: Callable[[str], None]
) -> None:
    with LoopbackServer(REPLY) as server:
        at_loopback(server.url)
        assert send(rain, "--model", "openai/any-name").returncode == 0
        assert send(rain, "--model", "openai/any-name", "--no-stream").returncode == 0
        store.save(replace(store.load(rain), params={"stream": False}), rain)
        done = send(rain, "--model", "openai/any-name", "--save")
    assert done.returncode == 0, done.stderr
    assert b"[chat] parsed" in done.stdout
    assert [one.body.get("stream", False) for one in server.requests] == [True, False, False]
    (recording,) = store.load(rain).cases[0].recordings.values()
    assert "stream" not in recording.request
