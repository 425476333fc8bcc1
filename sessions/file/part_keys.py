"""The keys of the parts of a session file, taken from the types of `sessions.model`.

What is read, what is written and what the schema and the documents say all come from here, so they cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from sessions.model.file_parts import FilePart, Rule

_NO_RULE = Rule()
_NO_KEYS = frozenset({"extra", *(one.name for one in dataclasses.fields(FilePart))})


@dataclass(frozen=True)
class Key:
    """One key of a part: its name in the file and in the type, the type of its value without `Annotated`, the rule
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
        _KEYS[kind] = _keys_of(kind)
    return _KEYS[kind]


_KEYS: dict[type[Any], Mapping[str, Key]] = {}


def _keys_of(kind: type[Any]) -> Mapping[str, Key]:
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
    return {found[field].name: found[field] for field in ordered}
