"""Derive the keys of a session file from the types of `sessions.model`.

The fields of a type are the keys of a part, in writing order, described by their docstrings. Reading, writing and the
schema all use these keys, so they cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

NOTHING: Mapping[str, Any] = MappingProxyType({})


def nothing() -> Mapping[str, Any]:
    """Return an empty mapping, as a default factory: dataclasses reject unhashable defaults."""
    return NOTHING


@dataclass(frozen=True)
class Rule:
    """Rules for a key that its type cannot express; they follow it in `Annotated`."""

    name: str = ""
    """The key in the file, if it differs from the name of the field."""
    is_no_key: bool = False
    """True if the field is written as a part of another key."""
    has_lines: bool = False
    """True if the text is written as a list of its lines."""
    has_switches: bool = False
    """True if items are turns of a history, each optionally wrapped in `{"enabled", "values"}`."""
    has_parameters: bool = False
    """True if the object holds parameters (`sessions.model.parameters`)."""
    is_left_out: bool = False
    """True if the key is omitted if it has its default."""
    is_lenient: bool = False
    """True if a value of a wrong type is kept with the unknown keys and counts as absent."""
    null_is_absent: bool = False
    """True if null is kept with the unknown keys and counts as absent; a value of a wrong type is an error."""
    is_always_written: bool = False
    """True if a part that keeps its layout writes the key even with its default."""
    has_messages: bool = False
    """True if the object is a whole request, which must have a list `messages` of objects."""


LINES = Rule(has_lines=True)
LENIENT = Rule(is_lenient=True)
ALWAYS = Rule(is_always_written=True)
LENIENT_ALWAYS = Rule(is_lenient=True, is_always_written=True)


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """A part that keeps its file's layout: saving an unchanged file preserves every byte.

    Other parts are written in the order and with the defaults of their types.
    """

    ORDER: ClassVar[tuple[str, ...]] = ()
    """The keys to write first; the others follow in the order of the type."""

    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    """Unknown keys, and lenient keys with a value of a wrong type."""
    keys: Mapping[str, bool] | None = field(default=None, repr=False, compare=False)
    """The keys in the file, in its order, and whether each has its default. None for a part not read from a file."""


_NO_RULE = Rule()
_NO_KEYS = frozenset({"extra", *(one.name for one in dataclasses.fields(FilePart))})


@dataclass(frozen=True)
class Key:
    """A key of a part: its name in the file, its field, the value's type without `Annotated`, the rule, the default."""

    name: str
    field: str
    hint: Any
    rule: Rule
    default: Any
    is_needed: bool


def keys_of(kind: type[Any]) -> Mapping[str, Key]:
    """Return the keys of a part by their names in the file, in writing order.

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
