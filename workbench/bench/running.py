"""Run the jobs of a bench in parallel and record each run as soon as it ends.

When a provider asks a run to wait, all runs of that model wait. The user or the budget can end the bench.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from adapters.errors import RunError, SignatureError
from adapters.formats.catalog import UnknownAdapterError
from adapters.late_dataclasses import dataclass, field, replace
from adapters.lm.protocol import ErrorKind, ProviderError
from adapters.lm.secrets import Scrubber
from adapters.running.events import Event, RequestSent, RetryStarted
from adapters.running.model_calls import one_line
from adapters.running.runs import Run
from adapters.values.custom_types import BuildError
from sessions.bench.results import BenchRun, Outcome, ResultsFile
from sessions.errors import counted
from sessions.file.typed_values import typed
from sessions.model.replies import Answer
from sessions.model.variants import VariantError
from sessions.running import recording, repeats, tools
from workbench.bench.judging import LONGEST_REASON, Check, Judged, judge, missed
from workbench.bench.planning import Forecasts, Job, Plan
from workbench.config.confinement import NOTHING_MORE, Allowed
from workbench.output import measures
from workbench.output.exit_codes import CommandError
from workbench.sending import sending

RETRIES = 6
"""The most retries of a call after a rate limit, an overload, a server error or a broken connection."""
TOO_MUCH = ("rate limit", "overloaded")
"""Failures of a call after which all calls of its model wait."""
OF_THE_COLUMN: frozenset[ErrorKind] = frozenset({"context", "request", "refused"})
"""Failures caused by what the column sends; they count as misses."""


@dataclass(frozen=True)
class Settings:
    """Options of a bench. `max_cost` is in US dollars, for all runs of this series, earlier ones included."""

    jobs: int = 1
    deadline_s: float | None = None
    max_cost: float | None = None
    allowed: Allowed = NOTHING_MORE
    checks: tuple[Check, ...] = ()
    retries: int = RETRIES


@dataclass
class Progress:
    """The state of a bench, copied for its watcher."""

    total: int
    done: int = 0
    failed: int = 0
    rejected: int = 0
    retries: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0
    """The time since the first request was sent, so that loading litellm does not affect `rate`."""
    waiting_s: float = 0.0
    """The wait that the provider asked for."""

    @property
    def rate(self) -> float:
        return self.done / self.seconds if self.seconds else 0.0

    @property
    def left_s(self) -> float | None:
        return (self.total - self.done) / self.rate if self.rate else None

    @property
    def words(self) -> str:
        """`120 of 400 runs · 8.1 a second · $0.12 · 35 s left`."""
        parts = [f"{self.done:,} of {self.total:,} runs", f"{self.rate:.1f} a second"]
        parts.append("free so far" if self.cost == 0 else measures.cost(self.cost))
        if self.left_s is not None:
            minutes, rest = divmod(round(self.left_s), 60)
            parts.append(f"{minutes} min {rest} s left" if minutes else f"{rest} s left")
        if self.waiting_s:
            parts.append(f"waiting for the provider: {self.waiting_s:.0f} s")
        if self.retries:
            parts.append(counted(self.retries, "retry", "retries"))
        if self.rejected:
            parts.append(f"{self.rejected:,} rejected")
        if self.failed:
            parts.append(f"{self.failed:,} not counted")
        return " · ".join(parts)


@dataclass(eq=False)
class Pauses:
    """Waits by model: once a call is told to wait, no other call of its model starts."""

    _clock: Callable[[], float]
    _until: dict[str, float] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def hold(self, model: str, seconds: float) -> None:
        with self._lock:
            self._until[model] = max(self._until.get(model, 0.0), self._clock() + seconds)

    def left(self, model: str) -> float:
        """Return how long a call of the model must wait, in seconds."""
        with self._lock:
            return max(0.0, self._until.get(model, 0.0) - self._clock())


@dataclass(eq=False)
class Budget:
    """The limit on spending, by finished and active runs."""

    _most: float | None
    spent: float
    _under_way: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    is_used_up: bool = False

    def take(self, expected: float | None) -> bool:
        """Reserve the expected cost of a run; False if it could exceed the limit. Release it with `give_back`."""
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

    `stop` ends it after the active runs; `cancel` aborts those too. Aborted runs are not recorded, so they are repeated
    when the bench continues. `watch` is called after each run, never concurrently.
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
        self._plan = plan
        self._settings = settings
        self._stop = stop
        self._cancel = cancel
        self._watch = watch
        self._clock = clock
        self._began: float | None = None
        """When the first request was sent."""
        self._pauses = Pauses(clock)
        self._forecasts = Forecasts(plan)
        self._scrub = lru_cache(maxsize=1)(Scrubber)
        self._lock = threading.Lock()
        self._problem: Exception | None = None
        self.budget = Budget(settings.max_cost, plan.spent)
        self.progress = Progress(plan.open_count)
        if settings.max_cost is not None:
            unpriced = self._forecasts.of(plan.open).unpriced
            if unpriced:
                raise CommandError(f"--max-cost cannot be kept: the price of {', '.join(unpriced)} is unknown")

    def run(self) -> None:
        """Return when all jobs are done, stopped or aborted, or the budget is used up.

        Raises `SessionError` if a run cannot be written, and `CommandError` for errors that the user must fix; active
        runs are still finished and recorded if possible.
        """
        with ExitStack() as stack:
            paths = dict.fromkeys(job.target.results_path for job in self._plan.first)
            files = {path: stack.enter_context(ResultsFile(path)) for path in paths}
            queue = self._plan.open
            with ThreadPoolExecutor(self._settings.jobs, "bench") as pool:
                list(pool.map(lambda _: self._work(queue, files), range(self._settings.jobs)))
        if self._problem is not None:
            raise self._problem

    def _work(self, queue: Iterator[Job], files: Mapping[Any, ResultsFile]) -> None:
        while True:
            with self._lock:
                job = None if self._stop.is_set() else next(queue, None)
            if job is None:
                return
            while (left := self._pauses.left(job.model)) > 0:  # as long as the provider asked
                self.progress.waiting_s = left
                if self._stop.wait(left):
                    return
            self.progress.waiting_s = 0.0
            expected = self._forecasts.cost(job)
            if self._stop.is_set() or not self.budget.take(expected):
                return
            cost: float | None = None
            try:
                run = self._sent(job)
                if run is not None:
                    cost = self._keep(job, run, files[job.target.results_path])
            except Exception as error:  # of any kind: it ends the bench, and `run` raises it
                with self._lock:
                    self._problem = self._problem or error
                self._stop.set()
            finally:
                self.budget.give_back(expected, cost)

    def _sent(self, job: Job) -> Run | None:
        """Send the job; None if it was aborted. Raises `CommandError` for errors that the user must fix."""

        def listen(event: Event) -> None:
            if isinstance(event, RequestSent) and self._began is None:
                self._began = self._clock()
            if isinstance(event, RetryStarted) and event.failure in TOO_MUCH:
                self._pauses.hold(job.model, event.delay_s)

        settings = self._settings
        try:
            offered, _ = tools.run_tools(job.target.session, handlers=dict(job.target.handlers))
            run = sending.send(
                job.target.session,
                job.column,
                job.case,
                listeners=(listen,),
                deadline_s=settings.deadline_s,
                cancel=self._cancel,
                allowed=settings.allowed,
                allow_code=job.column.adapter in job.target.allow_code,
                offered=offered,
                stream=False,
                retries=settings.retries,
            )
        except (SignatureError, VariantError, UnknownAdapterError, BuildError, ProviderError) as error:
            raise CommandError(f"{job.target.file}: {job.column.id}: {error}") from error
        return None if run.cancelled else run

    def _keep(self, job: Job, run: Run, file: ResultsFile) -> float | None:
        """Judge and record the run; return its cost.

        A run that cannot be judged is recorded too, because it was paid for; `CommandError` is then raised.
        """
        scrub = self._scrub()
        problem: CommandError | None = None
        outcome, checks, judged = outcome_of(run), self._settings.checks, Judged()
        try:
            if outcome == "rejected":
                judged = missed(job, checks)
            elif outcome != "failed":
                judged = judge(job, recording.last_reading(run), recording.measured_of_run(run), checks)
        except CommandError as error:
            problem = error
        made = bench_run(job, run, judged, scrub)
        file.append(made)
        with self._lock:
            progress = self.progress
            progress.done += 1
            progress.failed += made.outcome == "failed"
            progress.rejected += made.outcome == "rejected"
            progress.retries += made.retries
            progress.seconds = 0.0 if self._began is None else self._clock() - self._began
            progress.cost = None if progress.cost is None or made.cost is None else progress.cost + made.cost
            self._watch(made, replace(progress))
        if problem is not None:
            raise problem
        return made.cost


def outcome_of(run: Run) -> Outcome:
    """Distinguish misses of the column from failures of the infrastructure.

    A deadline that passes while a call waits for its retry is a failure of the infrastructure.
    """
    if run.error is None or run.error.phase == "response":
        return "refused" if repeats.is_misread(run) else "parsed"
    if run.error.phase == "tool":
        return "rejected"
    payload = run.error.payload if isinstance(run.error.payload, Mapping) else {}
    if "deadline_seconds" in payload:
        last = run.attempts[-1].payload if run.attempts else None
        return "failed" if isinstance(last, Mapping) and last.get("kind") not in OF_THE_COLUMN else "rejected"
    return "rejected" if payload.get("kind") in OF_THE_COLUMN else "failed"


def error_of(run: Run, error: RunError) -> str:
    """Return the run's error, and that of the last call where a deadline passed while it waited for its retry."""
    payload = error.payload if isinstance(error.payload, Mapping) else {}
    last = run.attempts[-1].error if run.attempts else None
    if "deadline_seconds" not in payload or not last or last in error.message:
        return error.message
    return f"{error.message.removesuffix('.')}; the last call failed: {last}"


def bench_run(job: Job, run: Run, judged: Judged, scrub: Scrubber) -> BenchRun:
    """Make the line of the results file."""
    kept = recording.reply_of_run(run, job.model)
    own = next((one.reading for attempt in run.attempts for one in attempt.completions if one.reading), None)
    tokens = [measures.total_tokens(attempt) for attempt, _ in recording.whole_attempts(run)]
    outcome = outcome_of(run)
    return BenchRun(
        case=job.case.name,
        column=job.column.id,
        number=job.number,
        series=job.series,
        request=job.request,
        outcome=outcome,
        adapter=job.column.adapter,
        model=job.model,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        reply=None if kept is None else recording.copied(Answer, kept),
        values={name: typed(value) for name, value in run.values.items()},
        error=None if run.error is None else scrub.scrubbed(one_line(error_of(run, run.error), LONGEST_REASON)),
        flags=() if own is None else tuple([flag.name for flag in own.flags]),
        tokens=sum(count for count, _ in tokens),
        is_estimate=any(estimated for _, estimated in tokens),
        retries=sum(one.purpose == "retry" for one in run.attempts),
        asked_again=sum(one.purpose == "again" for one in run.attempts),
        measured=recording.measured_of_run(run),
        copied_demo=repeats.copied_demo(job.target.session, job.case, run.values) if outcome == "parsed" else 0,
        **judged._asdict(),
    )
