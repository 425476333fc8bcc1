"""How the value of one field is edited: as text, as a choice, or as JSON text that says where it is wrong."""

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
    """The type of `ABSENT`: the field has no value."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


class NotAValue(NamedTuple):
    """Why a text is no value (yet), with the 1-based line and column."""

    message: str
    line: int
    column: int


@dataclass(frozen=True)
class Choice:
    """One of the values a field can take: the plain JSON value, and how it is shown."""

    value: Any
    shown: str


def editing_of(field: Field) -> Editing:
    """What kind of editor fits the field's type."""
    annotation = strip_annotated(field.annotation)
    if _without_none(annotation) is str:
        return "text"
    return "choice" if choices_of(field) else "json"


def choices_of(field: Field) -> tuple[Choice, ...]:
    """The values of a Literal, an Enum or a bool, None among them when the type admits it; empty for other types."""
    annotation = strip_annotated(field.annotation)
    inner = _without_none(annotation)
    values: tuple[Any, ...]
    if get_origin(inner) is Literal:
        values = tuple(one.value if isinstance(one, enum.Enum) else one for one in get_args(inner))
    elif isinstance(inner, type) and issubclass(inner, enum.Enum):
        values = tuple(member.value for member in inner)
    elif inner is bool:
        values = (True, False)
    else:
        return ()
    if inner is not annotation and None not in values:
        values = (*values, None)
    if len(values) > MOST_CHOICES or not all(value is None or isinstance(value, (str, int, float)) for value in values):
        return ()
    return tuple(Choice(value, value if isinstance(value, str) else json.dumps(value)) for value in values)


def shown(value: Any, editing: Editing) -> str:
    """The text an editor starts from: a string as it is where text is edited, otherwise JSON."""
    if value is ABSENT:
        return ""
    if editing == "text" and isinstance(value, str):
        return value
    return as_json(value)


def read(text: str, editing: Editing) -> Any:
    """The value a text stands for, `ABSENT` for an empty text that is JSON, or `NotAValue`."""
    return text if editing == "text" else read_json(text)


def read_json(text: str) -> Any:
    """The value of a JSON text, `ABSENT` for an empty one, or `NotAValue`."""
    if not text.strip():
        return ABSENT
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        return NotAValue(_in_plain_words(error, text), error.lineno, error.colno)
    except RecursionError:
        return NotAValue("nested too deeply to be read", 1, 1)
    except ValueError as error:
        return NotAValue(str(error), 1, 1)


def as_json(value: Any) -> str:
    """A value as JSON: in one line where it is short, else indented."""
    flat = json.dumps(value, ensure_ascii=False)
    return flat if len(flat) <= 40 and "{" not in flat else json.dumps(value, ensure_ascii=False, indent=2)


def _in_plain_words(error: json.JSONDecodeError, text: str) -> str:
    if error.msg == "Expecting value" and error.pos >= len(text.rstrip()):
        return "not finished: a value is missing here"
    if error.msg == "Expecting value":
        return 'no JSON value; text needs quotes ("…")'
    if error.msg == "Extra data":
        return "the value ended before this"
    return error.msg[:1].lower() + error.msg[1:]


def _without_none(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        kept = [one for one in get_args(annotation) if one is not type(None)]
        if len(kept) == 1:
            return strip_annotated(kept[0])
    return annotation
