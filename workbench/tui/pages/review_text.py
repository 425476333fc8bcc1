"""What a review says of one fixture: what changed, what is decided of it, and all of it as recorded beside now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sessions.causes.cause import Cause, FixtureName
from sessions.fixtures.verdicts import Drift
from workbench.checks.decisions import Decision, Decisions, why_not
from workbench.checks.reviewing import Whole
from workbench.output.display import one_line
from workbench.tui.pages import drifts, whole_fixture
from workbench.tui.pages.drifts import IN_WORDS, View
from workbench.tui.pages.fixtures_of_cause import end_of
from workbench.tui.pages.whole_fixture import Extent
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

LONGEST_WORDS = 400
SIGNS: Mapping[Decision | None, Piece] = {
    "accept": Piece("✓ ", "ok"),
    "leave": Piece("– ", "note"),
    None: Piece("○ ", "accent"),
}
SAID: Mapping[Decision | None, str] = {"accept": "accepted", "leave": "stays drift", None: "not decided"}


class LookedAt(NamedTuple):
    """A cause, which of its fixtures (from 0), that one's drifts and all of it; `below` are fixtures that follow it."""

    decisions: Decisions
    cause: Cause
    fixture: int
    drifts: tuple[Drift, ...]
    whole: Whole | None
    below: tuple[tuple[FixtureName, tuple[Drift, ...]], ...] = ()


class Shown(NamedTuple):
    """How it is shown, in how many cells; whether the cause and the reply are a part of it or stand elsewhere."""

    view: View
    width: int
    extent: Extent
    with_cause: bool
    with_reply: bool


def blocks_of(of: LookedAt, shown: Shown) -> Iterator[Block]:
    """All that is said of the fixture, from the top."""
    view, width = shown.view, shown.width
    yield from _in_words(of, shown)
    yield from drifts.blocks_of(of.drifts, view, width)
    if of.whole is not None:
        yield from whole_fixture.prompt_of(of.whole, view, width, shown.extent)
        if shown.with_reply:
            yield from whole_fixture.reply_of(of.whole, shown.extent)
    for number, (fixture, found) in enumerate(of.below, of.fixture + 1):
        yield from (EMPTY, _name_of(of.cause, fixture, number, width), *drifts.blocks_of(found, view, width))


def _in_words(of: LookedAt, shown: Shown) -> Iterator[Block]:
    """What changed, where, in which fixture of how many, and what is decided."""
    cause = of.cause
    if shown.with_cause:
        yield block(one_line(cause.words, LONGEST_WORDS), "title")
    where = drifts.places_of(cause, of.drifts)
    if where:
        yield block(f"in {one_line(where, 3 * shown.width - len('in '))}", "note")
    yield _name_of(cause, cause.fixtures[of.fixture], of.fixture, shown.width)
    decision = of.decisions.of(cause)
    yield Block((SIGNS[decision], Piece(SAID[decision]), Piece(f"   shown {IN_WORDS[shown.view]}", "note")))
    if means := _what_it_means(of):
        yield block(one_line(means, LONGEST_WORDS), "warning")


def _name_of(cause: Cause, fixture: FixtureName, index: int, width: int) -> Block:
    """Which fixture of the cause it is, from 0, and where it stands."""
    number = f"{index + 1:,} of {len(cause.fixtures):,}"
    behind = f" · {one_line(fixture.case, 30)} · {one_line(fixture.column, 30)}"
    shown = end_of(fixture.path, max(12, width - len(number) - len(behind) - 10)) + behind
    return Block((Piece("fixture ", "note"), Piece(number, "accent"), Piece(f"  {shown}")))


def _what_it_means(of: LookedAt) -> str:
    """What a decision on this cause would not do, or would do beside it."""
    if why := why_not(of.cause):
        return why
    others = of.decisions.others_of(of.cause, of.cause.fixtures[of.fixture])
    waiting = [one for one in others if of.decisions.of(one) != "accept"]
    is_source = of.cause.key.kind == "source"
    if waiting:
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        what = "the program's text" if is_source else "this fixture"
        return f"{what} waits for another cause too: {waiting[0].words}{more}"
    if is_source:
        return (
            "accepting takes the program's text over, unless the session's was edited since; "
            "what that changes in prompts is the next review's"
        )
    return ""
