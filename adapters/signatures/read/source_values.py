"""Values from syntax trees: literals, constants, enum members and a closed list of constructors. Nothing runs."""

from __future__ import annotations

import ast
import decimal
import enum
import types
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import pydantic
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.allowed_calls import (
    CALLABLE_VALUES,
    CLOCKS,
    CONSTRUCTORS,
    FACTORIES,
    NOT_RUN,
    is_cheap,
)
from adapters.signatures.read.computed_values import LARGEST_VALUE, METHODS, computed, is_larger, operation
from adapters.signatures.read.constant_texts import piece
from adapters.signatures.read.field_calls import make_field
from adapters.signatures.read.source_text import SourceText, shown, told
from adapters.signatures.type_walk import NotRun

LARGEST_INTEGER_BITS = 4_000
"""Python itself refuses to write out integers of more than 4,300 digits."""

_FIXABLE = "only literals, constants of this text and enum members are read; nothing is run"


def literal_factory(value: Any) -> Callable[[], Any]:
    """The `default_factory` of `lambda: <literal>`: a fresh copy at every call. Pydantic prints it as `<lambda>`."""
    made = lambda: deepcopy(value)  # noqa: E731
    made.literal = value  # type: ignore[attr-defined]
    return made


class ConstantReader:
    """Reads the values of one text; `names` gives the meaning of a name or dotted name."""

    def __init__(
        self, source: SourceText, names: Callable[[ast.Name | ast.Attribute], Any], steps: list[int] | None = None
    ) -> None:
        self.source = source
        self.names = names
        self.steps: list[int] = [] if steps is None else steps
        """One for each round of a loop that was read."""

    def with_names(self, local: Mapping[str, Any]) -> ConstantReader:
        """A reader that knows the variables of a loop, too."""

        def names(node: ast.Name | ast.Attribute) -> Any:
            if isinstance(node, ast.Name):
                return local[node.id] if node.id in local else self.names(node)
            root: ast.expr = node
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name) or root.id not in local or not isinstance(node.value, ast.Name):
                return self.names(node)
            found = self.member(local[root.id], node.attr)
            if found is None:
                raise self._refused(node)
            return found[0]

        return ConstantReader(self.source, names, self.steps)

    def read(self, node: ast.expr) -> Any:
        """The value of `node`. Raises SignatureError when finding it would take running code."""
        match node:
            case ast.Constant():
                if type(node.value) is int and node.value.bit_length() > LARGEST_INTEGER_BITS:
                    raise self.source.error(node, "a number of more than 1,200 digits")
                return node.value
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self._signed(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.JoinedStr():
                return self._joined(node)
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

    def _computed(self, node: ast.expr) -> Any:
        try:
            return self._checked(node, computed(self, node))
        except (SignatureError, RecursionError):
            raise
        except LookupError:
            raise self._refused(node) from None
        except Exception as error:  # a constant's own methods refuse in their own ways
            raise self.source.error(node, f"{shown(node)}: {told(error)}") from None

    def _name(self, node: ast.Name | ast.Attribute) -> Any:
        found = self.names(node)
        if isinstance(found, known_names.Module | known_names.FieldMaker | known_names.Refused):
            raise self._refused(node)
        if isinstance(found, types.FunctionType | types.BuiltinFunctionType) and found not in CALLABLE_VALUES:
            raise self._refused(node)
        return found

    def _signed(self, node: ast.UnaryOp) -> Any:
        value = self.read(node.operand)
        if not isinstance(value, int | float | complex | decimal.Decimal):
            raise self._refused(node)
        return -value if isinstance(node.op, ast.USub) else +value

    def _binary(self, node: ast.BinOp) -> Any:
        # Long `"a" + "b" + …` chains are as deep as they are long, so the left spine is walked, not recursed into.
        spine: list[ast.BinOp] = []
        left_node: ast.expr = node
        while isinstance(left_node, ast.BinOp):
            spine.append(left_node)
            left_node = left_node.left
        result = self.read(left_node)
        for one in reversed(spine):
            result = self._operate(one, result, self.read(one.right))
        return result

    def _operate(self, node: ast.BinOp, left: Any, right: Any) -> Any:
        operate = operation(node.op, left, right)
        if operate is None:
            raise self._refused(node)
        is_repeated = isinstance(node.op, ast.Mult) and type(left) is str
        return self._checked(node, self._guarded(node.right if is_repeated else node, operate))

    def _checked(self, node: ast.expr, value: Any) -> Any:
        """A value that was put together of others. Raises SignatureError when it is too large to be printed."""
        if is_larger(value, LARGEST_VALUE):
            raise self.source.error(node, f"{shown(node)} is larger than {LARGEST_VALUE:,} items or characters")
        return value

    def _joined(self, node: ast.JoinedStr) -> str:
        text = ""
        for one in node.values:
            text = self._checked(node, text + self._piece(one, node))
        return text

    def _piece(self, node: ast.expr, whole: ast.JoinedStr) -> str:
        if isinstance(node, ast.Constant):
            return str(node.value)
        # Python 3.11 gives its parts the place of the whole, and later ones their own: so the whole it is.
        if isinstance(node, ast.FormattedValue):
            value = self.read(node.value)
            spec = "" if node.format_spec is None else str(self.read(node.format_spec))
            try:
                return piece(value, None if node.conversion == -1 else chr(node.conversion), spec)
            except (ValueError, TypeError):
                pass
        raise self.source.error(whole, "an f-string with a computed part", "write the text out")

    def elements(self, nodes: list[ast.expr], read: Callable[[ast.expr], Any] | None = None) -> list[Any]:
        """The values of a display's elements, `*MEMBERS` among them."""
        read = read or self.read
        result: list[Any] = []
        for one in nodes:
            if isinstance(one, ast.Starred):
                inner = self.read(one.value)
                if not isinstance(inner, list | tuple | set | frozenset):
                    raise self._refused(one)
                result.extend(inner)
                self._checked(one, result)
            else:
                result.append(read(one))
        return self._checked(nodes[-1], result) if nodes else result

    def _dictionary(self, node: ast.Dict) -> Any:
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inner = self.read(value)
                if not isinstance(inner, dict):
                    raise self._refused(value)
                result.update(inner)
            else:
                name = self.read(key)
                self._guarded(key, lambda name=name: hash(name))  # type: ignore[misc]
                result[name] = self.read(value)
        return result

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS and not self._is_named(node.func):
            return self._computed(node)
        if not isinstance(node.func, ast.Name | ast.Attribute):
            raise self._refused(node)
        function = self.names(node.func)
        if function is pydantic.Field:
            return self.field(node)
        if isinstance(function, known_names.FieldMaker):
            return make_field(function, node, self.source, self.read, self.factory)
        if not self._may_be_called(function):
            raise self.source.error(node, f"{shown(node.func)}(...) is a call, and nothing is run", _FIXABLE)
        args = self.elements(node.args)
        keywords = {key: self.read(value) for key, value in self.keywords(node)}
        if function is pydantic.ConfigDict:
            return dict(*args, **keywords)
        if not all(is_cheap(function, one) for one in args):
            raise self._refused(node)
        made = self._guarded(node, lambda: function(*args, **keywords))
        return self._checked(node, list(made)) if function in known_names.FUNCTIONS_OF_ITEMS else made

    def _is_named(self, node: ast.Attribute) -> bool:
        """Whether the dotted name means something by itself: a class of a module, not a method of a value."""
        try:
            self.names(node)
        except SignatureError:
            return False
        return True

    def _may_be_called(self, function: Any) -> bool:
        if isinstance(function, type) and getattr(function, "__built_from_source__", False):
            return not getattr(function, "__not_run__", ())
        try:
            return function in CONSTRUCTORS
        except TypeError:
            return False

    def keywords(self, node: ast.Call) -> list[tuple[str, ast.expr]]:
        """The keyword arguments of a call, in order. `**mapping` is refused."""
        result: list[tuple[str, ast.expr]] = []
        for one in node.keywords:
            if one.arg is None:
                raise self.source.error(one.value, "**arguments are not read", "write the arguments out")
            result.append((one.arg, one.value))
        return result

    def field(self, node: ast.Call) -> FieldInfo:
        """A call of `pydantic.Field`, made with values that were read."""
        args = self.elements(node.args)
        arguments = {
            name: self.factory(value) if name == "default_factory" else self.read(value)
            for name, value in self.keywords(node)
        }
        make: Any = pydantic.Field
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pydantic's advice would stand on the terminal
            made: FieldInfo = self._guarded(node, lambda: make(*args, **arguments))
        return made

    def factory(self, node: ast.expr) -> Callable[[], Any]:
        """A `default_factory`: a builtin type, a class of this text, or `lambda: <literal>`."""
        if isinstance(node, ast.Lambda):
            arguments = node.args
            if arguments.args or arguments.posonlyargs or arguments.vararg or arguments.kwonlyargs or arguments.kwarg:
                raise self.source.error(node, "a default factory with arguments is not read", "lambda: []")
            return literal_factory(self.read(node.body))
        if isinstance(node, ast.Name | ast.Attribute):
            found = self.names(node)
            if self._is_factory(found):
                return found  # type: ignore[no-any-return]
        raise self.source.error(
            node,
            f"{shown(node)} is code, which is never run",
            "a default factory can be list, dict, set, str or lambda: []",
        )

    def _is_factory(self, found: Any) -> bool:
        if isinstance(found, type) and getattr(found, "__built_from_source__", False):
            return not getattr(found, "__not_run__", ())
        try:
            return found in FACTORIES
        except TypeError:
            return False

    def metadata(self, node: ast.expr) -> Any:
        """What stands after the type in `Annotated[...]`; a validator becomes `NotRun`."""
        function = None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            function = self.names(node.func)
        elif isinstance(node, ast.Name | ast.Attribute):
            found = self.names(node)
            if isinstance(found, known_names.Refused):
                raise self.source.error(node, f"{found.name} is not supported: {found.reason}", found.hint)
            return found
        if isinstance(function, known_names.Refused):
            raise self.source.error(node, f"{function.name} is not supported: {function.reason}", function.hint)
        known = next((name for one, name in NOT_RUN.items() if one is function), None)
        if known is not None and isinstance(node, ast.Call):
            if any(one.arg in ("json_schema_input_type", "return_type") for one in node.keywords):
                raise self.source.error(node, f"{known} with a type of its own is not read", "leave that argument out")
            return NotRun(known)
        return self.read(node)

    def member(self, owner: Any, name: str) -> tuple[Any] | None:
        """The value of `owner.name` for enums, enum members, nested classes and clock factories."""
        if isinstance(owner, enum.EnumMeta):
            found = owner.__members__.get(name)
            return None if found is None else (found,)
        if isinstance(owner, enum.Enum) and name in ("value", "name"):
            return (getattr(owner, name),)
        if isinstance(owner, type):
            nested = getattr(owner, "__nested__", {})
            if name in nested:
                return (nested[name],)
            if (owner, name) in CLOCKS:
                return (getattr(owner, name),)
        return None

    def _guarded(self, node: ast.AST, make: Callable[[], Any]) -> Any:
        try:
            return make()
        except SignatureError:
            raise
        except Exception as error:  # constructors of types and fields refuse in their own ways
            raise self.source.error(node, f"{shown(node)}: {told(error)}") from None

    def _refused(self, node: ast.AST) -> SignatureError:
        return self.source.error(node, f"{shown(node)} is not a value that can be read without running it", _FIXABLE)
