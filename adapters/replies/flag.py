"""Flags and diagnoses of a parse result, their fixes as data, and short wordings of values and places."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

from adapters.late_dataclasses import dataclass
from adapters.late_dataclasses import field as with_options

SHOWN = 40
"""Maximum characters of a text or value in a sentence."""

MOST_NAMES = 5
"""Maximum number of field names in a sentence."""

FixKind = Literal[
    "reply",
    "adapter",
    "type",
    "description",
    "max_tokens",
    "sampling",
    "native",
    "structured output",
    "fallback",
    "name",
    "demo",
    "predictor",
    "ask again",
    "capabilities",
]


class Fix(NamedTuple):
    """A suggested change of the session, offered by diagnoses and lints.

    `change` has the keys of a column (`adapter`, `options`, `params`), of the session (`fallback`), of the signature
    (`predictor`), of a `field` (`type`, `description`, `name`; `class`: the class inside the signature that declares
    it), of several `fields`, of an Enum (`class`, `values` to add), of a `demo` by its number (`enabled`), or of the
    case (`reply`: the corrected text; `new_demo`: the values of a demo to add).
    """

    kind: FixKind
    message: str
    change: Mapping[str, Any]


class Flag(NamedTuple):
    """A surprise in a reply, about an output field or (None) the whole reply.

    `name` is stable. `path` points into the field's value, such as `item.price`.
    """

    name: str
    message: str
    field: str | None = None
    path: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """A cause of a parse error or surprise: pattern name, message, and fixes on demand."""

    cause: str
    message: str
    field: str | None = None
    path: str = ""
    find_fixes: Callable[[], tuple[Fix, ...]] = with_options(default=tuple, repr=False, compare=False)
    report: str = ""
    """The text of a bug report, if no pattern matches."""

    def __init__(
        self,
        cause: str,
        message: str,
        field: str | None = None,
        path: str = "",
        find_fixes: Callable[[], tuple[Fix, ...]] = tuple,
        report: str = "",
    ) -> None:
        one = vars(self)  # to set the attributes of a frozen dataclass takes three times as long
        one["cause"], one["message"], one["field"], one["path"] = cause, message, field, path
        one["find_fixes"], one["report"] = find_fixes, report

    @cached_property
    def fixes(self) -> tuple[Fix, ...]:
        """The changes that would help, best first."""
        return self.find_fixes()


class HasPlaces(Protocol):
    """A parse result, reduced to what `place` and `line` need."""

    def line_and_column(self, offset: int) -> tuple[int, int]: ...


class _Short(reprlib.Repr):
    def repr_dict(self, x: dict[Any, Any], level: int) -> str:
        # Like reprlib's, but in the order of the reply: reprlib sorts the keys.
        if level <= 0:
            return "{…}"
        first = list(x.items())[: self.maxdict]
        pieces = [f"{self.repr1(key, level - 1)}: {self.repr1(one, level - 1)}" for key, one in first]
        return "{" + ", ".join(pieces + ["…"] * (len(x) > len(first))) + "}"


_short = _Short()
_short.maxstring = _short.maxother = _short.maxlong = SHOWN

UNREAD = "key-not-read"
MISSING = "output-missing"
"""Causes of outputs that are not among the values, although their key is in the reply, or not there at all."""
NOT_SEPARATED = "the server did not separate the thoughts from the answer. Start it with its reasoning parser."


def shown(value: object) -> str:
    """Abbreviate a text or value for a sentence; never raises."""
    if type(value) is str:
        return repr(value) if len(value) <= SHOWN else repr(value[:SHOWN])[:-1] + "…" + repr(value[:SHOWN])[-1]
    try:
        return _short.repr(value)
    except Exception:  # a user's type may raise in its own __repr__
        return f"a {type(value).__name__}"


def place(reading: HasPlaces, offset: int) -> str:
    """Return the line and column of an offset, in words."""
    line, column = reading.line_and_column(offset)
    return f"line {line}, column {column}"


def line(reading: HasPlaces, offset: int) -> str:
    """Return the line of an offset, in words."""
    return f"line {reading.line_and_column(offset)[0]}"


def named(names: Sequence[str]) -> str:
    """Format field names for a sentence, only the first few of many."""
    first = ", ".join([f"`{name}`" for name in names[:MOST_NAMES]])
    return first if len(names) <= MOST_NAMES else f"{first} and {len(names) - MOST_NAMES} more"


MORE_TOKENS = 4000

ASK_AGAIN = Fix(
    "ask again", "Return the error of a reply to the model, once (dspy does not do this).", {"params": {"ask_again": 1}}
)


def use_adapter(adapter: str) -> Fix:
    kind: FixKind = "structured output" if adapter == "json" else "adapter"
    return Fix(kind, f"Use the adapter `{adapter}` for this column.", {"adapter": adapter})


def describe_field(field: str, words: str, owner: str = "") -> Fix:
    label, place = _declared(field, owner)
    return Fix("description", f"Add to the description of `{label}`: {words}", {**place, "description": words})


def retype_field(field: str, kind: str, message: str = "", owner: str = "") -> Fix:
    label, place = _declared(field, owner)
    return Fix("type", message or f"Give `{label}` the type {kind}.", {**place, "type": kind})


def _declared(field: str, owner: str) -> tuple[str, dict[str, str]]:
    """Return a field's name for a message and for a change, in the class `owner` if that declares it."""
    return (f"{owner}.{field}", {"class": owner, "field": field}) if owner else (field, {"field": field})


def ask_without(capability: str, by_hand: Mapping[str, Any]) -> Fix:
    """Turn off a capability of the column's model, in addition to those set `by_hand`."""
    change = {"params": {"capabilities": {**by_hand, capability: False}}}
    return Fix("capabilities", f"Set the capability `{capability}` of this column to false.", change)


def raise_limit(tokens: int = MORE_TOKENS) -> Fix:
    return Fix("max_tokens", f"Set `max_tokens` to {tokens:,}.", {"params": {"max_tokens": tokens}})
