"""Runs: threads that nothing waits for, and messages that a cancelled run has no say in."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from adapters.errors import RunError
from adapters.lm.protocol import Completion
from adapters.running.events import ChunkReceived, Listener
from adapters.running.runs import Attempt, Run
from sessions.model.replies import Reply
from sessions.model.session import Column
from sessions.running.recording import reply_of_run
from tests.support.open_app import TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.state.document import State

GOOD = "[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n3\n\n[[ ## completed ## ]]"


class FakeModel:
    """Answers each column with `text`, piece by piece, when `go_on` is set."""

    def __init__(self, text: str = GOOD, error: Exception | None = None) -> None:
        self.text = text
        self.error = error
        self.started: list[str] = []
        self.first_piece = threading.Event()
        self.go_on = threading.Event()
        self.cancelled: list[str] = []

    def __call__(self, state: State, column: Column, listener: Listener, cancel: threading.Event) -> Run:
        self.started.append(column.id)
        half = len(self.text) // 2
        listener(ChunkReceived(at=0.0, attempt=1, text=self.text[:half]))
        self.first_piece.set()
        self.go_on.wait(300)
        if cancel.is_set():
            self.cancelled.append(column.id)
        listener(ChunkReceived(at=0.1, attempt=1, text=self.text[half:]))
        if isinstance(self.error, RunError):
            return Run(False, {}, (), (), error=self.error)
        if self.error is not None:
            raise self.error
        return Run(True, {}, (), (Attempt(1, column.adapter, "fake", {}, (Completion(self.text),)),))


def test_what_arrives_is_shown_before_the_run_is_over() -> None:
    model = FakeModel()

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.until(lambda: desk.reply("chat"))
        assert GOOD.startswith(desk.reply("chat")) and desk.reply("chat") != GOOD
        assert "esc cancel" in desk.verdict("chat")
        assert not desk.document.state.case.replies
        model.go_on.set()
        await desk.sent()
        assert desk.reply("chat") == GOOD and "✓" in desk.verdict("chat")

    at_the_desk(act, send=model)


def question(desk: Desk) -> str:
    return "\n".join(strip.text for strip in desk.app.screen._compositor.render_strips())


@pytest.mark.parametrize("key", ["ctrl+q", "ctrl+n"])
def test_runs_that_may_be_billed_are_not_lost_without_a_question(key: str) -> None:
    model = FakeModel()

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.until(lambda: desk.reply("chat"))
        assert not desk.document.dirty
        await desk.press(key)
        await desk.until(lambda: len(desk.app.screen_stack) > 1, "for the question")
        assert "1 run waiting for its reply" in question(desk)
        await desk.press("c")
        await desk.until(lambda: len(desk.app.screen_stack) == 1, "for the panes")
        assert desk.main.runs.active
        await desk.press(key)
        await desk.until(lambda: len(desk.app.screen_stack) > 1, "for the question again")
        await desk.press("alt+r")
        await desk.until(lambda: "changes that are not saved" in question(desk), "for the next question")
        kept = desk.document.state.case.replies["chat"].text
        assert GOOD.startswith(kept) and kept != GOOD
        await desk.press("escape")
        model.go_on.set()
        await desk.until(lambda: model.cancelled)

    at_the_desk(act, replace(TICKETS, model="openai/gpt-6-luna"), send=model)


def test_escape_keeps_what_had_arrived_and_drops_what_comes_later() -> None:
    model = FakeModel()

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.until(lambda: desk.reply("chat"))
        await desk.press("escape")
        kept = desk.document.state.case.replies["chat"].text
        assert GOOD.startswith(kept) and kept != GOOD
        assert "cancelled" in desk.verdict("chat")
        model.go_on.set()
        await desk.until(lambda: model.cancelled)
        assert desk.document.state.case.replies["chat"].text == kept == desk.reply("chat")

    at_the_desk(act, send=model)


@pytest.mark.slow
def test_sending_again_replaces_the_run_that_is_under_way() -> None:
    models = [FakeModel("old " + GOOD), FakeModel(GOOD)]
    sent = iter(models)

    def send(state: State, column: Column, listener: Listener, cancel: threading.Event) -> Run:
        return next(sent)(state, column, listener, cancel)

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.until(models[0].first_piece.is_set)
        await desk.press("f8")
        await desk.until(models[1].first_piece.is_set)
        models[1].go_on.set()
        await desk.sent()
        models[0].go_on.set()
        await desk.until(lambda: models[0].cancelled)
        assert desk.reply("chat") == GOOD

    at_the_desk(act, send=send)


@pytest.mark.slow
def test_a_reply_goes_to_the_case_it_was_sent_for() -> None:
    model = FakeModel()

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.until(model.first_piece.is_set)
        await desk.press("ctrl+t", "down", "enter")
        model.go_on.set()
        await desk.sent()
        assert "chat" in desk.document.session.case("first").replies
        assert not desk.document.session.case("second").replies
        assert desk.reply("chat") == ""

    at_the_desk(act, send=model)


def test_a_refused_request_is_said_in_the_column_and_the_last_reply_stays() -> None:
    model = FakeModel(error=RunError("[/x] 401: no such key \x1b[2J", "request", payload={"status": 401}))
    model.go_on.set()
    case = replace(TICKETS.cases[0], replies={"chat": Reply(GOOD, model="m")})

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.sent()
        assert "401" in desk.verdict("chat") and "\x1b" not in desk.verdict("chat")
        assert desk.reply("chat") == GOOD
        column = desk.main.columns.column("chat")
        assert column is not None
        assert "401: no such key" in seen(column.fields)[0] and "F7, 3, v" in " ".join(seen(column.fields))

    at_the_desk(act, session=replace(TICKETS, cases=(case,)), send=model)


@pytest.mark.slow
def test_a_mistake_in_a_run_is_shown_and_the_app_goes_on() -> None:
    model = FakeModel(error=ZeroDivisionError("ours [/x]"))
    model.go_on.set()

    async def act(desk: Desk) -> None:
        await desk.press("f8")
        await desk.sent()
        assert "ours" in desk.verdict("chat")
        await desk.go_to("input", "ticket")
        await desk.type("still here")
        assert "still here" in desk.prompt("chat")

    at_the_desk(act, send=model, mistakes=1)


@pytest.mark.slow
def test_leaving_never_waits_for_a_run() -> None:
    model = FakeModel()

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.until(model.first_piece.is_set)

    at_the_desk(act, send=model)
    assert not model.go_on.is_set()
    model.go_on.set()


def test_sends_are_undone_together() -> None:
    model = FakeModel()
    model.go_on.set()

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert set(desk.document.state.case.replies) == {"chat", "json", "xml"}
        await desk.press("ctrl+z")
        assert desk.document.session is TICKETS

    at_the_desk(act, send=model)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["", "\x00\x1b[2J\u202e", "x" * 200_000])
def test_any_reply_can_be_shown(text: str) -> None:
    model = FakeModel(text)
    model.go_on.set()

    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        assert desk.reply("json") == text

    at_the_desk(act, send=model)


def test_the_reply_of_a_run_with_tool_turns_or_retries_is_that_of_the_answering_call_and_no_fallbacks() -> None:
    calls = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    first = Attempt(1, "chat", "m", {}, (Completion("I will search.", tool_calls=(calls,)),))
    again = Attempt(2, "chat", "m", {}, (Completion(GOOD),), purpose="tools")
    fallback = Attempt(3, "json", "m", {}, (Completion("{}"),), purpose="fallback")
    assert reply_of_run(Run(True, {}, (), (first, again)), "m") == Reply(GOOD, model="m")
    retried = (
        Attempt(1, "chat", "m", {}, error="busy"),
        Attempt(2, "chat", "m", {}, (Completion("x"),), purpose="retry"),
    )
    assert reply_of_run(Run(True, {}, (), (*retried, fallback)), "m", raw=True) == Reply("x", model="m", raw=True)
    assert reply_of_run(Run(False, {}, (), (retried[0],)), "m") is None
