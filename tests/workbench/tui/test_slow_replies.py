"""A reply that takes long to repair never keeps a key waiting: it is read beside, and the verdict comes when it is."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from open_app import Desk, at_the_desk

from adapters.json_text import repair_limits
from adapters.json_text.repair_limits import QUICK_STEPS, RepairSteps
from adapters.replies.reading import Reading
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.state.document import SlowReading, State
from workbench.state.engine import Engine

LOOKS_AHEAD = '{"tags": ["' + 'a": ' * 8_000
"""json_repair looks around at every quote, here 400,000 times in all."""
JSON = Column("json", "json")


def session(reply: str) -> Session:
    case = Case("case 1", {"question": "q"}, replies={"json": Reply(reply)})
    return Session(SignatureText("question -> tags: list[str]"), (), (JSON,), (case,), "offline/exact")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, RepairSteps]]:
    """By what json_repair may look at of each reading: whether the thread of the keys made it."""
    made: list[tuple[bool, RepairSteps]] = []
    init: Any = RepairSteps.__init__

    def counted(self: RepairSteps, allowed: int) -> None:
        init(self, allowed)
        made.append((threading.current_thread() is threading.main_thread(), self))

    monkeypatch.setattr(repair_limits.RepairSteps, "__init__", counted)
    return made


def test_the_engine_leaves_a_reply_that_takes_long_to_be_read_beside(looks: list[tuple[bool, RepairSteps]]) -> None:
    engine, state = Engine(), State(session(LOOKS_AHEAD))
    live = engine.column(state, JSON)
    assert live.reading is None and live.slow is not None and not live.reading_error
    assert sum(steps.allowed - max(steps.left, 0) for _, steps in looks) <= QUICK_STEPS
    assert engine.column(state, JSON) is live, "it is left once"
    reading = live.slow.read()
    engine.take("json", live.slow, reading)
    assert engine.column(state, JSON).reading is reading and engine.column(state, JSON).slow is None


def test_what_came_of_another_reply_by_now_is_let_go() -> None:
    engine = Engine()
    first = engine.column(State(session(LOOKS_AHEAD)), JSON)
    assert first.slow is not None
    second = engine.column(State(session('{"tags": []}')), JSON)
    engine.take("json", first.slow, ValueError("of the first"))
    assert second.reading is not None and engine.column(State(session('{"tags": []}')), JSON).reading_error == ""


def test_a_short_broken_reply_is_read_at_once() -> None:
    live = Engine().column(State(session('{"tags": ["a", "b')), JSON)
    assert live.slow is None and live.reading is not None and live.reading.values == {"tags": ["a", "b"]}


def test_the_keys_wait_for_no_repair_and_the_verdict_comes(
    looks: list[tuple[bool, RepairSteps]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repair_limits, "REPAIR_STEPS", 2 * QUICK_STEPS)

    async def act(desk: Desk) -> None:
        def read() -> Reading | None:
            return desk.main.engine.column(desk.document.state, JSON).reading

        await desk.until(read, "for the reading beside")
        found = read()
        assert found is not None and "too large to read" in str(found.error)
        assert "✗" in desk.verdict("json")
        await desk.press("f7", "4")

    at_the_desk(act, session(LOOKS_AHEAD))
    on_keys = [steps for is_main, steps in looks if is_main]
    assert on_keys and all(steps.allowed - max(steps.left, 0) <= QUICK_STEPS for steps in on_keys)
    assert any(not is_main and steps.ran_out for is_main, steps in looks), "the whole of it was read beside"


@pytest.mark.slow
def test_the_verdict_on_one_reply_waits_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two read at once would share the interpreter, and both verdicts come with the last."""
    columns = (JSON, Column("baml", "baml"))
    case = Case("case 1", {"question": "q"}, replies={one.id: Reply(LOOKS_AHEAD) for one in columns})
    both = Session(SignatureText("question -> tags: list[str]"), (), columns, (case,), "offline/exact")
    under_way: list[SlowReading] = []
    at_once: list[int] = []
    read = SlowReading.read

    def watched(self: SlowReading) -> Reading:
        under_way.append(self)
        at_once.append(len(under_way))
        try:
            return read(self)
        finally:
            under_way.remove(self)

    monkeypatch.setattr(SlowReading, "read", watched)

    async def act(desk: Desk) -> None:
        def is_read() -> bool:
            return all(desk.main.engine.column(desk.document.state, one).reading for one in columns)

        await desk.until(is_read, "for both readings")
        assert ["✗" in desk.verdict(one.id) for one in columns] == [True, True]

    at_the_desk(act, both)
    assert at_once == [1, 1]


def test_a_reply_that_was_changed_while_it_waited_is_not_read_any_more() -> None:
    engine = Engine()
    first = engine.column(State(session(LOOKS_AHEAD)), JSON).slow
    assert first is not None and engine.is_left("json", first)
    engine.column(State(session('{"tags": []}')), JSON)
    assert not engine.is_left("json", first)
