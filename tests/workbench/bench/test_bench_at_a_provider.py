"""A bench at a provider that limits, fails, breaks off and is slow: every run is accounted for."""

from __future__ import annotations

import gc
import itertools
import os
import threading
from collections import Counter
from pathlib import Path

import loopback_server
import pytest
from loopback_server import CANARY, LoopbackServer

from adapters.lm import child
from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.bench_lines import key_of, runs_in
from workbench.bench.judging import grid_of
from workbench.bench.planning import Forecasts, Target, plan
from workbench.bench.running import Bench, Settings

REPLY = "[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"


class Unreliable(LoopbackServer):
    """Answers most requests, a few of them slowly; every seventh it refuses, fails or drops."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._trouble = itertools.cycle(["429", "500", "close", "503"])
        self._lock = threading.Lock()
        self.answered = 0
        super().__init__(self._reply)

    @property
    def behaviour(self) -> str:
        with self._lock:
            if next(self._numbers) % 7 == 0:
                return next(self._trouble)
            self.answered += 1
            return "ok"

    @behaviour.setter
    def behaviour(self, name: str) -> None:
        pass

    def _reply(self, body: object) -> str:
        if self.answered % 20 == 0:
            self.released.wait(0.3)
        return REPLY


def target_of(path: Path, cases: int) -> Target:
    session = Session(
        SignatureText("question -> answer"),
        cases=tuple([Case(f"case {number}", {"question": "Is it?"}) for number in range(cases)]),
        columns=(Column("chat", "chat"),),
        model="openai/gpt-4o-mini",
    )
    store.save(session, path)
    return Target(str(path), session, session.columns, session.cases)


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.fixture
def quick_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    status, error, headers = loopback_server._OPENAI_ERRORS["429"]
    monkeypatch.setitem(loopback_server._OPENAI_ERRORS, "429", (status, error, {**headers, "retry-after": "0.2"}))


@pytest.fixture
def child_ends() -> object:
    yield None
    child.shut_down()


@pytest.mark.slow
@pytest.mark.parametrize("runs", [24, pytest.param(500, marks=pytest.mark.slow)])
def test_every_run_is_accounted_for_and_memory_and_handles_stay(
    runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, quick_limits: None, child_ends: object
) -> None:
    monkeypatch.chdir(tmp_path)
    with Unreliable() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        target = target_of(tmp_path / "q.session.json", 4)
        seen: dict[int, tuple[float, int]] = {}

        def watch(run: object, progress: object) -> None:
            done = progress.done  # type: ignore[attr-defined]
            if done in (runs // 4, runs):
                seen[done] = (resident_mb(), handles())

        made = plan([target], runs // 4)
        Bench(made, Settings(jobs=8), stop=threading.Event(), cancel=threading.Event(), watch=watch).run()
        found = runs_in(target.results_path)
        asked = len(server.requests)
    assert Counter(one.outcome for one in found) == {"parsed": runs}
    assert len(set(map(key_of, found))) == runs
    assert server.answered == runs
    assert asked > runs  # those that were refused were asked again
    assert any(len(one.measured) for one in found)
    assert all(one.tokens == 18 and not one.is_estimate for one in found)
    (early_mb, early_handles), (late_mb, late_handles) = seen[runs // 4], seen[runs]
    assert late_mb - early_mb < 40
    assert late_handles - early_handles < 24  # one a run would be hundreds; connections of 8 runs at once come and go
    assert CANARY.encode() not in target.results_path.read_bytes()


@pytest.mark.slow
def test_a_provider_that_is_gone_leaves_failed_runs_that_are_made_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child_ends: object
) -> None:
    monkeypatch.chdir(tmp_path)
    target = target_of(tmp_path / "q.session.json", 3)
    with LoopbackServer(REPLY, "500") as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        made = plan([target], 1)
        Bench(made, Settings(jobs=3, retries=0), stop=threading.Event(), cancel=threading.Event()).run()
        found = runs_in(target.results_path)
        assert [one.outcome for one in found] == ["failed"] * 3
        assert all(one.error and CANARY not in one.error for one in found)
        server.behaviour = "ok"
        again = plan([target], 1)
        assert again.open_count == 3
        Bench(again, Settings(jobs=3), stop=threading.Event(), cancel=threading.Event()).run()
    grid = grid_of(plan([target], 1), ())
    assert [(one.parsed, one.failed) for one in grid.columns] == [(3, 0)]
    assert plan([target], 1).open_count == 0


@pytest.mark.slow
def test_no_run_begins_that_may_cost_more_than_is_allowed_and_more_money_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child_ends: object
) -> None:
    monkeypatch.chdir(tmp_path)
    target = target_of(tmp_path / "q.session.json", 12)

    def spend(most: float) -> Bench:
        bench = Bench(
            plan([target], 1), Settings(jobs=3, max_cost=most), stop=threading.Event(), cancel=threading.Event()
        )
        bench.run()
        return bench

    with LoopbackServer(REPLY) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        made = plan([target], 1)
        forecast = Forecasts(made).cost(next(made.open))
        assert forecast is not None
        assert spend(forecast).budget.is_used_up
        (first,) = runs_in(target.results_path)
        assert first.cost is not None and 0 < first.cost <= forecast
        second = spend(first.cost * 4.5)
        assert second.budget.is_used_up
        assert second.budget.spent == pytest.approx(first.cost * 4)
        assert len(runs_in(target.results_path)) == len(server.requests) == 4
        assert not spend(first.cost * 100).budget.is_used_up
        assert len(server.requests) == 12


@pytest.mark.slow
def test_a_request_that_the_provider_rejects_is_a_miss_and_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child_ends: object
) -> None:
    monkeypatch.chdir(tmp_path)
    target = target_of(tmp_path / "q.session.json", 3)
    with LoopbackServer(REPLY, "400") as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", CANARY)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        made = plan([target], 1)
        Bench(made, Settings(jobs=2), stop=threading.Event(), cancel=threading.Event()).run()
        asked = len(server.requests)
    again = plan([target], 1)
    (total,) = grid_of(again, ()).columns
    assert (total.rejected, total.failed, total.parsed, total.counted) == (3, 0, 0, 3)
    assert again.open_count == 0
    assert asked == 3
