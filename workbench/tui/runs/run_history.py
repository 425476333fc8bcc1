"""Store sent runs in a thread: in the state folder, or in memory until the app ends."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import NamedTuple, TypeVar

from adapters.late_dataclasses import replace
from workbench.sending.sent_runs import LONGEST_ERROR, PastRun, SentRuns, past_runs, plain_words, sent_file
from workbench.tui.runs.runs import ColumnRun

Result = TypeVar("Result")

IN_MEMORY = 64
"""Megabytes of runs in memory: those of private sessions, and all runs if the setting is 0."""


class LiveCalls(NamedTuple):
    """The calls of a running program, which another process stores in `file`."""

    file: Path
    about: Callable[[], str]
    """Describes the program: its command, and whether it runs."""
    output: Callable[[], str]
    """Returns the last lines of its standard error."""


class RunHistory:
    """Store at most `megabytes` of runs (0: in memory) in the order in which they end, in a thread.

    `live` are the calls of a running program, which can be searched, too.
    """

    def __init__(self, megabytes: int, live: LiveCalls | None = None) -> None:
        self.live = live
        self._calls = SentRuns(live.file if live is not None else None, IN_MEMORY)
        self._thread = ThreadPoolExecutor(1, "sent runs")
        self._in_memory = SentRuns(None, IN_MEMORY)
        self._in_file: SentRuns | None = None
        self._megabytes = megabytes
        self._began = f"{datetime.now():%Y-%m-%d %H.%M.%S.%f}"
        self._opened = 0
        self._path: Path | None = None
        self._told = ""
        """Why the last run was not stored, or ""."""

    def open(self, path: Path | None) -> None:
        """Set the open session."""
        self._path = path
        self._opened += 1

    def saved_as(self, path: Path) -> None:
        """Move the runs of an unsaved session to its new file."""
        if self._path is None:
            before, after = self.place, self._place_of(path)
            for is_private in (False, True):
                self._thread.submit(lambda private: self._store(private).move(before, after), is_private)
        self._path = path

    @property
    def place(self) -> str:
        """The path of the open session, as stored with its runs."""
        return self._place_of(self._path)

    def add(self, run: ColumnRun, tell: Callable[[str], object]) -> None:
        """Store a run that has ended; on failure, `tell` is called from the thread with a new reason."""
        path = self._place_of(run.path)

        def store() -> None:
            before, self._told = self._told, ""
            try:
                self._add(run, path)
            except Exception as error:  # whatever the disk or the database raises
                self._told = plain_words(error)
                if self._told != before:
                    tell(self._told)

        self._thread.submit(store)

    async def ask(self, work: Callable[[SentRuns], Result], is_private: bool, of_program: bool = False) -> Result:
        """Query the store, including every run that ended before, or the calls of the running program.

        Raises as `SentRuns` does.
        """
        asked = self._thread.submit(lambda: work(self._calls if of_program else self._store(is_private)))
        return await asyncio.wrap_future(asked)

    def close(self) -> None:
        """Wait until all runs are stored."""
        self._thread.shutdown()
        for kept in (self._in_memory, self._in_file, self._calls):
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
        if not run.runs:  # the run could not be sent
            now = datetime.now().isoformat(timespec="milliseconds")
            failed = PastRun(now, state.case.name, column.id, run.model, "failed", 0.0, "", run.error[:LONGEST_ERROR])
            kept.add(replace(failed, adapter=column.adapter, session=session.name, path=path), session)
