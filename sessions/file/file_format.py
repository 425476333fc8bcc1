"""Convert a `Session` to the JSON data of its file (format 1) and back.

Known keys are in the order of the types of `sessions.model`, users' data keeps its own order, and unknown keys come
last (`extra`).
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any, Literal, Union, get_args, get_origin

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError, step_into
from sessions.file import json_values
from sessions.file.format_reader import inside, is_switch, read_part
from sessions.file.json_values import JSON, UnwritableError, WrittenParts
from sessions.model.parameters import check_no_secret, check_parameters, kind_of
from sessions.model.replies import FilePart, Key, keys_of
from sessions.model.session import Demo, Recording, Session

FORMAT = 1
"""The newest format."""
TYPES_IN_A_REQUEST = frozenset({"messages", "tools", "response_format"})
"""Keys of a recorded request with the user's types and texts, where a word like `token` is not a secret."""


def data_of_session(session: Session, path: str | None = None, parts: WrittenParts | None = None) -> dict[str, JSON]:
    """Convert a session to JSON data. Raises `SessionError` for what must not or cannot be written.

    With `parts`, the data contains cached parts as text, for `json_values.write`.
    """
    check(session, path)
    own = Writer(path, parts).keys(session, "")
    if "format" in session.extra:
        raise SessionError(path, "format", "is a key of the session itself")
    return {"$schema": own.pop("$schema"), "format": FORMAT, **own}


def session_of_data(data: object, path: str | None = None) -> Session:
    """Convert decoded JSON data to a session. Raises `SessionError` naming the first invalid place."""
    if type(data) is not dict:
        raise SessionError(path, "", f"expected an object, got {kind_of(data)}")
    top: dict[str, Any] = data
    if "format" not in top:
        raise SessionError(path, "", 'not a session file: it has no "format"', "`workbench new` makes one")
    version = top["format"]
    if type(version) is not int or version < 0:
        raise SessionError(path, "format", f"expected a whole number, got {kind_of(version)}")
    if version > FORMAT:
        message = f"written by a newer workbench: format {version}, and this one reads format {FORMAT}"
        raise SessionError(path, "format", message, "upgrade the workbench")
    parts = {key: item for key, item in top.items() if key != "format"}
    if top["format"] == 0 and isinstance(top.get("cases"), list):
        parts["cases"] = [_measured_apart(case) for case in top["cases"]]
    session = read_part(Session, parts, path)
    check(session, path)
    return session


def check(session: Session, path: str | None = None) -> None:
    """Raise `SessionError` for duplicate names, invalid parameters and secrets, when loading and saving."""
    names = {
        ("columns", "id"): [one.id for one in session.columns],
        ("tools", "name"): [one.name for one in session.tools],
        ("cases", "name"): [one.name for one in session.cases],
    }
    for (part, key), found in names.items():
        seen: set[str] = set()
        for index, name in enumerate(found):
            if name in seen:
                place = f"{part}[{index}].{key}"
                raise SessionError(path, place, f"{name!r} is used twice", "give each its own")
            seen.add(name)
    check_no_secret(session.model, "model", path)
    check_parameters(session.params, "params", path)
    for index, column in enumerate(session.columns):
        check_parameters(column.params, f"columns[{index}].params", path)
        check_no_secret(column.options, f"columns[{index}].options", path)
    for index, tool in enumerate(session.tools):
        check_no_secret(tool.results, f"tools[{index}].results", path)
    for index, case in enumerate(session.cases):
        for id, recording in case.recordings.items():
            requests = [recording.request, *[one.request for one in recording.attempts]]
            for number, request in enumerate(requests):
                if request:
                    params = {key: item for key, item in request.items() if key not in TYPES_IN_A_REQUEST}
                    attempt = f".attempts[{number - 1}]" if number else ""
                    check_no_secret(params, f"{step_into(f'cases[{index}].recordings', id)}{attempt}.request", path)


def _measured_apart(case: Any) -> Any:
    recordings = case.get("recordings") if isinstance(case, dict) else None
    if not isinstance(recordings, dict):
        return case
    measured: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for id, recording in recordings.items():
        kept[id] = recording
        if isinstance(recording, dict) and "measured" in recording:
            kept[id] = {key: value for key, value in recording.items() if key != "measured"}
            if recording["measured"]:
                measured[id] = recording["measured"]
    made = {**case, "recordings": kept}
    return {**made, "measured": measured} if measured else made


LEVELS: Mapping[type[Any], int] = {Demo: 2, Recording: 4}
"""The cached types, of which a session may have thousands of parts, and their depth in the file."""


@dataclass(eq=False)
class Writer:
    """Converts the parts of a session to JSON data. Raises `SessionError` with the place of an invalid value."""

    _path: str | None
    _parts: WrittenParts | None = None

    def part(self, part: object, place: str) -> JSON:
        """Write a part by the keys of its type, or return its cached text."""
        level = LEVELS.get(type(part))
        if self._parts is None or level is None:
            return self.keys(part, place)
        return self._parts.text_of(part, lambda: self.keys(part, place), level)

    def keys(self, part: Any, place: str) -> dict[str, JSON]:
        """Write a part's keys in the order of its type, then `extra`."""
        own: dict[str, JSON] = {}
        kind = type(part)
        if kind not in _KNOWN:
            _KNOWN[kind] = tuple([(key, _writer_of(key.hint, key.rule.has_lines)) for key in keys_of(kind).values()])
        for key, write in _KNOWN[kind]:
            value = getattr(part, key.field)
            if key.rule.has_switches:
                turns: list[JSON] = []
                for number, values in enumerate(value):
                    where = f"{inside(place, key.name)}[{number}]"
                    enabled = number not in part.turns_off
                    if enabled and not is_switch(values):
                        turns.append(self.value(values, where))
                    else:
                        turns.append({"enabled": enabled, "values": self.value(values, inside(where, "values"))})
                own[key.name] = turns
            elif not (key.rule.is_left_out and value == key.default):
                own[key.name] = write(self, value, inside(place, key.name))
        for name in part.extra:
            if name in own or json_values.has_surrogate_pair(name):
                raise SessionError(self._path, step_into(place, name), "is a key of the session itself")
        return own | {name: self.value(item, step_into(place, name)) for name, item in part.extra.items()}

    def value(self, value: object, place: str) -> JSON:
        """Write a user's value as strict JSON."""
        try:
            return json_values.encode(list(value) if type(value) is tuple else value)
        except UnwritableError as error:
            for key in error.keys:
                place = step_into(place, key)
            raise SessionError(self._path, place, error.message, "a session contains only plain JSON values") from None

    def each_by_name(self, parts: Mapping[str, object], place: str) -> dict[str, JSON]:
        """Write parts by column id."""
        found: dict[str, JSON] = {}
        for id, part in parts.items():
            where = step_into(place, id)
            if json_values.has_surrogate_pair(id):
                raise SessionError(self._path, where, "a column's id cannot contain unpaired surrogates")
            found[id] = self.part(part, where)
        return found


def as_data(part: FilePart) -> dict[str, JSON]:
    """Write a part in the layout of its file, with users' values unchanged."""
    known = keys_of(type(part))
    in_file = part.keys or {}
    data: dict[str, JSON] = {}
    for name in dict.fromkeys([*in_file, *known, *part.extra]):
        key = known.get(name)
        if key is None:
            if name in part.extra:
                data[name] = part.extra[name]
            continue
        value = getattr(part, key.field)
        if key.is_needed or value != key.default:
            data[name] = _plain(value)
        elif name in part.extra:
            data[name] = part.extra[name]
        elif in_file.get(name, False) or (key.rule.is_always_written and (part.keys is None or name in in_file)):
            data[name] = _plain(value)
    return data


def _plain(value: object) -> JSON:
    if isinstance(value, FilePart):
        return as_data(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


Write = Callable[[Writer, Any, str], JSON]


def _lines(writer: Writer, text: str, place: str) -> list[JSON]:
    return [json_values.encode_line(line) for line in text.split("\n")]


def _kept(writer: Writer, value: Any, place: str) -> JSON:
    return writer.value({key: _plain(one) for key, one in value.items()}, place)


_PLAIN_WRITERS: Mapping[Any, Write] = {
    str: lambda writer, value, place: json_values.encode_text(value),
    bool: lambda writer, value, place: value,
    float: Writer.value,
    Mapping[str, Any] | str: Writer.value,
    Mapping[str, Any]: Writer.value,
    Mapping[str, str]: Writer.value,
    Mapping[str, Mapping[str, Any]]: Writer.value,
    tuple[Mapping[str, Any], ...]: Writer.value,
}


_KNOWN: dict[type[Any], tuple[tuple[Key, Write], ...]] = {}


def _writer_of(hint: object, has_lines: bool) -> Write:
    """Return the writer for this type; with `has_lines`, texts are written as lists of lines."""
    if hint in _PLAIN_WRITERS:
        return _lines if has_lines else _PLAIN_WRITERS[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda writer, value, place: value
    if origin in (Union, types.UnionType):
        (inner,) = [_writer_of(one, has_lines) for one in arguments if one is not type(None)]
        return lambda writer, value, place: None if value is None else inner(writer, value, place)
    if origin is tuple:
        if issubclass(arguments[0], FilePart):
            return lambda writer, value, place: writer.value(_plain(value), place)
        return lambda writer, value, place: [writer.part(one, f"{place}[{at}]") for at, one in enumerate(value)]
    if isinstance(origin, type) and issubclass(Mapping, origin):
        keeps_layout = get_origin(arguments[1]) is tuple or issubclass(arguments[1], FilePart)
        return _kept if keeps_layout else Writer.each_by_name
    if dataclasses.is_dataclass(hint):
        return Writer.part
    raise TypeError(f"no key of a session file has values of the type {hint!r}")
