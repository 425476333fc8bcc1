"""Read a session from JSON data by the keys of its types; the first error names its place."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from sessions.errors import SessionError, step_into
from sessions.model.parameters import kind_of
from sessions.model.replies import FilePart, Key, keys_of
from sessions.model.session import Case, Column

Part = TypeVar("Part")
KeptPart = TypeVar("KeptPart", bound=FilePart)

SWITCH = {"enabled", "values"}


def is_switch(turn: Mapping[str, object]) -> bool:
    """Return whether an item of a history is `{"enabled", "values"}` around a turn."""
    return turn.keys() == SWITCH and type(turn["enabled"]) is bool and isinstance(turn["values"], Mapping)


def inside(place: str, key: str) -> str:
    """Return the place of `key` in the part at `place`; the file itself is at ''."""
    return f"{place}.{key}" if place else key


class Reader:
    """Converts decoded JSON data to the parts of a session. Raises `SessionError` for the first invalid place."""

    def __init__(self, path: str | None) -> None:
        self._path = path

    def wrong(self, place: str, expected: str, value: object) -> SessionError:
        return SessionError(self._path, place, f"expected {expected}, got {kind_of(value)}")

    def one_of(self, value: Any, place: str, words: tuple[str, ...]) -> str:
        if value not in words:
            expected = " or ".join(f'"{word}"' for word in words)
            near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
            got = repr(value) if isinstance(value, str) else kind_of(value)
            hint = f"did you mean {near[0]}?" if near else ""
            raise SessionError(self._path, place, f"expected {expected}, got {got}", hint)
        return str(value)

    def needed(self, data: Mapping[str, Any], key: str, place: str) -> Any:
        if key not in data:
            raise SessionError(self._path, place, f'has no "{key}"')
        return data[key]

    def part(self, kind: type[Part], value: object, place: str) -> Part:
        """Read a part of this type; keys unknown to the type go to its `extra`."""
        if issubclass(kind, FilePart):
            return self._kept_part(kind, value, place)
        data = OBJECT(self, value, place)
        changed: dict[str, Any] = {}
        if kind is Column:
            # Add a missing id to a column's data: the name of its adapter
            adapter = _TEXT(self, self.needed(data, "adapter", place), inside(place, "adapter"))
            data = {"id": adapter, **data}
        elif kind is Case:
            given = _OBJECTS(self, data.get("history", []), inside(place, "history"))
            turns = [turn["values"] if is_switch(turn) else turn for turn in given]
            off = [number for number, turn in enumerate(given) if is_switch(turn) and not turn["enabled"]]
            changed["turns_off"] = frozenset(off)
            data = {**data, "history": turns}
        known = _keys_and_readers(kind)
        for name, (key, read) in known.items():
            if name in data:
                changed[key.field] = read(self, data[name], inside(place, name))
            elif key.is_needed:
                self.needed(data, name, place)
        changed["extra"] = {name: item for name, item in data.items() if name not in known}
        return kind(**changed)

    def _kept_part(self, kind: type[KeptPart], value: object, place: str) -> KeptPart:
        """Read a part that remembers its layout in the file."""
        data = OBJECT(self, value, place)
        known = _keys_and_readers(kind)
        given: dict[str, Any] = {}
        extra: dict[str, Any] = {}
        keys: dict[str, bool] = {}
        for name, (key, _) in known.items():
            if key.is_needed:
                self.needed(data, name, place)
        for name, item in data.items():
            keys[name] = False
            if name not in known or (item is None and known[name][0].rule.null_is_absent):
                extra[name] = item
                continue
            key, read = known[name]
            where = f"{place}.{name}"
            try:
                found = read(self, item, where)
                if key.rule.has_messages and item is not None:
                    _OBJECTS(self, self.needed(item, "messages", where), inside(where, "messages"))
            except SessionError:
                if not key.rule.is_lenient:
                    raise
                extra[name] = item
                continue
            given[name] = found
            keys[name] = found == key.default
        return kind(**given, extra=extra, keys=keys)


Read = Callable[[Reader, Any, str], Any]


def _of(expected: str, *kinds: type) -> Read:
    """Return a reader of values that have exactly one of these types."""

    def read(reader: Reader, value: Any, place: str) -> Any:
        if type(value) not in kinds:
            raise reader.wrong(place, expected, value)
        return value

    return read


def _lines(reader: Reader, value: Any, place: str) -> str:
    if type(value) is list and all(type(line) is str for line in value):
        return "\n".join(value)
    if type(value) is not str:
        raise reader.wrong(place, "a text or a list of its lines", value)
    return value


def _number(reader: Reader, value: Any, place: str) -> float:
    if type(value) is not int and (type(value) is not float or not math.isfinite(value)):
        raise reader.wrong(place, "a number", value)
    return value


OBJECT = _of("an object", dict)
_TEXT = _of("a text", str)
_PLAIN: Mapping[Any, Read] = {
    str: _TEXT,
    bool: _of("true or false", bool),
    float: _number,
    int: _of("a whole number", int),
    Any: lambda reader, value, place: value,
    Mapping[str, Any] | str: _of("a text or an object", str, dict),
    Mapping[str, Any]: OBJECT,
}


_KNOWN: dict[type[Any], Mapping[str, tuple[Key, Read]]] = {}


def _keys_and_readers(kind: type[Any]) -> Mapping[str, tuple[Key, Read]]:
    """Return the keys of a part by name, each with its reader; texts of a kept part are never lists of lines."""
    if kind not in _KNOWN:
        can_be_lines = not issubclass(kind, FilePart)
        _KNOWN[kind] = {
            name: (key, _reader_of(key.hint, can_be_lines and key.rule.has_lines))
            for name, key in keys_of(kind).items()
        }
    return _KNOWN[kind]


@lru_cache(maxsize=256)
def _reader_of(hint: object, has_lines: bool) -> Read:
    """Return the reader for this type; with `has_lines`, a text may be a list of lines."""
    if hint in _PLAIN:
        return _lines if has_lines else _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda reader, value, place: reader.one_of(value, place, arguments)
    if origin in (Union, types.UnionType):
        (inner,) = [_reader_of(one, has_lines) for one in arguments if one is not type(None)]
        return lambda reader, value, place: None if value is None else inner(reader, value, place)
    if origin is tuple:
        item, a_list = _reader_of(arguments[0], False), _of("a list", list)
        return lambda reader, value, place: tuple(
            [item(reader, one, f"{place}[{at}]") for at, one in enumerate(a_list(reader, value, place))]
        )
    if isinstance(origin, type) and issubclass(Mapping, origin):
        member = _reader_of(arguments[1], False)
        return lambda reader, value, place: {
            key: member(reader, one, step_into(place, key)) for key, one in OBJECT(reader, value, place).items()
        }
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return lambda reader, value, place: reader.part(hint, value, place)
    raise TypeError(f"no key of a session file has values of the type {hint!r}")


_OBJECTS = _reader_of(tuple[Mapping[str, Any], ...], False)
