"""Write a session as JSON data by the keys of its types; unknown keys come last."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from sessions.errors import SessionError, step_into
from sessions.file.format_reader import inside, is_switch
from sessions.file.json_values import (
    JSON,
    UnwritableError,
    WrittenParts,
    encode,
    encode_line,
    encode_text,
    has_surrogate_pair,
)
from sessions.model.replies import FilePart, Key, keys_of
from sessions.model.session import Case, Demo, Recording

LEVELS: Mapping[type[Any], int] = {Demo: 2, Recording: 4}
"""The cached types, of which a session may have thousands of parts, and their depth in the file."""


class Writer:
    """Converts the parts of a session to JSON data. Raises `SessionError` with the place of an invalid value."""

    def __init__(self, path: str | None, parts: WrittenParts | None = None) -> None:
        self._path = path
        self._parts = parts

    def part(self, part: object, place: str) -> JSON:
        """Write a part by the keys of its type, or return its cached text."""
        level = LEVELS.get(type(part))
        if self._parts is None or level is None:
            return self.keys(part, place)
        return self._parts.text_of(part, lambda: self.keys(part, place), level)

    def keys(self, part: Any, place: str) -> dict[str, JSON]:
        """Write a part's keys in the order of its type, then `extra`."""
        own: dict[str, JSON] = {}
        for key, write in _writing(type(part)):
            value = getattr(part, key.field)
            if key.rule.has_switches:
                own[key.name] = self._turns(part, inside(place, key.name))
            elif not (key.rule.is_left_out and value == key.default):
                own[key.name] = write(self, value, inside(place, key.name))
        for name in part.extra:
            if name in own or has_surrogate_pair(name):
                raise SessionError(self._path, step_into(place, name), "is a key of the session itself")
        return own | {name: self.value(item, step_into(place, name)) for name, item in part.extra.items()}

    def value(self, value: object, place: str) -> JSON:
        """Write a user's value as strict JSON."""
        try:
            return encode(list(value) if type(value) is tuple else value)
        except UnwritableError as error:
            where = error.place_in(place)
            raise SessionError(self._path, where, error.message, "a session holds plain JSON values") from None

    def each_by_name(self, parts: Mapping[str, object], place: str) -> dict[str, JSON]:
        """Write parts by column id."""
        found: dict[str, JSON] = {}
        for id, part in parts.items():
            where = step_into(place, id)
            if has_surrogate_pair(id):
                raise SessionError(self._path, where, "a column's id cannot contain unpaired surrogates")
            found[id] = self.part(part, where)
        return found

    def _turns(self, case: Case, place: str) -> list[JSON]:
        return [self._turn(case, number, f"{place}[{number}]") for number in range(len(case.history))]

    def _turn(self, case: Case, number: int, place: str) -> JSON:
        """Write a turn, wrapped in a switch if it is disabled or looks like a switch."""
        values, enabled = case.history[number], number not in case.turns_off
        if enabled and not is_switch(values):
            return self.value(values, place)
        return {"enabled": enabled, "values": self.value(values, inside(place, "values"))}


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
    return [encode_line(line) for line in text.split("\n")]


def _kept(writer: Writer, value: Any, place: str) -> JSON:
    return writer.value({key: _plain(one) for key, one in value.items()}, place)


def _kept_list(writer: Writer, value: object, place: str) -> JSON:
    return writer.value(_plain(value), place)


_PLAIN_WRITERS: Mapping[Any, Write] = {
    str: lambda writer, value, place: encode_text(value),
    bool: lambda writer, value, place: value,
    float: Writer.value,
    Mapping[str, Any] | str: Writer.value,
    Mapping[str, Any]: Writer.value,
    Mapping[str, str]: Writer.value,
    Mapping[str, Mapping[str, Any]]: Writer.value,
    tuple[Mapping[str, Any], ...]: Writer.value,
}


_KNOWN: dict[type[Any], tuple[tuple[Key, Write], ...]] = {}


def _writing(kind: type[Any]) -> tuple[tuple[Key, Write], ...]:
    """Return the keys of a part with the writer of each value."""
    if kind not in _KNOWN:
        _KNOWN[kind] = tuple([(key, _writer_of(key.hint, key.rule.has_lines)) for key in keys_of(kind).values()])
    return _KNOWN[kind]


@lru_cache(maxsize=256)
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
            return _kept_list
        return lambda writer, value, place: [writer.part(one, f"{place}[{at}]") for at, one in enumerate(value)]
    if isinstance(origin, type) and issubclass(Mapping, origin):
        keeps_layout = get_origin(arguments[1]) is tuple or issubclass(arguments[1], FilePart)
        return _kept if keeps_layout else Writer.each_by_name
    if dataclasses.is_dataclass(hint):
        return Writer.part
    raise TypeError(f"no key of a session file has values of the type {hint!r}")
