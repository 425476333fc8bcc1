"""Capture the calls of a program that has the workbench installed, and describe the result."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.capture.in_your_process import attaching
from workbench.capture.in_your_process.listening import Listener
from workbench.capture.in_your_process.outlet import Outlet, Writer


class Capture(Listener):
    """A callback for dspy that saves a program's calls as sessions in a folder.

    `cases` limits the distinct inputs of a predictor; `only="failures"` keeps only calls that failed, did not parse or
    fell back; `sample` is a share of the inputs between 0 and 1; `redact` lists fields whose values are removed.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        cases: int | None = None,
        only: str = "all",
        sample: float = 1.0,
        redact: Sequence[str] = (),
    ) -> None:
        options = options_of(folder, cases=cases, only=only, sample=sample, redact=redact)
        super().__init__(Outlet(writer(options)))

    def close(self) -> None:
        """Wait until the sessions are written. The end of the program does this, too."""
        self.outlet.close()


@contextmanager
def capture(folder: str | os.PathLike[str], **options: Any) -> Iterator[Capture]:
    """Capture dspy calls within the `with`, in all threads. The sessions are written at its end."""
    listener = Capture(folder, **options)
    attaching.attach(listener)
    try:
        yield listener
    finally:
        attaching.detach(listener)
        listener.close()


def options_of(
    folder: str | os.PathLike[str],
    *,
    cases: int | None = None,
    only: str = "all",
    sample: float = 1.0,
    redact: Sequence[str] = (),
    report: bool = False,
    linked_from: str | None = None,
) -> dict[str, Any]:
    """Return the options of the child process. Raises ValueError for invalid ones."""
    if only not in ("all", "failures"):
        raise ValueError(f"only={only!r}: 'all' or 'failures'")
    if not 0 < sample <= 1:
        raise ValueError(f"sample={sample!r}: a share above 0, up to 1")
    if cases is not None and cases < 1:
        raise ValueError(f"cases={cases!r}: at least 1")
    if isinstance(redact, str):
        raise ValueError(f"redact={redact!r}: a list of names of fields")
    return {
        "folder": os.path.abspath(os.fspath(folder)),
        "cases": cases,
        "only": only,
        "sample": sample,
        "redact": list(redact),
        "report": report,
        "linked_from": linked_from and os.path.abspath(linked_from),
    }


COMMAND = (sys.executable, "-P", "-m", "workbench.capture.sessions_writer")
"""The child's command: this Python with `-P`, which never imports the caller's packages."""


def writer(options: dict[str, Any], command: Sequence[str] = COMMAND) -> Writer:
    """Return the child process that writes sessions; in an editable install it is told where our packages are."""
    home = Path(__file__).parents[2]
    is_installed = home.name in ("site-packages", "dist-packages")
    return Writer(list(command), {} if is_installed else {"PYTHONPATH": str(home)}, options)


MOST_NAMED = 8


def plain_words(reports: Sequence[Mapping[str, Any]], folder: str, missing: int = 0) -> list[str]:
    """Describe a capture in lines, from a report for each process that called dspy.

    `missing` counts calls without a report: their process, or the session writer's, ended before.
    """
    calls = sum(one["calls"] for one in reports)
    sessions: dict[str, dict[str, int]] = {}
    for one in (each for report in reports for each in report["sessions"]):
        before = sessions.setdefault(one["path"], {"cases": 0, "added": 0, "calls": 0, "left": 0, "failed": 0})
        before["cases"] = max(before["cases"], one["cases"])
        for key in ("added", "calls", "left", "failed"):
            before[key] += one.get(key, 0)
    lines = [f"workbench capture: {_count(calls, 'call')}, {_count(len(sessions), 'session')} in {folder}"]
    for path, counts in sessions.items():
        left = f", {counts['left']:,} calls beyond --cases" if counts["left"] else ""
        failed = f"; {_count(counts['failed'], 'call')} failed or fell back to JSON" if counts["failed"] else ""
        lines.append(f"  {path}: {_count(counts['cases'], 'case')}, {counts['added']:,} of them new{left}{failed}")
    unlinked = {one["path"] for report in reports for one in report["sessions"] if one["unlinked"]}
    if unlinked:
        named = ", ".join(sorted(unlinked)[:MOST_NAMED])
        more = f" and {len(unlinked) - MOST_NAMED} more" if len(unlinked) > MOST_NAMED else ""
        lines.append(
            f"  {len(unlinked)} of {_count(len(sessions), 'session')} without a source to follow: {named}{more}"
        )
    findings = [one for report in reports for one in report["findings"]]
    if findings:
        lines.append(f"  {_count(len(findings), 'fixture')} that `workbench check` renders or parses differently:")
        by_words: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for one in findings:
            by_words.setdefault((one["said"], one["versions"]), []).append(one)
        for (said, versions), alike in list(by_words.items())[:MOST_NAMED]:
            first = alike[0]
            more = f" and {len(alike) - 1:,} more" if len(alike) > 1 else ""
            behind = f" ({versions})" if versions else ""
            lines.append(f"    {first['path']} · {first['case']} · {first['column']}{more}: {said}{behind}")
        if len(by_words) > MOST_NAMED:
            lines.append(f"    and {len(by_words) - MOST_NAMED:,} others")
    for key in ("notes", "problems"):
        said_once = list(dict.fromkeys(one for report in reports for one in report[key]))
        lines += [f"  {one}" for one in said_once[:MOST_NAMED]]
        if len(said_once) > MOST_NAMED:
            lines.append(f"  and {len(said_once) - MOST_NAMED:,} more of the like")
    lost = sum(one["lost"] for one in reports)
    if lost:
        lines.append(f"  {_count(lost, 'call')} not captured")
    if missing:
        why = "a process of the program, or the one that writes the sessions, ended before they were written"
        lines.append(f"  {_count(missing, 'call')} lost: {why}")
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
