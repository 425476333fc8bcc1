"""Sources, results and errors of exports, and the JSON and Python source that they are written in."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TypedDict, Unpack

from adapters.formats.base import Adapter
from adapters.formats.catalog import UnknownAdapterError
from adapters.late_dataclasses import dataclass, field
from adapters.requests.request import Request
from adapters.signatures.signature import Signature
from adapters.signatures.value_writer import text_literal
from sessions.model import variants
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from sessions.running.recording import as_json


class ExportError(ValueError):
    """Raised if a format cannot hold the session; has a remedy and the `flag` that selects it."""

    def __init__(self, message: str, flag: str = "") -> None:
        super().__init__(message)
        self.flag = flag


@dataclass(frozen=True)
class Exported:
    """The text of the file, phrases naming omitted parts of the session, and notes."""

    text: str
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """A case of a session in a column. `code` lists the `module:Class` adapters that may be imported."""

    session: Session
    column: Column
    case: Case
    code: Collection[str] = ()
    earlier: View | None = field(default=None, repr=False, compare=False)
    """The previous case of the same column; the prompt reuses its rendered demos."""

    @property
    def place(self) -> str:
        return f"column {self.column.id}, {self.case.plain_words}"

    @cached_property
    def adapter(self) -> Adapter:
        """The column's adapter. Raises ExportError for an unknown adapter or code that is not allowed."""
        try:
            return rendering.adapter_of(self.column, allow_code=self.column.adapter in self.code)
        except UnknownAdapterError as error:
            raise ExportError(f"column {self.column.id}: {error}") from error

    @cached_property
    def varied(self) -> Session:
        """The session with the column's variants applied. Raises SignatureError and `variants.VariantError`."""
        return variants.session_of(self.session, self.column)

    @property
    def signature(self) -> Signature:
        """The signature with the column's variants. Raises SignatureError and `variants.VariantError`."""
        return self.varied.signature.read()

    @property
    def model(self) -> str:
        return self.session.model_of(self.column)

    @cached_property
    def request(self) -> Request:
        """The case's request. Raises SignatureError, and ExportError if it cannot be rendered."""
        signature, adapter = self.signature, self.adapter
        before = self.earlier.__dict__.get("request") if self.earlier is not None else None
        reuse = before.prompt if before is not None else None
        try:
            return rendering.request_of(self.session, self.column, self.case, reuse, adapter=adapter)
        except Exception as error:  # whatever dspy's format raises for this signature and these values
            raise ExportError(
                f"{self.place}: {signature.name} cannot be rendered: {type(error).__name__}: {error}"
            ) from error


@dataclass(frozen=True)
class Source:
    """A session to export: `views` holds each case in each column, column by column, and is never empty.

    `name` is the session's name in the export. `allow_hosts` are hosts named by a session that may receive the user's
    API key.
    """

    views: tuple[View, ...]
    name: str = "session"
    allow_hosts: Collection[str] = ()

    @property
    def first(self) -> View:
        return self.views[0]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple({view.column.id: view.column for view in self.views}.values())

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple({view.case.name: view.case for view in self.views}.values())


class SourceOptions(TypedDict, total=False):
    """Options of an export, in addition to columns and cases."""

    name: str
    """The session's name in the export; by default its own."""
    code: Collection[str]
    """The `module:Class` adapters that may be imported."""
    allow_hosts: Collection[str]
    """Hosts named by a session that may receive the user's API key."""


def source_of(
    session: Session, columns: Sequence[Column], cases: Sequence[Case], **options: Unpack[SourceOptions]
) -> Source:
    """Select a session's columns and cases. Raises ExportError without a column or a case."""
    code = options.get("code", ())
    views: list[View] = []
    for column in columns:
        earlier: View | None = None
        for case in cases:
            earlier = View(session, column, case, code, earlier)
            views.append(earlier)
    if not views:
        raise ExportError(f"the session has no {'case' if columns else 'column'}; add one first")
    name = options.get("name") or session.name or "session"
    return Source(tuple(views), name, options.get("allow_hosts", ()))


def switched_off(session: Session, cases: Sequence[Case] = ()) -> tuple[str, ...]:
    """Name disabled demos, and disabled history turns of `cases`, which are not exported."""
    numbers = [str(number) for number, demo in enumerate(session.demos, 1) if not demo.enabled]
    said = [f"demo {', '.join(numbers)}: switched off"] if numbers else []
    for case in cases:
        places = [str(place + 1) for place in sorted(case.turns_off)]
        which = f" of {case.plain_words}" if len(cases) > 1 else ""
        said += [f"history turn {', '.join(places)}{which}: switched off"] if places else []
    return tuple(said)


def beside(view: View) -> tuple[str, ...]:
    """Name the parts of a session that are not in a case's request."""
    names = [one.name for one in view.session.cases if one.name != view.case.name]
    others = [f"the other cases: {', '.join(names)}"] if names else []
    return (*switched_off(view.session, (view.case,)), *view.request.prompt.notes, *others)


_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_OR_FLOAT = re.compile(r'"(?:[^"\\]|\\.)*"|-?[\d.]+e-\d+|NaN|-?Infinity')
"""Strings, and the floats that orjson writes unlike Python's `json`."""


def pretty(value: object) -> str:
    """Write strict ASCII with two spaces per level."""
    return json.dumps(as_json(value), indent=2, allow_nan=False)


def one_line(value: object) -> str:
    """Write strict ASCII on a single line, for JSON Lines."""
    return json.dumps(as_json(value), allow_nan=False)


def readable(value: object) -> str:
    """Write like `pretty`, but keep non-ASCII letters; escape unpaired surrogates, which files cannot hold."""
    text = json.dumps(as_json(value), indent=2, ensure_ascii=False, allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def dspy_json(value: object) -> str:
    """Write like dspy's `save`: `orjson.dumps` with OPT_INDENT_2 and OPT_APPEND_NEWLINE.

    Unlike Python's `json`, it writes floats differently and rejects unpaired surrogates. Raises ValueError for them.
    """
    text = json.dumps(value, indent=2, ensure_ascii=False)
    text.encode("utf-8")  # an unpaired surrogate raises, as in orjson
    return _STRING_OR_FLOAT.sub(lambda one: one[0] if one[0][0] == '"' else _float(float(one[0])), text) + "\n"


def _float(number: float) -> str:
    """Write the shortest digits that round-trip, in orjson 3.13's layout.

    That is 0.00001 and 1e-7 for Python's 1e-05 and 1e-07. (Older releases of orjson write 1e16 for 1e+16.)
    """
    if not math.isfinite(number):
        return "null"
    digits, _, exponent = repr(number).partition("e-")
    if exponent == "05":
        sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
        return f"{sign}0.0000{digits.replace('.', '')}"
    return f"{digits}e-{exponent.lstrip('0')}" if exponent else digits


WIDTH = 100


def literal(value: object, indent: str = "", write: Callable[[object, str], str] | None = None) -> str:
    """Write an expression for plain JSON data; `write` writes the items of lists and objects."""
    inner, write = indent + "    ", write or literal
    if isinstance(value, str):
        return _text_in_lines(str(value), indent)
    if isinstance(value, dict):
        entries = [f"{_text_in_lines(str(key), indent)}: {write(one, inner)}" for key, one in value.items()]
        return enclosed("{", entries, "}", indent)
    if isinstance(value, list | tuple):
        return enclosed("[", [write(one, inner) for one in value], "]", indent)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def enclosed(opening: str, entries: list[str], closing: str, indent: str) -> str:
    """Write entries on a line if they fit, else each on its own."""
    flat = f"{opening}{', '.join(entries)}{closing}"
    if len(indent) + len(flat) <= WIDTH and "\n" not in flat:
        return flat
    lines = "".join(f"\n{indent}    {one}," for one in entries)
    return f"{opening}{lines}\n{indent}{closing}"


def _text_in_lines(text: str, indent: str) -> str:
    if "\n" not in text or len(text) + len(indent) <= WIDTH // 2:
        return text_literal(text)
    pieces = "".join(f"\n{indent}    {text_literal(line)}" for line in re.findall(r"[^\n]*\n|[^\n]+", text))
    return f"({pieces}\n{indent})"


def comment(text: str) -> str:
    """Put `text` on a single line, for a comment."""
    return "".join(one if one.isprintable() else " " for one in text)
