"""Describe the causes of a check as blocks, and write them as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adapters.display.blocks import Block, Difference, Folded, Items, Mark, Note
from sessions.causes.cause import Cause, counted, listed, verdict_lines
from sessions.checking import reports
from workbench.output.markdown import MOST_NAMED, bounded, document


def blocks(causes: Sequence[Cause], errors: Mapping[str, str], most_named: int) -> Iterator[Block]:
    """Yield unreadable files (`errors`), and each cause with an example and its fixtures."""
    if errors:
        unread = listed([f"{path}: {reason}" for path, reason in errors.items()], most_named)
        yield Folded(Mark("Unreadable files"), (Items(tuple(unread)),), is_open=True)
    for one in causes:
        about = Note(f"{counted(one.fixtures)}, cause {one.id}, for example {one.fixtures[0]}")
        lines = [line.removeprefix("    ") for line in reports.details(one.example).split("\n")]
        names = listed([str(each) for each in one.fixtures], most_named)
        fixtures = Folded(Mark("Fixtures"), (Items(tuple(names)),))
        yield Folded(Mark(one.words, "strong"), (about, Difference(tuple(lines)), fixtures), is_open=True)


def markdown(causes: Sequence[Cause], counts: Mapping[str, int], errors: Mapping[str, str]) -> str:
    """Write the report as Markdown. Causes that do not fit are counted."""
    head = f"## {reports.title(counts, errors)}\n\n{reports.summary(counts)}\n"
    if changed := verdict_lines(causes):
        head += f"\n**{changed[0]}**\n\n{document([Items(tuple(map(str.strip, changed[1:])))]).rstrip()}\n"
    sections = [[one] for one in blocks(causes, errors, MOST_NAMED)]
    return bounded(head, sections, "… and {} more causes; `workbench review` lists them.")
