"""The completions of a call as they arrive, which may each take a request of their own.

Loaded by its path beside `litellm_worker`, with nothing of this project imported.
"""

from __future__ import annotations

from typing import Any, Protocol, TypedDict

Usage = dict[str, Any]
"""What a provider counts, under its own names: numbers, and objects of numbers."""


class CallPiece(TypedDict, total=False):
    """A piece of the tool call at `index`; names come whole and arguments in slices of JSON text."""

    index: int
    id: str
    name: str
    arguments: str


class Piece(TypedDict, total=False):
    """A piece of the completion at `choice` (0-based), as the worker sends it."""

    choice: int
    text: str
    reasoning: str
    refusal: str
    tool_calls: list[CallPiece]
    finish_reason: str
    logprobs: Any
    raw: dict[str, Any]
    """What the provider says about the whole reply."""
    usage: Usage
    cost: float | None
    """In US dollars; None where no price is known."""


class Output(Protocol):
    """The receiver of the pieces."""

    def send(self, **message: Any) -> None: ...


class Completions:
    """Hands on what comes of the completions of a call, which may each take a request of their own.

    The provider counts the tokens of each request: what is told is the sum of all so far.
    """

    def __init__(self, output: Output, number: int) -> None:
        self._output = output
        self._number = number
        self._usage: Usage | None = None
        self._cost: float | None = 0.0
        self._of_this: Piece = {}

    def tell(self, piece: Piece) -> None:
        if "usage" in piece:
            self._of_this["usage"] = piece["usage"]
            if self._usage is not None:
                piece = {**piece, "usage": added(self._usage, piece["usage"])}
        if "cost" in piece:
            self._of_this["cost"] = piece["cost"]
            piece = {**piece, "cost": self._with_cost(piece["cost"])}
        self._output.send(op="chunk", id=self._number, **piece)

    def next(self) -> None:
        """The request is over, and another one follows."""
        usage, cost = self._of_this.get("usage"), self._of_this.get("cost")
        if usage is not None:
            self._usage = usage if self._usage is None else added(self._usage, usage)
        self._cost = self._with_cost(cost)
        self._of_this = {}

    def _with_cost(self, cost: float | None) -> float | None:
        return None if cost is None or self._cost is None else self._cost + cost


def added(one: Usage, other: Usage) -> Usage:
    """The sums of what two answers say of their tokens, name by name; what one leaves open is as the other says."""
    made = {**one, **{name: value for name, value in other.items() if value is not None or name not in one}}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]
        if isinstance(first, dict) and isinstance(second, dict):
            made[name] = added(first, second)
        elif isinstance(first, int | float) and isinstance(second, int | float):
            made[name] = first + second
    return made
