"""Import demos from JSON, JSON Lines and CSV: flat objects by field name, as in `dspy.Example.toDict`."""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.signatures.type_names import name_of
from sessions.errors import SessionError, counted
from sessions.file.store import SIZE_LIMIT
from sessions.imports import proposing
from sessions.imports.reading import GIVE_SIGNATURE, KEPT, Imported, decoded, json_of, listed
from sessions.model.held_values import takes, value_of
from sessions.model.parameters import kind_of
from sessions.model.session import DEFAULT_COLUMNS, Demo, Session, SignatureText

LINE_END = re.compile(r"\r\n?|\n")
"""Line ends, with the `\\r` that terminals paste. A JSON string may contain Unicode's other separators unescaped."""
PASTED = "what was pasted"
DELIMITERS = ",;\t|"
Row = tuple[str, dict[str, Any]]
"""A row's place as text, and its values."""


def from_json(text: str, path: str, given: SignatureText | None = None) -> Imported:
    """Import demos from a JSON list of objects.

    Raises `SessionError` naming the row, and `SignatureError` for `given`.
    """
    data = json_of(text, path)
    if isinstance(data, dict) and isinstance(data.get("demos"), list):
        data = data["demos"]
    if not isinstance(data, list):
        raise SessionError(path, "", f"expected a list of objects, one a demo, got {kind_of(data)}")
    rows = [(f"row {number}", _object(one, path, f"row {number}")) for number, one in enumerate(data, 1)]
    return _imported(rows, path, given)


def from_json_lines(text: str, path: str, given: SignatureText | None = None) -> Imported:
    """Import demos from JSON Lines, skipping empty lines. Raises the errors of `from_json`."""
    rows: list[Row] = []
    for line, content in enumerate(LINE_END.split(text), 1):
        if content.strip():
            place = f"row {len(rows) + 1} (line {line})"
            rows.append((place, _object(json_of(content, path, place), path, place)))
    return _imported(rows, path, given)


def from_csv(text: str, path: str, given: SignatureText | None = None) -> Imported:
    """Import demos from a table with field names as header; fields type the cells. Raises the errors of `from_json`."""
    signature = None if given is None else given.read()
    first, _, rest = text.partition("\n")
    named = first.rstrip("\r")
    if len(named) == 5 and named.lower().startswith("sep="):  # Excel's first line `sep=;`
        table = _table(rest, path, signature, named[4])
    else:
        table = _table(text, path, signature, None)
    _, header = next(table, (0, []))
    names, questions = _names(header, path, signature)
    rows: list[Row] = []
    for line, cells in table:
        place = f"row {len(rows) + 1} (line {line})"
        if len(cells) != len(names):
            message = f"{len(cells)} cells under {len(names)} columns"
            raise SessionError(path, place, message, "put quotes around a cell that contains the delimiter")
        rows.append((place, _typed(names, cells, signature, path, place)))
    return _imported(rows, path, given, questions)


def pasted(text: str, signature: SignatureText) -> tuple[tuple[Demo, ...], tuple[str, ...]]:
    """Return the demos in a pasted text, with notes and questions.

    A single JSON object is a demo, too. Raises `SessionError` naming the row if no format fits.
    """
    try:
        found = from_text(text, PASTED, signature)
    except SignatureError as error:
        raise SessionError(PASTED, "", f"the signature cannot be read: {error}") from None
    return found.session.demos, (*found.notes, *found.questions)


def from_text(text: str, path: str, given: SignatureText | None = None) -> Imported:
    """Import demos from a text without a file name: JSON or a table. Raises the errors of `from_json`."""
    whole = decoded(text)
    if isinstance(whole, dict) and not isinstance(whole.get("demos"), list):
        text = f"[{text}]"  # a single object, perhaps on several lines
    elif whole is text and re.match(r"\s*\{.*\}[^\S\r\n]*[\r\n]", text):  # else an object that is not valid
        return from_json_lines(text, path, given)
    if text.lstrip()[:1] in ("[", "{"):
        return from_json(text, path, given)
    return from_csv(text.strip("\n") + "\n", path, given)


def _object(value: object, path: str, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise SessionError(path, place, f"expected an object of field values, got {kind_of(value)}")
    return value


def _table(text: str, path: str, signature: Signature | None, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row that is not empty. Raises `SessionError` for broken quotes."""
    if separator is None:
        # The delimiter that gives the header most fields of the signature, then most columns.
        header = text.lstrip().partition("\n")[0]
        names = {one: [name.strip(' \r"') for name in header.split(one)] for one in DELIMITERS}
        known = set(signature.fields) if signature else set()
        separator = max(names, key=lambda one: (sum(name in known for name in names[one]), len(names[one])))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    before = csv.field_size_limit(SIZE_LIMIT)
    try:
        line = 1
        for cells in reader:
            if cells and (len(cells) > 1 or cells[0].strip()):
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise SessionError(path, f"line {reader.line_num}", f"the quotes do not match: {error}") from None
    finally:
        csv.field_size_limit(before)


def _names(header: Sequence[str], path: str, signature: Signature | None) -> tuple[list[str], list[str]]:
    """Return the header as field names, and a question for each approximate match."""
    names: list[str] = []
    questions: list[str] = []
    for number, cell in enumerate(header, 1):
        name = cell.strip()
        if not name:
            raise SessionError(path, "the header", f"column {number} has no name")
        if signature is not None and name not in signature.fields:
            bare = {_bare(one): one for one in signature.fields}
            near = bare.get(_bare(name))
            if near is not None and near not in map(str.strip, header):
                questions.append(f"column {name!r} is taken as the field `{near}`")
                name = near
        if name in names:
            raise SessionError(path, "the header", f"the column {name!r} appears twice")
        names.append(name)
    return names, questions


def _bare(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalnum())


def _typed(
    names: Sequence[str], cells: Sequence[str], signature: Signature | None, path: str, place: str
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, cell in zip(names, cells, strict=True):
        field = signature.fields.get(name) if signature is not None else None
        if field is None:
            values[name] = cell
            continue
        try:
            value = value_of(cell, field)
        except ValueError as error:
            raise SessionError(path, f"{place}, column {name!r}", str(error)) from None
        if value is not MISSING:
            values[name] = value
    return values


def _imported(rows: list[Row], path: str, given: SignatureText | None, questions: Sequence[str] = ()) -> Imported:
    if not rows:
        raise SessionError(path, "", "contains no row")
    asked, notes = list(questions), [counted(len(rows), "demo")]
    values = proposing.values_by_key(row for _, row in rows)
    if given is None:
        names = [name for name in values if not name.startswith(("__", "dspy_")) and name != "augmented"]
        if len(names) < 2:
            message = f"a signature needs an input and an output, and the only column is {listed(names) or 'none'}"
            raise SessionError(path, "", message, GIVE_SIGNATURE)
        fields = [
            Field(name, "output" if name == names[-1] else "input", proposing.type_of(values[name])) for name in names
        ]
        given_text = proposing.proposed(fields, None, path)
        asked.append(f"no signature was given: {listed(names[:-1])} are taken as inputs, `{names[-1]}` as the output")
    else:
        given_text = given
    signature = given_text.read()
    known = [name for name in values if name in signature.fields]
    if not known:
        hint = f"the signature has {listed(signature.fields)}"
        raise SessionError(path, "", f"none of its columns is a field: {listed(list(values)[:8])}", hint)
    others = [name for name in values if name not in signature.fields]
    if others:
        near = {name: difflib.get_close_matches(name, list(signature.fields), n=1, cutoff=0.75) for name in others}
        meant = [f"is {name!r} meant as {found[0]!r}?" for name, found in near.items() if found]
        also = f" ({'; '.join(meant)})" if meant else ""
        notes.append(f"not fields, kept beside the demos: {listed(others)}{also}")
    for name in signature.fields:
        lacking = len(rows) - len(values.get(name, ()))
        if lacking:
            notes.append(f"`{name}` is missing in {lacking:,} of {counted(len(rows), 'demo')}")
    for name, field in signature.fields.items():  # the first value of a wrong type, which dspy renders unchanged
        wrong = (place for place, row in rows if name in row and not takes(field.annotation, row[name]))
        if field.annotation is not str and (place := next(wrong, None)) is not None:
            kind = name_of(field.annotation)
            notes.append(f"{place}: the value of `{name}` is not of type {kind}; it is kept as it is")
    demos = tuple([demo_of(row, signature) for _, row in rows])
    session = Session(given_text, demos, DEFAULT_COLUMNS)
    return Imported(session, tuple(notes), tuple(asked), has_signature=given is None)


def demo_of(row: Mapping[str, object], signature: Signature) -> Demo:
    """Convert a row to a demo; values without a field in the signature go to `extra`."""
    others = {name: value for name, value in row.items() if name not in signature.fields}
    values = {name: value for name, value in row.items() if name in signature.fields}
    return Demo(values, extra={KEPT: others} if others else {})
