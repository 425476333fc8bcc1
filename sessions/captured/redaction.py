"""Redact the values of chosen fields everywhere in a captured call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from adapters.lm.secrets import map_texts
from sessions.captured.recordings import LiveAttempt, LiveCall
from sessions.errors import SessionError

REDACTED = "(redacted)"
SHORTEST = 4
"""The minimum length of a redactable text; shorter ones match ordinary words."""


def redacted(call: LiveCall, fields: Iterable[str]) -> LiveCall:
    """Redact these fields' texts in inputs, demos, history, prompts, replies and parse results.

    Raises `SessionError` for a value that cannot be found in a prompt reliably: a number, a very short text.
    """
    names = frozenset(fields)
    if not names:
        return call
    texts = sorted(set(_texts(call, names)), key=len, reverse=True)
    if not texts:
        return call
    swaps = list(dict.fromkeys(form for text in texts for form in _forms(text)))
    return replace(
        call,
        inputs=_without(call.inputs, swaps),
        demos=tuple(_without(list(call.demos), swaps)),
        attempts=tuple([_attempt(one, swaps) for one in call.attempts]),
        values=tuple(_without(list(call.values), swaps)),
    )


def _texts(call: LiveCall, names: frozenset[str]) -> Iterator[str]:
    yield from _leaves([call.inputs, *call.demos, *call.values], names)
    yield from _leaves([one.values for attempt in call.attempts for one in attempt.readings], names)


def _leaves(value: object, names: frozenset[str], field: str = "") -> Iterator[str]:
    """Yield the texts of these fields, at any depth: the turns of a history contain fields."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, names, field or (key if key in names else ""))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, names, field)
    elif not field or value in ("", None) or isinstance(value, bool):
        return
    elif not isinstance(value, str):
        raise SessionError(None, field, "cannot be redacted, as it is not a text: the call is skipped")
    elif len(value) < SHORTEST:
        raise SessionError(None, field, "cannot be redacted, as it is too short: the call is skipped")
    else:
        yield value


def _forms(text: str) -> Iterator[str]:
    """Yield the forms of a text in prompts and replies: as is, stripped, and in JSON or XML."""
    for one in (text, text.strip()):
        yield one
        yield json.dumps(one)[1:-1]
        yield json.dumps(one, ensure_ascii=False)[1:-1]
        yield one.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _without(value: object, swaps: list[str]) -> Any:
    return map_texts(value, lambda text: reduce(lambda done, one: done.replace(one, REDACTED), swaps, text))


def _attempt(attempt: LiveAttempt, swaps: list[str]) -> LiveAttempt:
    readings = [replace(one, values=_without(one.values, swaps)) for one in attempt.readings]
    return replace(
        attempt,
        messages=tuple(_without(list(attempt.messages), swaps)),
        params=_without(attempt.params, swaps),
        outputs=tuple(_without(list(attempt.outputs), swaps)),
        error=_without(attempt.error, swaps),
        readings=tuple(readings),
    )
