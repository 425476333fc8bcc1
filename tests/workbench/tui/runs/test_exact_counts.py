"""Tokens are exact where a tokenizer or the provider counted this very prompt, and marked as estimates elsewhere."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from adapters.lm import child
from adapters.lm.litellm_client import LitellmLM
from adapters.lm.protocol import Completion
from adapters.requests.request import Request
from adapters.requests.token_ledger import Ledger, Row
from adapters.running.runs import Attempt, Run
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering
from tests.support.open_app import Desk, at_the_desk
from workbench.state.document import RenderedColumn
from workbench.tui.runs.late_work import LONGEST, ExactCounts

SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"),),
    cases=(Case("c", {"question": "Does it rain?"}),),
    model="openai/gpt-4o-mini",
)


def rendered(session: Session = SESSION) -> RenderedColumn:
    (column,) = session.columns
    return RenderedColumn(column, rendering.request_of(session, column, session.cases[0]))


class Heard:
    """What was told, and how to wait for it."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.came = threading.Semaphore(0)

    def __call__(self, id: str, request: Request, ledger: Ledger) -> None:
        self.counts.append(ledger.tokens)
        self.came.release()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The texts that the child was asked to count; it is there, and every piece is a token."""
    asked: list[Any] = []

    def count(self: LitellmLM, texts: list[list[str]]) -> tuple[str, list[list[int]]]:
        asked.append(texts)
        return "o200k_base", [[1 for _ in text] for text in texts]

    monkeypatch.setattr(LitellmLM, "count_tokens", count)
    monkeypatch.setattr(child, "is_running", lambda: True)
    return asked


def test_a_prompt_that_rests_is_counted_once_and_again_when_it_is_another(counted: list[Any]) -> None:
    heard, shown = Heard(), rendered()
    counts = ExactCounts(heard)
    counts.look([shown])
    assert not counted, "it might change with the next key"
    counts.look([shown])
    assert heard.came.acquire(timeout=60)
    counts.look([shown])
    other = rendered(replace(SESSION, cases=(Case("c", {"question": "Why?"}),)))
    counts.look([other])
    counts.look([other])
    assert heard.came.acquire(timeout=60)
    assert len(heard.counts) == 2 and all(heard.counts) and len(counted) == 2


def test_nothing_is_loaded_for_a_count_and_only_known_tokenizers_are_asked_about_prompts_of_a_usual_length(
    counted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = ExactCounts(Heard())
    for model in ("offline/exact", "anthropic/claude-sonnet-4-5"):
        shown = rendered(replace(SESSION, model=model))
        counts.look([shown])
        counts.look([shown])
    long = rendered(replace(SESSION, cases=(Case("c", {"question": "x" * LONGEST}),)))
    counts.look([long])
    counts.look([long])
    monkeypatch.setattr(child, "is_running", lambda: False)
    shown = rendered()
    counts.look([shown])
    counts.look([shown])
    assert not counted


def test_nothing_is_counted_while_another_thread_still_imports_the_module_of_the_child(
    counted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "adapters.lm.child", ModuleType("adapters.lm.child"))
    counts = ExactCounts(Heard())
    for _ in range(2):
        counts.look([rendered()])
    assert counted == [] and counts.asked == {}


def test_whoever_looks_at_the_numbers_has_them_counted_though_nothing_is_loaded_yet(
    counted: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "is_running", lambda: False)
    heard, shown = Heard(), rendered()
    counts = ExactCounts(heard)
    counts.look([shown], is_wanted=True)
    counts.look([shown], is_wanted=True)
    assert heard.came.acquire(timeout=60)
    assert len(counted) == 1


def test_a_count_that_was_overtaken_by_the_next_one_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    may_count = {"Why?": threading.Event(), "Does it rain?": threading.Event()}

    def count(self: LitellmLM, texts: list[list[str]]) -> tuple[str, list[list[int]]]:
        (question,) = [one for one in may_count if one in str(texts)]
        assert may_count[question].wait(60)
        return "o200k_base", [[1 for _ in text] for text in texts]

    monkeypatch.setattr(LitellmLM, "count_tokens", count)
    monkeypatch.setattr(child, "is_running", lambda: True)
    told: list[Request] = []
    came = threading.Semaphore(0)
    counts = ExactCounts(lambda id, request, ledger: (told.append(request), came.release()))
    first, second = rendered(), rendered(replace(SESSION, cases=(Case("c", {"question": "Why?"}),)))
    for shown in (first, second):
        counts.look([shown])
        counts.look([shown])
    for one in may_count.values():
        one.set()
        assert came.acquire(timeout=60)
    assert [counts.asked["chat"] is one for one in told] == [True, False]


def test_the_column_shows_an_estimate_until_the_prompt_was_counted_and_again_when_it_has_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # a child that another test has left would count the prompt before the estimate was looked at
    monkeypatch.setattr(child, "is_running", lambda: False)
    run = Run(True, {}, (), (Attempt(1, "chat", "m", {}, (Completion("x"),), usage={"prompt_tokens": 77}),))

    async def act(desk: Desk) -> None:
        column = desk.main.columns.column("chat")
        assert column is not None and column.rendered is not None and column.rendered.request is not None
        assert "~" in str(column.border_title)
        column.show_count(column.rendered.request, Ledger((Row("value", None, "inputs", 123, True),), "o200k_base"))
        assert " 123" in str(column.border_title) and "~" not in str(column.border_title)
        await desk.go_to("input", "question")
        await desk.type("x")
        assert "~" in str(column.border_title)
        await desk.press("f5")
        await desk.sent()
        assert " 77" in str(column.border_title) and "~" not in str(column.border_title)
        await desk.go_to("input", "question")
        await desk.type("y")
        assert "~" in str(column.border_title)

    at_the_desk(act, session=SESSION, send=lambda *_: run)
