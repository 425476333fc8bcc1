"""Write an upgrade report for the command line and as Markdown; its page shares the sentences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sessions.checking import reports
from sessions.upgrades.report import Found, Upgrade
from sessions.upgrades.sides import Compared
from workbench.output import display, measures
from workbench.output.markdown import bounded, code, fenced

EXAMPLE_LINES = 8
MOST_FIXTURES = 60
"""The most rows of a report; `--json` and the page have all."""
NAME_WIDTH = 34
COLUMN_WIDTH = 10


def headline(found: Upgrade) -> str:
    """Return `dspy 3.0.4 → dspy 3.4.1: 35 of 50 fixtures change`."""
    counts = found.counts
    compared = measures.counted(counts["compared"], "fixture")
    return f"{found.before} → {found.after}: {counts['changed']:,} of {compared} change"


def summary(found: Upgrade) -> Iterator[str]:
    """Summarize the change: prompts, tokens, replies, and fixtures that could not be compared."""
    counts = found.counts
    before, after = counts["tokens_before"], counts["tokens_after"]
    share = f" ({(after - before) / before:+.1%})" if before and abs(after - before) >= before / 2_000 else ""
    yield f"prompts and requests: {counts['prompts']:,} of {counts['compared']:,} changed"
    yield f"tokens of all prompts: ~{before:,} → ~{after:,}{share}"
    if counts["replies"]:
        told = [
            ("no_longer_read", "no longer parse"),
            ("read_now", "parse now"),
            ("read_otherwise", "parse differently"),
        ]
        said = [f"{counts[key]:,} {words}" for key, words in told if counts[key]]
        yield f"recorded replies: {counts['replies']:,}, {', '.join(said) or 'all parse as before'}"
    else:
        yield "recorded replies: none to parse on both sides"
    yield from [one.words for one in found.live]
    left = counts["fixtures"] - counts["compared"]
    if left:
        yield f"not compared: {measures.counted(left, 'fixture')}"


def not_compared(found: Upgrade) -> dict[str, list[Compared]]:
    """Group the fixtures that could not be compared by reason; the reason's column prefix is removed."""
    reasons: dict[str, list[Compared]] = {}
    for one in found.fixtures:
        if one.why_not:
            reasons.setdefault(one.why_not.removeprefix(f"{one.column}: "), []).append(one)
    return reasons


def example(one: Found) -> list[str]:
    """Return the first lines of the example's diff, with long lines cut around the changes."""
    lines = list(reports.marked(one.example.diff))
    more = len(lines) - EXAMPLE_LINES
    return lines if more <= 1 else [*lines[:EXAMPLE_LINES], f" … {more:,} more lines"]


def numbers(found: Upgrade, one: Compared) -> list[int]:
    """Return the numbers of a fixture's changes, from 1, in the order of the report."""
    own = {each.key for each in one.differences}
    return [number for number, each in enumerate(found.found, 1) if each.key in own]


def name_of(one: Compared) -> str:
    return f"{one.path}::{one.case}::{one.column}"


def rows(found: Upgrade) -> Iterator[str]:
    """Yield a line for each changed fixture: its tokens and the numbers of its changes."""
    changed = found.changed
    for one in changed[:MOST_FIXTURES]:
        tokens = f"~{one.tokens[0]:,} → ~{one.tokens[1]:,}" if any(one.tokens) else ""
        shown = ", ".join(map(str, numbers(found, one)))
        name = padded(f"{Path(one.path).name} · {one.case}", NAME_WIDTH)
        yield f"  {name}  {padded(one.column, COLUMN_WIDTH)}  {tokens:>17}  {shown}"
    if len(changed) > MOST_FIXTURES:
        yield f"  … and {len(changed) - MOST_FIXTURES:,} more; --json and --html have them"


def padded(text: str, width: int) -> str:
    """Gate text and fit it to exactly `width` cells."""
    shown = display.one_line(text, width)
    return shown + " " * (width - display.cell_width(shown))


def report(found: Upgrade) -> str:
    """Write the report as Markdown for a pull request. Sections that do not fit are counted."""
    head = [f"## {code(headline(found))}\n\n", *[f"- {code(one)}\n" for one in (*summary(found), *found.notes)]]
    sections = [_section(number, one) for number, one in enumerate(found.found, 1)]
    reasons = list(not_compared(found).items())
    for number, (reason, those) in enumerate(reasons):
        title = "" if number else "\n### Not compared\n\n"
        sections.append(f"{title}- {code(reason)}: {measures.counted(len(those), 'fixture')}\n")
    return bounded("".join(head), sections, "… and {} more changes or reasons; `--json` and `--html` have every one.")


def _section(number: int, one: Found) -> str:
    shown = f"{code(one.where)}; for example {code(str(one.example_of))}"
    diff = fenced("\n".join(example(one)), "diff")
    return f"\n### {number}. {code(one.words)}\n\n{shown}\n\n{diff}"
