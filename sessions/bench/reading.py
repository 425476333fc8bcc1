"""Read results files as totals, one line at a time; texts are read again, line by line, when they are shown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from adapters.errors import reason_of
from sessions.bench.results import ENDING, BenchRun, open_regular, path_beside, written
from sessions.bench.totals import Cell
from sessions.errors import SessionError
from sessions.file.format_reader import read_part
from sessions.file.whole_files import PathLike

MOST_TOLD = 5
"""The number of invalid lines to list; the rest are counted."""
FILE_BITS = 44
"""The bits of a place that hold the offset of its line; the bits above hold the number of its file."""
IN_MEMORY = 16_000_000
"""The most bytes of runs judged again that stay in memory; more are in a temporary file."""


class Results:
    """The runs of a session's results files, by cell, and descriptions of their invalid lines."""

    def __init__(self, session: str, paths: Iterable[PathLike] = ()) -> None:
        self.series = 0
        """The number of the last series; 0 without runs."""
        self._session = session
        self._paths = [os.fspath(path) for path in paths]
        self._cells: dict[tuple[str, str], dict[tuple[int, str], Cell]] = {}
        """By case and column, then by series and request, the one with the last line last."""
        self._unread: list[str] = []
        self._unread_count = 0
        self._judged_again = SpooledTemporaryFile(IN_MEMORY)
        for number, path in enumerate(self._paths):
            for offset, run in lines(path):
                if isinstance(run, BenchRun):
                    self.series = max(self.series, run.series)
                    found = self._cells.setdefault((run.case, run.column), {})
                    key = run.series, run.request
                    cell = found.pop(key, None) or Cell(self._session, run.case, run.column)
                    found[key] = cell
                    cell.add(run, number << FILE_BITS | offset, self._run_at)
                else:
                    self._unread_count += 1
                    self._unread += [run] * (len(self._unread) < MOST_TOLD)

    def __bool__(self) -> bool:
        return bool(self._cells)

    @property
    def places(self) -> list[tuple[str, str]]:
        """The case and column of each cell, in file order."""
        return list(self._cells)

    @property
    def every_cell(self) -> Iterator[Cell]:
        """Each cell with the runs of one request and series."""
        return (cell for found in self._cells.values() for cell in found.values())

    def cell(self, case: str, column: str, series: int, request: str) -> Cell:
        """Return the runs of a request in a series."""
        found = self._cells.get((case, column), {}).get((series, request))
        return found or Cell(self._session, case, column)

    def last(self, case: str, column: str, but: tuple[int, str] | None = None) -> Cell:
        """Return the last runs of a cell with the same request and series, other than `but`."""
        found = self._cells.get((case, column), {})
        return next((found[key] for key in reversed(found) if key != but), Cell(self._session, case, column))

    def keep(self, run: BenchRun, cell: Cell) -> None:
        """Add a run that was judged again to a cell of its own, without changing the results file."""
        try:
            offset = self._judged_again.seek(0, os.SEEK_END)
            self._judged_again.write(written(run))
        except OSError as error:
            raise SessionError(None, "a temporary file", f"cannot be written: {reason_of(error)}") from error
        cell.add(run, len(self._paths) << FILE_BITS | offset, self._run_at)

    def _run_at(self, place: int) -> BenchRun:
        number, offset = place >> FILE_BITS, place & (1 << FILE_BITS) - 1
        if number == len(self._paths):
            self._judged_again.seek(offset)
            return _read_line(self._judged_again.readline(), "", 0)
        path = self._paths[number]
        try:
            with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
                file.seek(offset)
                return _read_line(file.readline(), path, 0)
        except OSError as error:
            raise SessionError(path, "", f"cannot be read: {reason_of(error)}") from error

    @property
    def told(self) -> str:
        """A line about the invalid lines; empty if there are none."""
        more = self._unread_count - MOST_TOLD
        named = "; ".join(self._unread)
        return f"{named}; and {more:,} more" if more > 0 else named


def lines(path: PathLike) -> Iterator[tuple[int, BenchRun | str]]:
    """Read a results file line by line: each line's offset with its run, or why it is invalid.

    A missing file has no lines. Raises `SessionError` if it cannot be read.
    """
    name, offset = os.fspath(path), 0
    try:
        with os.fdopen(open_regular(name, os.O_RDONLY), "rb") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    try:
                        yield offset, _read_line(line, name, number)
                    except SessionError as error:
                        yield offset, f"{error.place}: {error.message}" if error.message else str(error)
                offset += len(line)
    except FileNotFoundError:
        return
    except OSError as error:
        raise SessionError(name, "", f"cannot be read: {reason_of(error)}") from error


def _read_line(line: bytes, path: str, number: int) -> BenchRun:
    place = f"line {number}" if number else "a run that was read before"
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        broke_off = not line.endswith(b"\n")
        raise SessionError(path, place, "incomplete" if broke_off else "not valid JSON") from None
    return read_part(BenchRun, data, path, place)


def read(session: PathLike, shard: tuple[int, int] | None = None) -> Results:
    """Read the results file beside a session; a missing file has no runs. Raises `SessionError`."""
    return Results(os.fspath(session), [path_beside(session, shard)])


class Joined(NamedTuple):
    """The runs of all parts of a bench, and the missing parts, such as `3/8`."""

    results: Results
    missing: tuple[str, ...]


_PART = re.compile(r"\.([0-9]{1,4})-of-([0-9]{1,4})\Z")


def join(session: PathLike, folder: PathLike) -> Joined:
    """Read the parts of a session's bench from a folder and its subfolders.

    Duplicate parts are harmless, because each run counts once. Raises `SessionError` if there are no parts.
    """
    stem = path_beside(session).name.removesuffix(ENDING)
    found: dict[Path, tuple[int, int]] = {}
    for path in sorted(Path(folder).rglob(f"*{ENDING}")):
        name = path.name.removesuffix(ENDING)
        if (part := _PART.search(name)) and name == stem + part[0]:
            found[path] = int(part[1]), int(part[2])
    if not found:
        raise SessionError(os.fspath(folder), "", f"no part of {Path(session).name}", f"expected {stem}.1-of-8{ENDING}")
    shards = set(found.values())
    wanted = [(one, count) for count in sorted({count for _, count in shards}) for one in range(1, count + 1)]
    missing = [f"{one}/{count}" for one, count in wanted if (one, count) not in shards]
    return Joined(Results(os.fspath(session), found), tuple(missing))
