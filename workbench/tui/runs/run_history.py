"""Store the runs of a session in the user's state folder, beside the copies of unsaved work.

Each run is one line of JSON in `runs/KEY.jsonl`. A session without a file keeps its runs in memory alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.values.plain_json import plain
from sessions.errors import SessionError
from sessions.file import whole_files
from sessions.file.json_values import JSON
from sessions.file.state_folder import key_of, private, state_folder
from workbench.tui.runs.runs import ColumnRun

MOST_RUNS = 200
"""Runs kept for each session."""
LONGEST_REPLY = 200_000
"""Characters kept of each reply."""
LARGEST = 64_000_000
"""Bytes read of a file."""


@dataclass(frozen=True)
class PastRun:
    """A finished run. `at` is local time in ISO 8601; `values` are plain JSON by field, empty when unparsed."""

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
    """The runs of the open session, newest first."""

    def __init__(self, keeps: bool = True) -> None:
        self._keeps = keeps
        self._runs: list[PastRun] | None = None
        self._path: Path | None = None

    def open(self, path: Path | None) -> None:
        """Open another session; its runs are read when they are asked for."""
        self._path = path
        self._runs = None

    def saved_as(self, path: Path) -> None:
        """Store the runs under the session's new file, too."""
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
        """Store a run. Returns why the file could not be written, else ""."""
        known = self._known()
        known.append(run)
        if len(known) > 2 * MOST_RUNS:
            del known[:-MOST_RUNS]
            return self._write(known, "w")
        return self._write([run], "a")

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
            if mode == "w":
                whole_files.replace(str(file), content.encode(), 0o600)
            else:
                handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                with os.fdopen(handle, "w", encoding="utf-8") as opened:
                    opened.write(content)
        except (OSError, SessionError) as error:
            return str(error)
        return ""


def past(run: ColumnRun, now: datetime) -> PastRun:
    """Make the stored form of a finished run."""
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
    """Read the runs of a file, oldest first; skip lines that cannot be understood."""
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
    """Build a run from stored data. Raises TypeError or ValueError for anything else."""
    texts = {name: data[name] for name in ("at", "case", "column", "model", "phase", "text", "error", "rating", "note")}
    if not all(isinstance(one, str) for one in texts.values()) or not isinstance(data["values"], dict):
        raise TypeError("not a run")
    return PastRun(**texts, seconds=float(data["seconds"]), values=data["values"])
