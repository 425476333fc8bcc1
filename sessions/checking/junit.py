"""Write test cases as JUnit XML for CI systems. A check has one for each verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import quoteattr

from sessions.checking.reports import details
from sessions.checking.verdicts import FixtureResult, Part, verdict_changes

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


def report(results: Iterable[FixtureResult], errors: Mapping[str, str]) -> str:
    """Report a check, with changed verdicts and values first.

    `errors` maps the paths of unreadable files to the reasons.
    """
    cases: list[Judged] = []
    for result in sorted(results, key=lambda one: not verdict_changes(one)):
        seconds = result.seconds / max(1, len(result.verdicts))  # measured together, as they share one rendering
        cases += [_judged(result, part, word, seconds) for part, word in result.verdicts.items()]
    cases += [Judged(path, "load", 0.0, "error", reason) for path, reason in errors.items()]
    return written("workbench check", cases)


def _judged(result: FixtureResult, part: Part, word: str, seconds: float) -> Judged:
    name = f"{result.case}::{result.column}::{part}"
    if word == "pass":
        return Judged(result.path, name, seconds)
    if word == "empty":
        return Judged(result.path, name, seconds, "skipped", "nothing to compare")
    own = FixtureResult(
        result.path, result.case, result.column, result.verdicts, tuple([d for d in result.drift if d.part == part])
    )
    head = own.drift[0].message if own.drift else word
    if part == "parse" and (changed := verdict_changes(result)):
        head = f"{'; '.join(map(str, changed))} ({head})"
    return Judged(result.path, name, seconds, "error" if word == "error" else "failure", head, details(own), word)


def written(suite: str, cases: Sequence[Judged]) -> str:
    """Write the report of these cases."""
    counts = {"tests": len(cases)}
    for name, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[name] = sum(one.kind == kind for one in cases)
    totals = " ".join(f'{name}="{count}"' for name, count in counts.items())
    body = "".join(f"    {_case(one)}\n" for one in cases)
    whole = sum(one.seconds for one in cases)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<testsuites>\n  <testsuite name="{suite}" {totals} time="{whole:.6f}">\n'
        f"{body}  </testsuite>\n</testsuites>\n"
    )


def _case(one: Judged) -> str:
    head = f'<testcase classname={_attribute(one.path)} name={_attribute(one.name)} time="{one.seconds:.6f}"'
    if one.kind is None:
        return f"{head}/>"
    said = f"{one.kind} message={_attribute(one.message)}" + (f" type={_attribute(one.type)}" if one.type else "")
    inside = f"<{said}>{_text(one.details)}</{one.kind}>" if one.details or one.type else f"<{said}/>"
    return f"{head}>{inside}</testcase>"


def _text(text: str) -> str:
    clean = _IMPOSSIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    clean = _IMPOSSIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return quoteattr(clean, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
