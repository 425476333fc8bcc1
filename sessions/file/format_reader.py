"""Read a session from JSON data by the keys of its types; the first error names its place."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from sessions.errors import SessionError, step_into
from sessions.model.parameters import kind_of
from sessions.model.replies import FilePart, Key, Rule, default_of, keys_of
from sessions.model.session import Case, Column

Part = TypeVar("Part")

SWITCH = {"enabled", "values"}


def is_switch(turn: Mapping[str, object]) -> bool:
    """Return whether an item of a history is `{"enabled", "values"}` around a turn."""
    return turn.keys() == SWITCH and type(turn["enabled"]) is bool and isinstance(turn["values"], Mapping)


def inside(place: str, key: str) -> str:
    """Return the place of `key` in the part at `place`; the file itself is at ''."""
    return f"{place}.{key}" if place else key


class UnreadableError(Exception):
    """Raised for a value that a session's file cannot hold there; each part around it adds its step to `place`."""

    def __init__(self, message: str, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        self.place = ""
        super().__init__(message)

    def inside(self, step: str) -> UnreadableError:
        self.place = step + self.place
        return self


def read_part(kind: type[Part], value: object, path: str | None, place: str = "") -> Part:
    """Convert decoded JSON data to a part of a session. Raises `SessionError` for the first invalid place."""
    try:
        return _part(kind, value)
    except UnreadableError as error:
        raise SessionError(path, f"{place}{error.place}".removeprefix("."), error.message, error.hint) from None


def _wrong(expected: str, value: object) -> UnreadableError:
    return UnreadableError(f"expected {expected}, got {kind_of(value)}")


def _one_of(value: Any, words: tuple[str, ...]) -> str:
    if value not in words:
        import difflib  # only for the hint

        expected = " or ".join(f'"{word}"' for word in words)
        near = difflib.get_close_matches(value, words, n=1) if isinstance(value, str) else []
        got = repr(value) if isinstance(value, str) else kind_of(value)
        raise UnreadableError(f"expected {expected}, got {got}", f"did you mean {near[0]}?" if near else "")
    return str(value)


def _member(read: Read, data: Mapping[str, Any], name: str) -> Any:
    """Read a key that the part needs."""
    if name not in data:
        raise UnreadableError(f'has no "{name}"')
    try:
        return read(data[name])
    except UnreadableError as error:
        raise error.inside(f".{name}") from None


def _part(kind: type[Part], value: object) -> Part:
    """Read a part of this type; unknown keys, and those that count as absent, go to its `extra`."""
    data = _OBJECT(value)
    given: dict[str, Any] = {}
    if kind is Column:
        data = {"id": _member(_TEXT, data, "adapter"), **data}
    elif kind is Case and "history" in data:
        turns, given["turns_off"] = _member(_turns, data, "history")
        data = {**data, "history": turns}
    shape = _shape_of(kind)
    are_default: dict[str, bool] = {}
    for name, key, rule, read in shape.keys:
        if name not in data:
            if key.is_needed:
                raise UnreadableError(f'has no "{name}"')
        elif (item := data[name]) is not None or not rule.null_is_absent:
            try:
                found = read(item)
                if rule.has_messages and found is not None:
                    _member(_OBJECTS, found, "messages")
            except UnreadableError as error:
                if not rule.is_lenient:
                    raise error.inside(f".{name}") from None
                continue
            given[key.field] = found
            are_default[name] = shape.keeps_layout and found == key.default
    given["extra"] = (
        {} if len(are_default) == len(data) else {name: data[name] for name in data if name not in are_default}
    )
    if shape.keeps_layout:
        given["keys"] = {name: are_default.get(name, False) for name in data}
    if shape.defaults is None:
        return kind(**given)
    made = object.__new__(kind)
    vars(made).update(shape.defaults | given)  # `__init__` would set the seventeen fields of a reply one by one
    return made


def _turns(value: object) -> tuple[list[dict[str, Any]], frozenset[int]]:
    """Return the turns of a history, and the indexes of disabled turns."""
    given = _OBJECTS(value)
    turns = [turn["values"] if is_switch(turn) else turn for turn in given]
    return turns, frozenset([number for number, turn in enumerate(given) if is_switch(turn) and not turn["enabled"]])


Read = Callable[[Any], Any]


def _of(expected: str, *kinds: type) -> Read:
    """Return a reader of values that have exactly one of these types."""

    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise _wrong(expected, value)
        return value

    return read


def _lines(value: Any) -> str:
    if type(value) is list and all(type(line) is str for line in value):
        return "\n".join(value)
    if type(value) is not str:
        raise _wrong("a text or a list of its lines", value)
    return value


def _number(value: Any) -> float:
    if type(value) is not int and (type(value) is not float or not math.isfinite(value)):
        raise _wrong("a number", value)
    return value


def _list_of(item: Read) -> Read:
    """Return a reader of lists whose items are all read by `item`."""
    a_list = _of("a list", list)

    def read(value: Any) -> tuple[Any, ...]:
        made: list[Any] = []
        for one in a_list(value):
            try:
                made.append(item(one))
            except UnreadableError as error:
                raise error.inside(f"[{len(made)}]") from None
        return tuple(made)

    return read


def _object_of(member: Read) -> Read:
    """Return a reader of objects whose members are all read by `member`."""

    def read(value: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, one in _OBJECT(value).items():
            try:
                made[key] = member(one)
            except UnreadableError as error:
                raise error.inside(f".{key}" if key.isidentifier() else step_into("", key)) from None
        return made

    return read


_OBJECT = _of("an object", dict)
_TEXT = _of("a text", str)
_PLAIN: Mapping[Any, Read] = {
    str: _TEXT,
    bool: _of("true or false", bool),
    float: _number,
    int: _of("a whole number", int),
    Any: lambda value: value,
    Mapping[str, Any] | str: _of("a text or an object", str, dict),
    Mapping[str, Any]: _OBJECT,
}


class Shape(NamedTuple):
    """The keys of a type of parts, each with its rule and reader."""

    keys: tuple[tuple[str, Key, Rule, Read], ...]
    keeps_layout: bool
    """True if a part keeps its layout in the file; its texts are never lists of lines."""
    defaults: dict[str, Any] | None
    """The defaults by field, in the order of the type; None for a type whose instances finish themselves."""


_SHAPES: dict[type[Any], Shape] = {}


def _shape_of(kind: type[Any]) -> Shape:
    if kind not in _SHAPES:
        keeps_layout = issubclass(kind, FilePart)
        readers = [
            (name, key, key.rule, _reader_of(key.hint, not keeps_layout and key.rule.has_lines))
            for name, key in keys_of(kind).items()
        ]
        defaults = {one.name: default_of(one) for one in dataclasses.fields(kind)}
        _SHAPES[kind] = Shape(tuple(readers), keeps_layout, None if hasattr(kind, "__post_init__") else defaults)
    return _SHAPES[kind]


def _reader_of(hint: object, has_lines: bool) -> Read:
    """Return the reader for this type; with `has_lines`, a text may be a list of lines."""
    if hint in _PLAIN:
        return _lines if has_lines else _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda value: _one_of(value, arguments)
    if origin in (Union, types.UnionType):
        (inner,) = [_reader_of(one, has_lines) for one in arguments if one is not type(None)]
        return lambda value: None if value is None else inner(value)
    if origin is tuple:
        return _list_of(_reader_of(arguments[0], False))
    if isinstance(origin, type) and issubclass(Mapping, origin):
        return _object_of(_reader_of(arguments[1], False))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return partial(_part, hint)
    raise TypeError(f"no key of a session file has values of the type {hint!r}")


_OBJECTS = _reader_of(tuple[Mapping[str, Any], ...], False)
