"""What the types of a session say of its file: the fields of a type are the keys of a part of the file, in the order in
which they are written, and their docstrings are what the schema and the documents say of them.

`sessions.file.part_keys` reads this; from there the file is read, written and described.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

NOTHING: Mapping[str, Any] = MappingProxyType({})


def nothing() -> Mapping[str, Any]:
    """The empty mapping, as a default (dataclasses take no unhashable value itself)."""
    return NOTHING


@dataclass(frozen=True)
class Rule:
    """What a type cannot say of a key; stands beside it in `Annotated`."""

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
