"""A check as JUnit XML, one test case a verdict, as the CI systems of teams read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import quoteattr

from sessions.reports import details
from sessions.verdicts import FixtureResult, Part

# What XML 1.0 cannot say at all, escaped or not.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def report(results: Iterable[FixtureResult], errors: Mapping[str, str]) -> str:
    """The whole report; `errors` are the files that could not be read, by path, with the reason."""
    cases: list[str] = []
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for result in results:
        for part, word in result.verdicts.items():
            name = f"{result.case}::{result.column}::{part}"
            counts["tests"] += 1
            cases.append(_case(result.path, name, _inside(result, part, word, counts)))
    for path, reason in errors.items():
        counts["tests"] += 1
        counts["errors"] += 1
        cases.append(_case(path, "load", f"<error message={_attribute(reason)}/>"))
    totals = " ".join(f'{name}="{count}"' for name, count in counts.items())
    body = "".join(f"    {one}\n" for one in cases)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<testsuites>\n  <testsuite name="workbench check" {totals}>\n{body}  </testsuite>\n</testsuites>\n'
    )


def _inside(result: FixtureResult, part: Part, word: str, counts: dict[str, int]) -> str:
    if word == "pass":
        return ""
    if word == "empty":
        counts["skipped"] += 1
        return '<skipped message="nothing to compare"/>'
    kind = "error" if word == "error" else "failure"
    counts[f"{kind}s"] += 1
    own = FixtureResult(
        result.path, result.case, result.column, result.verdicts, tuple([d for d in result.drift if d.part == part])
    )
    head = own.drift[0].message if own.drift else word
    return f"<{kind} message={_attribute(head)} type={_attribute(word)}>{_text(details(own))}</{kind}>"


def _case(path: str, name: str, inside: str) -> str:
    head = f"<testcase classname={_attribute(path)} name={_attribute(name)}"
    return f"{head}>{inside}</testcase>" if inside else f"{head}/>"


def _text(text: str) -> str:
    clean = _IMPOSSIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(text: str) -> str:
    clean = _IMPOSSIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return quoteattr(clean, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
