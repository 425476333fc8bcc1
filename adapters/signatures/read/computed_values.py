"""Values that are computed from constants, as Python computes them: choices, comparisons, items, comprehensions.

A closed list of expressions over values that were read; no function of the text is called and nothing is imported.
"""

from __future__ import annotations

import ast
import enum
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from adapters.signatures.read import constant_texts

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
    if method not in constant_texts.METHODS and method not in _VIEWS:
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
