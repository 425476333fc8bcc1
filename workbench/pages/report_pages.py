"""Write reports as HTML pages: a check, an upgrade, and a stress test.

A check shows drift by cause, with examples, and every fixture with its verdicts. An upgrade shows each change once,
with an example. A stress test shows counts and the grid of mutations; each cell links to its reply, folded below the
grid, with the intended and the parsed values, and the flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby

from adapters.display.as_html import MOST_LINES
from adapters.display.blocks import Block, Folded, Heading, Items, Mark, Note, Passage, Piece, Table, Text, Tone
from adapters.mutations.mutation import Mutation
from sessions.causes.cause import Cause, verdict_lines
from sessions.checking import reports
from sessions.checking.verdicts import FixtureResult
from sessions.model.session import Case
from sessions.stress.grid import VERDICTS, Grid, Survival, Verdict
from sessions.upgrades.report import Upgrade
from sessions.upgrades.sides import Compared
from workbench.output import report_blocks, survival_words
from workbench.output.display import cut
from workbench.output.survival_words import MEANINGS, NOT_APPLICABLE, SIGNS, WORDS
from workbench.pages.page import page_of_blocks

MOST_FIXTURES = 2_000
MOST_NAMED = 200
"""The most names in a list, such as the fixtures of a cause or unreadable files."""
VERDICT_TONES: Mapping[str, Tone] = {"pass": "good", "drift": "warning", "fail": "bad", "error": "worst"}


def check_page(
    causes: Sequence[Cause], results: Sequence[FixtureResult], counts: Mapping[str, int], errors: Mapping[str, str]
) -> str:
    """Return the whole page. Fixtures beyond `MOST_FIXTURES` are counted.

    `errors` maps files that could not be read to the reason.
    """
    shown: list[Block] = [Note(reports.summary(counts), "")]
    if changed := verdict_lines(causes):
        shown += [Note(changed[0], "worst"), Items(tuple(map(str.strip, changed[1:])))]
    shown += report_blocks.of_check(causes, errors, MOST_NAMED)
    if results:
        parts = list(dict.fromkeys([part for one in results for part in one.verdicts]))
        rows: list[tuple[Text, ...]] = []
        for one in results[:MOST_FIXTURES]:
            words = [one.verdicts.get(part, "") for part in parts]
            marks = [Mark(word, VERDICT_TONES.get(word, "")) for word in words]
            rows.append((f"{one.path}::{one.case}::{one.column}", *marks))
        shown += [Heading("Every fixture"), Table(("fixture", *parts), tuple(rows), is_grid=True)]
    if len(results) > MOST_FIXTURES:
        shown.append(Note(f"… {len(results) - MOST_FIXTURES:,} more fixtures"))
    return page_of_blocks(reports.title(counts, errors), shown)


SAID_OF_SIGNS = (
    "= the same · ≠ changes, by their numbers · ✗ a recorded reply no longer parses, or parses differently · "
    "? not compared"
)


def upgrade_page(found: Upgrade) -> str:
    """Return the whole page, with a table of cases × columns whose cells list the changes by number."""
    shown: list[Block] = [Items(tuple(report_blocks.summary(found)))]
    if found.compared and not found.found:
        shown.append(Note("Nothing changes.", ""))
    # The line that counts the others is one of the lines that a page shows
    changes = list(report_blocks.changes(found, MOST_LINES - 1, MOST_NAMED))
    readings = sum(one.is_reading for one in found.found)  # these come first
    for title, some in (("How replies are read", changes[:readings]), ("What is sent", changes[readings:])):
        shown += [Heading(title), *some] if some else []
    if found.fixtures:
        columns = list(dict.fromkeys([one.column for one in found.fixtures]))
        rows: dict[str, dict[str, Text]] = {}
        for one in found.fixtures:
            rows.setdefault(f"{one.path} · {one.case}", {})[one.column] = _changes_of(found, one)
        cells = [(name, *[of.get(column, "") for column in columns]) for name, of in rows.items()]
        shown += [Heading("Every fixture"), Note(SAID_OF_SIGNS)]
        shown.append(Table(("fixture", *columns), tuple(cells), is_grid=True))
    return page_of_blocks(report_blocks.headline(found), [*shown, *chain(*report_blocks.not_compared(found))])


def _changes_of(found: Upgrade, one: Compared) -> Mark:
    if one.why_not:
        return Mark("?", "", one.why_not)
    if not one.differences:
        return Mark("=", "good", "nothing changes")
    is_worse = one.counts["no_longer_read"] > 0 or one.counts["read_otherwise"] > 0
    tokens = f"~{one.tokens[0]:,} → ~{one.tokens[1]:,} tokens"
    links = tuple([Mark(str(number), link=f"change-{number}") for number in report_blocks.numbers(found, one)])
    return Mark("✗" if is_worse else "≠", "bad" if is_worse else "warning", tokens, then=links)


TONES: Mapping[Verdict, Tone] = {"silently_wrong": "worst", "flagged": "warning", "refused": "bad", "same": "good"}
MOST_SHOWN = 4_000
"""The most characters of a damaged reply on the page."""


def survival_page(found: Grid, name: str) -> str:
    return page_of_blocks(f"{name}: which parsers survive a damaged reply", _blocks(found))


def _blocks(found: Grid) -> Iterator[Block]:
    count = sum(len(one.cells) for one in found.columns)
    yield Items(tuple(survival_words.decision(found)))
    yield Note(f"{count} damaged replies of {Case(found.case).plain_words}, each parsed by its adapter as it is.", "")
    yield Items(tuple([f"Damaged: {one}." for one in survival_words.sources(found.columns)]))
    yield from [Note(f"Not damaged: {one}.") for one in survival_words.passed_over(found.columns)]
    yield counts(found)
    yield from [Note(f"{one.id}: {one.problem}") for one in found.columns if one.problem]
    yield Heading("The grid")
    yield grid(found)
    yield Heading("Replies that parse differently, or not at all")
    for mutation in found.mutations:
        for column in found.columns:
            cell = column.cells.get(mutation.name)
            if cell is not None and cell.verdict != "same":
                said = survival_words.differences(cell)
                if cell.reading.error is not None:
                    said.append(f"{cell.reading.error.type}: {cell.reading.error.message[:MOST_SHOWN]}")
                said += [flag.message for flag in cell.flags]
                head = f"{SIGNS[cell.verdict]} {column.id} · {cell.mutation.name} · {WORDS[cell.verdict]}"
                text = cut(cell.text, MOST_SHOWN)
                inside = (Note(cell.mutation.imitates), Items(tuple(said)), Passage("", (Piece(text, "value"),)))
                yield Folded(Mark(head, TONES[cell.verdict]), inside, _place(column, cell.mutation))


def counts(found: Grid) -> Table:
    """Build a table of how often each column has each verdict."""
    rows: list[tuple[Text, ...]] = []
    for verdict in VERDICTS:
        name = Mark(f"{SIGNS[verdict]} {WORDS[verdict]}", says=MEANINGS[verdict])
        rows.append((name, *[Mark(str(one.counts[verdict]), TONES[verdict]) for one in found.columns]))
    return Table(("verdict", *[one.id for one in found.columns]), tuple(rows))


def grid(found: Grid) -> Table:
    """Build a table with a row for each mutation, under the name of its group."""
    rows: list[tuple[Text, ...]] = []
    for group, mutations in groupby(found.mutations, lambda one: one.group):
        rows.append((Mark(group, "strong"), *[""] * len(found.columns)))
        rows += [(one.name, *[_mark(column, one) for column in found.columns]) for one in mutations]
    return Table(("mutation", *[one.id for one in found.columns]), tuple(rows), is_grid=True)


def _mark(column: Survival, mutation: Mutation) -> Mark:
    cell = column.cells.get(mutation.name)
    if cell is None:
        return Mark(NOT_APPLICABLE, "dim", "cannot happen to this reply")
    link = "" if cell.verdict == "same" else _place(column, mutation)
    return Mark(SIGNS[cell.verdict], TONES[cell.verdict], f"{column.id}: {WORDS[cell.verdict]}", link)


def _place(column: Survival, mutation: Mutation) -> str:
    return "".join(character if character.isalnum() else "-" for character in f"{column.id} {mutation.name}")
