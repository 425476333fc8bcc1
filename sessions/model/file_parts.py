"""The keys of the parts of a session file, taken from the types of `sessions.model`.

The fields of a type are the keys of a part, in the order in which they are written, and their docstrings describe them.
The file is read, written and described from here, so the three cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

NOTHING: Mapping[str, Any] = MappingProxyType({})


def nothing() -> Mapping[str, Any]:
    """The empty mapping, as a default (dataclasses take no unhashable value itself)."""
    return NOTHING


@dataclass(frozen=True)
class Rule:
    """Rules for a key that its type cannot express; they follow it in `Annotated`."""

    name: str = ""
    """The key in the file, where it is not the name of the field."""
    is_no_key: bool = False
    """A field that stands in the file as a part of another key."""
    has_lines: bool = False
    """A text that is written as the list of its lines."""
    has_switches: bool = False
    """Turns of a history, each of which may stand inside `{"enabled", "values"}`."""
    has_parameters: bool = False
    """An object of parameters (`sessions.model.parameters`)."""
    is_left_out: bool = False
    """Not written while it has its default."""
    is_lenient: bool = False
    """A value of another kind is kept with the unknown keys, and counts as not given."""
    null_is_absent: bool = False
    """So is null, and a value of another kind is an error."""
    is_always_written: bool = False
    """Of a part that keeps its layout: also with its default value; others then are left out."""
    has_messages: bool = False
    """The object is a whole request, so it must have a list `messages` of objects."""


LINES = Rule(has_lines=True)
LENIENT = Rule(is_lenient=True)
ALWAYS = Rule(is_always_written=True)
LENIENT_ALWAYS = Rule(is_lenient=True, is_always_written=True)


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """A part that keeps the layout it was given: saving an unchanged file changes no byte of it.

    Other parts are written in the order and with the defaults of their types.
    """

    ORDER: ClassVar[tuple[str, ...]] = ()
    """The keys that are written first; the others follow as they stand in the type."""

    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    """Keys that this version does not know, and lenient ones with a value of another kind."""
    keys: Mapping[str, bool] | None = field(default=None, repr=False, compare=False)
    """The keys that the file has, in its order, and whether each says what would be so without it. None for a part
    that was made here."""


_NO_RULE = Rule()
_NO_KEYS = frozenset({"extra", *(one.name for one in dataclasses.fields(FilePart))})


@dataclass(frozen=True)
class Key:
    """A key of a part: its name in the file and in the type, the type of its value without `Annotated`, the rule
    beside it, and the value of a part that lacks it."""

    name: str
    field: str
    hint: Any
    rule: Rule
    default: Any
    is_needed: bool


def keys_of(kind: type[Any]) -> Mapping[str, Key]:
    """The keys of a part of the file, by their names there, in the order in which they are written.

    `kind` is a dataclass of `sessions.model`; fields named in its `ORDER` come first.
    """
    if kind not in _KEYS:
        hints = get_type_hints(kind, include_extras=True)
        found: dict[str, Key] = {}
        for one in dataclasses.fields(kind):
            hint, rule = hints[one.name], _NO_RULE
            if get_origin(hint) is Annotated:
                hint, rule = get_args(hint)
            if one.name not in _NO_KEYS and not rule.is_no_key:
                made = one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default
                found[one.name] = Key(rule.name or one.name, one.name, hint, rule, made, made is dataclasses.MISSING)
        ordered = dict.fromkeys([*getattr(kind, "ORDER", ()), *found])
        _KEYS[kind] = {found[field].name: found[field] for field in ordered}
    return _KEYS[kind]


_KEYS: dict[type[Any], Mapping[str, Key]] = {}
