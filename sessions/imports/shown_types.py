"""Read the types that BAML and XML prompts show: JSON schemas without names of classes.

`{"unknown": name}` is a type of which the prompt gives only the name.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.late_dataclasses import dataclass

Schema = Mapping[str, Any]

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"type": "number"}
_NULL: Schema = {"type": "null"}
_TRUTH: Schema = {"type": "boolean"}
_TEXTS: Schema = {"type": "array", "items": _TEXT}


def from_template(template: str) -> Schema:
    """Convert nested XML such as `<a><b>...</b></a>`, which shows no types of leaves."""
    try:
        return _shape(ElementTree.fromstring(template))
    except (ElementTree.ParseError, ValueError, RecursionError):  # ValueError: an unpaired surrogate
        return {"unknown": ""}


def _shape(element: ElementTree.Element) -> Schema:
    children = list(element)
    if not children:
        return {"unknown": ""}
    if all(child.tag == "item" for child in children):
        return {"type": "array", "items": _shape(children[0])}
    properties = {child.tag: _shape(child) for child in children}
    return {"type": "object", "properties": properties, "required": [*properties]}


FORMATS = {"date": "date", "datetime": "date-time", "time": "time", "timedelta": "duration", "UUID": "uuid"}
_OF_TEXT = ("string", "str", "bytes", "Path", "Reasoning", "Code", "HttpUrl", "AnyUrl", "EmailStr")
_NAMES: Mapping[str, Schema] = {
    **dict.fromkeys(_OF_TEXT, _TEXT),
    **dict.fromkeys(("float", "Decimal"), _NUMBER),
    **dict.fromkeys(("null", "None", "NoneType"), _NULL),
    **dict.fromkeys(("boolean", "bool"), _TRUTH),
    **dict.fromkeys(("list", "tuple", "set"), _TEXTS),
    **{name: {**_TEXT, "format": format_} for name, format_ in FORMATS.items()},
    "int": {"type": "integer"},
    "dict": {"type": "object", "additionalProperties": _TEXT},
    "complex": {"type": "complex"},
    "Any": {},
}
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|#[^\n]*|\[\]|[{}\[\],:]|[^\s{}\[\],:"#]+')


def from_baml(text: str) -> Schema:
    """Convert the simplified types of the BAML adapter; comments describe an object or a field in it."""
    try:
        return _BamlReader(_TOKEN.findall(text)).union()
    except (IndexError, ValueError, RecursionError):
        return {"unknown": text.strip()[:40]}


@dataclass(eq=False)
class _BamlReader:
    """Recursive descent parser over the tokens of a type."""

    _tokens: list[str]
    _at: int = 0

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
        comments = self._comments()
        token = self._take()
        if token == "{":
            found: Schema = _described(self._object(), comments)
        elif token == "[":
            found = {"type": "array", "items": self.union()}
            self._expect("]")
        elif token == "dict" and self._peek() == "[":
            self._at += 1
            self.union()
            self._expect(",")
            found = {"type": "object", "additionalProperties": self.union()}
            self._expect("]")
        elif token in _NAMES:
            found = _NAMES[token]
        else:
            try:
                found = {"const": json.loads(token)}
            except ValueError:
                found = {"const": token == "True"} if token in ("True", "False") else {"unknown": token}
        while self._peek() == "[]":
            self._at += 1
            found = {"type": "array", "items": found}
        return found

    def _object(self) -> Schema:
        properties: dict[str, Schema] = {}
        comments = self._comments()
        while self._peek() != "}":
            name = self._take()
            self._expect(":")
            properties[name] = _property(self.union(), comments)
            if self._peek() == ",":
                self._at += 1
            comments = self._comments()
        self._at += 1
        return {"type": "object", "properties": properties, "required": list(properties)}

    def _comments(self) -> list[str]:
        """Take the comments before the next token."""
        found = []
        while self._peek().startswith("#"):
            found.append(self._take().removeprefix("#").strip())
        return found

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(f"{token} expected")


def _described(schema: Schema, comments: Sequence[str]) -> Schema:
    return {**schema, "description": "\n".join(comments)} if comments else schema


def _property(schema: Schema, comments: Sequence[str]) -> Schema:
    """Describe a field by its comments; of an object or null, the first describes the field, the others its class."""
    members = schema.get("anyOf", (schema,))
    objects = ["properties" in one for one in members if one != _NULL]
    if objects != [True] or not comments:
        return _described(schema, comments)
    described = [one if one == _NULL else _described(one, comments[1:]) for one in members]
    return {"anyOf": described, "description": comments[0]}
