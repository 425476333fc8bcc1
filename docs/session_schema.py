"""The JSON Schema of session files and the tables of their keys, made from the types of `sessions.model`."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from adapters.lm.lm_settings import MODEL_TYPES
from sessions.file.file_format import FORMAT
from sessions.file.json_values import LARGE_INT_BITS
from sessions.model import parameters
from sessions.model.replies import (
    Extraction,
    Key,
    Measured,
    RecordedAttempt,
    RecordedCompletion,
    RecordedReading,
    Reply,
    keys_of,
)
from sessions.model.session import (
    SCHEMA,
    Case,
    Column,
    Demo,
    Recording,
    Session,
    SignatureText,
    SourceLink,
    Tool,
    Variant,
)

PARTS: Mapping[type[Any], str] = {
    Session: "file",
    SignatureText: "signature",
    SourceLink: "source",
    Variant: "variant",
    Column: "column",
    Tool: "tool",
    Demo: "demo",
    Case: "case",
    Reply: "reply",
    Recording: "recording",
    RecordedAttempt: "attempt",
    RecordedCompletion: "completion",
    RecordedReading: "reading",
    Extraction: "extraction",
    Measured: "measured",
}
"""Every part of the file, and what it is called in the schema."""

UNSAID = (
    "Unknown keys are allowed everywhere and kept. What a schema cannot say is checked when a file is opened: names "
    "used twice, keys that stand twice in an object, secrets, nesting of more than 100 levels, 64 MB."
)
ABOUT_FORMAT = "Of this file. Older files are brought to it when they are opened."
HEX_DIGITS = LARGE_INT_BITS // 4


def ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [{"type": "null"}, schema]}


def a_list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_TEXTS = {"type": "array", "minItems": 1, "items": ref("text")}
VALUES: Mapping[str, Any] = {
    "tag-text": {
        "description": "A text of several lines, or one in pieces.",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "anyOf": [{"required": [tag], "properties": {tag: _TEXTS}} for tag in ("$lines", "$text")],
    },
    "tag-float": {
        "description": "A number that JSON has no word for.",
        "type": "object",
        "maxProperties": 1,
        "required": ["$float"],
        "properties": {"$float": {"enum": ["NaN", "Infinity", "-Infinity"]}},
    },
    "tag-int": {
        "description": f"A whole number of more than {LARGE_INT_BITS:,} bits.",
        "type": "object",
        "maxProperties": 1,
        "required": ["$int"],
        "properties": {"$int": {"type": "string", "pattern": f"^-?0x0*[1-9a-f][0-9a-f]{{{HEX_DIGITS},}}$"}},
    },
    "tagged": {"anyOf": [ref("tag-text"), ref("tag-float"), ref("tag-int")]},
    "text": {"anyOf": [{"type": "string"}, ref("tag-text")]},
    "lines": {"description": "A text, or the list of its lines.", "anyOf": [ref("text"), a_list(ref("text"))]},
    "number": {"anyOf": [{"type": "number"}, ref("tag-float"), ref("tag-int")]},
    "whole": {"anyOf": [{"type": "integer"}, ref("tag-int")]},
    "object": {
        "description": 'A user\'s object; one whose only key would read as a tag is {"$dict": [[key, value], …]}.',
        "type": "object",
        "not": ref("tagged"),
    },
    "objects": a_list(ref("object")),
    "pairs": {
        "type": "object",
        "maxProperties": 1,
        "required": ["$dict"],
        "properties": {"$dict": a_list({"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [ref("text")]})},
    },
    "switched": {
        "description": "A turn of the history with its switch.",
        "type": "object",
        "required": ["enabled", "values"],
        "additionalProperties": False,
        "properties": {"enabled": {"type": "boolean"}, "values": ref("object")},
    },
}
"""What stands at the keys, beside the parts."""

_TAKES: Mapping[str, dict[str, Any]] = {
    parameters.NUMBER: ref("number"),
    parameters.WHOLE: ref("whole"),
    parameters.COMPLETIONS: {"type": "integer", "maximum": parameters.MOST_COMPLETIONS},
    parameters.FEW: {"type": "integer", "minimum": 0, "maximum": 5},
    parameters.TEXT: ref("text"),
    parameters.YES_OR_NO: {"type": "boolean"},
    parameters.OBJECT: ref("object"),
    parameters.TEXTS: {"anyOf": [ref("text"), a_list(ref("text"))]},
    parameters.OBJECTS: a_list(ref("object")),
    parameters.TEXT_OR_OBJECT: {"anyOf": [ref("text"), ref("object")]},
    parameters.MODEL_TYPE: {"enum": list(MODEL_TYPES)},
    parameters.HEADERS: {"type": "object", "additionalProperties": ref("text")},
    parameters.ABILITIES: {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in sorted(parameters.ABILITY_NAMES)},
        "additionalProperties": False,
    },
}


def schema() -> dict[str, Any]:
    """The schema that every file names."""
    top = part_schema(Session)
    top["properties"] = {
        "$schema": top["properties"].pop("$schema"),
        "format": {"description": ABOUT_FORMAT, "const": FORMAT},
        **top["properties"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": f"A session of adapter-workbench, format {FORMAT}",
        "description": f"{top.pop('description')} {UNSAID}",
        **top,
        "required": ["format", *top["required"]],
        "$defs": {
            **VALUES,
            "parameters": {
                "description": "Parameters of the request: a closed list, and never a secret.",
                "type": "object",
                "properties": {name: or_null(_TAKES[takes]) for name, takes in parameters.PARAMETERS.items()},
                "additionalProperties": False,
            },
            **{name: part_schema(kind) for kind, name in PARTS.items() if kind is not Session},
        },
    }


def part_schema(kind: type[Any]) -> dict[str, Any]:
    said = sayings(kind)
    made: dict[str, Any] = {"description": first_sentence(inspect.getdoc(kind) or ""), "type": "object"}
    keys = keys_of(kind)
    needed = [name for name, key in keys.items() if key.is_needed and (kind is not Column or name != "id")]
    if needed:
        made["required"] = needed
    else:
        made["not"] = ref("tagged")
    made["properties"] = {name: {"description": said[key.field], **key_schema(key)} for name, key in keys.items()}
    return made


def key_schema(key: Key) -> dict[str, Any]:
    if key.rule.is_lenient:
        return {}  # a value of another kind is kept as it is
    if key.rule.has_lines:
        return or_null(ref("lines")) if type(None) in get_args(key.hint) else ref("lines")
    if key.rule.has_parameters:
        return ref("parameters")
    if key.rule.has_switches:
        return a_list({"anyOf": [ref("switched"), ref("object")]})
    if key.rule.has_messages:
        whole = {"type": "object", "required": ["messages"], "properties": {"messages": ref("objects")}}
        return or_null(whole)
    found = value_schema(key.hint)
    return or_null(found) if key.rule.null_is_absent else found


def value_schema(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in (str, bool):
        return ref("text") if hint is str else {"type": "boolean"}
    if hint is float:
        return {"type": "number"}
    if hint in PARTS:
        return ref(PARTS[hint])
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        choices = [value_schema(one) for one in arguments if one is not type(None)]
        choice = choices[0] if len(choices) == 1 else {"anyOf": [ref("text"), ref("object")]}
        return or_null(choice) if type(None) in arguments else choice
    if origin is tuple:
        return a_list(value_schema(arguments[0]))
    if arguments[1] is Any:
        return ref("object")
    by_name = {"type": "object", "not": ref("tagged"), "additionalProperties": value_schema(arguments[1])}
    return by_name if arguments[1] is Recording else {"anyOf": [by_name, ref("pairs")]}


def tables() -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Of every part: its name, what it is, and what each of its keys holds."""
    for kind, name in PARTS.items():
        said = sayings(kind)
        rows = [(f"`{key.name}`", said[key.field]) for key in keys_of(kind).values()]
        if kind is Session:
            rows.insert(1, ("`format`", ABOUT_FORMAT))
        yield name, first_sentence(inspect.getdoc(kind) or ""), rows


def sayings(kind: type[Any]) -> dict[str, str]:
    """The docstrings of a type's fields, each in one line, those that it inherits among them."""
    found: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        if dataclasses.is_dataclass(base):
            (tree,) = ast.parse(inspect.getsource(base)).body
            assert isinstance(tree, ast.ClassDef)
            for field, saying in zip(tree.body, tree.body[1:], strict=False):
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(saying, ast.Expr)
                    and isinstance(saying.value, ast.Constant)
                ):
                    found[field.target.id] = " ".join(str(saying.value.value).split())
    return found


def first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())
