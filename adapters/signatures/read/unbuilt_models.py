"""Models that name a class defined below them, as Python and pydantic leave them until the model is built.

Pydantic cannot evaluate such an annotation when the class statement runs. It keeps the annotation as written until the
model itself makes a value, and dspy's BAMLAdapter prints it so: `ForwardRef('Inner')`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ForwardRef

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from adapters.signatures.read.annotations import TypeReader
from adapters.signatures.read.names import Names


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


class LaterNames(Names):
    """The names of a text; `bound_at` is the last line that binds a name found here, of those below a class."""

    def __init__(self, names: Names, line: int) -> None:
        super().__init__(names.local, names.bound, names.look_up)
        self._line = line
        self.bound_at = 0

    def may_occur_in(self, annotation: ast.expr) -> bool:
        """Test whether an annotation has such a name, or something quoted. Most have neither."""
        return any(
            (isinstance(part, ast.Name) and self._first_bound(part.id) > 0)
            or (isinstance(part, ast.Constant) and isinstance(part.value, str))
            for part in ast.walk(annotation)
        )

    def find(self, name: str, node: ast.AST) -> object:
        self.bound_at = max(self.bound_at, self._first_bound(name))
        return super().find(name, node)

    def _first_bound(self, name: str) -> int:
        """The line at which a name is bound first, where that is below the class; else 0."""
        first = self.bound[name][0].node.lineno if name in self.bound and name not in self.local else 0
        return first if first > self._line else 0


class _QuotesKept(TypeReader):
    """Leaves quoted parts of an annotation as they are, as Python does when it runs the class statement."""

    def _constant(self, node: ast.Constant) -> object:
        return node.value if isinstance(node.value, str) else super()._constant(node)

    def annotation(self, node: ast.expr) -> object:
        found = self._part(node)
        return ForwardRef(found) if isinstance(found, str) else found


def unbuilt_annotation(node: ast.expr, reader: TypeReader, postponed: bool) -> Any:
    """The annotation before its quotes are evaluated. Raises SignatureError.

    With `postponed` all of it is quoted, for the text begins with `from __future__ import annotations`.
    """
    return ForwardRef(ast.unparse(node)) if postponed else _QuotesKept(reader.source, reader.names).annotation(node)
