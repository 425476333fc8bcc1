"""Read types from syntax trees, with a closed table of names.

A model may name a class that is defined below it. Pydantic cannot evaluate such an annotation when the class statement
runs, and keeps it as written until the first value of the model is made. Until then, dspy's BAMLAdapter prints
`ForwardRef('Inner')`.
"""

from __future__ import annotations

import ast
import inspect
import operator
import types
import typing
import warnings
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

import pydantic
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass
from adapters.signatures.read import known_names
from adapters.signatures.read.fields import SCALARS
from adapters.signatures.read.names import Names
from adapters.signatures.read.source_text import parse_expression, shown, told
from adapters.signatures.read.values import ValueReader
from adapters.signatures.type_names import LARGEST_TYPE, is_too_large, is_type_alias
from adapters.types.recognition import is_decision_type, is_kind_of

_ALIAS_FORMS = (type, types.GenericAlias, types.UnionType, typing.ForwardRef)
_QUALIFIERS = (typing.ClassVar, typing.Final, typing.Required, typing.NotRequired)
_CONTAINERS = frozenset({list, dict, set, tuple})


class TypeReader(ValueReader):
    """Read annotations by the rules of Python or of dspy's string notation.

    In dspy's strings, unions are `typing.Union` and negative numbers are not literals.
    """

    def annotation(self, node: ast.expr) -> object:
        """Read the type that `node` names. Raises SignatureError."""
        annotation = self._part(node)
        if not self._is_type(annotation):
            name = str(getattr(annotation, "_name", "")).lower()
            hint = name if name in known_names.STRING_BUILTINS else "a type such as str, list[int] or Literal['a']"
            raise self.source.error(node, f"{shown(node)} is not a type", hint)
        return annotation

    def _is_type(self, annotation: object) -> bool:
        if isinstance(annotation, (*_ALIAS_FORMS, typing._SpecialForm)) or annotation is None:
            return True
        if isinstance(annotation, typing._GenericAlias):  # type: ignore[attr-defined]
            return True
        if self.as_dspy_string:
            return False
        if isinstance(annotation, typing.NewType | typing.TypeVar) or is_type_alias(annotation):
            return True
        return isinstance(annotation, typing._BaseGenericAlias)  # type: ignore[attr-defined]

    def _part(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name | ast.Attribute):
            found = self.meaning(node)
            if isinstance(found, known_names.Refused):
                raise self.source.error(node, f"{found.name} is not supported: {found.reason}", found.hint)
            if isinstance(found, known_names.Module):
                raise self.source.error(node, f"`{shown(node)}` is a module, not a type")
            return found
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            return self._union(node)
        if isinstance(node, ast.List) and not self.as_dspy_string:
            return [self._part(one) for one in node.elts]
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and len(node.args) == 1 and self.meaning(node.func) is type:
                only = node.args[0]
                if not self.as_dspy_string and isinstance(only, ast.Constant) and only.value is None:
                    return type(None)
            found = self.value(node)
            if isinstance(found, FieldInfo):
                raise self.source.error(node, "Field(...) is not a type", "write Annotated[int, Field(le=5)]")
            self._refuse_in_string(node, "calls")
            return found
        hint = "a type such as str, list[int] or Literal['a']"
        if isinstance(node, ast.Tuple):
            hint = "for a tuple write tuple[int, str]"
        raise self.source.error(node, f"{shown(node)} is not a type", hint)

    def _constant(self, node: ast.Constant) -> object:
        if node.value is None or node.value is ...:
            return node.value
        if isinstance(node.value, str):
            quoted = parse_expression(node.value, node)
            if quoted is None:
                raise self.source.error(
                    node, f"{node.value[:60]!r} is not a type", f"for a fixed text write Literal[{node.value[:60]!r}]"
                )
            return self._part(quoted)
        raise self.source.error(
            node, f"{node.value!r} is not a type", f"for a fixed value write Literal[{node.value!r}]"
        )

    def _refuse_in_string(self, node: ast.expr, what: str) -> None:
        if self.as_dspy_string:
            message = f"dspy's string notation does not accept {what}"
            raise self.source.error(node, message, "write the signature as a Python class")

    def _union(self, node: ast.BinOp) -> object:
        # A loop over the left spine, not recursion: `a | b | c | …` is as deep as it is long.
        parts: list[ast.expr] = []
        spine: ast.expr = node
        while isinstance(spine, ast.BinOp) and isinstance(spine.op, ast.BitOr):
            parts.append(spine.right)
            spine = spine.left
        result = self._part(spine)
        for part in reversed(parts):
            right = self._part(part)
            self._check_size(node, (result, right))
            try:
                result = Union[result, right] if self.as_dspy_string else result | right  # noqa: UP007
            except TypeError as error:
                raise self.source.error(node, f"{shown(node)} is not a union of types: {error}") from None
        return result

    def _subscript(self, node: ast.Subscript) -> object:
        base = self._part(node.value)
        if self.as_dspy_string and base in _QUALIFIERS:
            raise self.source.error(node, f"{shown(node.value)} cannot annotate a field", shown(node.slice))
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if base is Literal:
            if not isinstance(node.slice, ast.Tuple):
                # In Python, `Literal[MEMBERS]` with a tuple means the same as listing its items.
                return self._apply(node, base, self._literal_member(node.slice))
            return self._apply(node, base, tuple(self.elements(items, self._literal_member)))
        if base is Annotated:
            if len(items) < 2:
                raise self.source.error(
                    node, "Annotated needs a type and something about it", "Annotated[int, Field(le=5)]"
                )
            annotated = (self._part(items[0]), *[self.metadata(one) for one in items[1:]])
            return self._apply(node, Annotated, annotated)
        if is_kind_of(base, "Code"):
            self._refuse_in_string(node, "Code with a language")
            language = self.value(node.slice)
            if not isinstance(language, str):
                raise self.source.error(
                    node.slice, "Code[...] needs the name of a language", 'for example Code["java"]'
                )
            return base[language]
        if is_decision_type(base):
            self._refuse_in_string(node, "decision criteria")
            criteria = self.value(node.slice)
            try:
                return base[criteria]
            except ValueError as error:
                raise self.source.error(node, f"{shown(node)}: {told(error)}") from None
        if isinstance(base, type) and issubclass(base, BaseModel) and not issubclass(base, pydantic.RootModel):
            if not base.__pydantic_generic_metadata__["parameters"]:
                raise self.source.error(node, f"{base.__name__} does not accept [...]")
        arguments = tuple(self._part(one) for one in items)
        for one, argument in zip(items, arguments, strict=True):
            if isinstance(argument, known_names.FieldMaker | known_names.Module | FieldInfo):
                raise self.source.error(one, f"{shown(one)} is not a type")
        if self.as_dspy_string and base is typing.Optional and len(arguments) != 1:
            raise self.source.error(node, "Optional needs exactly one type", "for several write Union[int, str, None]")
        return self._apply(
            node, base, arguments[0] if len(arguments) == 1 and not isinstance(node.slice, ast.Tuple) else arguments
        )

    def _apply(self, node: ast.Subscript, base: object, argument: object) -> object:
        if isinstance(argument, tuple) and self.as_dspy_string and len(argument) == 1 and base is Union:
            argument = argument[0]
        self._check_size(node, argument if isinstance(argument, tuple) else (argument,))
        try:
            made = applied(base, argument)
        except Exception as error:  # each type raises its own errors for invalid arguments
            raise self.source.error(node, f"{shown(node)} is not a type: {told(error)}") from None
        if get_origin(made) is dict and len(get_args(made)) != 2:
            raise self.source.error(node, f"{shown(node)} needs a type for keys and one for values", "dict[str, int]")
        return made

    def _check_size(self, node: ast.expr, parts: tuple[object, ...]) -> None:
        """Check the size of a type's parts before it is made, which hashes them all. Raises SignatureError."""
        if is_too_large(parts):
            raise self.source.error(
                node,
                f"{shown(node)} is a type of more than {LARGEST_TYPE:,} parts (the limit)",
                "a class counts as one part: write a pydantic model for the repeated parts",
            )

    def _literal_member(self, node: ast.expr) -> object:
        if isinstance(node, ast.UnaryOp):
            self._refuse_in_string(node, "negative numbers")
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
            if self.meaning(node.value) is Literal:
                return self._subscript(node)
        try:
            return self.value(node)
        except SignatureError as error:
            if not isinstance(node, ast.Name) or error.hint.startswith("did you mean"):
                raise
            raise self.source.error(
                node, error.message, f'write the words of a Literal in quotes: "{node.id}"'
            ) from None

    def metadata(self, node: ast.expr) -> object:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
            if is_decision_type(self.meaning(node.value)):
                return self._subscript(node)
        return super().metadata(node)


def applied(base: Any, argument: object) -> object:
    """Return `base[argument]`, always the same object for common types such as `list[str]`.

    Caches keyed by a type's identity thus serve all signatures. Raises what `base[argument]` raises.
    """
    arguments = argument if type(argument) is tuple else (argument,)
    if type(base) is type and base in _CONTAINERS and all(type(one) is type and one in SCALARS for one in arguments):
        return _shared(base, argument)
    if not hasattr(base, "__pydantic_generic_metadata__"):
        return base[argument]
    with warnings.catch_warnings():  # a generic model repeats the advice of its configuration
        warnings.simplefilter("ignore")
        return base[argument]


_shared = lru_cache(maxsize=256)(operator.getitem)


@dataclass(frozen=True)
class Unbuilt:
    """A field that pydantic cannot evaluate before line `bound_at`, which binds the last of its names."""

    info: FieldInfo
    bound_at: int


def keep_unbuilt(made: type, own: Mapping[str, Unbuilt], line: int) -> None:
    """Record on a model the fields that pydantic has not evaluated, its `own` and the inherited.

    Inherited fields are evaluated again for the class at `line`, so only those that name a class below are recorded.
    """
    found: dict[str, Unbuilt] = {}
    for base in reversed(made.__mro__[1:]):
        kept: Mapping[str, Unbuilt] = base.__dict__.get("__until_built__", {})
        for name in inspect.get_annotations(base):
            found.pop(name, None)
        found |= {name: one for name, one in kept.items() if one.bound_at > line}
    for name in inspect.get_annotations(made):
        found.pop(name, None)
    made.__until_built__ = MappingProxyType({**found, **own})  # type: ignore[attr-defined]


def fields_until_built(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return a model's fields as a program sees them before it makes the first value."""
    kept: Mapping[str, Unbuilt] = model.__dict__.get("__until_built__", {})
    return {name: kept[name].info if name in kept else info for name, info in model.model_fields.items()}


class LaterNames(Names):
    """The names of a text; `bound_at` is the last line below the class that first binds a name used in it."""

    def __init__(self, names: Names, line: int) -> None:
        super().__init__(names.local, names.bound, names.look_up)
        self._line = line
        self.bound_at = 0

    def may_occur_in(self, annotation: ast.expr) -> bool:
        """Test whether an annotation may name something bound below the class; most do not."""
        return any(
            (isinstance(part, ast.Name) and self._first_bound(part.id) > 0)
            or (isinstance(part, ast.Constant) and isinstance(part.value, str))
            for part in ast.walk(annotation)
        )

    def find(self, name: str, node: ast.AST) -> object:
        self.bound_at = max(self.bound_at, self._first_bound(name))
        return super().find(name, node)

    def _first_bound(self, name: str) -> int:
        """Return the line of a name's first binding if it is below the class, else 0."""
        first = self.bound[name][0].node.lineno if name in self.bound and name not in self.local else 0
        return first if first > self._line else 0


class QuotesKept(TypeReader):
    """Read annotations but keep quoted parts as text, as Python does when it runs the class statement."""

    def _constant(self, node: ast.Constant) -> object:
        return node.value if isinstance(node.value, str) else super()._constant(node)

    def annotation(self, node: ast.expr) -> object:
        found = self._part(node)
        return ForwardRef(found) if isinstance(found, str) else found
