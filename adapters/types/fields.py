"""Finds custom types in annotations: in containers, unions, models, typed dicts and dataclasses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Annotated, NotRequired, Required, get_args, get_origin

import pydantic
from typing_extensions import ReadOnly, TypeAliasType, is_typeddict

from adapters.types.pydantic_schema import ByIdentity
from adapters.types.recognition import is_custom_type, is_named

BUILT_MODELS = ("History", "ToolCallResults")
"""The two types of dspy that are models without being a `Type`."""


def is_built(annotation: object) -> bool:
    """Test whether plain JSON is converted to an instance of this class."""
    return is_custom_type(annotation) or any(is_named(annotation, name) for name in BUILT_MODELS)


def unwrapped(annotation: object) -> object:
    """Remove `Annotated` and `Required` around an annotation, and resolve aliases."""
    while True:
        if get_origin(annotation) in (Annotated, Required, NotRequired, ReadOnly):
            annotation = get_args(annotation)[0]
        elif isinstance(annotation, TypeAliasType):
            annotation = annotation.__value__
        else:
            return annotation


def fields_of(annotation: object) -> Mapping[str, object]:
    """The annotations of a model, typed dict or dataclass by the keys its plain JSON may use; empty for all else."""
    if not isinstance(annotation, type):
        return {}
    if issubclass(annotation, pydantic.BaseModel):
        return _model_fields(annotation)
    # Annotations that are still text are left out: making types of them would mean to evaluate them.
    if is_typeddict(annotation):
        return annotation.__annotations__
    if dataclasses.is_dataclass(annotation):
        return {field.name: field.type for field in dataclasses.fields(annotation)}
    return {}


def _model_fields(model: type[pydantic.BaseModel]) -> Mapping[str, object]:
    fields: dict[str, object] = {}
    for name, field in model.model_fields.items():
        for key in (name, field.alias, field.validation_alias):
            if isinstance(key, str):
                fields[key] = field.annotation
    return fields


def _search(annotation: object) -> bool:
    waiting = [annotation]
    seen: list[object] = []
    while waiting:
        one = unwrapped(waiting.pop())
        if is_built(one):
            return True
        if not any(one is other for other in seen):
            seen.append(one)
            waiting.extend((*get_args(one), *fields_of(one).values()))
    return False


asks_for_types: ByIdentity[bool] = ByIdentity(_search)
"""Whether a custom type stands anywhere in an annotation, however deep; answered once per annotation."""
