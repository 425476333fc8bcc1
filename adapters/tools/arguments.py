"""Decode a tool call's arguments and validate them against the tool's JSON Schema.

People type that schema as a line, such as `query: str, limit: int = 5`.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass
from adapters.types.recognition import type_adapter

DEEPEST = 100
"""Maximum depth of a schema and its arguments; deeper arguments are rejected."""
MOST_STEPS = 100_000
"""Maximum number of schemas checked for a call: nested alternatives double at every level."""


class ArgumentsError(ValueError):
    """Invalid arguments of a tool call, explained in a line for the model."""


class TooManyStepsError(ArgumentsError):
    """The schema is too large to check; no further alternative is tried."""


def decode(arguments: Any) -> dict[str, object]:
    """Decode the arguments to an object; empty if there are none. Raises ArgumentsError.

    >>> decode('{"query": "cats"}')
    {'query': 'cats'}
    """
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, Mapping):
        return dict(arguments)
    try:
        decoded = json.loads(arguments)
    except (ValueError, TypeError, RecursionError):
        raise ArgumentsError("Failed to decode tool call arguments.") from None
    if not isinstance(decoded, dict):
        raise ArgumentsError("Tool call arguments must be a JSON object.")
    return decoded


def validate(schema: Mapping[str, object], arguments: Mapping[str, object]) -> dict[str, object]:
    """Validate the arguments, fill in defaults and parse numbers in texts. Raises ArgumentsError.

    Reports only the first error. Supports JSON Schema's type, properties, required, additionalProperties, items, enum,
    const, anyOf, oneOf, default, local `$ref`, and bounds of numbers and lengths; ignores `pattern` and `format`.
    """
    checked: dict[str, object] = _Checker(schema).object(schema, arguments, "", 0)
    return checked


@dataclass(eq=False)
class _Checker:
    _root: Mapping[str, object]
    _left: int = MOST_STEPS

    def object(
        self, schema: Mapping[str, object], value: Mapping[str, object], path: str, depth: int
    ) -> dict[str, object]:
        properties = _mapping(schema.get("properties"))
        required = schema.get("required")
        needed = set(required) if isinstance(required, list) else set()
        checked: dict[str, object] = {}
        for name in [*properties, *(one for one in needed if one not in properties)]:
            one = _mapping(properties.get(name))
            if name in value:
                checked[name] = self.value(one, value[name], f"{path}.{name}" if path else name, depth + 1)
            elif "default" in one:
                checked[name] = one["default"]
            elif name in needed:
                raise ArgumentsError(f"{path}: " * bool(path) + f"Missing required field: {name!r}")
        extra = [name for name in value if name not in checked and name not in properties]
        more = schema.get("additionalProperties", True)
        if extra and more is False:
            raise ArgumentsError(f"{path}: " * bool(path) + f"Extra keys not permitted: {extra!r}")
        for name in extra:
            where = f"{path}.{name}" if path else name
            checked[name] = (
                self.value(_mapping(more), value[name], where, depth + 1) if more is not True else value[name]
            )
        return checked

    def value(self, schema: Mapping[str, Any], value: Any, path: str, depth: int) -> Any:
        if depth > DEEPEST:
            raise ArgumentsError(f"{path[:200]}: nested too deeply")
        self._left -= 1
        if self._left < 0:
            raise TooManyStepsError(f"{path[:200]}: the tool's schema has too many alternatives to look at")
        if "$ref" in schema:
            reference = str(schema["$ref"])
            head, *parts = reference.split("/")
            node: object = self._root if head == "#" else None
            for part in parts:
                node = node.get(part) if isinstance(node, Mapping) else None
            if not isinstance(node, Mapping):
                raise ArgumentsError(f"{path}: the tool's schema refers to {reference[:200]!r}, which is not in it")
            return self.value(node, value, path, depth + 1)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self._any(schema[key], value, path, depth)
        types = schema.get("type")
        if isinstance(types, list):
            return self._any([{**schema, "type": one} for one in types], value, path, depth)
        if types == "null":
            if value is None or (isinstance(value, str) and not value.strip()):
                return None
            raise ArgumentsError(f"{path}: expected null")
        if value is None and (types is not None or "enum" in schema or "const" in schema):
            if isinstance(schema.get("enum"), list) and None in schema["enum"]:
                return None
            raise ArgumentsError(f"{path}: value cannot be None")
        made = self._typed(types, schema, value, path, depth)
        return _is_within_bounds(schema, _chosen(schema, made, path), path)

    def _any(self, schemas: list[Any], value: Any, path: str, depth: int) -> Any:
        nulls = [one for one in schemas if _mapping(one).get("type") == "null"]
        failure = ArgumentsError(f"{path}: no alternative of the schema fits")
        for one in [*nulls, *(one for one in schemas if one not in nulls)]:
            try:
                return self.value(_mapping(one), value, path, depth + 1)
            except TooManyStepsError:
                raise
            except ArgumentsError as error:
                failure = error
        raise failure

    def _typed(self, type: Any, schema: Mapping[str, Any], value: Any, path: str, depth: int) -> Any:
        scalar = _SCALARS.get(type) if isinstance(type, str) else None
        if scalar is not None:
            return scalar(value, path)
        if type == "array":
            items = [value] if isinstance(value, str) else value
            if not isinstance(items, list | tuple):
                raise ArgumentsError(f"{path}: expected a list")
            inner = _mapping(schema.get("items"))
            return [self.value(inner, item, f"{path}[{index}]", depth + 1) for index, item in enumerate(items)]
        if type == "object":
            if not isinstance(value, Mapping):
                raise ArgumentsError(f"{path}: expected an object")
            return self.object(schema, value, path, depth + 1)
        return value


def _integer(value: object, path: str) -> int | float:
    return _number(int(value) if isinstance(value, float) and value.is_integer() else value, path, int)


def _number(value: object, path: str, kind: type[int] | type[float] = float) -> int | float:
    if isinstance(value, int) or isinstance(value, kind):
        return value
    if isinstance(value, str):
        with suppress(ValueError):
            return kind(value)
    raise ArgumentsError(f"{path}: unable to coerce {_shown(value)} to {kind.__name__}")


_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def _boolean(value: object, path: str) -> bool:
    if isinstance(value, bool | int | float):
        return bool(value)
    word = value.strip().lower() if isinstance(value, str) else None
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ArgumentsError(f"{path}: Cannot interpret {_shown(value)} as boolean")


_SCALARS: Mapping[str, Callable[[object, str], object]] = {
    "string": lambda value, path: str(value),
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}


def _chosen(schema: Mapping[str, object], value: object, path: str) -> object:
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(allowed, list) or any(value == one and type(value) is type(one) for one in allowed):
        return value
    for one in allowed:
        if isinstance(one, str | int | float) and str(one) == str(value):
            return one
    raise ArgumentsError(f"{path}: expected one of {_shown(allowed)}")


_BOUNDS: tuple[tuple[str, str, Callable[[object, Any], bool]], ...] = (
    ("minimum", ">=", lambda value, bound: value >= bound),
    ("exclusiveMinimum", ">", lambda value, bound: value > bound),
    ("maximum", "<=", lambda value, bound: value <= bound),
    ("exclusiveMaximum", "<", lambda value, bound: value < bound),
)
_LENGTHS = (("minLength", "maxLength", str), ("minItems", "maxItems", list))


def _is_within_bounds(schema: Mapping[str, Any], value: object, path: str) -> object:
    for key, sign, holds in _BOUNDS:
        bound = schema.get(key)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and isinstance(bound, int | float) and not holds(value, bound):
            raise ArgumentsError(f"{path}: must be {sign} {bound}")
    for least, most, kind in _LENGTHS:
        if isinstance(value, kind):
            if isinstance(schema.get(least), int) and len(value) < schema[least]:
                raise ArgumentsError(f"{path}: length must be >= {schema[least]}")
            if isinstance(schema.get(most), int) and len(value) > schema[most]:
                raise ArgumentsError(f"{path}: length must be <= {schema[most]}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else text[:200] + "…"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


PREFIX = "def f("


@lru_cache(maxsize=256)
def schema_of_line(line: str) -> Mapping[str, Any]:
    """Return the arguments' JSON Schema, closed to others; untyped arguments are texts. Raises SignatureError.

    All callers share it, so nothing may change it.

    >>> schema_of_line("query, limit: int = 5")["required"]
    ['query']
    """
    hint = "for example: query: str, limit: int = 5"
    text = " ".join(line.split())
    try:
        (function,) = ast.parse(f"{PREFIX}{text}): pass").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SignatureError(f"these are not the arguments of a function: {error}", hint=hint) from None
    if not isinstance(function, ast.FunctionDef) or function.returns is not None or len(function.body) != 1:
        raise SignatureError("these are not the arguments of a function", hint=hint)
    args = function.args
    if args.vararg or args.kwarg or args.posonlyargs or args.kwonlyargs:
        raise SignatureError("a tool's arguments are plain names: no *, ** or /", hint=hint)
    defaults = [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    properties: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    for arg, default in zip(args.args, defaults, strict=True):
        column = max(1, arg.col_offset - len(PREFIX) + 1)
        made = _annotation_schema(arg, column)
        definitions.update(made.pop("$defs", {}))
        properties[arg.arg] = made
        if default is not None:
            try:
                made["default"] = ast.literal_eval(default)
            except (ValueError, SyntaxError, RecursionError):
                raise SignatureError(f"the default of `{arg.arg}` is not a plain value", 1, column, hint) from None
    needed = [name for name, one in properties.items() if "default" not in one]
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": needed}
    return {**schema, "additionalProperties": False} | ({"$defs": definitions} if definitions else {})


def _annotation_schema(arg: ast.arg, column: int) -> dict[str, Any]:
    if arg.annotation is None:
        return {"type": "string"}
    try:
        from adapters.signatures import notation  # loads pydantic's fields

        read = notation.read(f"x -> y: {ast.unparse(arg.annotation)}")
        return dict(type_adapter(read.output_fields["y"].annotation).json_schema())
    except Exception as error:  # pydantic has many ways to have no schema for a type
        message = error.message if isinstance(error, SignatureError) else str(error)
        raise SignatureError(f"the type of `{arg.arg}`: {message}", 1, column) from None
