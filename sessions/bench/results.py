"""Append bench results: an append-only file next to the session, with a JSON line for each run.

The session is never written. Incomplete lines (after a power cut, on a full disk) are skipped and reported; all others
are kept.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal

from adapters.late_dataclasses import dataclass, field
from adapters.replies.patterns import CAUSES
from adapters.requests.request import Request
from sessions.errors import SessionError
from sessions.file.file_format import as_data
from sessions.file.typed_values import typed
from sessions.file.whole_files import PathLike, explain, lock
from sessions.model.replies import ALWAYS, Answer, FilePart, Measured, nothing
from sessions.model.session import Column
from sessions.running.recording import as_json

ENDING = ".bench.jsonl"
LONGEST_CAUSE = 90
NO_REASON = "no reason given"

Outcome = Literal["parsed", "refused", "rejected", "failed"]
"""parsed: the column's adapter parsed the reply · refused: parse error · rejected: no complete reply, because of the
column · failed: no reply, because of the infrastructure."""


@dataclass(frozen=True)
class BenchRun(FilePart):
    """A run of a case in a column, stored as a line without secrets or prompts."""

    case: str
    """The name of the case."""
    column: str
    """The column's id, with the model or variant named on the command line."""
    number: int
    """The number of the repeat, from 1."""
    outcome: Outcome
    """`parsed`: the column's adapter parsed the reply. `refused`: parse error. `rejected`: the reply is missing or
    incomplete because of the column (a rejected request, a prompt that is too long, a content filter, a deadline);
    this is a miss. `failed`: the reply is missing because of the infrastructure (a rate limit, a server error, an API
    key, the network); the run does not count and is repeated when the bench continues."""
    request: str
    """`sha256:…` of the adapter, its options and the request: a changed prompt makes a new run."""
    series: Annotated[int, ALWAYS] = 1
    """The number of the series, from 1; each `--again` starts a new series."""
    adapter: Annotated[str, ALWAYS] = ""
    """The adapter that made the prompt and parsed the reply."""
    model: Annotated[str, ALWAYS] = ""
    """The model that replied."""
    at: Annotated[str, ALWAYS] = ""
    """When the run ended, in UTC: `2026-11-22T15:04:05Z`."""
    reply: Annotated[Answer | None, ALWAYS] = None
    """The reply to the column's own adapter, not to a fallback's."""
    values: Annotated[Mapping[str, Any], ALWAYS] = field(default_factory=nothing)
    """The parsed values by field, with their types (`sessions.file.typed_values`)."""
    error: str | None = None
    """The parse error, or why there is no reply, in one line."""
    flags: tuple[str, ...] = ()
    """Names of the flags of the parse result."""
    cause: str | None = None
    """The first cause of the diagnosis (docs/diagnosis.md) if the run is a miss."""
    expected: bool | None = None
    """True if the reply met all expectations; null if there are none."""
    failures: tuple[str, ...] = ()
    """The failed expectations, with what differed."""
    fields: tuple[str, ...] = ()
    """Fields with expectations."""
    wrong: tuple[str, ...] = ()
    """Fields that failed their expectations."""
    expectations: str | None = None
    """`sha256:…` of the expectations."""
    score: float | None = None
    """The metric's score; 0 if the reply does not parse."""
    metric: str | None = None
    """`sha256:…` of the metric: its name, its module and the expected outputs."""
    metric_calls: int = 0
    """Model calls that the metric made."""
    metric_cost: float | None = None
    """The cost of those calls in US dollars; null if unknown."""
    tokens: int | None = None
    """The number of tokens in the prompts and replies of all calls."""
    is_estimate: bool = False
    """True if `tokens` is an estimate, because the provider did not report a count."""
    retries: int = 0
    """The number of calls retried after a temporary failure; the failed calls are not in `measured`."""
    asked_again: int = 0
    """The number of calls that sent a reply's error back to the model."""
    measured: Annotated[tuple[Measured, ...], ALWAYS] = ()
    """Tokens, cost and time of each call."""
    copied_demo: int = 0
    """The number of the demo whose outputs the values repeat, although its inputs differ; 0 for none."""

    @property
    def cost(self) -> float | None:
        """The cost in US dollars, metric calls included; None if any cost is unknown. Offline models are free."""
        is_offline = self.model.startswith("offline/")
        known: list[float | None] = [0.0] if is_offline else [one.cost for one in self.measured]
        if self.metric_calls:
            known.append(self.metric_cost)
        return None if not known or any(one is None for one in known) else sum(one or 0.0 for one in known)

    @property
    def worth(self) -> float:
        """The score of the run.

        Without a metric: 1 if the reply met its expectations, or parsed if there are none; else 0.
        """
        if self.score is not None:
            return self.score
        return float(self.outcome == "parsed" if self.expected is None else self.expected)

    @property
    def duration_ms(self) -> float:
        """The total duration of all calls in milliseconds."""
        return sum(one.duration_ms or 0.0 for one in self.measured)


def cause_of(run: BenchRun) -> str:
    """Return the cause of a miss, worded alike for similar misses; "" if the run is not a miss."""
    if run.outcome == "failed" or (run.worth >= 1 and not run.failures):
        return ""
    if run.cause is not None:
        return CAUSES.get(run.cause, run.cause)
    if run.wrong and run.outcome != "rejected":
        return f"{', '.join(run.wrong)}: not as expected"
    if run.score is not None and run.outcome == "parsed":
        return "the score is below 1"
    reason = next((one for one in (run.error, *run.failures) if one), NO_REASON)
    return reason if len(reason) <= LONGEST_CAUSE else reason[: LONGEST_CAUSE - 1] + "…"


def path_beside(session: PathLike, shard: tuple[int, int] | None = None) -> Path:
    """Return the path of a session's results file.

    >>> path_beside("prompts/q.session.json").name, path_beside("q.json", (2, 8)).name
    ('q.bench.jsonl', 'q.2-of-8.bench.jsonl')
    """
    path = Path(session)
    part = "" if shard is None else f".{shard[0]}-of-{shard[1]}"
    return path.with_name(path.name.removesuffix(".json").removesuffix(".session") + part + ENDING)


def request_digest(column: Column, request: Request) -> str:
    """Return the digest of a run's request and parser."""
    parts = {"adapter": column.adapter, "options": as_json(column.options), "request": as_json(request.as_dict())}
    times = column.params.get("ask_again")
    return digest({**parts, "ask_again": times} if times else parts)


def digest(value: object) -> str:
    """Return `sha256:…` of plain JSON; the order of keys matters."""
    text = json.dumps(typed(value), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def written(run: BenchRun) -> bytes:
    """Return the line of a run, with its newline. Raises `SessionError` for values that JSON cannot represent."""
    try:
        return json.dumps(as_json(as_data(run)), ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
    except (ValueError, RecursionError) as error:
        raise SessionError(None, f"{run.case} · {run.column}", f"cannot be written as JSON: {error}") from error


class ResultsFile:
    """A results file open for appending, by a single bench; its threads may append at the same time.

    Use as a context manager. Raises `SessionError` if another bench is writing the file, or it cannot be written.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = os.fspath(path)
        self._lock = threading.Lock()

    def __enter__(self) -> ResultsFile:
        try:
            self._file = open_regular(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
            if not lock(self._file):
                os.close(self._file)
                raise SessionError(self._path, "", "another bench is writing it", "wait for it, or stop it")
            size = os.fstat(self._file).st_size
            if size and os.pread(self._file, 1, size - 1) != b"\n":
                self._write(b"\n")  # end the incomplete line that an earlier bench left
        except OSError as error:
            raise self._not_written(error) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and os.fstat(self._file).st_size == 0:
            os.unlink(self._path)
        os.close(self._file)

    def append(self, run: BenchRun) -> None:
        """Append the line of a run. Raises `SessionError` if it cannot be written."""
        line = written(run)
        with self._lock:
            try:
                self._write(line)
            except OSError as error:
                raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> SessionError:
        reason, hint = explain(error)
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            hint = "make room and run the same command again; it repeats no run that is in the file"
        return SessionError(self._path, "", f"cannot be written: {reason}", hint)

    def _write(self, content: bytes) -> None:
        while content:
            content = content[os.write(self._file, content) :]


def open_regular(path: str, how: int) -> int:
    """Open a regular file. Anything else is rejected at once, because reading a pipe would never end."""
    file = os.open(path, how | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise SessionError(path, "", "not a regular file", "name another, or move it away")
    return file
