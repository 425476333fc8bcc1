"""Show the texts of a review: a cause's fixtures, and a fixture's changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sessions.causes.cause import Cause, FixtureName
from sessions.checking.verdicts import Drift
from sessions.errors import counted
from workbench.checks.decisions import Decision, Decisions, why_not
from workbench.checks.reviewing import Whole
from workbench.output.display import one_line
from workbench.tui.keys import KeyWords
from workbench.tui.pages import drifts
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

MOST = 200
"""The number of fixtures listed around the current fixture."""
LONGEST = 60
TARGET = "fixture "
"""The beginning of a target that leads to the fixture with an index."""


def end_of(path: str, length: int) -> str:
    """Shorten a path to its last `length` characters, which contain the file name."""
    shown = one_line(path, len(path) + 1)
    return shown if len(shown) <= length else f"…{shown[1 - length :]}"


def fixture_list(cause: Cause, at: int, then: str, keys: KeyWords, width: int) -> Iterator[Block]:
    """List the decisions and a cause's fixtures, with `at` marked; `then` says what leaving the review does."""
    count = len(cause.fixtures)
    many, s = ("the fixture", "s") if count == 1 else (f"all {count:,}", "")
    accept = f" the change; {many} {'is' if s else 'are'} recorded again, each with its own reply"
    if why_not(cause):
        accept = " does not settle it"
    elif cause.key.kind == "source":
        accept = " the program's text; the session pulls it"
    yield block("You decide", "heading")
    for key, word, means in (
        ("{review.accept|a}", "accept", accept),
        ("{review.leave|s}", "reject", f" it; {many} keep{s} failing until the change is undone"),
        ("{review.close|esc}", "close", f", which {then} what is accepted"),
    ):
        yield Block((Piece(f"{keys(key)} ", "key"), Piece(word), Piece(means, "note")))
    yield EMPTY
    walked = keys("   {review.before|←} {review.next|→}") if count > 1 else ""
    yield Block((Piece(counted(count, "fixture"), "heading"), Piece(walked, "note")))
    first = max(0, min(at - MOST // 2, count - MOST))
    if first:
        yield block(f"… {first:,} before", "note")
    path = ""
    for index, one in enumerate(cause.fixtures[first : first + MOST], first):
        if one.path != path:
            path = one.path
            yield block(end_of(path, max(12, width)), "note")
        mark, style = ("▸ ", "accent") if index == at else ("  ", "text")
        name = f"{one_line(one.case, LONGEST)} · {one_line(one.column, LONGEST)}"
        yield Block((Piece(mark, "accent"), Piece(name, style)), 0, f"{TARGET}{index}")
    if first + MOST < count:
        yield block(f"… {count - first - MOST:,} more", "note")


LONGEST_WORDS = 400
SIGNS: Mapping[Decision | None, Piece] = {
    "accept": Piece("✓ ", "ok"),
    "leave": Piece("– ", "note"),
    None: Piece("○ ", "accent"),
}
SAID: Mapping[Decision | None, str] = {"accept": "accepted", "leave": "rejected", None: "not decided"}


class LookedAt(NamedTuple):
    """A cause, and the index, drifts and full content of a fixture; `below` are the next fixtures with their drifts."""

    decisions: Decisions
    cause: Cause
    fixture: int
    drifts: tuple[Drift, ...]
    whole: Whole | None
    below: tuple[tuple[FixtureName, tuple[Drift, ...]], ...] = ()


class Shown(NamedTuple):
    """The view, width (in cells) and extent of a text, and whether it includes the cause's name and the reply."""

    view: drifts.View
    width: int
    extent: drifts.Extent
    with_cause: bool
    with_reply: bool


def blocks_of(of: LookedAt, shown: Shown) -> Iterator[Block]:
    """Show the cause, the fixture and its changes."""
    view, width = shown.view, shown.width
    cause = of.cause
    if shown.with_cause:
        yield block(one_line(cause.words, LONGEST_WORDS), "title")
    where = drifts.places_of(cause, of.drifts)
    if where:
        yield block(f"in {one_line(where, 3 * shown.width - len('in '))}", "note")
    yield _name_of(cause, cause.fixtures[of.fixture], of.fixture, shown.width)
    decision = of.decisions.of(cause)
    yield Block((SIGNS[decision], Piece(SAID[decision]), Piece(f"   shown {drifts.IN_WORDS[shown.view]}", "note")))
    if means := _what_it_means(of):
        yield block(one_line(means, LONGEST_WORDS), "warning")
    is_about_reply = of.cause.changes_verdict and of.whole is not None
    if is_about_reply and shown.with_reply and of.whole is not None:
        yield from drifts.reply_of(of.whole, shown.extent)
    yield from drifts.blocks_of(of.drifts, view, width)
    if of.whole is not None:
        yield from drifts.prompt_of(of.whole, view, width, shown.extent)
        if shown.with_reply and not is_about_reply:
            yield from drifts.reply_of(of.whole, shown.extent)
    for number, (fixture, found) in enumerate(of.below, of.fixture + 1):
        yield from (EMPTY, _name_of(of.cause, fixture, number, width), *drifts.blocks_of(found, view, width))


def _name_of(cause: Cause, fixture: FixtureName, index: int, width: int) -> Block:
    number = f"{index + 1:,} of {len(cause.fixtures):,}"
    behind = f" · {one_line(fixture.case, 30)} · {one_line(fixture.column, 30)}"
    shown = end_of(fixture.path, max(12, width - len(number) - len(behind) - 10)) + behind
    return Block((Piece("fixture ", "note"), Piece(number, "accent"), Piece(f"  {shown}")))


def _what_it_means(of: LookedAt) -> str:
    """Explain limits and side effects of a decision on this cause; "" without any."""
    if why := why_not(of.cause):
        return why
    others = of.decisions.others_of(of.cause, of.cause.fixtures[of.fixture])
    waiting = [one for one in others if of.decisions.of(one) != "accept"]
    is_source = of.cause.key.kind == "source"
    if waiting:
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        what = "the program's text" if is_source else "this fixture"
        return f"{what} depends on another cause too: {waiting[0].words}{more}"
    if is_source:
        return (
            "accepting pulls the program's text, unless the session was edited since; "
            "the next review shows the prompts it changes"
        )
    return ""
