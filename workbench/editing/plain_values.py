"""Write and parse values in an indented notation without quotes, guided by the field's type.

    number: R-2024
    lines:
      - item: Cake
        price: 12.5
      - item: Bread
        price: 3
    remarks: |
      Paid by card.

      Thank you!

A list has a row for each item, after `- `; a model, typed dict or `dict[str, …]` has a line for each field. Nested
values are indented below, as is a text of several lines after `|`. Texts need no quotes: the type decides whether `12`
is a text or a number. JSON is accepted for any value, and written where the notation would not parse to the same value.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, Literal, NamedTuple, get_args, get_origin

from adapters.late_dataclasses import dataclass, field
from workbench.editing.field_values import ABSENT, NotAValue, as_json, read_json, same, strip_none

Kind = Literal["text", "number", "truth", "list", "fields", "map", "other"]
Form = Literal["line", "block", "parts"]
LISTS = (list, set, frozenset, Sequence, AbstractSet)
MAPS = (dict, Mapping)
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}
INDENT = "  "
DEEPEST = 24
"""Nesting depth above which a value is written as JSON."""
LONGEST = 40_000
"""Characters of JSON above which a value is written as JSON, because each key press parses the whole text."""
_KEY = re.compile(r"(?P<key>\"(?:[^\"\\]|\\.)*\"|[^\s:\"\[{][^:]*?)\s*:(?:\s+(?P<rest>.*))?$")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True)
class Shape:
    """The notation of a type: lists and maps have `items`, models have `fields`."""

    kind: Kind
    optional: bool = False
    items: Any = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def shape_of(annotation: Any) -> Shape:
    """Return the shape of a type; `other` for values written as JSON, such as the custom type `Image`."""
    from adapters.types.recognition import fields_of, is_built, unwrapped  # loads pydantic, not needed to start

    inner, optional = strip_none(unwrapped(annotation))
    origin, args = get_origin(inner) or inner, get_args(inner)
    if inner is str:
        return Shape("text", optional)
    if inner is bool:
        return Shape("truth", optional)
    if inner in (int, float):
        return Shape("number", optional)
    if is_built(inner):
        return Shape("other", optional)
    if origin in LISTS or (origin is tuple and len(args) == 2 and args[1] is Ellipsis):
        return Shape("list", optional, args[0] if args else Any)
    if origin in MAPS and (not args or args[0] is str):
        return Shape("map", optional, args[1] if args else Any)
    fields = fields_of(inner)
    return Shape("fields", optional, fields=fields) if fields else Shape("other", optional)


def has_parts(annotation: Any) -> bool:
    """Return whether the type is a list, a model or a map."""
    return shape_of(annotation).kind in ("list", "fields", "map")


def shown(value: Any, annotation: Any) -> str:
    """Write a value; as JSON if the notation would not parse to the same value."""
    if value is ABSENT:
        return ""
    flat = as_json(value)
    if len(flat) > LONGEST:
        return flat
    try:
        text = "\n".join(_written(value, shape_of(annotation), 0)[1])
        return text if same(read(text, annotation), value) else flat
    except (_NotWrittenError, RecursionError):
        return flat


def read(text: str, annotation: Any) -> Any:
    """Parse a text into a value, `ABSENT` for an empty text, or `NotAValue` with the error's position."""
    start = text.strip()
    if not start or start[0] in '"[{':
        return read_json(text)
    lines = text.split("\n")
    shape = shape_of(annotation)
    first = next(index for index, line in enumerate(lines) if line.strip())
    indent = len(lines[first]) - len(lines[first].lstrip(" "))
    is_one = first == len(lines) - 1 or not "".join(lines[first + 1 :]).strip()
    try:
        if shape.kind not in ("list", "fields", "map"):
            return _scalar(start, shape, first, 0) if is_one else read_json(text)
        if is_one and not isinstance(bare := read_json(text), NotAValue):
            return bare  # `null`, or a value that the type does not allow
        reader = _Reader(lines)
        value = reader.value(annotation, indent, 0)
        left = reader.next
        if left is not None:
            raise _WrongError("indented differently from the lines above", left.number + 1, left.indent + 1)
        return value
    except _WrongError as wrong:
        return NotAValue(*wrong.args)
    except RecursionError:
        return NotAValue("nested too deeply to be read", 1, 1)


def skeleton(annotation: Any, depth: int = 0) -> str:
    """Return a template of the type's fields to fill in; "" for types without parts."""
    shape = shape_of(annotation)
    if depth > 4:
        return ""
    if shape.kind == "list":
        inner = textwrap.indent(skeleton(shape.items, depth + 1), INDENT)
        return f"- {inner.removeprefix(INDENT)}"
    made: list[str] = []
    for name, one in shape.fields.items():
        inner = textwrap.indent(skeleton(one, depth + 1), INDENT)
        made.append(f"{name}:\n{inner}" if inner else f"{name}: ")
    return "\n".join(made)


def next_line(before: str, annotation: Any) -> str | None:
    """Return the start of the line after `before`: the indentation, and `- ` in a list.

    Returns None after a row without an item, where enter ends the list.
    """
    indent = before[: len(before) - len(before.lstrip(" "))]
    rest = before.strip()
    if rest == "-":
        return None
    if rest.endswith(("|", ":")):
        return indent + INDENT * (2 if rest.startswith("- ") else 1)
    if not rest.startswith("- "):
        return indent
    shape = shape_of(annotation)
    is_named = _KEY.match(rest[2:]) is not None and (indent or shape_of(shape.items).kind in ("fields", "map"))
    return indent + (INDENT if is_named else "- ")


# -- writing


class _NotWrittenError(Exception):
    """A value that can only be written as JSON."""


def _written(value: Any, shape: Shape, depth: int) -> tuple[Form, list[str]]:
    if depth > DEEPEST:
        raise _NotWrittenError
    made: list[str] = []
    if shape.kind == "list" and isinstance(value, list) and value:
        of = shape_of(shape.items)
        for item in value:
            form, lines = _written(item, of, depth + 1)
            head = ["- |"] if form == "block" else [f"- {lines.pop(0)}".rstrip()]
            made += [*head, *_indented(lines)]
        return "parts", made
    if shape.kind in ("fields", "map") and isinstance(value, dict) and value:
        for key, one in value.items():
            annotation = shape.items if shape.kind == "map" else shape.fields.get(key, Any)
            form, lines = _written(one, shape_of(annotation), depth + 1)
            if form == "line":
                made.append(f"{_key(key)}: {lines[0]}".rstrip())
            else:
                made += [f"{_key(key)}: |" if form == "block" else f"{_key(key)}:", *_indented(lines)]
        return "parts", made
    return ("block", value.split("\n")) if _is_block(value, shape) else ("line", [_said(value, shape)])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"{INDENT}{line}" if line else "" for line in lines]


def _is_block(value: Any, shape: Shape) -> bool:
    """Return whether a text of several lines can follow below its name unchanged."""
    if shape.kind not in ("text", "other") or not isinstance(value, str) or "\n" not in value or _CONTROL.search(value):
        return False
    lines = value.split("\n")
    return bool(lines[0].strip() and lines[-1].strip()) and all(line.strip() or not line for line in lines)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[\w$][\w $.-]*(?<! )", key) and key != "-" else json.dumps(key, ensure_ascii=False)


def _said(value: Any, shape: Shape) -> str:
    if isinstance(value, str):
        is_line = "\n" not in value and not _CONTROL.search(value)
        if is_line and value == value.strip() and value not in ("", "|") and value[0] not in '"[{':
            with suppress(_WrongError):
                if _scalar(value, shape, 0, 0) == value:
                    return value
        if not value and shape.kind == "text" and not shape.optional:
            return ""
    return json.dumps(value, ensure_ascii=False)


# -- reading


class _WrongError(Exception):
    """An error with the arguments of `NotAValue`: message, 1-based line and column."""


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


class _Reader:
    """Parse lines from the top; `value` consumes lines of at least the given indent."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0
        self._last_number = max(number for number, line in enumerate(lines) if line.strip())

    @property
    def next(self) -> _Line | None:
        """The next line that is not blank."""
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1
        if self._at == len(self._lines):
            return None
        line = self._lines[self._at]
        return _Line(self._at, len(line) - len(line.lstrip(" ")), line.strip())

    def value(self, annotation: Any, indent: int, depth: int) -> Any:
        line = self.next
        assert line is not None
        if depth > DEEPEST:
            raise _WrongError("nested too deeply: write the rest as JSON", line.number + 1, 1)
        shape = shape_of(annotation)
        if shape.kind == "list":
            return self._rows(shape, indent, depth)
        if shape.kind in ("fields", "map"):
            return self._fields(shape, indent, depth)
        self._at += 1
        return _scalar(line.text, shape, line.number, line.indent)

    def _rows(self, shape: Shape, indent: int, depth: int) -> list[Any]:
        found: list[Any] = []
        has_dashes: bool | None = None
        while (line := self.next) is not None and line.indent == indent:
            is_dashed = line.text == "-" or line.text.startswith("- ")
            has_dashes = is_dashed if has_dashes is None else has_dashes
            if is_dashed != has_dashes:
                raise _WrongError("start every row with `- `, or none", line.number + 1, indent + 1)
            if not is_dashed:
                if has_parts(shape.items):
                    raise _WrongError("start every row with `- `", line.number + 1, indent + 1)
                self._at += 1
                found.append(_scalar(line.text, shape_of(shape.items), line.number, line.indent))
                continue
            rest = line.text[2:].strip()
            if not rest and line.number == self._last_number:
                self._at += 1
                break  # enter made this row, which is no item before something is typed
            found.append(self._after(rest, shape.items, line, line.indent + 2, depth))
        return found

    def _fields(self, shape: Shape, indent: int, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while (line := self.next) is not None and line.indent == indent:
            parts = _KEY.match(line.text)
            if parts is None:
                names = ", ".join(list(shape.fields)[:4]) or "a name"
                raise _WrongError(f"expected a name, a colon and a value ({names})", line.number + 1, indent + 1)
            key = parts["key"]
            if key.startswith('"'):
                key = read_json(key)
                if not isinstance(key, str):
                    raise _WrongError("the closing quote of a name is missing", line.number + 1, indent + 1)
            if key in found:
                raise _WrongError(f"{key} appears twice here", line.number + 1, indent + 1)
            annotation = shape.items if shape.kind == "map" else shape.fields.get(key, Any)
            rest = parts["rest"]
            column = line.indent + (parts.start("rest") if rest else len(line.text))
            found[key] = self._after((rest or "").strip(), annotation, line, column, depth)
        return found

    def _after(self, rest: str, annotation: Any, line: _Line, column: int, depth: int) -> Any:
        """Parse the value after a name or a dash, on its line or indented below it."""
        shape = shape_of(annotation)
        if rest == "|" and shape.kind in ("text", "other"):
            self._at += 1
            return self._block(line.indent)
        if not rest:
            self._at += 1
            below = self.next
            if below is not None and below.indent > line.indent:
                return self.value(annotation, below.indent, depth + 1)
            # Nothing follows the name: return an empty value, or None if the type is optional
            if shape.kind == "text" and not shape.optional:
                return ""
            if shape.kind == "list":
                return []
            if shape.kind in ("fields", "map"):
                return {}
            if shape.optional:
                return None
            what = {"number": "a number", "truth": "true or false"}.get(shape.kind, "a value")
            raise _WrongError(f"not finished: {what} is missing here", line.number + 1, column + 1)
        if shape.kind in ("list", "fields", "map") and rest[0] not in "[{" and isinstance(read_json(rest), NotAValue):
            if line.text[:1] != "-" or (shape.kind == "list" and not rest.startswith("-")):
                raise _WrongError("put its parts on the lines below, indented", line.number + 1, column + 1)
            self._lines[line.number] = " " * (line.indent + 2) + rest
            return self.value(annotation, line.indent + 2, depth + 1)
        self._at += 1
        return _scalar(rest, shape, line.number, column)

    def _block(self, outer: int) -> str:
        """Read the lines below a `|`, without their indent."""
        first = self.next
        if first is None or first.indent <= outer:
            return ""
        taken: list[str] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and len(line) - len(line.lstrip(" ")) <= outer:
                break
            taken.append(line[outer + len(INDENT) :])
            self._at += 1
        return "\n".join(taken).rstrip("\n")


def _scalar(text: str, shape: Shape, line: int, column: int) -> Any:
    """Parse a value on a line by its type; invalid JSON is a text where the type allows texts."""
    if text[0] in '"[{' and shape.kind != "text":
        value = read_json(text)
        if isinstance(value, NotAValue):
            raise _WrongError(value.message, line + 1, column + value.column)
        return value
    if shape.kind == "text":
        if shape.optional and text == "null":
            return None
        quoted = read_json(text) if text[0] == '"' else text
        return quoted if isinstance(quoted, str) else text
    if shape.kind == "truth" and text.lower() in TRUTHS:
        return TRUTHS[text.lower()]
    value = read_json(text)
    if not isinstance(value, NotAValue):
        return value
    if shape.kind in ("number", "truth"):
        what = "a number such as 12 or 1.5" if shape.kind == "number" else "true or false"
        raise _WrongError(f"expected {what}", line + 1, column + 1)
    return text
