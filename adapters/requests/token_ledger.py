"""Count the tokens of a request by origin; the parts add up to the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adapters.late_dataclasses import dataclass
from adapters.requests.request import Request
from adapters.requests.token_estimates import Origin, estimates, texts_of, uncounted

DESCRIBING = frozenset({"name", "type", "description", "constraint"})
"""Kinds of system message pieces that describe a field."""

Counts = tuple[str, Sequence[Sequence[int]]]
"""A tokenizer's name, and for each text the tokens of its pieces (`adapters.lm.worker.questions.counts_of`)."""


@dataclass(frozen=True)
class Row:
    """The tokens of an origin; `exact` if counted by the model's own tokenizer.

    Exact counts are of the very text that the model reads.
    """

    kind: str
    field: str | None
    turn: str | None
    tokens: int
    exact: bool

    @property
    def name(self) -> str:
        """Return a name for people: `instructions`, `descriptions`, `demo 3`, `inputs`, …"""
        if self.kind == "format":
            return "chat format"
        if self.turn is None or self.turn.startswith(("demo ", "history ")):
            return self.turn or self.kind
        if self.kind in DESCRIBING:
            return "descriptions" if self.turn == "system" else "reminder"
        if self.kind in ("value", "data", "filler", "tool_call"):
            return "inputs"
        return _NAMES.get(self.kind, self.kind)


_NAMES = {"marker": "markers", "boilerplate": "fixed words", "custom": "adapter's own text"}


@dataclass(frozen=True)
class Share:
    """An origin's name for people, with its tokens."""

    name: str
    tokens: int
    exact: bool


@dataclass(frozen=True)
class Ledger:
    """The rows of a request, in the order in which their texts are sent.

    `tokenizer` is the tokenizer used, None for estimates; `uncounted` names parts whose tokens are unknown.
    """

    rows: tuple[Row, ...]
    tokenizer: str | None = None
    uncounted: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Return the tokens of the whole request."""
        return sum([row.tokens for row in self.rows])

    @property
    def exact(self) -> bool:
        return not self.uncounted and all(row.exact for row in self.rows)

    @property
    def shares(self) -> tuple[Share, ...]:
        """Return the tokens by origins' names for people; together the whole request."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.name, []).append(row)
        return tuple(
            [Share(name, sum([one.tokens for one in rows]), all(one.exact for one in rows))
             for name, rows in found.items()]
        )  # fmt: skip

    @property
    def fields(self) -> Mapping[str, int]:
        """Return the tokens that each signature field adds to the prompt, most expensive first."""
        found: dict[str, int] = {}
        for row in self.rows:
            if row.field is not None:
                found[row.field] = found.get(row.field, 0) + row.tokens
        return dict(sorted(found.items(), key=lambda one: -one[1]))


def pieces_of(request: Request) -> list[list[str]]:
    """Return the texts of a request in pieces, as a tokenizer expects them."""
    return [[piece.text for piece in one.pieces] for one in texts_of(request.messages, request.params)]


def ledger_of(request: Request, counts: Counts | None = None) -> Ledger:
    """Count the tokens by `counts` of `pieces_of(request)`; without it everything is estimated."""
    texts = texts_of(request.messages, request.params)
    tokenizer, by_text = counts if counts is not None else (None, list(map(estimates, pieces_of(request))))
    found: dict[Origin, tuple[int, bool]] = {}
    for one, tokens in zip(texts, by_text, strict=True):
        is_exact = tokenizer is not None and one.is_told
        for piece, count in zip(one.pieces, tokens, strict=True):
            before, was_exact = found.get(piece.origin, (0, True))
            found[piece.origin] = (before + (count if one.fixed is None else one.fixed), was_exact and is_exact)
    rows = [Row(*origin, tokens, exact) for origin, (tokens, exact) in found.items() if tokens]
    return Ledger(tuple(rows), tokenizer, uncounted(request.messages))
