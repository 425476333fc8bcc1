"""What was sent before: the runs of a session, kept in the user's state folder beside the copies of unsaved work.

One line of JSON a run, in `runs/KEY.jsonl`. A session without a file has its runs in memory alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.values.plain_json import plain
from sessions.errors import SessionError
from sessions.file.json_values import JSON
from sessions.file.state_folder import key_of, private, state_folder
from workbench.tui.runs.runs import ColumnRun

MOST_RUNS = 200
"""Of a session, that are kept."""
LONGEST_REPLY = 200_000
"""Characters of a reply that are kept."""
LARGEST = 64_000_000
"""Bytes of a file that is read."""


@dataclass(frozen=True)
class PastRun:
    """One run as it ended. `at` is local time in ISO 8601; `values` are plain JSON by field, empty when unread."""

    at: str
    case: str
    column: str
    model: str
    phase: str
    seconds: float
    text: str
    error: str = ""
    values: Mapping[str, JSON] = field(default_factory=dict)
    rating: str = ""
    note: str = ""

    @property
    def time(self) -> str:
        return self.at[:19].replace("T", " ")


class RunHistory:
    """The runs of the session that is open, the newest first."""

    def __init__(self, keeps: bool = True) -> None:
        self._keeps = keeps
        self._runs: list[PastRun] | None = None
        self._path: Path | None = None

    def open(self, path: Path | None) -> None:
        """Another session: its runs are read when they are asked for."""
        self._path = path
        self._runs = None

    def saved_as(self, path: Path) -> None:
        """The session has a file now, or another one: its runs go there too."""
        if path != self._path:
            runs = list(self._known())
            self._path, self._runs = path, runs
            self._write(runs, "w")

    @property
    def runs(self) -> tuple[PastRun, ...]:
        return tuple(reversed(self._known()))

    def of(self, case: str) -> tuple[PastRun, ...]:
        return tuple(one for one in self.runs if one.case == case)

    def add(self, run: PastRun) -> str:
        """Keeps a run. Returns why the file could not be written, else an empty text."""
        known = self._known()
        known.append(run)
        if len(known) > 2 * MOST_RUNS:
            del known[:-MOST_RUNS]
            return self._write(known, "w")
        return self._write([run], "a")

    def rate(self, case: str, column: str, text: str, rating: str, note: str) -> None:
        """Rates the newest run of this column that gave this reply; nothing happens when none did."""
        known = self._known()
        for index in range(len(known) - 1, -1, -1):
            one = known[index]
            if (one.case, one.column, one.text) == (case, column, text[:LONGEST_REPLY]):
                known[index] = replace(one, rating=rating, note=note)
                self._write(known, "w")
                return

    def _known(self) -> list[PastRun]:
        if self._runs is None:
            self._runs = read(self._file()) if self._keeps and self._path is not None else []
        return self._runs

    def _file(self) -> Path:
        return state_folder() / "runs" / f"{key_of(self._path)}.jsonl"

    def _write(self, runs: list[PastRun], mode: str) -> str:
        if not self._keeps or self._path is None:
            return ""
        content = "".join(json.dumps(asdict(one)) + "\n" for one in runs)
        try:
            file = self._file()
            private(file.parent)
            place = file.with_suffix(".new") if mode == "w" else file
            handle = os.open(place, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if mode == "w" else os.O_APPEND), 0o600)
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(content)
            if mode == "w":
                os.replace(place, file)
        except (OSError, SessionError) as error:
            return str(error)
        return ""


def past(run: ColumnRun, now: datetime) -> PastRun:
    """How a run ended, as it is kept."""
    values: dict[str, JSON] = {}
    if run.run is not None and run.run.ok and not run.raw:
        values = {name: plain(value) for name, value in run.run.values.items()}
    return PastRun(
        at=now.isoformat(timespec="seconds"),
        case=run.case,
        column=run.column,
        model=run.model,
        phase=run.phase,
        seconds=round(run.seconds, 3),
        text=run.reply.text[:LONGEST_REPLY] if run.reply is not None else "",
        error=run.error[:2_000],
        values=values,
    )


def read(file: Path) -> list[PastRun]:
    """The runs of a file, the oldest first; lines that cannot be understood are passed over."""
    found: list[PastRun] = []
    try:
        if file.stat().st_size > LARGEST:
            return []
        with file.open(encoding="utf-8", errors="replace") as opened:
            for line in opened:
                with suppress(ValueError, TypeError, KeyError, RecursionError):
                    found.append(_run_of(json.loads(line)))
    except (OSError, SessionError):
        return []
    return found[-MOST_RUNS:]


def _run_of(data: dict[str, Any]) -> PastRun:
    """Raises TypeError or ValueError for what is no run."""
    texts = {name: data[name] for name in ("at", "case", "column", "model", "phase", "text", "error", "rating", "note")}
    if not all(isinstance(one, str) for one in texts.values()) or not isinstance(data["values"], dict):
        raise TypeError("not a run")
    return PastRun(**texts, seconds=float(data["seconds"]), values=data["values"])
