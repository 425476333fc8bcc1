"""One lint and the place it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Part = Literal["demo", "history", "input", "field", "instructions", "prompt", "column"]

Numbered = Sequence[tuple[int, Mapping[str, Any]]]
"""Demos with the number by which a prompt names each."""


class Place(NamedTuple):
    """What to look at: the 1-based `number` of a demo or history turn, and the `field` concerned if there is one.

    `input` is the current value of a field, `field` its declaration, `prompt` all of it,
    `column` its adapter with its model.
    """

    part: Part
    number: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = f"{self.part} {self.number}" if self.number is not None else self.part
        return f"{where} `{self.field}`" if self.field is not None else where


@dataclass(frozen=True, slots=True)
class Lint:
    """A surprise in a prompt: a stable name, a sentence for a person, and where to look."""

    name: str
    message: str
    place: Place
