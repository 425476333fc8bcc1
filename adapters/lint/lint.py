"""One lint and the place it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Part = Literal["demo", "history", "input", "field", "instructions", "prompt", "column"]

Numbered = Sequence[tuple[int, Mapping[str, Any]]]
"""Demos with the number by which a prompt names each."""


class Place(NamedTuple):
    """The part of a prompt, with the 1-based `number` of a demo or turn and the `field` concerned, if any.

    `input` is the current value of a field, `field` its declaration, `prompt` all of it,
    `column` its adapter with its model.
    """

    part: Part
    number: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = f"{self.part} {self.number}" if self.number is not None else self.part
        return f"{where} `{self.field}`" if self.field is not None else where


Severity = Literal["error", "warning", "info"]
"""error: the call fails, or a value is not sent · warning: the model sees or returns something else than given ·
info: what was given is sent, in a form that may surprise."""

_ERRORS = frozenset(
    ("baml-model-used-twice", "input-taken-by-predict", "list-in-a-text-field-crashes", "no-user-message")
)
_INFOS = frozenset(
    (
        "constraint-not-enforced",
        "decision-by-evidence",
        "decision-inside-a-type",
        "default-not-applied",
        "demo-moved",
        "extra-demo-key",
        "extra-input-ignored",
        "history-described-not-sent",
        "instructions-lines-split",
        "list-in-a-text-field",
        "prefix-without-effect",
    )
)


@dataclass(frozen=True, slots=True)
class Lint:
    """A surprise in a prompt: a stable name, a sentence for a person, and where to look."""

    name: str
    message: str
    place: Place

    @property
    def severity(self) -> Severity:
        """Return the severity; kinds without an entry are warnings."""
        return "error" if self.name in _ERRORS else "info" if self.name in _INFOS else "warning"
