"""Plan a bench: which runs it needs, which are already done, and what the others will cost."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, field, replace
from adapters.lm import model_list
from adapters.requests.token_estimates import Estimates, estimate
from sessions.bench import reading, results
from sessions.bench.grid import Grid
from sessions.bench.totals import Cell
from sessions.errors import counted
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from workbench.output import measures
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
    def model(self) -> str:
        return self.target.session.model_of(self.column)


@dataclass(frozen=True)
class Plan:
    """All runs of a bench, and the results that exist."""

    first: tuple[Job, ...]
    """The first run of each cell, in order."""
    repeat: int
    results: Mapping[str, reading.Results]
    """By session file."""
    unrenderable: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Cells that cannot be rendered, by reason."""

    @property
    def _numbered(self) -> Iterator[tuple[Job, int]]:
        """The runs of this shard, as the first run of their cell and their number.

        Every cell gets its first run before any gets its second, so that an interrupted bench covers all cells.
        """
        every = ((job, number) for number in range(1, self.repeat + 1) for job in self.first)
        shard = self.first[0].target.shard if self.first else None
        return every if shard is None else islice(every, shard[0] - 1, None, shard[1])

    @property
    def open(self) -> Iterator[Job]:
        """The runs that are not made, or that do not count."""
        cells = {id(job): self._held(job) for job in self.first}
        return (replace(job, number=number) for job, number in self._numbered if not cells[id(job)].has(number))

    @property
    def held_repeats(self) -> int:
        """The highest number of an existing run, at least 1."""
        return max((self._held(job).highest for job in self.first), default=0) or 1

    @cached_property
    def open_count(self) -> int:
        return sum(1 for _ in self.open)

    @cached_property
    def done_count(self) -> int:
        return sum(1 for _ in self._numbered) - self.open_count

    @property
    def spent(self) -> float:
        """The known cost of the runs of these requests in this series."""
        return sum(self._held(job).known_cost for job in self.first)

    def _held(self, job: Job) -> Cell:
        return self.results[job.target.file].cell(job.case.name, job.column.id, job.series, job.request)

    def wanted(self) -> Iterator[tuple[Job, Cell, Collection[int]]]:
        """Yield the first run of each cell, its existing runs, and the numbers of the planned runs."""
        numbers: dict[int, list[int]] = {}
        others: Collection[int] = range(1, self.repeat + 1)
        if self.first and self.first[0].target.shard is not None:
            others = ()
            for job, number in self._numbered:
                numbers.setdefault(id(job), []).append(number)
        for job in self.first:
            yield job, self._held(job), numbers.get(id(job), others)

    def before(self) -> Grid:
        """Build the grid of the previous bench: the last series before this one, or the last other prompt."""
        cells = []
        for job in self.first:
            held = self.results[job.target.file]
            cells.append(held.last(job.case.name, job.column.id, but=(job.series, job.request)))
        return Grid(tuple(cells), self.repeat)

    def as_of(self, found: reading.Results) -> Grid:
        """Build the grid of another results file, with the last prompt and series of each cell."""
        cells = [found.last(job.case.name, job.column.id).under(job.target.file) for job in self.first]
        return Grid(tuple(cells), self.repeat)


def plan(
    targets: Sequence[Target], repeat: int, again: bool = False, found: Mapping[str, reading.Results] | None = None
) -> Plan:
    """Plan the runs of sessions. `again` ignores runs that the files already contain.

    `found` are the results by session (default: those of its results file).
    Raises `CommandError` for an invalid signature, and `SessionError` for results that cannot be read.
    """
    if found is None:
        found = {target.file: reading.read(target.file, target.shard) for target in targets}
    first: list[Job] = []
    unrenderable: dict[str, list[str]] = {}
    for target in targets:
        held = found[target.file]
        series = (held.series or (not again)) + again
        for case in target.cases:
            for column in target.columns:
                made = _first(target, case, column, series)
                if isinstance(made, Job):
                    first.append(made)
                else:
                    unrenderable.setdefault(made, []).append(f"{target.file}::{case.name}::{column.id}")
    return Plan(tuple(first), repeat, found, unrenderable)


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

    @property
    def words(self) -> str:
        """`400 calls, ~350,000 + ~40,000 tokens, about $1.20`."""
        price = f"about {measures.cost(self.cost)}" if self.cost else "free" if self.cost == 0 else "price unknown"
        unknown = f" ({', '.join(self.unpriced)})" if self.unpriced else ""
        tokens = f"~{self.prompt_tokens:,} + ~{self.reply_tokens:,} tokens"
        return f"{counted(self.calls, 'call')}, {tokens}, {price}{unknown}"


class Forecasts:
    """Estimates for jobs, from earlier runs of the same column, else from the demos."""

    def __init__(self, plan: Plan) -> None:
        self._highest: dict[tuple[str, str], float] = {}
        """The highest cost of a run, by session file and column."""
        self._replies: dict[tuple[str, str], int] = {}
        """Tokens of a reply, by session file and column, cached because all cases of a column have the same demos."""
        for file, held in plan.results.items():
            for cell in held.every_cell:
                if cell.highest_cost is not None:
                    place = file, cell.column
                    self._highest[place] = max(cell.highest_cost, self._highest.get(place, 0.0))

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
        """Estimate the length of a reply: the longest demo's outputs as JSON, at most `max_tokens`."""
        place = job.target.file, job.column.id
        if place not in self._replies:
            session = job.target.session
            outputs = session.signature.read().output_fields
            enabled = [one.values for one in session.demos if one.enabled]
            demos = [{name: one[name] for name in outputs if name in one} for one in enabled]
            texts = [json.dumps(one, ensure_ascii=False, default=str) for one in demos if one]
            length = max((estimate(text) for text in texts), default=USUAL_REPLY)
            most = session.params_of(job.column).get("max_tokens")
            self._replies[place] = min(length, most) if isinstance(most, int) and most > 0 else length
        return self._replies[place]

    def of(self, jobs: Iterable[Job]) -> Forecast:
        calls = prompts = replies = 0
        total, unpriced = 0.0, {}
        for job in jobs:
            calls += 1
            prompts += job.prompt_tokens
            replies += self.reply_tokens(job)
            cost = self.cost(job)
            total += cost or 0.0
            if cost is None:
                unpriced[job.model] = True
        return Forecast(calls, prompts, replies, None if unpriced else total, tuple(unpriced))


def price_of(model: str) -> tuple[float, float] | None:
    """Return prompt and reply prices in US dollars per million tokens, from litellm's list; None if not listed."""
    if model.startswith("offline/"):
        return 0.0, 0.0
    entry = model_list.listed(model)
    if entry is None or entry.input_price is None or entry.output_price is None:
        return None
    return entry.input_price, entry.output_price
