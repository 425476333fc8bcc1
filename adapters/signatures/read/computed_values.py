"""Values that are computed from constants, as Python computes them: choices, comparisons, items, comprehensions.

A closed list of expressions over values that were read; no function of the text is called and nothing is imported.
Arithmetic is done as far as it is cheap: a few characters of source must not cost seconds or megabytes.
"""

from __future__ import annotations

import ast
import datetime
import enum
import operator
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from adapters.signatures.read import constant_texts
from adapters.signatures.read.constant_texts import percent, repeated

MOST_STEPS = 10_000
"""Items that the comprehensions of one text may walk over, nested ones together."""

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, other: one in other,
    ast.NotIn: lambda one, other: one not in other,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_CONTAINERS = (list, tuple, set, frozenset, dict, str)
_VIEWS: Mapping[str, Callable[[dict[Any, Any]], list[Any]]] = {
    "keys": list,
    "values": lambda given: list(given.values()),
    "items": lambda given: list(given.items()),
}
METHODS = constant_texts.METHODS | frozenset(_VIEWS)
"""The methods of constants that are read: those of texts, and a dict's views."""


class ConstantsRead(Protocol):
    """What reads the parts of an expression (`source_values.ConstantReader`); `steps` counts the items walked over."""

    steps: list[int]

    def read(self, node: ast.expr) -> Any: ...

    def elements(self, nodes: list[ast.expr]) -> list[Any]: ...

    def keywords(self, node: ast.Call) -> list[tuple[str, ast.expr]]: ...

    def with_names(self, local: Mapping[str, Any]) -> ConstantsRead: ...


def computed(reader: ConstantsRead, node: ast.expr) -> Any:
    """The value of an expression over constants. Raises LookupError for one that is not of the closed list,
    SignatureError for a part that cannot be read, and what Python raises for values that do not fit."""
    match node:
        case ast.Subscript(value=whole, slice=place):
            return _item(reader.read(whole), _slice(reader, place))
        case ast.IfExp(test=test, body=then, orelse=otherwise):
            return reader.read(then if reader.read(test) else otherwise)
        case ast.Compare(left=left, ops=[operation], comparators=[right]) if type(operation) in _COMPARISONS:
            return _COMPARISONS[type(operation)](reader.read(left), reader.read(right))
        case ast.UnaryOp(op=ast.Not(), operand=one):
            return not reader.read(one)
        case ast.BoolOp(op=ast.And(), values=values):
            return _last(reader, values, stop_at=False)
        case ast.BoolOp(op=ast.Or(), values=values):
            return _last(reader, values, stop_at=True)
        case ast.ListComp() | ast.GeneratorExp():
            return [one.read(node.elt) for one in _bound(reader, node.generators)]
        case ast.SetComp():
            return {one.read(node.elt) for one in _bound(reader, node.generators)}
        case ast.DictComp():
            return {one.read(node.key): one.read(node.value) for one in _bound(reader, node.generators)}
        case ast.Call(func=ast.Attribute(value=owner, attr=method)):
            return _method(reader, node, owner, method)
        case _:
            raise LookupError(type(node).__name__)


def _item(whole: Any, place: Any) -> Any:
    if not isinstance(whole, (*_CONTAINERS, enum.EnumMeta)):
        raise LookupError("no items")
    return whole[place]  # type: ignore[index]


def _slice(reader: ConstantsRead, node: ast.expr) -> Any:
    if not isinstance(node, ast.Slice):
        return reader.read(node)
    return slice(*(None if one is None else reader.read(one) for one in (node.lower, node.upper, node.step)))


def _last(reader: ConstantsRead, values: list[ast.expr], stop_at: bool) -> Any:
    found: Any = None
    for one in values:
        found = reader.read(one)
        if bool(found) is stop_at:
            break
    return found


def _method(reader: ConstantsRead, call: ast.Call, owner: ast.expr, method: str) -> Any:
    """A method of a text, or a view of a dict."""
    if method not in METHODS:
        raise LookupError(method)
    whole = reader.read(owner)
    if isinstance(whole, dict) and method in _VIEWS and not call.args and not call.keywords:
        return _VIEWS[method](whole)
    if type(whole) is not str or method not in constant_texts.METHODS:
        raise LookupError(method)
    arguments = reader.elements(call.args)
    return constant_texts.called(
        whole, method, arguments, {name: reader.read(one) for name, one in reader.keywords(call)}
    )


def _bound(reader: ConstantsRead, generators: list[ast.comprehension]) -> Iterator[ConstantsRead]:
    """A reader for each round of the loops, which knows their variables."""
    if not generators:
        yield reader
        return
    loop, *inner = generators
    walked = reader.read(loop.iter)
    if loop.is_async or not isinstance(walked, (*_CONTAINERS, enum.EnumMeta)):
        raise LookupError("a loop")
    for value in walked:
        reader.steps.append(1)
        if len(reader.steps) > MOST_STEPS:
            raise constant_texts.NotConstantError(f"a loop of more than {MOST_STEPS:,} rounds")
        one = reader.with_names(dict(_assigned(loop.target, value)))
        if all(one.read(condition) for condition in loop.ifs):
            yield from _bound(one, inner)


def _assigned(target: ast.expr, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(target, ast.Name):
        yield target.id, value
        return
    if not isinstance(target, ast.Tuple | ast.List):
        raise LookupError("a loop")
    for part, one in zip(target.elts, list(value), strict=True):
        yield from _assigned(part, one)


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
