"""Report a check as text, and as JUnit XML for CI systems.

The text has the differences with their places and reasons.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal
from xml.etree import ElementTree

from adapters.late_dataclasses import dataclass, replace
from adapters.values.plain_json import plain
from sessions.checking.verdicts import Drift, FixtureResult, Part, verdict_changes
from sessions.errors import counted
from sessions.text_diff import common_ends, line_diff

LONGEST_LINE = 200
"""The maximum length of a changed line that is shown in full."""
AROUND = 60
"""The number of characters shown on each side of the change in a longer line."""
LONGEST_VALUE = 500
LONGEST_WORD = 40
"""The maximum length of a word that is marked in full when a part of it changed."""
MOST_NAMED = 5
"""The number of fixtures named when many share a message."""

_WORD = re.compile(r"\w")
_COUNTED = {"unasked": "not asked of dspy"}


def title(counts: Mapping[str, int], errors: Mapping[str, str]) -> str:
    """Return the title of a report from its `totals` and the unreadable files (`errors`)."""
    failed, unread = counts.get("failed", 0), len(errors)
    said = [counted(failed, "fixture fails", "fixtures fail")] if failed else []
    said += [f"{counted(unread, 'file')} cannot be read"] if unread else []
    if said:
        return ", ".join(said)
    return "All fixtures match" if counts.get("passed") or counts.get("unasked") else "Nothing was compared"


def summary(counts: Mapping[str, int], unread: int = 0) -> str:
    """Format `totals`: how many fixtures passed, failed, and were empty; and how many files are unreadable."""
    said = [f"{count} {_COUNTED.get(word, word)}" for word, count in counts.items() if count or word == "passed"]
    return ", ".join([*said, f"{counted(unread, 'file')} not read"] if unread else said)


def noted(note: str, results: Sequence[FixtureResult]) -> str:
    """Format a note on fixtures of a file, with the first names."""
    named = [f"{one.case}::{one.column}" for one in results[:MOST_NAMED]]
    more = f" and {len(results) - len(named)} more" if len(results) > len(named) else ""
    return f"{results[0].path}: {note}  [{', '.join(named)}{more}]"


def details(result: FixtureResult) -> str:
    """List all differences as indented lines, each only once for several verdicts; may be empty."""
    parts: dict[tuple[str, ...], list[str]] = {}
    for drift in result.drift:
        said, *below = lines_of(drift)
        parts.setdefault((said.removeprefix(f"  {drift.part}: "), *below), []).append(drift.part)
    return "\n".join(["\n".join([f"  {', '.join(of)}: {said}", *below]) for (said, *below), of in parts.items()])


def lines_of(drift: Drift) -> Iterable[str]:
    yield f"  {drift.part}: {drift.message}  [{drift.place}]"
    if drift.versions:
        yield f"    versions: {drift.versions}"
    if drift.diff:
        for line in marked(drift.diff):
            yield f"    {line}"
    elif drift.part in ("expect", "live") and (drift.before is not None or drift.after is not None):
        yield f"    expected: {_short(drift.before)}"
        yield f"    found:    {_short(drift.after)}"
    elif drift.before is not None or drift.after is not None:
        for line in line_diff([_short(drift.before)], [_short(drift.after)]):
            yield f"    {line}"


def marked(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a diff. Long changed lines are cut to the change, between ⟦ and ⟧.

    Long lines without a counterpart are cut to their beginning.
    """
    position = 0
    while position < len(lines):
        end = position
        while end < len(lines) and lines[end].startswith("-"):
            end += 1
        removed = lines[position:end]
        start = end
        while end < len(lines) and lines[end].startswith("+"):
            end += 1
        added = lines[start:end]
        if not (removed or added):
            yield _beginning(lines[position])
        is_even = len(removed) == len(added)
        pairs = [_cut(old, new, is_even) for old, new in zip(removed, added, strict=False)]
        yield from [old for old, _ in pairs]
        yield from map(_beginning, removed[len(pairs) :])
        yield from [new for _, new in pairs]
        yield from map(_beginning, added[len(pairs) :])
        position = max(end, position + 1)


def _beginning(line: str) -> str:
    """Cut a long line of a diff to its beginning."""
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… ({len(line):,} characters)"


def _cut(old: str, new: str, is_pair: bool) -> tuple[str, str]:
    """Cut two changed lines to what differs; short lines stay whole.

    Without `is_pair`, lines that share less than half are cut to their beginnings.
    """
    if max(len(old), len(new)) <= LONGEST_LINE:
        return old, new
    before, after = old[1:], new[1:]
    head, tail = common_ends(before, after)
    if not is_pair and head + tail < min(len(before), len(after)) / 2:
        return _beginning(old), _beginning(new)
    head = _word_begins(before, after, head)
    tail = _word_begins(before[::-1][: tail + 1], after[::-1][: tail + 1], tail)
    return f"-{_window(before, head, tail)}", f"+{_window(after, head, tail)}"


def _word_begins(one: str, other: str, place: int) -> int:
    """Return the start of the word around `place`. Both texts are equal up to there.

    "float" → "int" is thus marked as a whole word, whatever letters they share. A run of word characters longer than
    `LONGEST_WORD` is not treated as a word.
    """
    if not any(_WORD.match(text[place : place + 1]) for text in (one, other)):
        return place
    shared = 0
    while shared < LONGEST_WORD and shared < place and _WORD.match(one[place - shared - 1]):
        shared += 1
    return place - shared if shared < LONGEST_WORD else place


def _window(text: str, head: int, tail: int) -> str:
    changed = text[head : len(text) - tail]
    if len(changed) > LONGEST_LINE:
        changed = f"{changed[:LONGEST_LINE]}… ({len(changed):,} characters)"
    left, right = text[max(head - AROUND, 0) : head], text[len(text) - tail :][:AROUND]
    return f"{'…' if head > AROUND else ''}{left}⟦{changed}⟧{right}{'…' if tail > AROUND else ''}"


def _short(value: object) -> str:
    text = json.dumps(plain(value), ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}… ({len(text):,} characters)"


# Characters that XML 1.0 cannot represent, escaped or not.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


Kind = Literal["failure", "error", "skipped"]


@dataclass(frozen=True)
class Judged:
    """A test case: its path, name, duration in seconds, and problem (`kind` None: none)."""

    path: str
    name: str
    seconds: float = 0.0
    kind: Kind | None = None
    message: str = ""
    details: str = ""
    type: str = ""


def junit_report(results: Iterable[FixtureResult], errors: Mapping[str, str]) -> str:
    """Write a check as JUnit XML, a case for each verdict, changed verdicts first.

    `errors` maps the paths of unreadable files to the reasons.
    """
    cases: list[Judged] = []
    for result in sorted(results, key=lambda one: not verdict_changes(one)):
        seconds = result.seconds / max(1, len(result.verdicts))  # measured together, as they share one rendering
        cases += [_judged(result, part, word, seconds) for part, word in result.verdicts.items()]
    cases += [Judged(path, "load", 0.0, "error", reason) for path, reason in errors.items()]
    return junit_of_cases("workbench check", cases)


def _judged(result: FixtureResult, part: Part, word: str, seconds: float) -> Judged:
    name = f"{result.case}::{result.column}::{part}"
    if word == "pass":
        return Judged(result.path, name, seconds)
    if word == "empty":
        why = "; ".join(result.notes) if part == "upstream" else ""
        return Judged(result.path, name, seconds, "skipped", why or "nothing to compare")
    own = replace(result, drift=tuple([one for one in result.drift if one.part == part]))
    head = own.drift[0].message if own.drift else word
    if part == "parse" and (changed := verdict_changes(result)):
        head = f"{'; '.join(map(str, changed))} ({head})"
    return Judged(result.path, name, seconds, "error" if word == "error" else "failure", head, details(own), word)


def junit_of_cases(suite: str, cases: Sequence[Judged]) -> str:
    """Write these cases as JUnit XML."""
    counts = {"tests": len(cases)}
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[name] = sum(one.kind == kind for one in cases)
    root = ElementTree.Element("testsuites")
    totals = {name: str(count) for name, count in counts.items()}
    seconds = f"{sum(one.seconds for one in cases):.6f}"
    top = ElementTree.SubElement(root, "testsuite", {"name": suite, **totals, "time": seconds})
    for one in cases:
        named = {"classname": _possible(one.path), "name": _possible(one.name), "time": f"{one.seconds:.6f}"}
        case = ElementTree.SubElement(top, "testcase", named)
        if one.kind is not None:
            said = {"message": _possible(one.message), "type": one.type}
            problem = ElementTree.SubElement(case, one.kind, {name: text for name, text in said.items() if text})
            problem.text = _possible(one.details) or None
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _possible(text: str) -> str:
    return _IMPOSSIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
