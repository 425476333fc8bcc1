"""Keep what was sent from the app, away from the keys, in the state folder or for the time of the app alone."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from sessions.errors import SessionError
from sessions.file.state_folder import key_of, state_folder
from workbench.sending.sent_runs import LONGEST_ERROR, PastRun, SentRuns, in_words, past_runs, sent_file
from workbench.tui.runs.runs import ColumnRun

Result = TypeVar("Result")

IN_MEMORY = 64
"""Megabytes of runs that no file keeps: those of private sessions, and all when the setting is 0."""
LARGEST = 64_000_000
"""Bytes read of a file of an earlier release."""


class RunHistory:
    """Keep runs of at most `megabytes` (0: in memory) in the order of their ends, in a thread of its own."""

    def __init__(self, megabytes: int) -> None:
        self._thread = ThreadPoolExecutor(1, "sent runs")
        self._in_memory = SentRuns(None, IN_MEMORY)
        self._in_file: SentRuns | None = None
        self._megabytes = megabytes
        self._began = f"{datetime.now():%Y-%m-%d %H.%M.%S.%f}"
        self._opened = 0
        self._path: Path | None = None

    def open(self, path: Path | None) -> None:
        """Open another session."""
        self._path = path
        self._opened += 1
        if path is not None and self._megabytes:
            self._thread.submit(self._take_over, path)

    def saved_as(self, path: Path) -> None:
        """Give the runs of a session without a file its new file."""
        if self._path is None:
            before, after = self.place, self._place_of(path)
            for is_private in (False, True):
                self._thread.submit(lambda private: self._store(private).move(before, after), is_private)
        self._path = path

    @property
    def place(self) -> str:
        """Return where the open session is, as its runs say."""
        return self._place_of(self._path)

    def add(self, run: ColumnRun, tell: Callable[[str], object]) -> None:
        """Keep a run that has ended; `tell` hears, in another thread, why that failed."""
        path = self._place_of(run.path)

        def done(future: Future[None]) -> None:
            error = future.exception()
            if isinstance(error, Exception):
                tell(in_words(error))

        self._thread.submit(self._add, run, path).add_done_callback(done)

    async def ask(self, work: Callable[[SentRuns], Result], is_private: bool) -> Result:
        """Ask the store; the answer knows every run that ended before. Raises as `SentRuns` does."""
        return await asyncio.wrap_future(self._thread.submit(lambda: work(self._store(is_private))))

    def close(self) -> None:
        """Wait until all runs are kept."""
        self._thread.shutdown()
        for kept in (self._in_memory, self._in_file):
            if kept is not None:
                kept.close()

    def _place_of(self, path: Path | None) -> str:
        if path is not None:
            return os.path.realpath(path)
        return os.path.join(os.getcwd(), f"(unsaved {self._began} {self._opened})")

    def _store(self, is_private: bool) -> SentRuns:
        if is_private or not self._megabytes:
            return self._in_memory
        if self._in_file is None:
            self._in_file = SentRuns(sent_file(), self._megabytes)
        return self._in_file

    def _add(self, run: ColumnRun, path: str) -> None:
        state = run.sent
        if state is None:
            return
        session, column = state.session, next(one for one in state.session.columns if one.id == run.column)
        kept = self._store(session.private)
        for past in past_runs(session, column, state.case.name, path, run.runs, run.raw):
            kept.add(past, session)
        if not run.runs:  # it could not be sent
            now = datetime.now().isoformat(timespec="milliseconds")
            failed = PastRun(now, state.case.name, column.id, run.model, "failed", 0.0, "", run.error[:LONGEST_ERROR])
            kept.add(replace(failed, adapter=column.adapter, session=session.name, path=path), session)

    def _take_over(self, path: Path) -> None:
        """Take over the runs of a session that an earlier release kept in a file of their own."""
        with suppress(OSError, SessionError):
            file = state_folder() / "runs" / f"{key_of(path)}.jsonl"
            if file.stat().st_size <= LARGEST:
                kept = self._store(is_private=False)
                for line in file.read_text(encoding="utf-8", errors="replace").split("\n"):
                    with suppress(ValueError, TypeError, KeyError, RecursionError):
                        kept.add(replace(_run_of(json.loads(line)), path=self._place_of(path)))
                file.unlink()


def _run_of(data: dict[str, Any]) -> PastRun:
    """Build a run from a line of an earlier release. Raises TypeError, KeyError or ValueError for anything else."""
    texts = {name: data[name] for name in ("at", "case", "column", "model", "phase", "text", "error", "rating", "note")}
    if not all(isinstance(one, str) for one in texts.values()) or not isinstance(data["values"], dict):
        raise TypeError("not a run")
    return PastRun(**texts, seconds=float(data["seconds"]), values=data["values"])
