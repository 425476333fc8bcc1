"""The fixtures of a cause as a list, file by file, and what a decision does to them."""

from __future__ import annotations

from collections.abc import Iterator

from sessions.causes.cause import Cause
from workbench.checks.decisions import why_not
from workbench.output.display import one_line
from workbench.tui.keys.key_words import KeyWords
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

MOST = 200
"""Fixtures listed around the one at hand."""
LONGEST = 60
_TARGET = "fixture "


def blocks_of(cause: Cause, at: int, then: str, keys: KeyWords, width: int) -> list[Block]:
    """The list, with the fixture `at` marked, and below it the decisions; `then` is what leaving the review does."""
    return [*_decisions(cause, then, keys), EMPTY, *_fixtures(cause, at, keys, width)]


def target_of(index: int) -> str:
    """The target of the entry of a fixture."""
    return f"{_TARGET}{index}"


def index_of(target: str) -> int | None:
    """Which fixture an entry of the list leads to; None for the target of something else."""
    return int(target.removeprefix(_TARGET)) if target.startswith(_TARGET) else None


def end_of(path: str, length: int) -> str:
    """A path in one line, the end of it where it is too long: there stands which file it is."""
    shown = one_line(path, len(path) + 1)
    return shown if len(shown) <= length else f"…{shown[1 - length :]}"


def _fixtures(cause: Cause, at: int, keys: KeyWords, width: int) -> Iterator[Block]:
    count = len(cause.fixtures)
    walked = keys("   {review.before|←} {review.next|→}") if count > 1 else ""
    yield Block((Piece(f"{count:,} fixture{'' if count == 1 else 's'}", "heading"), Piece(walked, "note")))
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
        yield Block((Piece(mark, "accent"), Piece(name, style)), 0, target_of(index))
    if first + MOST < count:
        yield block(f"… {count - first - MOST:,} more", "note")


def _decisions(cause: Cause, then: str, keys: KeyWords) -> Iterator[Block]:
    yield block("You decide", "heading")
    for key, word, means in _means(cause, then):
        yield Block((Piece(f"{keys(key)} ", "key"), Piece(word), Piece(means, "note")))


def _means(cause: Cause, then: str) -> Iterator[tuple[str, str, str]]:
    """Each decision: its key, its word, what it means for this cause."""
    count = len(cause.fixtures)
    many, s = ("the fixture", "s") if count == 1 else (f"all {count:,}", "")
    if why_not(cause):
        accept = " does not settle it"
    elif cause.key.kind == "source":
        accept = " what the program says; the session takes it over"
    else:
        accept = f" the change; {many} {'is' if s else 'are'} recorded anew, each with the reply it has"
    yield "{review.accept|a}", "accept", accept
    yield "{review.leave|s}", "leave", f" it; {many} stay{s} drift until the change is taken back"
    yield "{review.close|esc}", "close", f", which {then} what is accepted"
