"""Write reports as HTML pages: a check, an upgrade, and a stress test.

A check shows drift by cause, with examples, and every fixture with its verdicts. An upgrade shows each change once,
with an example. A stress test shows counts and the grid of mutations; each cell links to its reply, folded below the
grid, with the intended and the parsed values, and the flags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from adapters.display.as_html import Element, tag
from adapters.display.blocks import Block, Folded, Heading, Items, Mark, Note, Passage, Piece, Table, Text, Tone
from adapters.mutations.mutation import Mutation
from sessions.causes.cause import Cause, FixtureName, counted, verdict_lines
from sessions.checking import reports
from sessions.checking.verdicts import FixtureResult
from sessions.model.session import Case
from sessions.stress.grid import VERDICTS, Cell, Grid, Survival, Verdict
from sessions.upgrades.report import Upgrade
from sessions.upgrades.sides import Compared
from workbench.output import survival_words, upgrade_text
from workbench.output.survival_words import MEANINGS, NOT_APPLICABLE, SIGNS, WORDS
from workbench.pages.page import difference, folded, named, page, page_of_blocks, table

MOST_FIXTURES = 2_000
CLASSES: Mapping[str, str] = {"pass": "good", "drift": "mixed", "fail": "bad", "error": "worst"}


def check_page(
    causes: Sequence[Cause], results: Sequence[FixtureResult], counts: Mapping[str, int], errors: Mapping[str, str]
) -> str:
    """Return the whole page (`workbench.pages.page.page`). Fixtures beyond `MOST_FIXTURES` are counted.

    `errors` maps files that could not be read to the reason.
    """
    return page(reports.title(counts, errors), list(_check_body(causes, results, counts, errors)))


def _check_body(
    causes: Sequence[Cause], results: Sequence[FixtureResult], counts: Mapping[str, int], errors: Mapping[str, str]
) -> Iterator[Element]:
    yield tag("p", {}, reports.summary(counts))
    if changed := verdict_lines(causes):
        yield tag("p", {"class": "worst"}, changed[0])
        yield named([line.strip() for line in changed[1:]])
    if errors:
        yield tag("h2", {}, "Unreadable files")
        yield named([f"{path}: {reason}" for path, reason in errors.items()])
    if causes:
        yield tag("h2", {}, "Differences")
        for one in causes:
            about = (f"{counted(one.fixtures)}, cause {one.id}", f"for example {one.fixtures[0]}")
            lines = reports.details(one.example).split("\n")
            yield _change(one.words, about, lines, "Fixtures", one.fixtures)
    if results:
        yield tag("h2", {}, "Every fixture")
        yield _fixtures(results[:MOST_FIXTURES])
    if len(results) > MOST_FIXTURES:
        yield tag("p", {"class": "dim"}, f"… {len(results) - MOST_FIXTURES:,} more fixtures")


def _change(
    words: str, about: tuple[str, str], lines: Sequence[str], title: str, fixtures: Sequence[FixtureName]
) -> Element:
    """Fold a change with its example, and its fixtures below `title`."""
    said = [tag("p", {"class": "dim"}, one) for one in about]
    places = folded(title, named([str(one) for one in fixtures]))
    return folded(tag("strong", {}, words), *said, difference(lines), places, is_open=True)


def _fixtures(results: Sequence[FixtureResult]) -> Element:
    parts = list(dict.fromkeys([part for one in results for part in one.verdicts]))
    rows: list[list[Element | str]] = []
    for one in results:
        verdicts = [str(one.verdicts.get(part, "")) for part in parts]
        cells = [tag("td", {"class": CLASSES.get(verdict, "none")}, verdict) for verdict in verdicts]
        rows.append([f"{one.path}::{one.case}::{one.column}", *cells])
    return table(["fixture", *parts], rows)


def upgrade_page(found: Upgrade) -> str:
    """Return the whole page (`workbench.pages.page.page`)."""
    return page(upgrade_text.headline(found), list(_upgrade_body(found)))


def _upgrade_body(found: Upgrade) -> Iterator[Element | str]:
    yield tag("ul", {}, *[tag("li", {}, line) for line in (*upgrade_text.summary(found), *found.notes)])
    if found.compared and not found.found:
        yield tag("p", {}, "Nothing changes.")
    for title, is_reading in (("How replies are read", True), ("What is sent", False)):
        changes = [(number, one) for number, one in enumerate(found.found, 1) if one.is_reading is is_reading]
        if changes:
            yield tag("h2", {}, title)
        for number, one in changes:
            about = (one.where, f"for example {one.example_of}, {one.example.place}")
            shown = _change(f"{number}. {one.words}", about, one.example.diff, "Where", one.fixtures)
            yield tag("div", {"id": f"change-{number}"}, shown)
    if found.compared:
        yield tag("h2", {}, "Every fixture")
        yield tag("p", {"class": "small"}, *_legend())
        # Build a table of cases × columns; each cell lists its changes by number.
        columns = list(dict.fromkeys([one.column for one in found.fixtures]))
        places = list(dict.fromkeys([(one.path, one.case) for one in found.fixtures]))
        by_place = {(one.path, one.case, one.column): one for one in found.fixtures}
        rows: list[list[Element | str]] = [
            [f"{path} · {case}", *[_cell(found, by_place.get((path, case, column))) for column in columns]]
            for path, case in places
        ]
        yield table(["fixture", *columns], rows)
    reasons = upgrade_text.not_compared(found)
    if reasons:
        yield tag("h2", {}, "Not compared")
    for reason, those in reasons.items():
        yield folded(f"{reason} ({len(those):,})", named([upgrade_text.name_of(one) for one in those]))


def _cell(found: Upgrade, one: Compared | None) -> Element:
    if one is None:
        return tag("td", {"class": "none"}, "")
    if one.why_not:
        return tag("td", {"class": "none", "title": one.why_not}, "?")
    if not one.is_changed:
        return tag("td", {"class": "good", "title": "nothing changes"}, tag("span", {"class": "sign"}, "="))
    links: list[Element | str] = []
    for number in upgrade_text.numbers(found, one):
        links += [" ", tag("a", {"href": f"#change-{number}"}, str(number))]
    is_worse = one.no_longer_read > 0 or one.read_otherwise > 0
    sign = tag("span", {"class": "sign"}, "✗" if is_worse else "≠")
    tokens = f"~{one.tokens[0]:,} → ~{one.tokens[1]:,} tokens"
    return tag("td", {"class": "bad" if is_worse else "mixed", "title": tokens}, sign, *links)


def _legend() -> Iterator[Element]:
    kinds = (
        ("good", "=", "the same"),
        ("mixed", "≠", "changes, by their numbers"),
        ("bad", "✗", "a recorded reply no longer parses, or parses differently"),
        ("none", "?", "not compared"),
    )
    for kind, sign, said in kinds:
        yield tag("span", {"class": "key"}, tag("span", {"class": f"tag {kind}"}, sign), f" {said}")


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
                yield _reply(column, cell)


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


def _reply(column: Survival, cell: Cell) -> Folded:
    said = survival_words.differences(cell)
    if cell.reading.error is not None:
        said.append(f"{cell.reading.error.type}: {cell.reading.error.message[:MOST_SHOWN]}")
    said += [flag.message for flag in cell.flags]
    text = cell.text[:MOST_SHOWN] + ("…" if len(cell.text) > MOST_SHOWN else "")
    head = f"{SIGNS[cell.verdict]} {column.id} · {cell.mutation.name} · {WORDS[cell.verdict]}"
    inside = (Note(cell.mutation.imitates), Items(tuple(said)), Passage("", (Piece(text, "value"),)))
    return Folded(Mark(head, TONES[cell.verdict]), inside, _place(column, cell.mutation))
