"""Parts of a session file that are read and written by their types: the fields of a type are the keys of the file.

A type says which values a key takes (`sessions.model.replies` has them all), so that what is read, what is written and
what the schema allows cannot differ.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from sessions.errors import SessionError
from sessions.file.json_values import JSON
from sessions.file.value_reader import ValueReader
from sessions.model.replies import FilePart, Rule

Part = TypeVar("Part", bound=FilePart)

_OURS = {one.name for one in dataclasses.fields(FilePart)}
_NO_RULE = Rule()


@dataclass(frozen=True)
class Key:
    """One key of a part: the type of its value without `Annotated`, the rule beside it, and the value without it."""

    name: str
    hint: Any
    rule: Rule
    default: Any
    is_needed: bool


def keys_of(kind: type[FilePart]) -> Mapping[str, Key]:
    """The keys of a part, by name, in the order in which they are written."""
    if kind not in _KEYS:
        _KEYS[kind] = _keys_of(kind)
    return _KEYS[kind]


_KEYS: dict[type[FilePart], Mapping[str, Key]] = {}


def _keys_of(kind: type[FilePart]) -> Mapping[str, Key]:
    hints = get_type_hints(kind, include_extras=True)
    found: dict[str, Key] = {}
    for one in dataclasses.fields(kind):
        if one.name not in _OURS:
            hint, rule = hints[one.name], _NO_RULE
            if get_origin(hint) is Annotated:
                hint, rule = get_args(hint)
            made = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
            found[one.name] = Key(one.name, hint, rule, made, made is dataclasses.MISSING)
    return {name: found[name] for name in dict.fromkeys([*kind.ORDER, *found])}


def read(reader: ValueReader, kind: type[Part], value: Any, place: str) -> Part:
    """The part that decoded JSON data holds. Raises `SessionError` naming the first place that is wrong."""
    data = reader.object(value, place)
    known = keys_of(kind)
    given: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key in known.values():
        if key.is_needed:
            reader.needed(data, key.name, place)
    for name, item in data.items():
        if name not in known:
            extra[name] = item
            continue
        key = known[name]
        if item is None and key.rule.null_is_absent:
            extra[name] = item
            continue
        try:
            given[name] = _read_key(reader, key, item, f"{place}.{name}")
        except SessionError:
            if not key.rule.is_lenient:
                raise
            extra[name] = item
    keys = {name: name in given and given[name] == known[name].default for name in data}
    return kind(**given, extra=extra, keys=keys)


def as_data(part: FilePart) -> dict[str, JSON]:
    """The part as the plain JSON of its file, users' values as they are."""
    known = keys_of(type(part))
    in_file = part.keys or {}
    data: dict[str, JSON] = {}
    for name in dict.fromkeys([*in_file, *known, *part.extra]):
        key = known.get(name)
        if key is None:
            if name in part.extra:
                data[name] = part.extra[name]
            continue
        value = getattr(part, name)
        if key.is_needed or value != key.default:
            data[name] = _plain(value)
        elif name in part.extra:
            data[name] = part.extra[name]
        elif in_file.get(name, False) or (key.rule.is_always_written and (part.keys is None or name in in_file)):
            data[name] = _plain(value)
    return data


def _plain(value: Any) -> JSON:
    if isinstance(value, FilePart):
        return as_data(value)
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value


def _read_key(reader: ValueReader, key: Key, value: Any, place: str) -> Any:
    found = _reader_of(key.hint)(reader, value, place)
    if key.rule.has_messages and value is not None:
        reader.objects(reader.needed(value, "messages", place), f"{place}.messages")
    return found


Read = Callable[[ValueReader, Any, str], Any]
_PLAIN: Mapping[Any, Read] = {
    str: ValueReader.text,
    bool: ValueReader.boolean,
    float: ValueReader.number,
    Any: lambda reader, value, place: value,
}


@lru_cache(maxsize=256)
def _reader_of(hint: Any) -> Read:
    """How a value of this type is read."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return lambda reader, value, place: reader.one_of(value, place, arguments)
    if origin in (Union, types.UnionType):
        (inner,) = [_reader_of(one) for one in arguments if one is not type(None)]
        return lambda reader, value, place: None if value is None else inner(reader, value, place)
    if origin is tuple:
        item = _reader_of(arguments[0])
        return lambda reader, value, place: reader.each(value, place, lambda one, where: item(reader, one, where))
    if isinstance(origin, type) and issubclass(Mapping, origin):
        return ValueReader.object
    if isinstance(hint, type) and issubclass(hint, FilePart):
        return lambda reader, value, place: read(reader, hint, value, place)
    raise TypeError(f"no key of a session file has values of the type {hint!r}")
