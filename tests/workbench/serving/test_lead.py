"""The teacher's place on its way: everybody hears where he is, and who listens slowly hears only the latest."""

from __future__ import annotations

import asyncio

import pytest

from workbench.serving import textual_server
from workbench.serving.messages import TeachersPlace
from workbench.serving.textual_server import Lead

A, B, C = (TeachersPlace(case=one) for one in "abc")


def test_who_comes_late_hears_at_once_and_who_is_slow_hears_the_latest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual_server, "BETWEEN_S", 0.0)

    async def run() -> None:
        leading = Lead()
        quick, slow = leading.places(), leading.places()
        leading.tell(A)
        assert await anext(quick) == A
        assert await anext(slow) == A
        leading.tell(B)
        assert await anext(quick) == B
        leading.tell(C)
        assert await anext(slow) == C, "what came meanwhile is not heard"
        assert await anext(quick) == C
        waiting = asyncio.ensure_future(anext(quick))
        leading.tell(C)
        done, _ = await asyncio.wait([waiting], timeout=0)
        assert not done, "nothing was new"
        leading.tell(None)
        assert await waiting is None

    asyncio.run(asyncio.wait_for(run(), 60))


def test_where_there_is_no_teacher_nothing_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(textual_server, "BETWEEN_S", 0.0)

    async def run() -> None:
        leading = Lead()
        waiting = asyncio.ensure_future(anext(leading.places()))
        done, _ = await asyncio.wait([waiting], timeout=0)
        assert not done
        leading.tell(A)
        assert await waiting == A

    asyncio.run(asyncio.wait_for(run(), 60))
