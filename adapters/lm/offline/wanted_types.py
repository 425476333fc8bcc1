"""Convert types in prompts (annotations, notes, JSON schemas, BAML, XML shapes) to JSON schemas.

`{"unknown": name}` is a type of which the prompt gives only the name.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

from adapters.lm.offline.source import value_in_xml
from adapters.types.pydantic_schema import schema_by_name
from adapters.types.recognition import is_named

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}
_NUMBER: Schema = {"type": "number"}
_NULL: Schema = {"type": "null"}
_FORMATS = {
    "date": "date",
    "datetime": "date-time",
    "time": "time",
    "timedelta": "duration",
    "UUID": "uuid",
    "Code": "code",
    "HttpUrl": "uri",
    "AnyUrl": "uri",
    "EmailStr": "email",
}
_NAMES: Mapping[str, Schema] = {
    **dict.fromkeys(("str", "bytes", "Path", "Reasoning"), _TEXT),
    **dict.fromkeys(("float", "Decimal"), _NUMBER),
    **dict.fromkeys(("None", "NoneType"), _NULL),
    **dict.fromkeys(("list", "tuple", "set"), _TEXTS),
    **{name: {**_TEXT, "format": format_} for name, format_ in _FORMATS.items()},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "dict": {"type": "object", "additionalProperties": _TEXT},
    "complex": {"const": "1+2j"},
    "Any": {},
}


def from_type(annotation: object) -> Schema:
    """Return the JSON schema of a type; custom types written as text are texts."""
    for name in ("Code", "Reasoning"):
        if is_named(annotation, name):
            return _NAMES[name]
    if annotation is bytes or annotation is complex or annotation is Decimal:
        return _NAMES[annotation.__name__]
    try:
        return schema_by_name(annotation)
    except Exception:  # a type may have no schema, and a user's own may raise anything
        return {"unknown": getattr(annotation, "__name__", "")}


def type_of(schema: Schema) -> Any:
    """Return the Python type nearest to a schema; Any if several fit."""
    if schema.get("enum"):
        return Literal[tuple(schema["enum"])]
    kind = schema.get("type")
    if kind == "array":
        items = schema.get("items")
        return list[type_of(items)] if isinstance(items, Mapping) else list[Any]  # type: ignore[misc]
    if kind == "object" or "properties" in schema:
        inner = schema.get("additionalProperties")
        return dict[str, type_of(inner)] if isinstance(inner, Mapping) else dict[str, Any]  # type: ignore[misc]
    return {"string": str, "integer": int, "number": float, "boolean": bool}.get(str(kind), Any)


def from_annotation(text: str) -> Schema:
    """Convert a Python annotation as prompts write it, such as `Union[list[str], NoneType]`."""
    try:
        return _of_node(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {"unknown": text}


def _of_node(node: ast.expr) -> Schema:
    if isinstance(node, ast.Constant) and node.value is None:
        return _NULL
    if isinstance(node, ast.Name | ast.Attribute):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return _NAMES.get(name, _NAMES["Code"] if name.startswith("Code_") else {"unknown": name})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return {"anyOf": [_of_node(node.left), _of_node(node.right)]}
    return _of_generic(node) if isinstance(node, ast.Subscript) else {"unknown": ast.unparse(node)}


def _of_generic(node: ast.Subscript) -> Schema:
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    outer = node.value.id if isinstance(node.value, ast.Name) else getattr(node.value, "attr", "")
    if outer == "Literal":
        values = [ast.literal_eval(one) for one in inner]
        return {"enum": [one.decode("utf-8", "replace") if isinstance(one, bytes) else one for one in values]}
    if outer == "Optional":
        return {"anyOf": [_of_node(inner[0]), _NULL]}
    if outer == "Union":
        return {"anyOf": [_of_node(one) for one in inner]}
    if outer in ("dict", "Dict", "Mapping"):
        keys = _of_node(inner[0])
        told = {} if keys.get("type") == "string" and len(keys) == 1 else {"keys": keys}
        return {"type": "object", "additionalProperties": _of_node(inner[-1]), **told}
    if outer in ("tuple", "Tuple") and ast.unparse(inner[-1]) not in ("...", "Ellipsis"):
        items = [_of_node(one) for one in inner]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if outer in ("list", "List", "set", "Set", "frozenset", "Sequence", "tuple", "Tuple"):
        return {"type": "array", "items": _of_node(inner[0]), "uniqueItems": outer in ("set", "Set", "frozenset")}
    if outer == "Code":
        return _NAMES["Code"]
    return {"unknown": ast.unparse(node)}


def is_vague(schema: Schema) -> bool:
    """Return whether any part of the schema is a bare name."""
    if "unknown" in schema:
        return True
    inner = [
        *schema.get("anyOf", ()),
        *schema.get("prefixItems", ()),
        schema.get("items"),
        schema.get("additionalProperties"),
    ]
    return any(isinstance(one, Mapping) and is_vague(one) for one in inner)


def from_note(note: str, annotation: Schema) -> Schema:
    """Read the schema or choices from a structure section's note, else return `annotation`."""
    if note.startswith("must adhere to the JSON schema: "):
        try:
            return _with_keys(json.loads(note.removeprefix("must adhere to the JSON schema: ")), annotation)
        except (ValueError, TypeError, RecursionError):
            return annotation
    if "enum" in annotation:
        return annotation
    for start in ("must exactly match (no extra characters) one of: ", "must be one of: "):
        if note.startswith(start):
            return {"enum": note.removeprefix(start).split("; ")}
    return annotation


def _with_keys(schema: Schema, annotation: Schema) -> Schema:
    """Add the types of dict keys, which annotations have and JSON schemas lack."""
    found = dict(schema)
    if "keys" in annotation:
        found["keys"] = annotation["keys"]
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping) and name in annotation:
            found[name] = _with_keys(schema[name], annotation[name])
    for name in ("anyOf", "prefixItems"):
        if len(schema.get(name, ())) == len(annotation.get(name, ())) > 0:
            found[name] = [_with_keys(*pair) for pair in zip(schema[name], annotation[name], strict=True)]
    return found


_BOUNDS = {
    "greater than": "exclusiveMinimum",
    "greater than or equal to": "minimum",
    "less than": "exclusiveMaximum",
    "less than or equal to": "maximum",
    "minimum length": "minLength",
    "maximum length": "maxLength",
    "a multiple of the given number": "multipleOf",
}


def constrained(schema: Schema, description: str) -> Schema:
    """Add the bounds in a description's `Constraints:` line to `schema`."""
    found: dict[str, Any] = {}
    for line in description.split("\n"):
        if line.startswith("Constraints: "):
            for name, number in re.findall(r"([a-z ]+?): (-?[\d.]+(?:e-?\d+)?)", line.removeprefix("Constraints: ")):
                bound = _BOUNDS.get(name.strip())
                if bound:
                    found[bound] = float(number) if "." in number or "e" in number else int(number)
    if not found:
        return schema
    if schema.get("type") == "array":
        found = {{"minLength": "minItems", "maxLength": "maxItems"}.get(name, name): one for name, one in found.items()}
    return {**schema, **found}


def from_template(template: str) -> Schema:
    """Convert nested XML such as `<a><b>...</b></a>`, which shows no types of leaves."""
    return _shape(value_in_xml(template))


def _shape(value: object) -> Schema:
    if isinstance(value, list):
        return {"type": "array", "items": _shape(value[0])}
    if not isinstance(value, dict):
        return {"unknown": ""}
    return {"type": "object", "properties": {name: _shape(one) for name, one in value.items()}, "required": [*value]}


_BAML_NAMES: Mapping[str, Schema] = {
    "string": _TEXT,
    "boolean": {"type": "boolean"},
    "null": _NULL,
    **_NAMES,
}
_BAML_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*|\[\]|[{}\[\],:]|[^\s{}\[\],:"#]+')


def from_baml(text: str) -> Schema:
    """Convert the simplified types of the BAML adapter."""
    tokens = [token for token in _BAML_TOKEN.findall(text) if not token.startswith("#")]
    try:
        return _BamlReader(tokens).union()
    except (IndexError, ValueError, RecursionError):
        return {"unknown": text.strip()[:40]}


class _BamlReader:
    """Recursive descent parser over the tokens of a type."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def union(self) -> Schema:
        choices = [self._one()]
        while self._peek() == "or":
            self._at += 1
            choices.append(self._one())
        if len(choices) == 1:
            return choices[0]
        if all("const" in choice for choice in choices):
            return {"enum": [choice["const"] for choice in choices]}
        return {"anyOf": choices}

    def _one(self) -> Schema:
        token = self._take()
        if token == "{":
            found: Schema = self._object()
        elif token == "[":
            found = {"type": "array", "items": self.union()}
            self._expect("]")
        elif token == "dict" and self._peek() == "[":
            self._at += 1
            self.union()
            self._expect(",")
            found = {"type": "object", "additionalProperties": self.union()}
            self._expect("]")
        elif token in _BAML_NAMES:
            found = _BAML_NAMES[token]
        else:
            found = _literal(token)
        while self._peek() == "[]":
            self._at += 1
            found = {"type": "array", "items": found}
        return found

    def _object(self) -> Schema:
        properties: dict[str, Schema] = {}
        while self._peek() != "}":
            name = self._take()
            self._expect(":")
            properties[name] = self.union()
            if self._peek() == ",":
                self._at += 1
        self._at += 1
        return {"type": "object", "properties": properties, "required": list(properties)}

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(f"{token} expected")


def _literal(token: str) -> Schema:
    try:
        return {"const": json.loads(token)}
    except ValueError:
        return {"const": {"True": True, "False": False}[token]} if token in ("True", "False") else {"unknown": token}
