"""The fields of a model that names a class defined below it, as pydantic holds them until the model is built.

Pydantic cannot evaluate such an annotation when the class statement runs. It keeps the annotation as written until the
model itself makes a value, and dspy's BAMLAdapter prints it so: `ForwardRef('Inner')`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import BaseModel
from pydantic.fields import FieldInfo


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
