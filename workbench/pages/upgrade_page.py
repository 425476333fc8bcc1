"""Write the effects of another dspy, model or adapter as an HTML page: each change once, with an example."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.display.as_html import Element, tag
from sessions.upgrades.report import Found, Upgrade
from sessions.upgrades.sides import Compared
from workbench.output import upgrade_text
from workbench.pages.page import difference, folded, named, page, table


def page_of(found: Upgrade) -> str:
    """Return the whole page (`workbench.pages.page.page`)."""
    return page(upgrade_text.headline(found), list(_body(found)))


def _body(found: Upgrade) -> Iterator[Element | str]:
    yield tag("ul", {}, *[tag("li", {}, line) for line in (*upgrade_text.summary(found), *found.notes)])
    if not found.found:
        yield tag("p", {}, "Nothing changes.")
    for title, is_reading in (("How replies are read", True), ("What is sent", False)):
        changes = [(number, one) for number, one in enumerate(found.found, 1) if one.is_reading is is_reading]
        if changes:
            yield tag("h2", {}, title)
            yield from [_change(number, one) for number, one in changes]
    if found.compared:
        yield tag("h2", {}, "Every fixture")
        yield tag("p", {"class": "small"}, *_legend())
        yield _grid(found)
    reasons = upgrade_text.not_compared(found)
    if reasons:
        yield tag("h2", {}, "Not compared")
    for reason, those in reasons.items():
        yield folded(f"{reason} ({len(those):,})", named([upgrade_text.name_of(one) for one in those]))


def _change(number: int, one: Found) -> Element:
    head = tag("strong", {}, f"{number}. {one.words}")
    about = tag("p", {"class": "dim"}, one.where)
    shown = difference(list(one.example.diff))
    example = tag("p", {"class": "dim"}, f"for example {one.example_of}, {one.example.place}")
    places = folded("Where", named([str(name) for name in one.fixtures]))
    return tag("div", {"id": f"change-{number}"}, folded(head, about, example, shown, places, is_open=True))


def _grid(found: Upgrade) -> Element:
    """Build a table of cases × columns; each cell lists its changes by number."""
    columns = list(dict.fromkeys([one.column for one in found.fixtures]))
    places = list(dict.fromkeys([(one.path, one.case) for one in found.fixtures]))
    by_place = {(one.path, one.case, one.column): one for one in found.fixtures}
    rows: list[list[Element | str]] = [
        [f"{path} · {case}", *[_cell(found, by_place.get((path, case, column))) for column in columns]]
        for path, case in places
    ]
    return table(["fixture", *columns], rows)


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
