"""Forward the completions of a call as they arrive, and sum up tokens and cost if each takes its own request.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

from typing import Any, Protocol, TypedDict

Usage = dict[str, Any]
"""A provider's token counts under its own names: numbers, and objects of numbers."""


class CallPiece(TypedDict, total=False):
    """A part of the tool call at `index`; names arrive whole, arguments as fragments of JSON text."""

    index: int
    id: str
    name: str
    arguments: str


class Piece(TypedDict, total=False):
    """A part of the completion at `choice` (0-based), as the worker sends it."""

    choice: int
    text: str
    reasoning: str
    refusal: str
    tool_calls: list[CallPiece]
    finish_reason: str
    logprobs: Any
    raw: dict[str, Any]
    """The provider's metadata of the whole reply."""
    usage: Usage
    cost: float | None
    """Cost in US dollars; None if the price is unknown."""


class Output(Protocol):
    """The receiver of the pieces."""

    def send(self, **message: Any) -> None: ...


class Completions:
    """Forwards the pieces of a call's completions, which may each take their own request.

    Providers count tokens per request; the forwarded usage and cost are the sums so far.
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
            piece = {**piece, "cost": self._add_cost(piece["cost"])}
        self._output.send(op="chunk", id=self._number, **piece)

    def next(self) -> None:
        """Begin the next request after the current one has ended."""
        usage, cost = self._of_this.get("usage"), self._of_this.get("cost")
        if usage is not None:
            self._usage = usage if self._usage is None else added(self._usage, usage)
        self._cost = self._add_cost(cost)
        self._of_this = {}

    def _add_cost(self, cost: float | None) -> float | None:
        return None if cost is None or self._cost is None else self._cost + cost


def added(one: Usage, other: Usage) -> Usage:
    """Add two usages name by name; a value that only one of them has is copied."""
    made = {**one, **{name: value for name, value in other.items() if value is not None or name not in one}}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]
        if isinstance(first, dict) and isinstance(second, dict):
            made[name] = added(first, second)
        elif isinstance(first, int | float) and isinstance(second, int | float):
            made[name] = first + second
    return made
