"""A key that a provider repeats in its error is on no screen, in no payload and in no file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from loopback_server import CANARY, LoopbackServer

from adapters.lm import child
from tests.support.open_app import TICKETS, Desk, at_the_desk


@pytest.mark.slow
def test_an_error_that_repeats_the_key_shows_it_nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert "✗ 401 · API key rejected · request " in desk.verdict("chat")
        shown = desk.app.export_screenshot()
        await desk.press("f7")
        shown += desk.app.export_screenshot()
        assert CANARY not in shown
        assert "sk-canary" not in shown
        runs = [desk.main.runs.of(desk.document.state.case.name, column.id) for column in TICKETS.columns]
        assert all(one is not None and CANARY not in repr(one) + repr(one.payload) for one in runs)
        assert CANARY in str(server.requests[-1].headers), "it did go to the provider it is for"

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with LoopbackServer("", "echo-key") as server:
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        at_the_desk(act, replace(TICKETS, model="openai/any-name"))
        child.shut_down()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if CANARY.encode() in path.read_bytes()]
