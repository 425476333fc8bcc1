"""Fixes: changes of the session as data, offered by diagnoses and lints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

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
    """A suggested change of the session.

    `change` has the keys of a column (`adapter`, `options`, `params`), of the session (`fallback`), of the signature
    (`predictor`), of a `field` (`type`, `description`, `name`; `class`: the class inside the signature that declares
    it), of several `fields`, of an Enum (`class`, `values` to add), of a `demo` by its number (`enabled`), or of the
    case (`reply`: the corrected text; `new_demo`: the values of a demo to add).
    """

    kind: FixKind
    message: str
    change: Mapping[str, Any]


MORE_TOKENS = 4000

ASK_AGAIN = Fix(
    "ask again", "Return the error of a reply to the model, once (dspy does not do this).", {"params": {"ask_again": 1}}
)


def use_adapter(adapter: str) -> Fix:
    kind: FixKind = "structured output" if adapter == "json" else "adapter"
    return Fix(kind, f"Use the adapter `{adapter}` for this column.", {"adapter": adapter})


def describe_field(field: str, words: str, owner: str = "") -> Fix:
    message = f"Add to the description of `{_label(field, owner)}`: {words}"
    return Fix("description", message, {**_declared(field, owner), "description": words})


def retype_field(field: str, kind: str, message: str = "", owner: str = "") -> Fix:
    told = message or f"Give `{_label(field, owner)}` the type {kind}."
    return Fix("type", told, {**_declared(field, owner), "type": kind})


def _label(field: str, owner: str) -> str:
    return f"{owner}.{field}" if owner else field


def _declared(field: str, owner: str) -> dict[str, str]:
    return {"class": owner, "field": field} if owner else {"field": field}


def ask_without(capability: str, by_hand: Mapping[str, Any]) -> Fix:
    """Turn off a capability of the column's model, in addition to those set `by_hand`."""
    change = {"params": {"capabilities": {**by_hand, capability: False}}}
    return Fix("capabilities", f"Set the capability `{capability}` of this column to false.", change)


def raise_limit(tokens: int = MORE_TOKENS) -> Fix:
    return Fix("max_tokens", f"Set `max_tokens` to {tokens:,}.", {"params": {"max_tokens": tokens}})
