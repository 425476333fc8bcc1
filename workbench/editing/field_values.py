"""Edit a field's value as text, as a choice, or as JSON with the place of each error."""

from __future__ import annotations

import enum
import json
import types
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from adapters.signatures.signature import Field, strip_annotated

Editing = Literal["text", "choice", "json"]

MOST_CHOICES = 40


class Absent:
    """Type of `ABSENT`, which stands for a field without a value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


class NotAValue(NamedTuple):
    """The error of an invalid text, with its 1-based line and column."""

    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Choice:
    """A possible value of a field, as plain JSON and as shown."""

    value: Any
    shown: str


def editing_of(field: Field) -> Editing:
    """Choose the kind of editor that fits the field's type."""
    if strip_none(field.annotation)[0] is str:
        return "text"
    return "choice" if choices_of(field) else "json"


def choices_of(field: Field) -> tuple[Choice, ...]:
    """Return the values of a Literal, Enum or bool, with None if the type allows it; () for other types."""
    inner, is_optional = strip_none(field.annotation)
    values: tuple[Any, ...]
    if get_origin(inner) is Literal:
        values = tuple(one.value if isinstance(one, enum.Enum) else one for one in get_args(inner))
    elif isinstance(inner, type) and issubclass(inner, enum.Enum):
        values = tuple(member.value for member in inner)
    elif inner is bool:
        values = (True, False)
    else:
        return ()
    if is_optional and None not in values:
        values = (*values, None)
    if len(values) > MOST_CHOICES or not all(value is None or isinstance(value, (str, int, float)) for value in values):
        return ()
    return tuple(Choice(value, value if isinstance(value, str) else json.dumps(value)) for value in values)


def shown(value: Any, editing: Editing) -> str:
    """Write a value for an editor, as JSON unless it is a string in a text editor."""
    if value is ABSENT:
        return ""
    if editing == "text" and isinstance(value, str):
        return value
    return as_json(value)


def read_json(text: str) -> Any:
    """Parse a JSON text into a value, `ABSENT` for an empty text, or `NotAValue`."""
    if not text.strip():
        return ABSENT
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg != "Expecting value":
            said = error.msg.removesuffix(" at")
            message = "the value ended before this" if said == "Extra data" else said[:1].lower() + said[1:]
        elif error.pos >= len(text.rstrip()):
            message = "not finished: a value is missing here"
        else:
            message = 'expected a JSON value; text needs quotes ("…")'
        return NotAValue(message, error.lineno, error.colno)
    except RecursionError:
        return NotAValue("nested too deeply to be read", 1, 1)
    except ValueError as error:
        return NotAValue(str(error), 1, 1)


def as_json(value: Any) -> str:
    """Write a value as JSON, indented if it is long or contains an object."""
    flat = json.dumps(value, ensure_ascii=False)
    return flat if len(flat) <= 40 and "{" not in flat else json.dumps(value, ensure_ascii=False, indent=2)


def same(one: Any, other: Any) -> bool:
    """Return whether two plain values are equal, including their types and the order of keys."""
    return type(one) is type(other) and repr(one) == repr(other)


def strip_none(annotation: Any) -> tuple[Any, bool]:
    """Split an optional type into the type itself and whether None is allowed; other unions stay whole."""
    annotation = strip_annotated(annotation)
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [one for one in get_args(annotation) if one is not type(None)]
        if len(kept) == 1:
            return strip_annotated(kept[0]), len(kept) < len(get_args(annotation))
    return annotation, False
