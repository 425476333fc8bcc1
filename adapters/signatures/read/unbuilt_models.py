"""Models that name a class defined below them, as Python and pydantic leave them until the model is built.

Pydantic cannot evaluate such an annotation when the class statement runs. It keeps the annotation as written until the
model itself makes a value, and dspy's BAMLAdapter prints it so: `ForwardRef('Inner')`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ForwardRef

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from adapters.signatures.read.annotation_reader import AnnotationReader, Names
from adapters.signatures.read.bindings import Binding


@dataclass(frozen=True)
class Unbuilt:
    """A field as pydantic holds it until its model is built; below line `bound_at` all that it names is bound."""

    info: FieldInfo
    bound_at: int


def keep_unbuilt(made: type, own: Mapping[str, Unbuilt], line: int) -> None:
    """Notes on a model what pydantic has not evaluated: its `own` fields, and inherited ones.

    An inherited field is evaluated again for the class at `line`, so it is kept where it names a class below that.
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
    """The fields as a program sees them that has made no value of this model yet."""
    kept: Mapping[str, Unbuilt] = model.__dict__.get("__until_built__", {})
    return {name: kept[name].info if name in kept else info for name, info in model.model_fields.items()}


class LaterNames:
    """The names of a text, with the line at which the last is bound of those bound only below the line of a class."""

    def __init__(self, names: Names, bindings: Mapping[str, Sequence[Binding]], local: Mapping[str, Any], line: int):
        self.names = names
        self.bindings = bindings
        self.local = local
        self.line = line
        self.bound_at = 0

    def may_stand_in(self, annotation: ast.expr) -> bool:
        """Whether it is worth reading for them: it has one of them, or something quoted. Most annotations do not."""
        return any(
            (isinstance(part, ast.Name) and self._first_bound(part.id) > 0)
            or (isinstance(part, ast.Constant) and isinstance(part.value, str))
            for part in ast.walk(annotation)
        )

    def find(self, name: str, node: ast.AST) -> Any:
        self.bound_at = max(self.bound_at, self._first_bound(name))
        return self.names.find(name, node)

    def _first_bound(self, name: str) -> int:
        """The line at which a name is bound first, where that is below the class; else 0."""
        first = self.bindings[name][0].node.lineno if name in self.bindings and name not in self.local else 0
        return first if first > self.line else 0

    def suggestions(self) -> Sequence[str]:
        return self.names.suggestions()


class _AsWritten(AnnotationReader):
    """Leaves what is quoted in an annotation as it is, as Python does when it runs the class statement."""

    def _constant(self, node: ast.Constant) -> Any:
        return node.value if isinstance(node.value, str) else super()._constant(node)

    def read(self, node: ast.expr) -> Any:
        found = self._annotation(node)
        return ForwardRef(found) if isinstance(found, str) else found


def as_written(node: ast.expr, reader: AnnotationReader, postponed: bool) -> Any:
    """The annotation before its quotes are evaluated. Raises SignatureError.

    `postponed`: all of it is quoted, for the text begins with `from __future__ import annotations`.
    """
    return ForwardRef(ast.unparse(node)) if postponed else _AsWritten(reader.source, reader.names).read(node)


def unbuilt_field(annotation: Any, namespace: Mapping[str, Any], name: str, bound_at: int) -> Unbuilt:
    """The field of this annotation and of the value in the body of its class, as pydantic first makes it."""
    if name in namespace:
        return Unbuilt(FieldInfo.from_annotated_attribute(annotation, namespace[name]), bound_at)
    return Unbuilt(FieldInfo.from_annotation(annotation), bound_at)


def are_postponed(statements: Sequence[ast.stmt]) -> bool:
    """Whether the text begins with `from __future__ import annotations`."""
    future = (one for one in statements if isinstance(one, ast.ImportFrom) and one.module == "__future__")
    return any(of.name == "annotations" for one in future for of in one.names)


def rebuilt_models(statements: Sequence[ast.stmt]) -> frozenset[str]:
    """The names of the models of which the text says `Model.model_rebuild()`."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="model_rebuild"))):
                found.add(name)
    return frozenset(found)
