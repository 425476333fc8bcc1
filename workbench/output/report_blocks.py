"""Describe a check and an upgrade as blocks, for the terminal, for a pull request, and for a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.display.blocks import Block, Difference, Folded, Heading, Items, Mark, Note, Table, Text, Tone
from sessions.causes.cause import Cause, fixture_count, listed, verdict_lines
from sessions.checking import reports
from sessions.errors import counted
from workbench.output.markdown import MOST_NAMED, bounded, code, document

if TYPE_CHECKING:  # a check loads no upgrade
    from sessions.upgrades.report import Upgrade
    from sessions.upgrades.sides import Compared

EXAMPLE_LINES = 8
MOST_FIXTURES = 60
"""The most rows of a table of fixtures; `--json` and the page have all."""


def of_check(causes: Sequence[Cause], errors: Mapping[str, str], most_named: int) -> Iterator[Block]:
    """Yield unreadable files (`errors`), and each cause with an example and its fixtures."""
    if errors:
        unread = listed([f"{path}: {reason}" for path, reason in errors.items()], most_named)
        yield Folded(Mark("Unreadable files"), (Items(tuple(unread)),), is_open=True)
    for one in causes:
        about = Note(f"{fixture_count(one.fixtures)}, cause {one.id}, for example {one.fixtures[0]}")
        # Without their indentation, lines of a difference begin with their sign, and the others stand above them
        lines = [line[4:] if line.startswith("    ") else line[2:] for line in reports.details(one.example).split("\n")]
        names = listed([str(each) for each in one.fixtures], most_named)
        fixtures = Folded(Mark("Fixtures"), (Items(tuple(names)),))
        yield Folded(Mark(one.words, "strong"), (about, Difference(tuple(lines)), fixtures), is_open=True)


def check_markdown(causes: Sequence[Cause], counts: Mapping[str, int], errors: Mapping[str, str]) -> str:
    """Write the report of a check as Markdown. Causes that do not fit are counted."""
    head = f"## {reports.title(counts, errors)}\n\n{reports.summary(counts)}\n"
    if changed := verdict_lines(causes):
        head += f"\n**{changed[0]}**\n\n{document([Items(tuple(map(str.strip, changed[1:])))]).rstrip()}\n"
    sections = [[one] for one in of_check(causes, errors, MOST_NAMED)]
    return bounded(head, sections, "… and {} more causes; `workbench review` lists them.")


def headline(found: Upgrade) -> str:
    """Return `dspy 3.0.4 → dspy 3.4.1: 35 of 50 fixtures change`."""
    counts = found.counts
    compared = counted(counts["compared"], "fixture")
    verb = "changes" if counts["changed"] == 1 else "change"
    return f"{found.before} → {found.after}: {counts['changed']:,} of {compared} {verb}"


def summary(found: Upgrade) -> Iterator[str]:
    """Summarize the change: prompts, tokens, replies, fixtures that could not be compared; then the notes."""
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
        yield f"recorded replies: {counts['replies']:,}, {', '.join(said) or 'all with the same parse result'}"
    else:
        yield "recorded replies: none to parse on both sides"
    yield from [one.words for one in found.live]
    left = counts["fixtures"] - counts["compared"]
    if left:
        yield f"not compared: {counted(left, 'fixture')}"
    yield from found.notes


def changes(found: Upgrade, most_lines: int, most_named: int) -> Iterator[Folded]:
    """Yield each change by its number, with an example of at most `most_lines` and, if named, the fixtures."""
    for number, one in enumerate(found.found, 1):
        tone: Tone = "bad" if one.is_reading else "strong"
        about = Note(f"{', '.join(one.adapters)}; {fixture_count(one.fixtures)}")
        example = Note(f"for example {one.example_of}, {one.example.place}")
        lines = list(reports.marked(one.example.diff))
        more = len(lines) - most_lines
        if more > 1:
            lines[most_lines:] = [f" … {more:,} more lines"]
        inside: list[Block] = [about, example, Difference(tuple(lines))]
        if most_named:
            names = listed([str(each) for each in one.fixtures], most_named)
            inside.append(Folded(Mark("Fixtures"), (Items(tuple(names)),)))
        yield Folded(Mark(f"{number}. {one.words}", tone), tuple(inside), f"change-{number}", is_open=True)


def not_compared(found: Upgrade) -> Iterator[list[Block]]:
    """Yield each reason why fixtures could not be compared, without its column prefix, as a section."""
    reasons: dict[str, list[Compared]] = {}
    for one in found.fixtures:
        if one.why_not:
            reasons.setdefault(one.why_not.removeprefix(f"{one.column}: "), []).append(one)
    for number, (reason, those) in enumerate(reasons.items()):
        first = f"{those[0].path}::{those[0].case}::{those[0].column}"
        told = Items((f"{reason}: {counted(len(those), 'fixture')}, such as {first}",))
        yield [told] if number else [Heading("Not compared"), told]


def numbers(found: Upgrade, one: Compared) -> list[int]:
    """Return the numbers of a fixture's changes, from 1, in the order of the report."""
    own = {each.key for each in one.differences}
    return [number for number, each in enumerate(found.found, 1) if each.key in own]


def of_upgrade(found: Upgrade) -> Iterator[Block]:
    """Yield the report of an upgrade for the terminal."""
    yield Items(tuple(summary(found)))
    yield from changes(found, EXAMPLE_LINES, 0)
    rows: list[tuple[Text, ...]] = []
    for one in found.changed[:MOST_FIXTURES]:
        tokens = f"~{one.tokens[0]:,} → ~{one.tokens[1]:,}" if any(one.tokens) else ""
        own = ", ".join(map(str, numbers(found, one)))
        rows.append((f"{Path(one.path).name} · {one.case}", one.column, tokens, own))
    if rows:
        yield Heading("fixtures that change, with their tokens and the numbers of their changes")
        yield Table(("fixture", "column", "tokens", "changes"), tuple(rows))
    if len(found.changed) > MOST_FIXTURES:
        yield Note(f"… and {len(found.changed) - MOST_FIXTURES:,} more; --json and --html have them")
    yield from chain(*not_compared(found))


def upgrade_markdown(found: Upgrade) -> str:
    """Write the report of an upgrade as Markdown. Sections that do not fit are counted."""
    head = f"## {code(headline(found))}\n\n{document([Items(tuple(summary(found)))]).rstrip()}\n"
    sections: list[list[Block]] = [[one] for one in changes(found, EXAMPLE_LINES, MOST_NAMED)]
    sections += not_compared(found)
    return bounded(head, sections, "… and {} more changes or reasons; `--json` and `--html` have every one.")
