"""Compute arithmetic and text operations on constants as Python does, within limits.

A few characters of source must not cost seconds or megabytes, so each operation checks the size of its result before
computing it. Functions of the text are never called.
"""

from __future__ import annotations

import ast
import datetime
import enum
import operator
import re
import string
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

MOST_STEPS = 10_000
"""Limit on the items that all comprehensions of a text iterate over, nested ones included."""

LARGEST_NUMBER = 10**18
LARGEST_POWER = 64
LARGEST_VALUE = 1_000_000
"""Limit on items and characters of a value, because constants made of constants can grow quickly."""

LONGEST = 100_000
"""Limit on characters of a computed text; a width or precision in a format has at most two digits."""

COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], object]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda item, items: item in items,
        ast.NotIn: lambda item, items: item not in items,
        ast.Is: operator.is_,
        ast.IsNot: operator.is_not,
    }
)
_BINARY: Mapping[type[ast.operator], Callable[[object, object], object]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
        ast.BitOr: operator.or_,
        ast.LShift: operator.lshift,
    }
)
CONTAINERS = (list, tuple, set, frozenset, dict, str)
VIEWS = frozenset({"keys", "values", "items"})
TEXT_METHODS = frozenset(
    "strip lstrip rstrip lower upper title capitalize casefold removeprefix removesuffix join format splitlines split"
    " replace".split()
)
METHODS = TEXT_METHODS | VIEWS
"""Methods of constants that are evaluated: those of strings, and the views of dicts."""

_PLAIN = (str, int, float, bool, type(None))
_PERCENT = re.compile(r"%(?:%|(?:\(\w+\))?[#0\- +]{0,3}\d{0,2}(?:\.\d{0,2})?[diouxXeEfFgGcrsa])")
_SPEC = re.compile(r"[^{}0-9]{0,4}\d{0,2}[,_]?(?:\.\d{1,2})?[a-zA-Z%]?")
_CONVERSIONS: Mapping[str, Callable[[object], str]] = {"s": str, "r": repr, "a": ascii}


class NotConstantError(ValueError):
    """A value that cannot be computed within the limits or without running code; the message says why."""


def operation(op: ast.operator, left: object, right: Any) -> Callable[[], object] | None:
    """Prepare `left op right`; None if the operands are unsupported or too large."""
    if isinstance(op, ast.Mod) and type(left) is str:
        return lambda: _percent(left, right)
    if isinstance(op, ast.Mult) and type(left) is str and type(right) is int:
        return lambda: _repeated(left, right)
    operate = _BINARY.get(type(op))
    texts = isinstance(op, ast.Add) and type(left) is type(right) and isinstance(left, str | bytes | list | tuple)
    flags = isinstance(op, ast.BitOr) and isinstance(left, enum.Flag) and isinstance(right, enum.Flag)
    numbers = all(isinstance(one, int | float) and abs(one) <= LARGEST_NUMBER for one in (left, right))
    if isinstance(op, ast.Pow):
        numbers = numbers and abs(right) <= LARGEST_POWER
    if isinstance(op, ast.LShift):
        numbers = numbers and isinstance(right, int) and 0 <= right <= LARGEST_POWER
    times = isinstance(left, datetime.date | datetime.timedelta) and isinstance(right, datetime.timedelta)
    if operate is None or not (texts or flags or numbers or times):
        return None
    return lambda: operate(left, right)


def is_larger(value: object, limit: int) -> bool:
    """Test whether a value has more items and characters than `limit`, counting repeated parts each time."""
    left, waiting = limit, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str | bytes):
            left -= len(part)
        elif isinstance(part, list | tuple | set | frozenset):
            left -= len(part)
            waiting.extend(part if left >= 0 else ())
        elif isinstance(part, dict):
            left -= len(part)
            waiting.extend((*part, *part.values()) if left >= 0 else ())
        if left < 0:
            return True
    return False


def call_method(text: str, method: str, arguments: Sequence[Any], keywords: Mapping[str, object]) -> object:
    """Compute `text.method(…)`. Raises NotConstantError, or what Python raises for invalid arguments."""
    if method == "format":
        made: list[str] = []
        counted = 0
        for literal, name, spec, conversion in string.Formatter().parse(text):
            made.append(literal)
            if name is None:
                continue
            if name == "":
                name, counted = str(counted), counted + 1
            if not (name.isdigit() or name.isidentifier()):
                raise NotConstantError(f"{{{name}}} is not supported")
            value = arguments[int(name)] if name.isdigit() else keywords[name]
            made.append(formatted_value(value, conversion, spec or ""))
        _within(sum(map(len, made)))
        return "".join(made)
    if keywords:
        raise NotConstantError(f".{method}() takes no named arguments here")
    if method == "join":
        (parts,) = arguments
        parts = list(parts)
        _within(sum(len(part) + len(text) for part in parts if isinstance(part, str)))
        return text.join(parts)
    if method == "replace":
        _within(text.count(str(arguments[0])) * len(str(arguments[1])))
    return getattr(text, method)(*arguments)


def formatted_value(value: object, conversion: str | None, spec: str) -> str:
    """Format a value as in f-strings and `.format`, with a conversion (`r`) and a format spec (`>3`)."""
    _check_plain(value)
    if not _SPEC.fullmatch(spec):
        raise NotConstantError(f"the format {spec!r} is not supported")
    return format(value if conversion is None else _CONVERSIONS[conversion](value), spec)


def _percent(text: str, given: object) -> str:
    values = given if isinstance(given, tuple) else (given,)
    if isinstance(given, dict):
        values = tuple(given.values())
    for value in values:
        _check_plain(value)
    if "%" in _PERCENT.sub("", text):
        raise NotConstantError("this format is not supported")
    made = text % given
    _within(len(made))
    return made


def _check_plain(value: object) -> None:
    if type(value) not in _PLAIN:
        raise NotConstantError(f"{type(value).__name__} in a text is not supported")


def _repeated(text: str, times: int) -> str:
    _within(len(text) * times)
    return text * times


def _within(length: int) -> None:
    if length > LONGEST:
        raise NotConstantError(f"a text of more than {LONGEST:,} characters")
