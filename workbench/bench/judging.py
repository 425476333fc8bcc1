"""Whether a run is as its case expects: judged when it was made, and again where something else is expected since."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from adapters.lm.secrets import Scrubber
from adapters.replies.reading import Reading
from adapters.values.plain_json import plain
from sessions.bench.results import BenchRun, RunKey, digest
from sessions.fixtures import expectations
from sessions.model import variants
from sessions.model.replies import Measured
from sessions.running import recording, rendering
from workbench.bench.functions import UserCheck
from workbench.bench.planning import Job
from workbench.output.exit_codes import CommandError

LONGEST_REASON = 500
NOTHING_TO_READ = "the reply has nothing to read"


class Judged(NamedTuple):
    """The digest of what was expected (None: nothing), and what did not hold."""

    expectations: str | None
    failures: tuple[str, ...] = ()

    @property
    def held(self) -> bool | None:
        return None if self.expectations is None else not self.failures


def judge(job: Job, reading: Reading | None, measured: Sequence[Measured], checks: Sequence[UserCheck]) -> Judged:
    """A reading (None: the reply had nothing to read), by what the case expects and by the user's own functions.

    Raises `CommandError` for expectations that cannot be understood.
    """
    try:
        expect = expectations.for_column(job.case.expect, job.column.id)
        found = [] if reading is None else expectations.judge(expect, reading, measured)
    except expectations.ExpectationError as error:
        where = f"{job.target.file}: case {job.case.name!r}"
        raise CommandError(f"{where}: expect.{error.place}: {error.message}") from error
    if not expect and not checks:
        return Judged(None)
    failures = [one_line(f"{one.place}: {one.message}") for one in found]
    if reading is None and expect and expect.get("reply") != "does_not_parse":
        failures.append(NOTHING_TO_READ)
    for check in checks:
        read = reading is not None and reading.ok
        said = check.why_not(plain(dict(job.case.inputs)), reading.values) if reading and read else "it does not parse"
        if said:
            failures.append(one_line(f"{check.name}: {said}"))
    scrub = Scrubber()
    return Judged(expected_now(job, checks), tuple([scrub.scrubbed(one) for one in failures]))


def expected_now(job: Job, checks: Sequence[UserCheck]) -> str | None:
    """The digest of what is expected of a job's run; None for nothing. Raises `ExpectationError`."""
    expect = expectations.for_column(job.case.expect, job.column.id)
    return digest([dict(expect), [one.name for one in checks]]) if expect or checks else None


def judged_again(jobs: Sequence[Job], runs: Sequence[BenchRun], checks: Sequence[UserCheck]) -> list[BenchRun]:
    """The runs of these jobs by what is expected now: those of which something else was expected are read again, and
    all of them where functions of the user's own judge, which may have been edited under the same name.

    A run of several calls (a fallback, tools, an extraction) is more than its reply: it stays as it was judged.
    Raises `CommandError` for expectations that cannot be understood.
    """
    by_key: Mapping[RunKey, Job] = {job.key: job for job in jobs}
    return [_judged_again(by_key[run.key], run, checks) if run.key in by_key else run for run in runs]


def _judged_again(job: Job, run: BenchRun, checks: Sequence[UserCheck]) -> BenchRun:
    if run.outcome == "failed" or run.reply is None or len(run.measured) > 1:
        return run
    try:
        if not checks and run.expectations == expected_now(job, checks):
            return run
    except expectations.ExpectationError:
        pass  # judging says where
    judged = judge(job, _read_again(job, run), run.measured, checks)
    return replace(run, expectations=judged.expectations, expected=judged.held, failures=judged.failures)


def _read_again(job: Job, run: BenchRun) -> Reading | None:
    assert run.reply is not None
    if not run.reply.text and not run.reply.tool_calls:
        return None
    session = variants.session_of(job.target.session, job.column)
    adapter = rendering.adapter_of(job.column, allow_code=job.column.adapter in job.target.allow_code)
    request = rendering.request_of(session, job.column, job.case, adapter=adapter)
    return recording.read_completion(adapter, request, session.signature.read(), run.reply)


def one_line(text: str) -> str:
    """A reason in one line of bounded length."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else line[:LONGEST_REASON] + "…"
