"""Runs the jobs of a bench, several at a time, and writes each run down as soon as it is there.

Everybody waits where a provider asks one of them to; all end where the user or the budget says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from adapters.errors import SignatureError
from adapters.formats.catalog import UnknownAdapterError
from adapters.lm.errors import ProviderError
from adapters.lm.secrets import Scrubber
from adapters.running.events import Event, RetryStarted
from adapters.running.runs import Run
from adapters.values.custom_types import BuildError
from sessions.bench.results import BenchRun, ResultsFile
from sessions.file.typed_values import typed
from sessions.model.variants import VariantError
from sessions.running import recording, repeats, tools
from workbench.bench.functions import UserCheck
from workbench.bench.judging import Judged, judge, one_line
from workbench.bench.planning import Forecasts, Job, Plan
from workbench.output import measures
from workbench.output.exit_codes import CommandError
from workbench.sending import sending

RETRIES = 6
"""How often a call is made again after a rate limit, an overload, a server's failure or a broken connection."""
TOO_MUCH = ("rate limit", "overloaded")
"""Failures of one call that mean all of them: nobody calls that model before the time is over."""


@dataclass(frozen=True)
class Settings:
    """How a bench runs. `max_cost` is in US dollars, for all runs of this series, those of earlier calls included."""

    jobs: int = 1
    deadline_s: float | None = None
    max_cost: float | None = None
    allow_hosts: Collection[str] = ()
    allow_variables: Collection[str] = ()
    checks: tuple[UserCheck, ...] = ()
    retries: int = RETRIES


@dataclass
class Progress:
    """How far a bench is; a copy is handed to whoever watches."""

    total: int
    done: int = 0
    failed: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    waiting_s: float = 0.0
    """How long everybody waits because the provider asked for it."""

    @property
    def rate(self) -> float:
        """Runs a second."""
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def left_s(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate else None


class Pauses:
    """Until when nobody calls a model, because one call of it was told to wait."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def hold(self, model: str, seconds: float) -> None:
        with self._lock:
            self._until[model] = max(self._until.get(model, 0.0), self._clock() + seconds)

    def left(self, model: str) -> float:
        """Seconds that a call of the model has to wait."""
        with self._lock:
            return max(0.0, self._until.get(model, 0.0) - self._clock())


class Budget:
    """What may be spent. A run begins only if, with all that are under way, it is expected to stay within."""

    def __init__(self, most: float | None, spent: float) -> None:
        self._most = most
        self.spent = spent
        self._under_way = 0.0
        self._lock = threading.Lock()
        self.is_used_up = False

    def take(self, expected: float | None) -> bool:
        """Whether a run may begin; it must be given back."""
        with self._lock:
            if self._most is not None and self.spent + self._under_way + (expected or 0.0) > self._most:
                self.is_used_up = True
                return False
            self._under_way += expected or 0.0
            return True

    def give_back(self, expected: float | None, cost: float | None) -> None:
        with self._lock:
            self._under_way -= expected or 0.0
            self.spent += cost or 0.0


Watch = Callable[[BenchRun, Progress], None]


class Bench:
    """Runs the open jobs of a plan; use once.

    `stop` ends it after the runs under way, `cancel` ends those too; a run that was cancelled is not written down, so
    that it is made when the bench goes on. `watch` is called after every run, one at a time.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        *,
        stop: threading.Event,
        cancel: threading.Event,
        watch: Watch = lambda run, progress: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jobs = plan.open
        self._settings = settings
        self._stop = stop
        self._cancel = cancel
        self._watch = watch
        self._clock = clock
        self._began = clock()
        self._pauses = Pauses(clock)
        self._forecasts = Forecasts(plan)
        self._scrub = lru_cache(maxsize=1)(Scrubber)
        self._lock = threading.Lock()
        self._problem: Exception | None = None
        spent = sum(run.cost or 0.0 for run in plan.done.values())
        self.budget = Budget(settings.max_cost, spent)
        self.progress = Progress(len(self._jobs))
        if settings.max_cost is not None:
            unpriced = self._forecasts.of(self._jobs).unpriced
            if unpriced:
                raise CommandError(f"--max-cost cannot be kept: nobody knows the price of {', '.join(unpriced)}")

    def run(self) -> None:
        """Returns when all is run, stopped, cancelled or used up. Raises `SessionError` when a run cannot be written,
        and `CommandError` for what must be mended first; runs under way are ended and written where they can be."""
        with ExitStack() as stack:
            paths = dict.fromkeys(job.target.results_path for job in self._jobs)
            files = {path: stack.enter_context(ResultsFile(path)) for path in paths}
            queue = iter(self._jobs)
            with ThreadPoolExecutor(self._settings.jobs, "bench") as pool:
                list(pool.map(lambda _: self._work(queue, files), range(self._settings.jobs)))
        if self._problem is not None:
            raise self._problem

    def _work(self, queue: Iterator[Job], files: Mapping[Any, ResultsFile]) -> None:
        """What one thread does: job after job until there is none."""
        while (job := self._next(queue)) is not None:
            expected = self._forecasts.cost(job)
            if not self._may_begin(job) or not self.budget.take(expected):
                return
            cost: float | None = None
            try:
                made = self._made(job)
                if made is not None:
                    cost = made.cost
                    self._keep(made, files[job.target.results_path])
            except Exception as error:  # whatever it is, it ends the bench, and `run` raises it
                with self._lock:
                    self._problem = self._problem or error
                self._stop.set()
            finally:
                self.budget.give_back(expected, cost)

    def _next(self, queue: Iterator[Job]) -> Job | None:
        with self._lock:
            return None if self._stop.is_set() else next(queue, None)

    def _may_begin(self, job: Job) -> bool:
        """Waits as long as the provider asked all of us to; False when the bench is ended meanwhile."""
        while (left := self._pauses.left(job.model)) > 0:
            self.progress.waiting_s = left
            if self._stop.wait(left):
                return False
        self.progress.waiting_s = 0.0
        return not self._stop.is_set()

    def _made(self, job: Job) -> BenchRun | None:
        """The run; None when it was cancelled. Raises `CommandError` for what must be mended first."""

        def hold(event: Event) -> None:
            if isinstance(event, RetryStarted) and event.failure in TOO_MUCH:
                self._pauses.hold(job.model, event.delay_s)

        settings = self._settings
        try:
            offered, _ = tools.run_tools(job.target.session, handlers=dict(job.target.handlers))
            run = sending.send(
                job.target.session,
                job.column,
                job.case,
                listeners=(hold,),
                deadline_s=settings.deadline_s,
                cancel=self._cancel,
                allow_hosts=settings.allow_hosts,
                allow_variables=settings.allow_variables,
                allow_code=job.column.adapter in job.target.allow_code,
                offered=offered,
                stream=False,
                retries=settings.retries,
            )
        except (SignatureError, VariantError, UnknownAdapterError, BuildError, ProviderError) as error:
            raise CommandError(f"{job.target.file}: {job.column.id}: {error}") from error
        return None if run.cancelled else bench_run(job, run, settings.checks, self._scrub())

    def _keep(self, made: BenchRun, file: ResultsFile) -> None:
        file.append(made)
        with self._lock:
            progress = self.progress
            progress.done += 1
            progress.failed += made.outcome == "failed"
            progress.seconds = self._clock() - self._began
            progress.cost = None if progress.cost is None or made.cost is None else progress.cost + made.cost
            self._watch(made, replace(progress))


def bench_run(job: Job, run: Run, checks: Sequence[UserCheck], scrub: Scrubber) -> BenchRun:
    """What is written down of a run. Raises `CommandError` for expectations that cannot be understood."""
    reading = recording.last_reading(run)
    kept = recording.reply_of_run(run, job.model)
    has_reply = run.error is None or run.error.phase == "response"
    judged = judge(job, reading, recording.measured_of_run(run), checks) if has_reply else Judged(None)
    own = next((one.reading for attempt in run.attempts for one in attempt.completions if one.reading), None)
    tokens = [measures.total_tokens(attempt) for attempt, _ in recording.whole_attempts(run)]
    return BenchRun(
        case=job.case.name,
        column=job.column.id,
        number=job.number,
        series=job.series,
        request=job.request,
        outcome="failed" if not has_reply else "refused" if repeats.is_misread(run) else "parsed",
        adapter=job.column.adapter,
        model=job.model,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        reply=None if kept is None else recording.answer_of_reply(kept),
        values={name: typed(value) for name, value in run.values.items()},
        error=None if run.error is None else scrub.scrubbed(one_line(run.error.message)),
        flags=() if own is None else tuple([flag.name for flag in own.flags]),
        expected=judged.held,
        failures=judged.failures,
        expectations=judged.expectations,
        tokens=sum(count for count, _ in tokens),
        is_estimate=any(estimated for _, estimated in tokens),
        measured=recording.measured_of_run(run),
    )
