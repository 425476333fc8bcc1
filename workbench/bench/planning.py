"""Plan a bench: which runs it needs, which are already done, and what the others will cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from adapters.errors import SignatureError
from adapters.lm import model_list
from adapters.requests.token_estimates import Estimates, estimate
from sessions.bench import results
from sessions.bench.grid import Cell, Grid, last_of, newest
from sessions.bench.results import BenchRun, RunKey
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from workbench.output.exit_codes import CommandError

USUAL_REPLY = 250
"""Estimated tokens of a reply, if there are no earlier runs or demos to estimate from."""


@dataclass(frozen=True)
class Target:
    """A session to bench, its file, columns and cases; `allow_code` as in a selection."""

    file: str
    session: Session
    columns: tuple[Column, ...]
    cases: tuple[Case, ...]
    allow_code: frozenset[str] = frozenset()
    handlers: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Functions that implement its tools, by name; other tools return their canned results."""
    shard: tuple[int, int] | None = None
    """The part of the runs to make, such as 2 of 8; each part has its own results file."""

    @property
    def results_path(self) -> Path:
        return results.path_beside(self.file, self.shard)


@dataclass(frozen=True)
class Job:
    """A planned run. `request` is the digest of its request, `prompt_tokens` an estimate."""

    target: Target
    case: Case
    column: Column
    number: int
    series: int
    request: str
    prompt_tokens: int

    @property
    def key(self) -> RunKey:
        return RunKey(self.series, self.case.name, self.column.id, self.request, self.number)

    @property
    def model(self) -> str:
        return self.target.session.model_of(self.column)


@dataclass(frozen=True)
class Plan:
    """All runs of a bench in order, and the runs that the results files already contain."""

    jobs: tuple[Job, ...]
    done: Mapping[tuple[str, RunKey], BenchRun]
    """The planned runs already made and counting, by session file and key."""
    earlier: Mapping[str, tuple[BenchRun, ...]]
    """All runs in the results file of each session."""
    unread: Mapping[str, str]
    """Descriptions of invalid lines, by results file."""
    unrenderable: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Cells that cannot be rendered, by reason; they appear in no grid."""

    @cached_property
    def open(self) -> tuple[Job, ...]:
        return tuple([job for job in self.jobs if (job.target.file, job.key) not in self.done])

    def grid(self, repeat: int, runs: Mapping[str, Sequence[BenchRun]] | None = None) -> Grid:
        """Build the grid of `runs`, given by session (default: the runs in the files)."""
        held = self.earlier if runs is None else runs
        wanted = {place: {job.key for job in jobs} for place, jobs in self._by_cell.items()}
        by_cell: dict[tuple[str, str, str], list[BenchRun]] = {place: [] for place in wanted}
        for file, found in held.items():
            for run in found:
                if run.key in wanted.get((file, run.case, run.column), ()):
                    by_cell[file, run.case, run.column].append(run)
        cells = [Cell(*place, newest(found)) for place, found in by_cell.items()]
        return Grid(tuple(cells), repeat)

    def before(self, repeat: int) -> Grid:
        """Build the grid of the previous bench: the last series before this one, or the last other prompt."""
        cells = []
        for place, jobs in self._by_cell.items():
            file, case, column = place
            ours = {job.key[:4] for job in jobs}
            others = [run for run in self.earlier.get(file, ()) if (run.case, run.column) == (case, column)]
            others = [run for run in others if run.key[:4] not in ours]
            cells.append(Cell(*place, last_of(others)))
        return Grid(tuple(cells), repeat)

    def as_of(self, runs: Sequence[BenchRun], repeat: int) -> Grid:
        """Build the grid of another results file, with the last prompt and series of each cell."""
        cells = []
        for file, case, column in self._by_cell:
            theirs = [run for run in runs if (run.case, run.column) == (case, column)]
            cells.append(Cell(file, case, column, last_of(theirs)))
        return Grid(tuple(cells), repeat)

    @cached_property
    def _by_cell(self) -> Mapping[tuple[str, str, str], list[Job]]:
        found: dict[tuple[str, str, str], list[Job]] = {}
        for job in self.jobs:
            found.setdefault((job.target.file, job.case.name, job.column.id), []).append(job)
        return found


def plan(
    targets: Sequence[Target], repeat: int, again: bool = False, found: Mapping[str, results.Results] | None = None
) -> Plan:
    """Plan the runs of sessions. `again` ignores runs that the files already contain.

    Every cell gets its first run before any gets its second, so that an interrupted bench covers all cells.
    `found` are the results by session (default: those of its results file).
    Raises `CommandError` for an invalid signature, and `SessionError` for results that cannot be read.
    """
    if found is None:
        found = {target.file: results.read(target.results_path) for target in targets}
    cells: list[Job] = []
    unrenderable: dict[str, list[str]] = {}
    for target in targets:
        series = max((run.series for run in found[target.file].runs), default=1 if not again else 0) + again
        for case in target.cases:
            for column in target.columns:
                made = _first(target, case, column, series)
                if isinstance(made, Job):
                    cells.append(made)
                else:
                    unrenderable.setdefault(made, []).append(f"{target.file}::{case.name}::{column.id}")
    jobs = [replace(job, number=number) for number in range(1, repeat + 1) for job in cells]
    if targets and targets[0].shard is not None:
        index, count = targets[0].shard
        jobs = jobs[index - 1 :: count]
    answered = {(file, run.key): run for file, one in found.items() for run in one.runs if run.outcome != "failed"}
    wanted = {(job.target.file, job.key) for job in jobs}
    return Plan(
        tuple(jobs),
        {place: run for place, run in answered.items() if place in wanted},
        {file: one.runs for file, one in found.items()},
        {str(target.results_path): results.told(found[target.file]) for target in targets if found[target.file].unread},
        unrenderable,
    )


def _first(target: Target, case: Case, column: Column, series: int) -> Job | str:
    """Return the first job of a cell, or why it cannot be rendered. Raises `CommandError`."""
    try:
        adapter = rendering.adapter_of(column, allow_code=column.adapter in target.allow_code)
        request = rendering.request_of(target.session, column, case, adapter=adapter)
    except SignatureError as error:
        raise CommandError(f"{target.file}: the signature, {error}") from error
    except Exception as error:  # of any kind: dspy's format may raise it for this signature and these values
        return f"cannot be rendered: {type(error).__name__}: {error}"
    tokens = Estimates().total(request.messages, request.params)
    settled = replace(column, params=target.session.params_of(column))
    return Job(target, case, column, 1, series, results.request_digest(settled, request), tokens)


@dataclass(frozen=True)
class Forecast:
    """Estimated tokens and cost of runs; `cost` is None if a price is unknown."""

    calls: int
    prompt_tokens: int
    reply_tokens: int
    cost: float | None
    unpriced: tuple[str, ...] = ()
    """Models without a known price."""


class Forecasts:
    """Estimates for jobs, from earlier runs of the same column, else from the demos."""

    def __init__(self, plan: Plan) -> None:
        self._highest: dict[tuple[str, str], float] = {}
        """The highest cost of a run, by session file and column."""
        self._replies: dict[tuple[str, str], int] = {}
        """Tokens of a reply, by session file and column, cached because all cases of a column have the same demos."""
        for file, runs in plan.earlier.items():
            for run in runs:
                if run.cost is not None and run.outcome != "failed":
                    place = file, run.column
                    self._highest[place] = max(run.cost, self._highest.get(place, 0.0))

    def cost(self, job: Job) -> float | None:
        """Estimate the cost in US dollars; None if the price is unknown."""
        known = self._highest.get((job.target.file, job.column.id))
        if known is not None:
            return known
        prices = price_of(job.model)
        if prices is None:
            return None
        return (job.prompt_tokens * prices[0] + self.reply_tokens(job) * prices[1]) / 1e6

    def reply_tokens(self, job: Job) -> int:
        """Return the estimated tokens of a reply, computed once for each column."""
        place = job.target.file, job.column.id
        if place not in self._replies:
            self._replies[place] = reply_tokens(job)
        return self._replies[place]

    def of(self, jobs: Sequence[Job]) -> Forecast:
        costs = [self.cost(job) for job in jobs]
        unpriced = tuple(dict.fromkeys(job.model for job, cost in zip(jobs, costs, strict=True) if cost is None))
        return Forecast(
            len(jobs),
            sum(job.prompt_tokens for job in jobs),
            sum(self.reply_tokens(job) for job in jobs),
            None if unpriced else sum(cost or 0.0 for cost in costs),
            unpriced,
        )


def reply_tokens(job: Job) -> int:
    """Estimate the length of a reply: the longest demo's outputs as JSON, at most `max_tokens`."""
    session = job.target.session
    outputs = session.signature.read().output_fields
    demos = [{name: one.values[name] for name in outputs if name in one.values} for one in session.demos if one.enabled]
    texts = [json.dumps(one, ensure_ascii=False, default=str) for one in demos if one]
    length = max((estimate(text) for text in texts), default=USUAL_REPLY)
    most = session.params_of(job.column).get("max_tokens")
    return min(length, most) if isinstance(most, int) and most > 0 else length


def price_of(model: str) -> tuple[float, float] | None:
    """Return prompt and reply prices in US dollars per million tokens, from litellm's list; None if not listed."""
    if model.startswith("offline/"):
        return 0.0, 0.0
    entry = model_list.listed(model)
    if entry is None or entry.input_price is None or entry.output_price is None:
        return None
    return entry.input_price, entry.output_price
