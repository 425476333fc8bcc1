"""Write test cases as JUnit XML for CI systems. A check has one for each verdict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal
from xml.etree import ElementTree

from adapters.late_dataclasses import dataclass
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
