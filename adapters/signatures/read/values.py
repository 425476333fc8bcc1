"""Read constant values from syntax trees with closed lists, without running the text.

A value is a literal, a constant of the text, or an expression over these, computed as in Python.
"""

from __future__ import annotations

import ast
import decimal
import enum
import types
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pydantic
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.computing import (
    COMPARISONS,
    CONTAINERS,
    LARGEST_VALUE,
    METHODS,
    MOST_STEPS,
    VIEWS,
    NotConstantError,
    call_method,
    formatted_value,
    is_larger,
    operation,
)
from adapters.signatures.read.fields import check_shown, dspy_field, is_dspy_argument
from adapters.signatures.read.names import NameReader, Names
from adapters.signatures.read.source_text import shown, told
from adapters.signatures.type_names import NotRun

LARGEST_INTEGER_BITS = 4_000
"""Limit on an integer's size; Python cannot print integers of more than 4,300 digits."""

_FIXABLE = "use literals, constants of this text or enum members; nothing is run"
_FACTORIES = "a default factory can be list, dict, set, str, uuid.uuid4, datetime.now or lambda: []"


class ValueReader(NameReader):
    """Read the values of a text."""

    def value(self, node: ast.expr) -> Any:
        """Read the value of `node`. Raises SignatureError if that would require running code."""
        match node:
            case ast.Constant():
                if type(node.value) is int and node.value.bit_length() > LARGEST_INTEGER_BITS:
                    raise self.source.error(node, "a number of more than 1,200 digits")
                return node.value
            case ast.Name() | ast.Attribute():
                return self._named(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                value = self.value(node.operand)
                if not isinstance(value, int | float | complex | decimal.Decimal):
                    raise self._refused(node)
                return -value if isinstance(node.op, ast.USub) else +value
            case ast.BinOp():
                return self._binary(node)
            case ast.JoinedStr():
                text = ""
                for one in node.values:
                    text = self._checked(node, text + self._piece(one, node))
                return text
            case ast.List():
                return self.elements(node.elts)
            case ast.Tuple():
                return tuple(self.elements(node.elts))
            case ast.Set():
                return self._guarded(node, lambda: set(self.elements(node.elts)))
            case ast.Dict():
                return self._checked(node, self._dictionary(node))
            case ast.Call():
                return self._call(node)
            case ast.Lambda():
                raise self.source.error(
                    node, "a lambda is code, which is never run", "use default_factory=list or a literal"
                )
            case _:
                return self._computed(node)

    def _named(self, node: ast.Name | ast.Attribute) -> object:
        found = self.meaning(node)
        if isinstance(found, known_names.Module | known_names.FieldMaker | known_names.Refused):
            raise self._refused(node)
        if isinstance(found, types.FunctionType | types.BuiltinFunctionType):
            if found not in known_names.CALLABLE_VALUES:
                raise self._refused(node)
        return found

    def _binary(self, node: ast.BinOp) -> object:
        # Long chains `"a" + "b" + …` are nested as deep as they are long, so iterate over the left spine.
        spine: list[ast.BinOp] = []
        left_node: ast.expr = node
        while isinstance(left_node, ast.BinOp):
            spine.append(left_node)
            left_node = left_node.left
        result = self.value(left_node)
        for one in reversed(spine):
            operate = operation(one.op, result, self.value(one.right))
            if operate is None:
                raise self._refused(one)
            is_repeated = isinstance(one.op, ast.Mult) and type(result) is str
            result = self._checked(one, self._guarded(one.right if is_repeated else one, operate))
        return result

    def _checked(self, node: ast.expr, value: object) -> Any:
        """Return the value. Raises SignatureError if it is too large to be printed."""
        if is_larger(value, LARGEST_VALUE):
            raise self.source.error(node, f"{shown(node)} is larger than {LARGEST_VALUE:,} items or characters")
        return value

    def _piece(self, node: ast.expr, text: ast.JoinedStr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        # Report errors at the whole text: Python 3.11 has no positions for the parts of an f-string.
        if isinstance(node, ast.FormattedValue):
            value = self.value(node.value)
            spec = "" if node.format_spec is None else str(self.value(node.format_spec))
            try:
                return formatted_value(value, None if node.conversion == -1 else chr(node.conversion), spec)
            except (ValueError, TypeError):
                pass
        raise self.source.error(text, "an f-string with a computed part", "write the text out")

    def elements(self, nodes: list[ast.expr], read: Callable[[ast.expr], object] | None = None) -> list[object]:
        """Read the elements of a list, tuple or set, with `*MEMBERS` expanded."""
        read = read or self.value
        result: list[object] = []
        for one in nodes:
            if isinstance(one, ast.Starred):
                inner = self.value(one.value)
                if not isinstance(inner, list | tuple | set | frozenset):
                    raise self._refused(one)
                result.extend(inner)
                self._checked(one, result)
            else:
                result.append(read(one))
        if nodes:
            self._checked(nodes[-1], result)
        return result

    def _dictionary(self, node: ast.Dict) -> dict[object, object]:
        result: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.value(value)
                if not isinstance(inner, dict):
                    raise self._refused(value)
                result.update(inner)
            else:
                name = self.value(key)
                self._guarded(key, lambda name=name: hash(name))  # type: ignore[misc]
                result[name] = self.value(value)
        return result

    def _computed(self, node: ast.expr) -> object:
        try:
            return self._checked(node, self._expression(node))
        except (SignatureError, RecursionError):
            raise
        except LookupError:
            raise self._refused(node) from None
        except Exception as error:  # methods of constants raise various errors
            raise self.source.error(node, f"{shown(node)}: {told(error)}") from None

    def _expression(self, node: ast.expr) -> object:
        """Compute an expression over constants. Raises LookupError for unsupported expressions."""
        match node:
            case ast.Subscript(value=owner, slice=place):
                items = self.value(owner)
                if not isinstance(items, (*CONTAINERS, enum.EnumMeta)):
                    raise LookupError("no items")
                if isinstance(place, ast.Slice):
                    bounds = (place.lower, place.upper, place.step)
                    return items[slice(*(None if one is None else self.value(one) for one in bounds))]  # type: ignore[index]
                return items[self.value(place)]  # type: ignore[index]
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                return self.value(then if self.value(test) else otherwise)
            case ast.Compare(left=left, ops=[compared], comparators=[right]) if type(compared) in COMPARISONS:
                return COMPARISONS[type(compared)](self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand)
            case ast.BoolOp(op=connective, values=values):
                found: object = None
                for one in values:
                    found = self.value(one)
                    if bool(found) is isinstance(connective, ast.Or):
                        break
                return found
            case ast.ListComp() | ast.GeneratorExp():
                return [one.value(node.elt) for one in self._rounds(node.generators)]
            case ast.SetComp():
                return {one.value(node.elt) for one in self._rounds(node.generators)}
            case ast.DictComp():
                return {one.value(node.key): one.value(node.value) for one in self._rounds(node.generators)}
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                items = self.value(owner)
                if isinstance(items, dict) and method in VIEWS and not node.args and not node.keywords:
                    return list(getattr(items, method)())
                if type(items) is not str or method in VIEWS:
                    raise LookupError(method)
                keywords = {name: self.value(one) for name, one in self.keywords(node)}
                return call_method(items, method, self.elements(node.args), keywords)
            case _:
                raise LookupError(type(node).__name__)

    def _rounds(self, generators: list[ast.comprehension]) -> Iterator[ValueReader]:
        """Yield a reader with the loop variables for each iteration of a comprehension."""
        if not generators:
            yield self
            return
        loop, *inner = generators
        walked = self.value(loop.iter)
        if loop.is_async or not isinstance(walked, (*CONTAINERS, enum.EnumMeta)):
            raise LookupError("a loop")
        for value in walked:
            self.rounds.append(1)
            if len(self.rounds) > MOST_STEPS:
                raise NotConstantError(f"a loop of more than {MOST_STEPS:,} rounds")
            variables = dict(_assigned(loop.target, value))
            names = Names(variables, self.names.bound, self.names.look_up, self.names)
            one = ValueReader(self.source, names, self.as_dspy_string)
            one.rounds = self.rounds
            if all(one.value(condition) for condition in loop.ifs):
                yield from one._rounds(inner)

    # calls

    def _call(self, node: ast.Call) -> object:
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            try:
                self.meaning(node.func)
            except SignatureError:  # no name of a module or class, but the method of a value
                return self._computed(node)
        if not isinstance(node.func, ast.Name | ast.Attribute):
            raise self._refused(node)
        function = self.meaning(node.func)
        if function is pydantic.Field:
            given = self.elements(node.args)
            arguments = self.arguments(node)
            make: Any = pydantic.Field
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # pydantic's advice would appear on the terminal
                field: FieldInfo = self._guarded(node, lambda: make(*given, **arguments))
            return field
        if isinstance(function, known_names.FieldMaker):
            return self.dspy_field(function, node)
        if not _is_allowed(function, known_names.constructors()):
            raise self.source.error(node, f"{shown(node.func)}(...) is a call, which is never run", _FIXABLE)
        args = self.elements(node.args)
        keywords = {key: self.value(value) for key, value in self.keywords(node)}
        if function is pydantic.ConfigDict:
            return dict(*args, **keywords)
        if not all(known_names.is_cheap(function, one) for one in args):
            raise self._refused(node)
        made = self._guarded(node, lambda: function(*args, **keywords))
        return self._checked(node, list(made)) if function in known_names.FUNCTIONS_OF_ITEMS else made

    def keywords(self, node: ast.Call) -> list[tuple[str, ast.expr]]:
        """Return the keyword arguments of a call, in order. Raises SignatureError for `**mapping`."""
        result: list[tuple[str, ast.expr]] = []
        for one in node.keywords:
            if one.arg is None:
                raise self.source.error(one.value, "`**` arguments are not supported", "write the arguments out")
            result.append((one.arg, one.value))
        return result

    def arguments(self, node: ast.Call) -> dict[str, Any]:
        """Read the keyword arguments of a call that declares a field."""
        return {
            name: self.factory(value) if name == "default_factory" else self.value(value)
            for name, value in self.keywords(node)
        }

    def dspy_field(self, maker: known_names.FieldMaker, node: ast.Call) -> FieldInfo:
        """Read a call of `dspy.InputField` or `dspy.OutputField`. Raises SignatureError."""
        if node.args:
            raise self.source.error(node.args[0], "InputField and OutputField take only named arguments", 'desc="..."')
        arguments: dict[str, object] = {}
        for name, value in self.keywords(node):
            if is_dspy_argument(name):
                arguments[name] = self.factory(value) if name == "default_factory" else self.value(value)
                check_shown(name, value, arguments[name], self.source)
        try:
            return dspy_field(maker.role, arguments)
        except (TypeError, ValueError, RuntimeError) as error:
            raise self.source.error(node, str(error).partition("\n")[0]) from None

    def factory(self, node: ast.expr) -> Callable[[], object]:
        """Read a `default_factory`: a builtin type, a class of this text, or `lambda: <literal>`."""
        if isinstance(node, ast.Lambda):
            arguments = node.args
            if arguments.args or arguments.posonlyargs or arguments.vararg or arguments.kwonlyargs or arguments.kwarg:
                raise self.source.error(node, "a default factory takes no arguments", "lambda: []")
            try:
                literal = self.value(node.body)
            except SignatureError as error:
                raise SignatureError(error.message, error.line, error.column, _FACTORIES) from None
            made = lambda: deepcopy(literal)  # noqa: E731  # pydantic prints it as `<lambda>`
            made.literal = literal  # type: ignore[attr-defined]
            return made
        if isinstance(node, ast.Name | ast.Attribute):
            found = self.meaning(node)
            if _is_allowed(found, known_names.FACTORIES):
                return found  # type: ignore[no-any-return]
        raise self.source.error(node, f"{shown(node)} is code, which is never run", _FACTORIES)

    def metadata(self, node: ast.expr) -> object:
        """Read metadata in `Annotated[...]`; validators and serializers become `NotRun`."""
        is_call = isinstance(node, ast.Call)
        named = node.func if isinstance(node, ast.Call) else node
        found = self.meaning(named) if isinstance(named, ast.Name | ast.Attribute) else None
        if isinstance(found, known_names.Refused):
            raise self.source.error(node, f"{found.name} is not supported: {found.reason}", found.hint)
        if isinstance(named, ast.Name | ast.Attribute) and not is_call:
            return found
        known = next((name for one, name in known_names.not_run().items() if one is found), None)
        if known is not None and isinstance(node, ast.Call):
            if any(one.arg in ("json_schema_input_type", "return_type") for one in node.keywords):
                raise self.source.error(node, f"{known} with its own type is not supported", "leave that argument out")
            return NotRun(known)
        return self.value(node)

    def _guarded(self, node: ast.AST, make: Callable[[], object]) -> Any:
        try:
            return make()
        except SignatureError:
            raise
        except Exception as error:  # constructors raise various errors
            raise self.source.error(node, f"{shown(node)}: {told(error)}") from None

    def _refused(self, node: ast.AST) -> SignatureError:
        return self.source.error(node, f"{shown(node)} cannot be evaluated without running it", _FIXABLE)


def _assigned(target: ast.expr, value: Any) -> Iterator[tuple[str, object]]:
    if isinstance(target, ast.Name):
        yield target.id, value
        return
    if not isinstance(target, ast.Tuple | ast.List):
        raise LookupError("a loop")
    for part, one in zip(target.elts, list(value), strict=True):
        yield from _assigned(part, one)


def _is_allowed(function: object, among: frozenset[object]) -> bool:
    """Test whether a function is in `among`, or a class of the text that needs no code to run."""
    if isinstance(function, type) and getattr(function, "__built_from_source__", False):
        return not getattr(function, "__not_run__", ())
    try:
        return function in among
    except TypeError:
        return False
