"""A lint, its place in the prompt, and fixes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from adapters.late_dataclasses import dataclass
from adapters.replies.flag import Fix, describe_field, raise_limit, retype_field, use_adapter

Part = Literal["demo", "history", "input", "field", "instructions", "prompt", "column"]

Numbered = Sequence[tuple[int, Mapping[str, Any]]]
"""Demos or turns, each with its number in the prompt."""


class Place(NamedTuple):
    """A part of a prompt, with a demo's or turn's 1-based `number` and its `field`.

    `input` is the current value of a field, `field` its declaration, `prompt` the whole prompt, `column` the adapter
    with its model.
    """

    part: Part
    number: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = f"{self.part} {self.number}" if self.number is not None else self.part
        return f"{where} `{self.field}`" if self.field is not None else where


Severity = Literal["error", "warning", "info"]
"""error: the call fails, or a value is not sent · warning: the model sees or returns something different · info:
everything is sent, in a form that may surprise."""

_ERRORS = frozenset(
    (
        *("baml-model-used-twice", "input-taken-by-predict", "list-in-a-text-field-crashes", "no-prompt"),
        *("no-user-message", "schema-rejected"),
    )
)
ABOUT_TYPES = frozenset(
    (
        *("all-keys-optional", "code-of-type-not-run", "literal-in-a-list", "literal-of-booleans"),
        *("no-response-format", "none-stays-text-here", "python-dict-asked", "reasoning-asked-twice"),
    )
)
"""Infos about many ordinary signatures: listed on request, not while a prompt is written."""
_INFOS = ABOUT_TYPES | frozenset(
    (
        "baml-asks-for-markers",
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
        "validated-value-differs",
    )
)

FixesOfPlace = Callable[[Place], tuple[Fix, ...]]


def _use(*adapters: str) -> FixesOfPlace:
    return lambda _: tuple([use_adapter(one) for one in adapters])


def _describe(words: str) -> FixesOfPlace:
    return lambda place: (describe_field(place.field or "", words),)


def _type(kind: str) -> FixesOfPlace:
    return lambda place: (retype_field(place.field or "", kind),)


def _rename(place: Place) -> tuple[Fix, ...]:
    name = f"{place.field}_"
    return (Fix("name", f"Rename `{place.field}` to `{name}`.", {"field": place.field, "name": name}),)


def _disable_demo(place: Place) -> tuple[Fix, ...]:
    return (Fix("demo", f"Disable demo {place.number}.", {"demo": place.number, "enabled": False}),)


FIXES: Mapping[str, FixesOfPlace] = MappingProxyType(
    {
        "demo-dropped": _disable_demo,
        "demo-filled-in": lambda place: _disable_demo(place) if place.part == "demo" else (),
        "demo-does-not-read-back": _disable_demo,
        "history-printed-as-text": _use("chat"),
        "left-out-by-the-format": _use("chat"),
        "no-user-message": _use("chat", "json"),
        "input-taken-by-predict": _rename,
        "output-named-completed": _rename,
        "list-in-a-text-field": _type("list[str]"),
        "list-in-a-text-field-crashes": _type("list"),
        "marker-in-value": _use("xml"),
        "tag-in-value": _use("chat", "json"),
        "enum-values-do-not-parse": _use("json"),
        "alias-not-shown": _use("json"),
        "baml-asks-for-markers": _use("json"),
        "baml-model-used-twice": _use("json", "chat"),
        "code-as-xml": _use("chat", "json"),
        "code-as-json": _use("chat"),
        "formula-as-json": lambda place: (
            *_use("chat", "xml")(place),
            *_describe("Write each backslash twice.")(place),
        ),
        "all-keys-optional": _describe("Use exactly the JSON keys of the schema."),
        "media-as-output": _type("str"),
        "python-dict-asked": _describe("A JSON object, with null, true and false."),
        "literal-of-booleans": _type("bool"),
        "literal-in-a-list": _describe("Only the values listed, nothing else."),
        "none-stays-text-here": _use("json"),
        "open-dict-closed-by-schema": _use("chat", "xml"),
        "schema-rejected": _use("chat", "xml"),
        "no-response-format": _use("chat"),
        "reasoning-asked-twice": lambda place: (
            _type("dspy.Reasoning")(place)
            if place.part == "field"
            else (Fix("predictor", "Use Predict, without an output `reasoning`.", {"predictor": "Predict"}),)
        ),
        "max-tokens-too-low": lambda _: (raise_limit(),),
        "max-tokens-too-high": lambda place: (raise_limit(place.number or 0),),
        "context-too-small": lambda place: _disable_demo(place) if place.part == "demo" else (),
    }
)
"""Changes of the session that resolve each lint, best first, by the lint's name."""


@dataclass(frozen=True, slots=True)
class Lint:
    """A surprise in a prompt: a stable name, a message, and its place."""

    name: str
    message: str
    place: Place

    @property
    def severity(self) -> Severity:
        """Return the severity; kinds without an entry are warnings."""
        if self.name in _ERRORS:
            return "error"
        return "info" if self.name in _INFOS else "warning"

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Return the changes of the session that help, best first."""
        make = FIXES.get(self.name)
        return () if make is None else make(self.place)
