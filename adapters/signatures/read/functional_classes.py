"""Classes that a call makes: `Enum("Color", ["RED"])` and `TypedDict("Point", {"x": int})`."""

from __future__ import annotations

import ast
from typing import Any

import typing_extensions

from adapters.signatures.read.annotation_reader import AnnotationReader
from adapters.signatures.read.classes import MODULE
from adapters.signatures.read.source_text import told


def functional_enum(base: Any, call: ast.Call, reader: AnnotationReader) -> Any:
    """`Color = Enum("Color", ["RED", "BLUE"])`. Raises SignatureError."""
    constants = reader.constants
    name, members = (constants.read(one) for one in call.args)
    options = {key: constants.read(one) for key, one in constants.keywords(call) if key == "start"}
    try:
        return base(name, members, module=MODULE, **options)
    except (TypeError, ValueError) as error:
        raise reader.source.error(call, f"not an enum: {told(error)}") from None


def functional_typed_dict(call: ast.Call, reader: AnnotationReader) -> Any:
    """`Point = TypedDict("Point", {"x": int})`, whose keys need not be names. Raises SignatureError."""
    constants = reader.constants
    name, fields = constants.read(call.args[0]), call.args[1]
    if not isinstance(name, str) or not isinstance(fields, ast.Dict) or None in fields.keys:
        raise reader.source.error(call, "this TypedDict is not read", 'TypedDict("Point", {"x": int})')
    keys = [constants.read(one) for one in fields.keys if one is not None]
    annotations = {str(key): reader.read(one) for key, one in zip(keys, fields.values, strict=True)}
    options = {key: constants.read(one) for key, one in constants.keywords(call) if key == "total"}
    make: Any = typing_extensions.TypedDict
    made = make(name, annotations, **options)
    made.__module__ = MODULE
    return made
