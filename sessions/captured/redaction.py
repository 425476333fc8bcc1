"""Redact the values of chosen fields everywhere in a captured call."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

from adapters.lm.secrets import map_texts
from sessions.captured.recordings import LiveAttempt, LiveCall, LiveReading
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
    holders: list[Any] = [call.inputs, *call.demos, *call.values]
    holders += [one.values for attempt in call.attempts for one in attempt.readings if one.values is not None]
    for holder in holders:
        yield from _named(holder, names)


def _named(value: object, names: frozenset[str]) -> Iterator[str]:
    """Yield the texts under these names at any depth: the turns of a history contain fields."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            if key in names:
                yield from _leaves(item, key)
            else:
                yield from _named(item, names)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _named(item, names)


def _leaves(value: object, field: str) -> Iterator[str]:
    if isinstance(value, str):
        if 0 < len(value) < SHORTEST:
            raise SessionError(None, field, "cannot be redacted, as it is too short: the call is skipped")
        if value:
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _leaves(item, field)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, field)
    elif value is not None and not isinstance(value, bool):
        raise SessionError(None, field, "cannot be redacted, as it is not a text: the call is skipped")


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
    readings = [
        LiveReading(None if one.values is None else _without(one.values, swaps), one.error) for one in attempt.readings
    ]
    return replace(
        attempt,
        messages=tuple(_without(list(attempt.messages), swaps)),
        params=_without(attempt.params, swaps),
        outputs=tuple(_without(list(attempt.outputs), swaps)),
        error=None if attempt.error is None else _without(attempt.error, swaps),
        readings=tuple(readings),
    )
