"""Arithmetic on constants, as far as it is cheap: a few characters of source must not cost seconds or megabytes."""

from __future__ import annotations

import ast
import datetime
import enum
import operator
import types
from collections.abc import Callable, Mapping
from typing import Any

from adapters.signatures.read.constant_texts import percent, repeated

LARGEST_NUMBER = 10**18
LARGEST_POWER = 64
LARGEST_VALUE = 1_000_000
"""Items and characters of a value: constants made of constants grow to any size in a few lines."""

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = types.MappingProxyType(
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


def operation(op: ast.operator, left: Any, right: Any) -> Callable[[], Any] | None:
    """`left op right`, still to be done; None where the two do not go together or are too large for it."""
    if isinstance(op, ast.Mod) and type(left) is str:
        return lambda: percent(left, right)
    if isinstance(op, ast.Mult) and type(left) is str and type(right) is int:
        return lambda: repeated(left, right)
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


def is_larger(value: Any, limit: int) -> bool:
    """Whether there are more items and characters in a value than that, what stands twice counted twice."""
    left, waiting = limit, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str | bytes):
            left -= len(one)
        elif isinstance(one, list | tuple | set | frozenset):
            left -= len(one)
            waiting.extend(one if left >= 0 else ())
        elif isinstance(one, dict):
            left -= len(one)
            waiting.extend((*one, *one.values()) if left >= 0 else ())
        if left < 0:
            return True
    return False
