"""The completions of one call as they arrive, which may each take a request of their own.

Loaded by its path beside `litellm_worker`, with nothing of this project imported.
"""

from __future__ import annotations

from typing import Any, Protocol

Message = dict[str, Any]


class Output(Protocol):
    """Where the pieces go."""

    def send(self, **message: Any) -> None: ...


class Completions:
    """Hands on what comes of the completions of one call, which may each take a request of their own.

    The provider counts the tokens of each request: what is told is the sum of all so far.
    """

    def __init__(self, output: Output, number: int) -> None:
        self._output = output
        self._number = number
        self._usage: Message | None = None
        self._cost: float | None = 0.0
        self._of_this: Message = {}

    def tell(self, piece: Message) -> None:
        self._of_this |= {name: piece[name] for name in ("usage", "cost") if name in piece}
        if self._usage is not None and piece.get("usage") is not None:
            piece = {**piece, "usage": added(self._usage, piece["usage"])}
        if "cost" in piece:
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


def added(one: Message, other: Message) -> Message:
    """The sums of what two answers say of their tokens, name by name; what one leaves open is as the other says."""
    made = {**one, **{name: value for name, value in other.items() if value is not None or name not in one}}
    for name in one.keys() & other.keys():
        first, second = one[name], other[name]
        if isinstance(first, dict) and isinstance(second, dict):
            made[name] = added(first, second)
        elif isinstance(first, int | float) and isinstance(second, int | float):
            made[name] = first + second
    return made
