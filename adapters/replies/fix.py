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
    (`predictor`), of a `field` (`type`, `description`, `name`), of a `demo` by its number (`enabled`), or of the case
    (`reply`: the corrected text; `new_demo`: the values of a demo to add).
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


def describe_field(field: str, words: str) -> Fix:
    message = f"Add to the description of `{field}`: {words}"
    return Fix("description", message, {"field": field, "description": words})


def retype_field(field: str, kind: str, message: str = "") -> Fix:
    return Fix("type", message or f"Give `{field}` the type {kind}.", {"field": field, "type": kind})


def ask_without(capability: str, by_hand: Mapping[str, Any]) -> Fix:
    """Turn off a capability of the column's model, in addition to those set `by_hand`."""
    change = {"params": {"capabilities": {**by_hand, capability: False}}}
    return Fix("capabilities", f"Set the capability `{capability}` of this column to false.", change)


def raise_limit(tokens: int = MORE_TOKENS) -> Fix:
    return Fix("max_tokens", f"Set `max_tokens` to {tokens:,}.", {"params": {"max_tokens": tokens}})
