"""Sending from the screen: the question before a key goes to a host, and the errors that a person can act on."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from loopback_server import CANARY, LoopbackServer

from adapters.lm import child
from adapters.lm.litellm_client import LitellmLM
from adapters.lm.protocol import Completion
from adapters.running.runs import Attempt, Run
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import Desk, at_the_desk
from tests.support.screen import seen
from workbench.editing import edits
from workbench.sending import sending
from workbench.state.document import Place
from workbench.tui.dialogs.ask import ConfirmScreen

REPLY = "[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"
SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "Does it rain?"}),),
    model="openai/any-name",
)
HOST = "127.0.0.1:9"
NAMED = replace(SESSION, params={"api_base": f"http://{HOST}/v1"})


@pytest.fixture
def sends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[dict[str, Any]]:
    """Every send, with the hosts that were allowed; nothing is called, and litellm is there already."""
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setattr(LitellmLM, "is_loading", False)
    seen: list[dict[str, Any]] = []

    def send(session: Session, column: Column, case: Case, **how: Any) -> Run:
        seen.append(how)
        return Run(True, {}, (), (Attempt(1, "chat", "fake", {}, (Completion(REPLY),)),))

    monkeypatch.setattr(sending, "send", send)
    return seen


def shown(desk: Desk) -> str:
    """Title and text of the dialog in front."""
    (dialog,) = desk.app.screen.query(".dialog")
    return f"{dialog.border_title} {desk.app.screen.query_one('.dialog-text').render()}"


@pytest.mark.slow
def test_the_app_asks_before_a_key_goes_to_a_host_that_the_session_names(sends: list[dict[str, Any]]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        assert isinstance(desk.app.screen, ConfirmScreen) and not sends
        said = shown(desk)
        assert HOST in said and "OPENAI_API_KEY" in said and "q.json" in said and CANARY not in said
        await desk.press("escape")
        assert not sends and desk.reply("chat") == ""
        await desk.press("f5", "n")
        await desk.sent()
        assert sends[-1]["allowed"].hosts == frozenset() and desk.reply("chat") == REPLY
        await desk.press("f5")  # what was said is remembered
        await desk.sent()
        assert len(sends) == 2 and sends[-1]["allowed"].hosts == frozenset()
        desk.app.sending.hosts.forget()
        await desk.press("f8", "y")
        await desk.sent()
        assert sends[-1]["allowed"].hosts == {HOST}

    at_the_desk(act, session=NAMED, path=Path("q.json"))


def test_enter_alone_sends_no_key(sends: list[dict[str, Any]]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5", "enter")
        await desk.sent()
        assert [one["allowed"].hosts for one in sends] == [frozenset()]

    at_the_desk(act, session=NAMED, path=Path("q.json"))


@pytest.mark.slow
def test_a_session_that_names_no_host_is_sent_without_a_question(sends: list[dict[str, Any]]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert len(sends) == 1 and sends[0]["allowed"].hosts == frozenset()

    at_the_desk(act, session=SESSION)


@pytest.mark.slow
def test_several_times_and_raw_are_one_key_away(sends: list[dict[str, Any]]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("shift+f5", "n")
        await desk.fill_in("0")
        await desk.press("enter")
        assert "a number from 1" in str(desk.app.screen.query_one("#ask-error").render())
        await desk.fill_in("3")
        await desk.press("enter")
        await desk.sent()
        assert len(sends) == 3 and "3 runs, 0 parse errors (0%)" in desk.verdict("chat")
        await desk.press("shift+f5", "w")
        await desk.sent()
        assert sends[-1]["raw"] is True and "raw, not parsed" in desk.verdict("chat")
        column = desk.main.columns.column("chat")
        assert column is not None and column.rendered is not None and column.rendered.reading is None
        await desk.press("f4", "ctrl+end")
        await desk.type("!")
        assert column.rendered.reading is not None  # what is edited is there to be read

    at_the_desk(act, session=SESSION)


def test_a_deadline_is_one_key_away(sends: list[dict[str, Any]]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("shift+f5", "d")
        await desk.fill_in("-1")
        await desk.press("enter")
        assert "a number of seconds" in str(desk.app.screen.query_one("#ask-error").render())
        await desk.fill_in("2.5")
        await desk.press("enter")
        await desk.sent()
        assert sends[-1]["deadline_s"] == 2.5

    at_the_desk(act, session=SESSION)


def test_what_the_user_can_mend_is_said_in_the_column_and_its_payload_in_the_calls(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LitellmLM, "is_loading", False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert "✗ needs an API key · request " in desk.verdict("chat")
        below = " ".join(" ".join(seen(desk.main.columns.all[0].fields)).split())
        assert "request: openai/any-name needs an API key: set OPENAI_API_KEY" in below
        await desk.press("f7", "3")
        page = desk.app.screen.query_one("#pages-text")
        assert "needs an API key" in page.plain_text  # type: ignore[attr-defined]
        await desk.press("v")
        assert '"missing"' in page.plain_text  # type: ignore[attr-defined]

    at_the_desk(act, session=SESSION)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", *os.environ.get("PYTHONPATH", "").split(os.pathsep)]))
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    for name in ("OPENAI_API_BASE", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with LoopbackServer(REPLY) as one:
        yield one
    child.shut_down()


@pytest.mark.slow
def test_a_server_that_a_session_names_sees_no_key_before_the_user_allows_its_host(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_seen = threading.Event()
    load = LitellmLM.wait_until_loaded

    def load_once_seen(lm: LitellmLM, cancel: threading.Event | None = None) -> None:
        """Loads for as long as the test looks, and at least as long as litellm takes."""
        is_seen.wait(60)
        load(lm, cancel)

    monkeypatch.setattr(LitellmLM, "is_loading", property(lambda _: not is_seen.is_set()))
    monkeypatch.setattr(LitellmLM, "wait_until_loaded", load_once_seen)

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        assert not server.requests
        await desk.press("n")
        await desk.until(lambda: "loading litellm" in desk.verdict("chat"), "for the word that litellm is loading")
        is_seen.set()
        await desk.sent()
        assert desk.reply("chat") == REPLY
        assert server.requests and all(CANARY not in str(one.headers) for one in server.requests)
        desk.app.sending.hosts.forget()
        await desk.press("f5", "y")
        await desk.sent()
        assert server.requests[-1].headers["authorization"] == f"Bearer {CANARY}"
        assert CANARY not in str(desk.document.session)

    at_the_desk(act, session=replace(SESSION, params={"api_base": server.url}))


@pytest.mark.slow
def test_after_a_failed_call_nothing_of_the_last_model_passes_for_the_new_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LitellmLM, "is_loading", False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        answered = desk.reply("chat")
        assert answered and "✓" in desk.verdict("chat")
        change = partial(edits.set_session, model="openai/any-name")
        desk.main.edit(change, Place("model"), "model")
        await desk.settle()
        assert "old reply" in desk.verdict("chat")
        await desk.press("f5")
        await desk.sent()
        assert "✗ needs an API key" in desk.verdict("chat") and "old" in desk.verdict("chat")
        assert desk.reply("chat") == answered, "nothing is lost"
        below = " ".join(" ".join(seen(desk.main.columns.all[0].fields)).split())
        assert "The reply above is an earlier reply of offline/exact." in below
        assert "✓" not in below and "the provider's payload" not in below
        await desk.press("ctrl+z")
        assert desk.document.session.model == "offline/exact"
        assert "needs an API key" not in desk.verdict("chat") and "✓" in desk.verdict("chat")
        await desk.press("ctrl+z")
        assert desk.reply("chat") == "" and desk.verdict("chat") == "reply none yet · F5 send"
        await desk.press("ctrl+y", "ctrl+y")
        assert "✗ needs an API key" in desk.verdict("chat"), "with the model its failure is there again"

    at_the_desk(act, session=replace(SESSION, model="offline/exact"))


@pytest.mark.slow
def test_undoing_a_call_takes_what_is_said_of_it_along() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        said = desk.verdict("chat")
        await desk.press("ctrl+z")
        assert desk.reply("chat") == "" and desk.verdict("chat") == "reply none yet · F5 send"
        await desk.press("ctrl+y")
        assert desk.verdict("chat") == said

    at_the_desk(act, session=replace(SESSION, model="offline/exact"))


def test_once_the_prompt_can_be_made_no_column_says_that_it_cannot() -> None:
    undecided = """
import dspy
from dspy.experimental import Noul

class Judge(dspy.Signature):
    claim: str = dspy.InputField()
    is_true: Noul = dspy.OutputField()
"""

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert "prompt cannot" in desk.verdict("chat")
        text = undecided.replace("dspy.OutputField()", 'dspy.OutputField(desc="is it so")')
        desk.main.edit(partial(edits.set_signature, text=text), Place("signature"), "a description")
        await desk.settle()
        assert desk.verdict("chat") == "reply none yet · F5 send"
        assert "cannot be" not in " ".join(seen(desk.main.columns.all[0].fields))

    at_the_desk(act, session=replace(SESSION, signature=SignatureText(undecided), model="offline/exact"))
