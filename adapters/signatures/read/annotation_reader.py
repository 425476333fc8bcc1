"""Types from syntax trees, by a closed table of names."""

from __future__ import annotations

import ast
import datetime
import difflib
import operator
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal, Protocol, Union, get_args, get_origin

from pydantic import BaseModel, RootModel
from pydantic.fields import FieldInfo

from adapters.errors import SignatureError
from adapters.signatures.read import known_names
from adapters.signatures.read.plain_types import applied
from adapters.signatures.read.source_text import SourceText, parse_expression, shown, told
from adapters.signatures.read.source_values import ConstantReader
from adapters.signatures.type_names import LARGEST_TYPE, is_too_large, is_type_alias
from adapters.types.recognition import is_decision_type

_ALIAS_FORMS = (type, types.GenericAlias, types.UnionType, typing.ForwardRef)
_QUALIFIERS = (typing.ClassVar, typing.Final, typing.Required, typing.NotRequired)
_AS_A_CLASS = "write the signature as a Python class"
_PLAIN_MODULES = "typing, datetime, decimal, uuid, pathlib, enum, collections, pydantic, dspy"


class Names(Protocol):
    """What the bare names of a text mean."""

    def find(self, name: str, node: ast.AST) -> Any:
        """The meaning of `name`. Raises LookupError when it has none, SignatureError when it cannot be used."""

    def suggestions(self) -> Sequence[str]:
        """Names that `find` knows."""


class AnnotationReader:
    """Reads annotations of one text. `as_dspy_string` reads them as dspy's string notation does, which differs from
    Python: unions are `typing.Union`, and a negative number is no literal.
    """

    def __init__(self, source: SourceText, names: Names, as_dspy_string: bool = False) -> None:
        self.source = source
        self.names = names
        self.as_dspy_string = as_dspy_string
        self.constants = ConstantReader(source, self.expression)

    def read(self, node: ast.expr) -> Any:
        """The type that `node` names. Raises SignatureError."""
        annotation = self._annotation(node)
        if not self._is_type(annotation):
            name = str(getattr(annotation, "_name", "")).lower()
            hint = name if name in known_names.STRING_BUILTINS else "a type such as str, list[int] or Literal['a']"
            raise self.source.error(node, f"{shown(node)} is not a type", hint)
        return annotation

    def _is_type(self, annotation: Any) -> bool:
        if isinstance(annotation, (*_ALIAS_FORMS, typing._SpecialForm)) or annotation is None:
            return True
        if isinstance(annotation, typing._GenericAlias):  # type: ignore[attr-defined]
            return True
        if self.as_dspy_string:
            return False
        if isinstance(annotation, typing.NewType | typing.TypeVar) or is_type_alias(annotation):
            return True
        return isinstance(annotation, typing._BaseGenericAlias)  # type: ignore[attr-defined]

    def _annotation(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return self._constant(node)
        if isinstance(node, ast.Name | ast.Attribute):
            found = self.expression(node)
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
            return [self._annotation(one) for one in node.elts]
        if isinstance(node, ast.Call):
            return self._call(node)
        hint = "a type such as str, list[int] or Literal['a']"
        if isinstance(node, ast.Tuple):
            hint = "for a tuple write tuple[int, str]"
        raise self.source.error(node, f"{shown(node)} is not a type", hint)

    def _constant(self, node: ast.Constant) -> Any:
        if node.value is None or node.value is ...:
            return node.value
        if isinstance(node.value, str):
            quoted = parse_expression(node.value, node)
            if quoted is None:
                raise self.source.error(
                    node, f"{node.value[:60]!r} is not a type", f"for a fixed text write Literal[{node.value[:60]!r}]"
                )
            return self._annotation(quoted)
        raise self.source.error(
            node, f"{node.value!r} is not a type", f"for a fixed value write Literal[{node.value!r}]"
        )

    def _call(self, node: ast.Call) -> Any:
        """`conint(ge=1)` and its kin, and `type(None)`; a call of anything else is refused and not made."""
        if isinstance(node.func, ast.Name) and len(node.args) == 1 and self.expression(node.func) is type:
            only = node.args[0]
            if not self.as_dspy_string and isinstance(only, ast.Constant) and only.value is None:
                return type(None)
        found = self.constants.read(node)
        if isinstance(found, FieldInfo):
            raise self.source.error(node, "Field(...) is not a type", "write Annotated[int, Field(le=5)]")
        if self.as_dspy_string:
            raise self.source.error(node, "dspy's string notation takes no calls", _AS_A_CLASS)
        return found

    def _union(self, node: ast.BinOp) -> Any:
        # A loop over the left spine, not recursion: `a | b | c | …` is as deep as it is long.
        parts: list[ast.expr] = []
        spine: ast.expr = node
        while isinstance(spine, ast.BinOp) and isinstance(spine.op, ast.BitOr):
            parts.append(spine.right)
            spine = spine.left
        result = self._annotation(spine)
        for part in reversed(parts):
            right = self._annotation(part)
            result = self._joined(node, result, right)
        return result

    def _joined(self, node: ast.expr, left: Any, right: Any) -> Any:
        self._check_size(node, (left, right))
        try:
            if self.as_dspy_string:
                return Union[left, right]  # noqa: UP007
            return operator.or_(left, right)
        except TypeError as error:
            raise self.source.error(node, f"{shown(node)} is not a union of types: {error}") from None

    def _subscript(self, node: ast.Subscript) -> Any:
        base = self._annotation(node.value)
        if self.as_dspy_string and base in _QUALIFIERS:
            raise self.source.error(node, f"{shown(node.value)} says nothing about a field", shown(node.slice))
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if is_literal_form(base):
            if not isinstance(node.slice, ast.Tuple):
                # `Literal[MEMBERS]` with a tuple is, to Python, the same as naming each of them.
                return self._apply(node, base, self._literal_member(node.slice))
            return self._apply(node, base, tuple(self.constants.elements(items, self._literal_member)))
        if base is Annotated or base is typing.Annotated:
            return self._annotated(node, items)
        if is_code(base):
            if self.as_dspy_string:
                raise self.source.error(
                    node, "dspy's string notation makes no prompt of Code with a language", _AS_A_CLASS
                )
            language = self.constants.read(node.slice)
            if not isinstance(language, str):
                raise self.source.error(
                    node.slice, "Code[...] takes the name of a language", 'for example Code["java"]'
                )
            return base[language]
        if is_decision_type(base):
            return self._decision(node, base)
        if isinstance(base, type) and issubclass(base, BaseModel) and not _is_generic(base):
            raise self.source.error(node, f"{base.__name__} takes no [...]")
        arguments = tuple(self._annotation(one) for one in items)
        for one, argument in zip(items, arguments, strict=True):
            if isinstance(argument, known_names.FieldMaker | known_names.Module | FieldInfo):
                raise self.source.error(one, f"{shown(one)} is not a type")
        if self.as_dspy_string and base is typing.Optional and len(arguments) != 1:
            raise self.source.error(node, "Optional takes exactly one type", "for several write Union[int, str, None]")
        return self._apply(
            node, base, arguments[0] if len(arguments) == 1 and not isinstance(node.slice, ast.Tuple) else arguments
        )

    def _decision(self, node: ast.Subscript, base: Any) -> Any:
        """`Noul[(True, "blocked")]`, `Score["poor", "good"]`, `Choice[("a", "what a is"), …]`."""
        if self.as_dspy_string:
            raise self.source.error(node, "dspy's string notation takes no criteria of a decision", _AS_A_CLASS)
        criteria = self.constants.read(node.slice)
        try:
            return base[criteria]
        except ValueError as error:
            raise self.source.error(node, f"{shown(node)}: {told(error)}") from None

    def _apply(self, node: ast.Subscript, base: Any, argument: Any) -> Any:
        if isinstance(argument, tuple) and self.as_dspy_string and len(argument) == 1 and base is Union:
            argument = argument[0]
        self._check_size(node, argument if isinstance(argument, tuple) else (argument,))
        try:
            made = applied(base, argument)
        except Exception as error:  # each type refuses arguments in its own way
            raise self.source.error(node, f"{shown(node)} is not a type: {told(error)}") from None
        if get_origin(made) is dict and len(get_args(made)) != 2:
            raise self.source.error(node, f"{shown(node)} needs a type for keys and one for values", "dict[str, int]")
        return made

    def _check_size(self, node: ast.expr, parts: tuple[Any, ...]) -> None:
        """Before a type is made of others: making it hashes them all. Raises SignatureError."""
        if is_too_large(parts):
            raise self.source.error(
                node,
                f"{shown(node)} is a type of more than {LARGEST_TYPE:,} parts, which is the limit",
                "a class counts as one part: write a pydantic model for what stands in it again and again",
            )

    def _literal_member(self, node: ast.expr) -> Any:
        if self.as_dspy_string and isinstance(node, ast.UnaryOp):
            raise self.source.error(node, "dspy's string notation takes no negative numbers", _AS_A_CLASS)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
            if is_literal_form(self.expression(node.value)):
                return self._subscript(node)
        return self.constants.read(node)

    def _annotated(self, node: ast.Subscript, items: list[ast.expr]) -> Any:
        if len(items) < 2:
            raise self.source.error(
                node, "Annotated needs a type and something about it", "Annotated[int, Field(le=5)]"
            )
        annotation = self._annotation(items[0])
        metadata = tuple(self._metadata(one) for one in items[1:])
        return self._apply(node, Annotated, (annotation, *metadata))

    def _metadata(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name | ast.Attribute):
            if is_decision_type(self.expression(node.value)):
                return self._subscript(node)
        return self.constants.metadata(node)

    def expression(self, node: ast.Name | ast.Attribute) -> Any:
        """What a name or dotted name means. Raises SignatureError when nothing in the table does."""
        if isinstance(node, ast.Name):
            try:
                return self.names.find(node.id, node)
            except LookupError:
                raise self._unknown(node, node.id, self.names.suggestions()) from None
        if isinstance(node.value, ast.Name | ast.Attribute):
            owner = self._owner(node.value)
            return self._member(node, owner)
        raise self.source.error(node, f"{shown(node)} is not understood", "names and dotted names only")

    def _owner(self, node: ast.Name | ast.Attribute) -> Any:
        try:
            return self.expression(node)
        except SignatureError:
            module = known_names.known_module(_dotted(node))
            if module is None:
                raise
            return module

    def _member(self, node: ast.Attribute, owner: Any) -> Any:
        if owner is datetime.datetime and node.attr in known_names.member_names(known_names.Module("datetime")):
            owner = known_names.Module("datetime")
        if self.as_dspy_string and node.attr in known_names.EXPERIMENTAL and owner == known_names.Module("dspy"):
            # The string notation has no imports, so the experiments are found under dspy's own name, too.
            owner = known_names.known_module("dspy.experimental")
        if isinstance(owner, known_names.Module):
            try:
                return known_names.member(owner, node.attr)
            except LookupError:
                raise self._unknown(node, f"{owner.name}.{node.attr}", known_names.member_names(owner)) from None
        found = self.constants.member(owner, node.attr)
        if found is None:
            raise self.source.error(node, f"`{shown(node)}` is not understood", "its value would take running code")
        return found[0]

    def _unknown(self, node: ast.AST, name: str, known: Sequence[str]) -> SignatureError:
        last = name.rpartition(".")[2]
        others = [one for one in known if one != last]
        near = difflib.get_close_matches(last, others, n=3, cutoff=0.6) or [
            one for one in others if one.lower() == last.lower()
        ]
        if near:
            hint = f"did you mean {' or '.join(near)}?"
        elif self.as_dspy_string:
            hint = "your own types need the Python notation, with their class beside the signature"
        else:
            hint = f"define it in this text, or use a name of {_PLAIN_MODULES}"
        return self.source.error(node, f"unknown name `{name}`", hint)


def _is_generic(model: type[BaseModel]) -> bool:
    return issubclass(model, RootModel) or bool(model.__pydantic_generic_metadata__["parameters"])


def is_literal_form(annotation: Any) -> bool:
    return annotation is Literal or annotation is typing.Literal


def is_code(annotation: Any) -> bool:
    """Whether it is `dspy.Code` (ours), which takes a language in brackets."""
    return isinstance(annotation, type) and any(
        one.__name__ == "Code" and one.__module__.startswith("adapters.types") for one in annotation.__mro__
    )


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
