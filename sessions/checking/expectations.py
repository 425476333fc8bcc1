"""Judge a parse result against the expectations of a case.

    {"reply": "parses",
     "fields": {"answer": {"contains": "44.80 EUR", "length": {"max": 1200}},
                "invoice.items[0].price": {"approx": 12.5, "tolerance": 0.01}},
     "cost": {"max": 0.01}, "tokens": {"max": 900}, "seconds": {"max": 5},
     "columns": {"xml": {"reply": "does_not_parse"}}}

A key of `fields` is an output field, or a path into its value as JSON. `columns` replaces the other expectations for a
column. `cost` (US dollars), `tokens` and `seconds` apply to the whole run, including fallbacks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.late_dataclasses import dataclass
from adapters.replies.reading import Reading
from adapters.values.plain_json import plain
from sessions.checking.patterns import PatternError, SchemaError, equal, matches, problem
from sessions.file.json_values import JSON
from sessions.model.parameters import kind_of
from sessions.model.replies import Measured

DEFAULT_TOLERANCE = 1e-6
DEFAULT_RATIO = 0.8
LIMITS = ("tolerance", "ratio")
"""Options of a test that set how near is near enough."""
REPLY = ("parses", "does_not_parse")


class ExpectationError(ValueError):
    """An invalid expectation: its `place` in `expect`, and what would work."""

    def __init__(self, place: str, message: str) -> None:
        self.place = place
        self.message = message
        super().__init__(f"{place}: {message}")


@dataclass(frozen=True)
class Failure:
    """An unfulfilled expectation: its `place` in `expect` and the reason. `expected` and `found` are JSON."""

    place: str
    message: str
    expected: JSON
    found: JSON


def column_expectations(expect: Mapping[str, object], column: str) -> Mapping[str, Any]:
    """Return the expectations for a column. Raises `ExpectationError`."""
    for key in expect:
        if key not in ("reply", "fields", "columns", *MEASURED):
            raise ExpectationError(key, f"expected reply, fields, columns, {', '.join(MEASURED)}")
    columns = _object(expect.get("columns", {}), "columns")
    if column in columns:
        return _object(columns[column], f"columns.{column}")
    return {key: value for key, value in expect.items() if key != "columns"}


def judge(expect: Mapping[str, object], reading: Reading, measured: Sequence[Measured] = ()) -> tuple[Failure, ...]:
    """Return the failures of `reading` against a column's expectations (see `column_expectations`).

    `measured` contains the measures of the run, as in `Case.measured`. Raises `ExpectationError` for invalid
    expectations.
    """
    failures: list[Failure] = []
    if "reply" in expect:
        wanted = expect["reply"]
        if wanted not in REPLY:
            raise ExpectationError("reply", 'expected "parses" or "does_not_parse"')
        if (wanted == "parses") is not reading.ok:
            error = reading.error
            said = "parses" if error is None else f"does not parse: {_shortened(f'{error.type}: {error.message}')}"
            failures.append(Failure("reply", f"the reply {said}", wanted, REPLY[not reading.ok]))
    for key, tests in _object(expect.get("fields", {}), "fields").items():
        failures.extend(_judge_field(key, _object(tests, f"fields.{key}"), reading))
    for key in MEASURED:
        if key in expect:
            failures.extend(_judge_measured(key, _object(expect[key], key), measured))
    return tuple(failures)


def _judge_measured(key: str, limits: Mapping[str, object], measured: Sequence[Measured]) -> list[Failure]:
    if set(limits) != {"max"}:
        raise ExpectationError(key, 'expected an object with "max"')
    limit = limits["max"]
    if not isinstance(limit, int | float) or isinstance(limit, bool):
        raise ExpectationError(f"{key}.max", f"expected a number, got {kind_of(limit)}")
    amounts = [MEASURED[key](one) for one in measured]
    known = [one for one in amounts if isinstance(one, int | float)]
    if not known or len(known) != len(amounts):
        return [Failure(key, "was not measured in this run", limit, None)]
    total = sum(known)
    return [] if total <= limit else [Failure(key, f"is more than {limit}", limit, total)]


def _tokens(attempt: Measured) -> float | None:
    usage = attempt.usage or {}
    counted = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    parts = [one for one in counted if isinstance(one, int)]
    return usage.get("total_tokens") or (sum(parts) if len(parts) == len(counted) else None)


MEASURED: Mapping[str, Callable[[Measured], float | None]] = {
    "cost": lambda attempt: attempt.cost,
    "tokens": _tokens,
    "seconds": lambda attempt: None if attempt.duration_ms is None else attempt.duration_ms / 1000,
}
"""Measures of a run by name: each reads an attempt of `Case.measured`, None if unknown."""


def _judge_field(key: str, tests: Mapping[str, object], reading: Reading) -> list[Failure]:
    place = f"fields.{key}"
    name, path = _path(key, place, reading)
    for word in tests:
        if word not in TESTS and word not in LIMITS:
            raise ExpectationError(f"{place}.{word}", f"expected one of {', '.join(TESTS)}")
    if not reading.ok:
        return [Failure(place, "the reply does not parse", dict(tests), None)]
    found: Any = reading.values.get(name)
    for step in path:
        found = _member(found, step)
    if found is _MISSING:
        return [Failure(place, "there is nothing at this place", dict(tests), None)]
    value = plain(found)
    failures: list[Failure] = []
    for word, expected in tests.items():
        if word in LIMITS:
            continue
        try:
            wanted = _WANTED.get(word)
            if wanted is not None and not isinstance(expected, wanted[0]):
                raise TypeError(f"expected {wanted[1]}, got {kind_of(expected)}")
            said = TESTS[word](value, expected, tests)
        except (PatternError, SchemaError, TypeError) as error:
            raise ExpectationError(f"{place}.{word}", str(error)) from None
        if said is not None:
            failures.append(Failure(f"{place}.{word}", said, expected, value))
    return failures


_MISSING = object()
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def _path(key: str, place: str, reading: Reading) -> tuple[str, list[str | int]]:
    """Split a key into its output field and the steps into its value."""
    outputs = reading.signature.output_fields
    if key in outputs or key in reading.values:
        return key, []
    steps = [match[1] if match[2] is None else int(match[2]) for match in _STEP.finditer(key)]
    name = steps[0] if steps else ""
    if not isinstance(name, str) or (name not in outputs and name not in reading.values):
        raise ExpectationError(place, f"no output field {str(name)!r}; expected one of {', '.join(outputs)}")
    return name, steps[1:]


def _member(value: object, step: str | int) -> Any:
    if value is _MISSING:
        return _MISSING
    data = plain(value)
    if isinstance(data, list) and isinstance(step, int):
        return data[step] if step < len(data) else _MISSING
    if isinstance(data, Mapping):
        return data.get(str(step), _MISSING)
    return _MISSING


def _object(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ExpectationError(place, f"expected an object, got {kind_of(value)}")
    return value


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:200] + "…"


def _contains(value: JSON, expected: object, tests: Mapping[str, object]) -> str | None:
    if isinstance(value, list):
        return None if any(equal(item, plain(expected)) for item in value) else "has no such item"
    if isinstance(value, Mapping):
        return None if expected in value else "has no such key"
    if not isinstance(expected, str):
        raise TypeError(f"expected a text to look for, got {kind_of(expected)}")
    return None if expected in _text(value) else "does not contain it"


def _approx(value: JSON, expected: Any, tests: Mapping[str, Any]) -> str | None:
    tolerance = tests.get("tolerance", DEFAULT_TOLERANCE)
    for number in (expected, tolerance):
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise TypeError(f"expected a number, got {kind_of(number)}")
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        return "is not a number"
    return None if number == expected or abs(number - expected) <= tolerance else f"is further away than {tolerance}"


def _length(value: JSON, expected: object, tests: Mapping[str, object]) -> str | None:
    if not isinstance(value, str | list | Mapping):
        return "has no length"
    limits = {"min": expected, "max": expected} if isinstance(expected, int) else expected
    if not isinstance(limits, Mapping) or not set(limits) <= {"min", "max"} or isinstance(expected, bool):
        raise TypeError('expected a whole number, or an object with "min" and "max"')
    for limit in limits.values():
        if not isinstance(limit, int) or isinstance(limit, bool):
            raise TypeError(f"expected a whole number, got {kind_of(limit)}")
    size = len(value)
    fits = limits.get("min", size) <= size <= limits.get("max", size)
    return None if fits else f"has a length of {size}"


def _members(value: JSON, expected: Sequence[object], tests: Mapping[str, object]) -> str | None:
    if not isinstance(value, list):
        return "is not a list"
    missing: list[Any] = [plain(one) for one in expected]
    more = 0
    for item in value:
        place = next((at for at, one in enumerate(missing) if equal(item, one)), None)
        if place is None:
            more += 1
        else:
            del missing[place]
    parts = [f"lacks {_shortened(_text(missing[0]))}" if missing else "", f"has {more} more" if more else ""]
    return " and ".join(part for part in parts if part) or None


def _fuzzy(value: JSON, expected: str, tests: Mapping[str, Any]) -> str | None:
    least = _ratio(tests, DEFAULT_RATIO)
    first, second = [" ".join(one.casefold().split()) for one in (_text(value), expected)]
    from difflib import SequenceMatcher  # few sessions expect a likeness

    found = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return None if found >= least else f"is similar by {found:.2f}, less than {least:g}"


def _overlap(value: JSON, expected: Sequence[object], tests: Mapping[str, Any]) -> str | None:
    if not isinstance(value, list):
        return "is not a list"
    least = _ratio(tests, 1.0)
    sets = [{json.dumps(plain(one), sort_keys=True) for one in each} for each in (value, expected)]
    every = len(sets[0] | sets[1])
    found = len(sets[0] & sets[1]) / every if every else 1.0
    return None if found >= least else f"has {found:.2f} in common, less than {least:g}"


def _ratio(tests: Mapping[str, Any], default: float) -> float:
    found = tests.get("ratio", default)
    if not isinstance(found, int | float) or isinstance(found, bool) or not 0 <= found <= 1:
        raise TypeError(f"expected a ratio from 0 to 1, got {found!r}")
    return found


_WANTED: Mapping[str, tuple[type, str]] = {
    **dict.fromkeys(("in", "overlap"), (list, "a list")),
    "members": (list, "a list of the members"),
    "matches": (str, "a pattern"),
    "fuzzy": (str, "a text"),
}
"""The type that the expected value of a test must have, with its name."""
Test = Callable[[JSON, Any, Mapping[str, Any]], str | None]

TESTS: Mapping[str, Test] = {
    "equals": lambda value, expected, _: None if equal(value, plain(expected)) else "is something else",
    "contains": _contains,
    "matches": lambda value, expected, _: None if matches(expected, _text(value)) else "does not match",
    "in": lambda value, expected, _: None if any(equal(value, plain(one)) for one in expected) else "is none of them",
    "approx": _approx,
    "length": _length,
    "members": _members,
    "schema": lambda value, expected, _: problem(value, expected),
    "fuzzy": _fuzzy,
    "overlap": _overlap,
}
"""The tests by name: value, expected value, all tests of the field → the problem, or None."""
