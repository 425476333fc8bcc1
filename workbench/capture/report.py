"""What became of a capture, in words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_NAMED = 8


def in_words(reports: Sequence[Mapping[str, Any]], folder: str) -> list[str]:
    """The lines to say of the reports of one capture, one report for each process of the program that called dspy."""
    calls = sum(one["calls"] for one in reports)
    sessions: dict[str, dict[str, int]] = {}
    for one in (each for report in reports for each in report["sessions"]):
        before = sessions.setdefault(one["path"], {"cases": 0, "added": 0, "calls": 0, "left": 0})
        before["cases"] = max(before["cases"], one["cases"])
        for key in ("added", "calls", "left"):
            before[key] += one[key]
    lines = [f"workbench capture: {_count(calls, 'call')}, {_count(len(sessions), 'session')} in {folder}"]
    for path, counts in sessions.items():
        left = f", {counts['left']:,} calls beyond --cases" if counts["left"] else ""
        lines.append(f"  {path}: {_count(counts['cases'], 'case')}, {counts['added']:,} of them new{left}")
    findings = [one for report in reports for one in report["findings"]]
    if findings:
        lines.append(f"  {_count(len(findings), 'fixture')} that `workbench check` makes or reads otherwise:")
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
    return lines


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
