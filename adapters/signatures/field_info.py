"""A field as pydantic's `FieldInfo`: what dspy's XMLAdapter prints in its errors, and what users' overrides look at."""

from __future__ import annotations

from ast import literal_eval
from dataclasses import replace
from typing import Any

import pydantic

from adapters.signatures.signature import CONSTRAINT_WORDS, Field


def field_with_info(field: Field) -> Field:
    """The field as a method written for dspy reads it: with the `info` that dspy's fields carry."""
    info = info_of(field)
    return field if field.info is info else replace(field, info=info)


def info_of(field: Field) -> object:
    """Make the `FieldInfo` that dspy has for this field; the original if the field came from dspy."""
    given = field.info
    desc = f"${{{field.name}}}" if field.desc is None else field.desc
    if given is not None and given.annotation is field.annotation and f"{given.json_schema_extra.get('desc')}" == desc:
        return given
    extra: dict[str, Any] = {}
    for name, value in (("desc", field.desc), ("prefix", field.prefix)):
        if value is not None:
            extra[name] = value
    extra["__dspy_field_type"] = field.role
    if field.constraints:
        extra["constraints"] = field.constraints
    extra.setdefault("prefix", field.shown_prefix)
    extra.setdefault("desc", f"${{{field.name}}}")
    arguments = _constraints(field.constraints or "")
    if field.default_factory is not None:
        arguments["default_factory"] = field.default_factory
    elif not field.is_required:
        arguments["default"] = field.default
    made: Any = pydantic.Field(json_schema_extra=extra, **arguments)
    made.annotation = field.annotation
    return made


def _constraints(sentence: str) -> dict[str, Any]:
    """The constraints that dspy's sentence words, as pydantic's arguments; those it cannot read are left out."""
    found: dict[str, object] = {}
    for piece in sentence.split(", ") if sentence else ():
        for name, words in CONSTRAINT_WORDS.items():
            if piece.startswith(words):
                try:
                    found[name] = literal_eval(piece.removeprefix(words))
                except (ValueError, SyntaxError):
                    continue
    return found
