"""Write the classes that a JSON schema in a prompt describes, as the Python source of pydantic models and enums."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

_FORMATS = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "timedelta",
    "uuid": "UUID",
}
_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_BOUNDS = {
    "exclusiveMinimum": "gt",
    "minimum": "ge",
    "exclusiveMaximum": "lt",
    "maximum": "le",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
KNOWN: Mapping[str, str] = MappingProxyType(
    {
        "datetime": "date datetime time timedelta",
        "decimal": "Decimal",
        "uuid": "UUID",
        "pathlib": "Path",
        "typing": "Any Literal Union Optional",
        "dspy": "Audio Code History Image Tool ToolCalls Reasoning Document Citations File",
    }
)
"""The names that a type in a prompt may have, by the module that they come from."""
IMPORTS = "".join(f"from {module} import {names.replace(' ', ', ')}\n" for module, names in KNOWN.items())
IMPORTS += "import enum\n\nimport dspy\nimport pydantic\n"


def classes_of(schema: Mapping[str, Any]) -> dict[str, str]:
    """Write the source of each class that the schema defines, by name, those that others use first.

    Raises ValueError for a name that no class can have.
    """
    described: dict[str, Mapping[str, Any]] = dict(schema.get("$defs") or {})
    title = schema.get("title")
    if isinstance(title, str) and ("properties" in schema or "enum" in schema):
        described[title] = schema
    written: dict[str, str] = {}
    waiting = dict(described)
    while waiting:
        ready = [name for name, one in waiting.items() if not (_used(one) & set(waiting)) - {name}]
        for name in ready or list(waiting)[:1]:
            written[name] = _class(name, waiting.pop(name))
    return written


def _used(schema: object) -> set[str]:
    if isinstance(schema, dict):
        own = {str(schema["$ref"]).rpartition("/")[2]} if "$ref" in schema else set()
        return own.union(*(_used(one) for key, one in schema.items() if key != "$defs"))
    return set().union(*map(_used, schema)) if isinstance(schema, list) else set()


def _class(name: str, schema: Mapping[str, Any]) -> str:
    _checked(name)
    described = schema.get("description")
    lines = [f"    {described!r}"] if isinstance(described, str) else []
    if "enum" in schema:
        lines += [f"    {_member(value, number)} = {value!r}" for number, value in enumerate(schema["enum"], 1)]
        return "\n".join([f"class {name}(enum.Enum):", *lines])
    if isinstance(schema.get("additionalProperties"), bool):
        lines.append(f"    model_config = {{'extra': {'allow' if schema['additionalProperties'] else 'forbid'!r}}}")
    properties = schema.get("properties", {})
    required = [one for one in schema.get("required", ()) if one in properties]
    for one in [*required, *(other for other in properties if other not in required)]:
        lines.append(_property(_checked(one), properties[one], one in required))
    return "\n".join([f"class {name}(pydantic.BaseModel):", *(lines or ["    pass"])])


def _member(value: object, number: int) -> str:
    name = re.sub(r"\W+", "_", str(value)).strip("_").upper()
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"MEMBER_{number}"


def _checked(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name!r} cannot be a name in Python")
    return name


def _property(name: str, schema: Mapping[str, object], is_required: bool) -> str:
    arguments = [f"{_BOUNDS[key]}={value!r}" for key, value in schema.items() if key in _BOUNDS]
    if isinstance(schema.get("description"), str):
        arguments.append(f"description={schema['description']!r}")
    if schema.get("title") not in (None, name.replace("_", " ").title()):
        arguments.append(f"title={schema['title']!r}")
    if not is_required and "default" in schema:
        arguments.insert(0, f"default={schema['default']!r}")
    elif not is_required:
        arguments.insert(0, f"default_factory={'dict' if schema.get('type') == 'object' else 'list'}")
    value = f" = pydantic.Field({', '.join(arguments)})" if arguments else ""
    if len(arguments) == 1 and arguments[0].startswith("default="):
        value = f" = {schema['default']!r}"
    return f"    {name}: {type_text(schema)}{value}"


def type_text(schema: Mapping[str, Any]) -> str:
    """Write the Python type of a schema; classes by their names."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return f"Literal[{', '.join(map(repr, schema['enum']))}]"
    if "const" in schema:
        return f"Literal[{schema['const']!r}]"
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return f"Union[{', '.join(map(type_text, choices))}]"
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"tuple[{', '.join(map(type_text, schema['prefixItems']))}]"
        items = schema.get("items")
        inner = type_text(items) if isinstance(items, Mapping) else "Any"
        return f"{'set' if schema.get('uniqueItems') else 'list'}[{inner}]"
    if kind == "object":
        if isinstance(schema.get("title"), str) and "properties" in schema:
            return str(schema["title"])
        inner_schema = schema.get("additionalProperties")
        return f"dict[str, {type_text(inner_schema) if isinstance(inner_schema, Mapping) else 'Any'}]"
    if kind == "string" and schema.get("format") in _FORMATS:
        return _FORMATS[str(schema["format"])]
    return _TYPES.get(str(kind), "Any")
