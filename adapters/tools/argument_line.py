"""Convert a typed line of arguments, `query: str, limit: int = 5`, to JSON Schema."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures import notation
from adapters.types.pydantic_schema import type_adapter

PREFIX = "def f("


@lru_cache(maxsize=256)
def _schema(line: str) -> dict[str, Any]:
    hint = "for example: query: str, limit: int = 5"
    text = " ".join(line.split())
    try:
        (function,) = ast.parse(f"{PREFIX}{text}): pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SignatureError(f"these are no arguments of a function: {error}", hint=hint) from None
    if not isinstance(function, ast.FunctionDef) or function.returns is not None or len(function.body) != 1:
        raise SignatureError("these are no arguments of a function", hint=hint)
    args = function.args
    if args.vararg or args.kwarg or args.posonlyargs or args.kwonlyargs:
        raise SignatureError("a tool's arguments are plain names: no *, ** or /", hint=hint)
    defaults = [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for arg, default in zip(args.args, defaults, strict=True):
        column = max(1, arg.col_offset - len(PREFIX) + 1)
        made = _of_annotation(arg, column)
        definitions.update(made.pop("$defs", {}))
        properties[arg.arg] = made
        if default is not None:
            try:
                made["default"] = ast.literal_eval(default)
            except (ValueError, SyntaxError, RecursionError):
                raise SignatureError(f"the default of `{arg.arg}` is no plain value", 1, column, hint) from None
    needed = [name for name, one in properties.items() if "default" not in one]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": needed}
    return {**schema, "additionalProperties": False} | ({"$defs": definitions} if definitions else {})


def _of_annotation(arg: ast.arg, column: int) -> dict[str, Any]:
    if arg.annotation is None:
        return {"type": "string"}
    try:
        read = notation.read(f"x -> y: {ast.unparse(arg.annotation)}")
        return dict(type_adapter(read.output_fields["y"].annotation).json_schema())
    except Exception as error:  # pydantic has many ways to have no schema for a type
        message = error.message if isinstance(error, SignatureError) else str(error)
        raise SignatureError(f"the type of `{arg.arg}`: {message}", 1, column) from None


def schema_of_line(line: str) -> dict[str, Any]:
    """Return the arguments' JSON Schema, closed to others; untyped arguments are texts. Raises SignatureError.

    >>> schema_of_line("query, limit: int = 5")["required"]
    ['query']
    """
    return dict(_schema(line))
