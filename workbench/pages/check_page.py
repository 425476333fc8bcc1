"""Write a check as an HTML page: drift by cause, with examples, and every fixture with its verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adapters.display.as_html import Element, tag
from sessions.causes.cause import Cause, counted, verdict_lines
from sessions.checking import reports
from sessions.checking.verdicts import FixtureResult
from workbench.pages.page import difference, folded, named, page, table

MOST_FIXTURES = 2_000
CLASSES: Mapping[str, str] = {"pass": "good", "drift": "mixed", "fail": "bad", "error": "worst"}


def page_of(
    causes: Sequence[Cause], results: Sequence[FixtureResult], counts: Mapping[str, int], errors: Mapping[str, str]
) -> str:
    """Return the whole page (`workbench.pages.page.page`). Fixtures beyond `MOST_FIXTURES` are counted.

    `errors` maps files that could not be read to the reason.
    """
    return page(reports.title(counts, errors), list(_body(causes, results, counts, errors)))


def _body(
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
        yield from [_cause(one) for one in causes]
    if results:
        yield tag("h2", {}, "Every fixture")
        yield _fixtures(results[:MOST_FIXTURES])
    if len(results) > MOST_FIXTURES:
        yield tag("p", {"class": "dim"}, f"… {len(results) - MOST_FIXTURES:,} more fixtures")


def _cause(cause: Cause) -> Element:
    head = tag("strong", {}, cause.words)
    about = tag("p", {"class": "dim"}, f"{counted(cause.fixtures)}, cause {cause.id}")
    example = tag("p", {"class": "dim"}, f"for example {cause.fixtures[0]}")
    shown = difference(reports.details(cause.example).split("\n"))
    places = folded("Fixtures", named([str(one) for one in cause.fixtures]))
    return folded(head, about, example, shown, places, is_open=True)


def _fixtures(results: Sequence[FixtureResult]) -> Element:
    parts = list(dict.fromkeys([part for one in results for part in one.verdicts]))
    rows: list[list[Element | str]] = []
    for one in results:
        verdicts = [str(one.verdicts.get(part, "")) for part in parts]
        cells = [tag("td", {"class": CLASSES.get(verdict, "none")}, verdict) for verdict in verdicts]
        rows.append([f"{one.path}::{one.case}::{one.column}", *cells])
    return table(["fixture", *parts], rows)
