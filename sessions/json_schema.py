"""A value checked against a JSON Schema: the common keywords, no reference out of the schema, nothing fetched.

A keyword that is not known here is refused, since passing over it would let a wrong value pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sessions.errors import step_into
from sessions.json_values import JSON
from sessions.patterns import matches
from sessions.typed_values import same

DEPTH = 60
_WORDS_ONLY = frozenset(
    {"title", "description", "default", "examples", "$comment", "$defs", "definitions", "$schema", "$id", "format"}
)


class SchemaError(ValueError):
    """A schema that cannot be used here; the message says why."""


def problem(value: JSON, schema: Any) -> str | None:
    """What is wrong with `value`, with its place, or None. Raises `SchemaError` and `patterns.PatternError`."""
    try:
        return _problem(value, schema, _Root(schema), "", 0)
    except (TypeError, AttributeError) as error:
        raise SchemaError(f"a keyword of the schema has the wrong kind of value: {error}") from None


@dataclass
class _Root:
    """The whole schema, and how many more parts of it may be looked at: references can branch without end."""

    schema: Any
    steps_left: int = 100_000


def _problem(value: JSON, schema: Any, root: _Root, place: str, depth: int) -> str | None:
    root.steps_left -= 1
    if depth > DEPTH or root.steps_left < 0:
        raise SchemaError("the schema refers to itself without end, or is too large")
    if schema is True:
        return None
    if schema is False:
        return _said(place, "nothing is allowed here")
    if not isinstance(schema, Mapping):
        raise SchemaError("a schema is an object, true or false")
    for keyword, argument in schema.items():
        if keyword in _WORDS_ONLY:
            continue
        found: str | None
        if keyword == "$ref":
            found = _problem(value, _resolved(argument, root.schema), root, place, depth + 1)
        elif keyword in _COMBINED:
            found = _COMBINED[keyword](value, argument, root, place, depth)
        elif keyword in _INSIDE:
            found = _INSIDE[keyword](value, argument, schema, root, place, depth)
        elif keyword in _PLAIN:
            said = _PLAIN[keyword](value, argument)
            found = None if said is None else _said(place, said)
        else:
            raise SchemaError(f'the schema\'s keyword "{keyword}" is not supported')
        if found is not None:
            return found
    return None


def _said(place: str, message: str) -> str:
    return f"{place}: {message}" if place else message


def _resolved(reference: Any, schema: Any) -> Any:
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise SchemaError(f"the schema's $ref {reference!r} leads out of it; only #/… is followed")
    found = schema
    for key in reference[2:].split("/") if reference != "#" else ():
        name = key.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, Mapping) or name not in found:
            raise SchemaError(f"the schema's $ref {reference!r} leads nowhere")
        found = found[name]
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, Mapping),
}


def _type(value: Any, argument: Any) -> str | None:
    names = argument if isinstance(argument, list) else [argument]
    if not all(isinstance(name, str) and name in _TYPES for name in names):
        raise TypeError
    return None if any(_TYPES[name](value) for name in names) else f"is not of type {' or '.join(names)}"


def equal(one: JSON, other: JSON) -> bool:
    """JSON's equality: 1 equals 1.0 and not true; the order of keys does not matter."""
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(equal(item, other[key]) for key, item in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    return same(one, other)


def _limit(test: Callable[[Any, Any], bool], words: str) -> Callable[[Any, Any], str | None]:
    def check(value: Any, argument: Any) -> str | None:
        return f"is {words} {argument}" if _is_number(value) and test(value, argument) else None

    return check


def _size(kind: type, test: Callable[[int, Any], bool], words: str) -> Callable[[Any, Any], str | None]:
    def check(value: Any, argument: Any) -> str | None:
        size = len(value) if isinstance(value, str | list | dict) and isinstance(value, kind) else None
        return None if size is None or not test(size, argument) else f"has a length of {size}, {words} {argument}"

    return check


def _multiple(value: Any, argument: Any) -> str | None:
    if not _is_number(value):
        return None
    rest = abs(math.remainder(value, argument)) if argument else 1.0
    return None if rest < 1e-9 * max(1.0, abs(value)) else f"is no multiple of {argument}"


def _required(value: Any, argument: Any) -> str | None:
    missing = [name for name in argument if name not in value] if isinstance(value, Mapping) else []
    return f'has no "{missing[0]}"' if missing else None


def _unique(value: Any, argument: Any) -> str | None:
    if argument is not True or not isinstance(value, list):
        return None
    return "has an item twice" if any(equal(a, b) for i, a in enumerate(value) for b in value[:i]) else None


def _pattern(value: Any, argument: Any) -> str | None:
    return f"does not match {argument!r}" if isinstance(value, str) and not matches(argument, value) else None


_PLAIN: Mapping[str, Callable[[Any, Any], str | None]] = {
    "type": _type,
    "enum": lambda value, argument: None if any(equal(value, one) for one in argument) else f"is none of {argument}",
    "const": lambda value, argument: None if equal(value, argument) else f"is not {argument!r}",
    "minimum": _limit(lambda value, limit: value < limit, "below"),
    "maximum": _limit(lambda value, limit: value > limit, "above"),
    "exclusiveMinimum": _limit(lambda value, limit: value <= limit, "not above"),
    "exclusiveMaximum": _limit(lambda value, limit: value >= limit, "not below"),
    "multipleOf": _multiple,
    "minLength": _size(str, lambda size, limit: size < limit, "below"),
    "maxLength": _size(str, lambda size, limit: size > limit, "above"),
    "minItems": _size(list, lambda size, limit: size < limit, "below"),
    "maxItems": _size(list, lambda size, limit: size > limit, "above"),
    "minProperties": _size(dict, lambda size, limit: size < limit, "below"),
    "maxProperties": _size(dict, lambda size, limit: size > limit, "above"),
    "required": _required,
    "uniqueItems": _unique,
    "pattern": _pattern,
}


def _properties(value: Any, argument: Any, schema: Any, root: _Root, place: str, depth: int) -> str | None:
    if not isinstance(value, Mapping):
        return None
    problems = (
        _problem(value[name], inner, root, step_into(place, name), depth + 1)
        for name, inner in argument.items()
        if name in value
    )
    return next(filter(None, problems), None)


def _additional(value: Any, argument: Any, schema: Any, root: _Root, place: str, depth: int) -> str | None:
    if not isinstance(value, Mapping):
        return None
    others = [name for name in value if name not in schema.get("properties", {})]
    if argument is False and others:
        return _said(step_into(place, others[0]), "is not allowed")
    problems = (_problem(value[name], argument, root, step_into(place, name), depth + 1) for name in others)
    return next(filter(None, problems), None)


def _items(value: Any, argument: Any, schema: Any, root: _Root, place: str, depth: int) -> str | None:
    if not isinstance(value, list):
        return None
    start = len(schema.get("prefixItems", []))
    problems = (
        _problem(value[index], argument, root, step_into(place, index), depth + 1) for index in range(start, len(value))
    )
    return next(filter(None, problems), None)


def _prefix_items(value: Any, argument: Any, schema: Any, root: _Root, place: str, depth: int) -> str | None:
    if not isinstance(value, list):
        return None
    problems = (
        _problem(item, inner, root, step_into(place, index), depth + 1)
        for index, (item, inner) in enumerate(zip(value, argument, strict=False))
    )
    return next(filter(None, problems), None)


_INSIDE: Mapping[str, Callable[[Any, Any, Any, _Root, str, int], str | None]] = {
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "prefixItems": _prefix_items,
}


def _all_of(value: Any, argument: Any, root: _Root, place: str, depth: int) -> str | None:
    return next(filter(None, (_problem(value, one, root, place, depth + 1) for one in argument)), None)


def _any_of(value: Any, argument: Any, root: _Root, place: str, depth: int) -> str | None:
    problems = [_problem(value, one, root, place, depth + 1) for one in argument]
    return None if None in problems else _said(place, "fits none of the alternatives")


def _one_of(value: Any, argument: Any, root: _Root, place: str, depth: int) -> str | None:
    count = [_problem(value, one, root, place, depth + 1) for one in argument].count(None)
    return None if count == 1 else _said(place, f"fits {count} of the alternatives, and must fit one")


def _not(value: Any, argument: Any, root: _Root, place: str, depth: int) -> str | None:
    return None if _problem(value, argument, root, place, depth + 1) else _said(place, "fits what it must not be")


_COMBINED: Mapping[str, Callable[[Any, Any, _Root, str, int], str | None]] = {
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}
