"""`kill -9` of the process that calls models, in mid-stream: one clear line, and the next send works."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer

from adapters.lm import child
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Column
from tests.support.open_app import TICKETS, Desk, at_the_desk
from workbench.output import exit_codes
from workbench.tui.actions import sending

Run = Callable[..., Any]
GOOD = "[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n3\n\n[[ ## completed ## ]]"
LOST = "was killed by SIGKILL before the reply was complete"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    with LoopbackServer(GOOD) as one:
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        monkeypatch.setenv("OPENAI_API_BASE", one.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        yield one
    child.shut_down()


def kill_once_half_is_sent(server: LoopbackServer) -> None:
    def kill() -> None:
        server.half_sent.wait()
        os.kill(child.child_for(dict(os.environ), keyless=False).pid, signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()


@pytest.mark.slow
def test_the_command_line_says_so_and_sends_again(server: LoopbackServer, run: Run, tmp_path: Path) -> None:
    store.save(
        replace(TICKETS, model="openai/hang-in-stream", columns=TICKETS.columns[:1], cases=TICKETS.cases[:1]),
        "tickets.json",
    )
    before = Path("tickets.json").read_bytes()
    kill_once_half_is_sent(server)
    done = run("send", "tickets.json", "--save", "--json")
    assert done.code == exit_codes.PROVIDER
    (line,) = done.err.splitlines()
    assert LOST in line
    assert done.json["runs"]["chat"]["error"]["phase"] == "request"
    assert Path("tickets.json").read_bytes() == before
    assert run("send", "tickets.json", "--model", "openai/ok").code == exit_codes.OK


@pytest.mark.slow
def test_the_app_says_so_in_the_column_and_sends_again(server: LoopbackServer) -> None:
    async def act(desk: Desk) -> None:
        kill_once_half_is_sent(server)
        await desk.press("f8")
        await desk.sent()
        assert desk.document.state.case.replies.get("chat", Reply("")).text in GOOD
        assert "✗ model process lost · request " in desk.verdict("chat")
        server.behaviour = "ok"
        await desk.press("f8")
        await desk.sent()
        assert desk.reply("chat") == GOOD
        assert "✓" in desk.verdict("chat")

    server.behaviour = "hang-in-stream"
    at_the_desk(act, replace(TICKETS, model="openai/any-name"))


@pytest.mark.slow
def test_sixty_sends_of_eight_columns_at_once_are_one_process_and_the_last_ones_replies_are_there(
    server: LoopbackServer,
) -> None:
    ids = ["chat", "json", "xml", "baml", "markdown", "chat 2", "json 2", "xml 2"]
    columns = tuple(Column(id, "chat") for id in ids)

    async def act(desk: Desk) -> None:
        sending.send(desk.app, columns)
        await desk.sent()
        process = child.child_for(dict(os.environ), keyless=False)
        for number in range(60):
            server.reply = GOOD.replace("3", str(number))
            sending.send(desk.app, columns)
            await desk.pilot.pause()
        await desk.sent()
        assert child.child_for(dict(os.environ), keyless=False) is process and process.problem is None
        assert all("✓" in desk.verdict(id) for id in ids), [desk.verdict(id) for id in ids]
        assert [desk.document.state.case.replies[id].text for id in ids] == [server.reply] * 8

    server.reply = GOOD * 30
    at_the_desk(act, replace(TICKETS, model="openai/any-name", columns=columns))
