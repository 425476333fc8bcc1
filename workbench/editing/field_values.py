"""Edit a field's value as text, as a choice, as JSON with the place of each error, or by attaching a file."""

from __future__ import annotations

import base64
import enum
import json
import mimetypes
import os
import shlex
import stat
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin
from urllib.parse import unquote, urlsplit

from adapters.errors import reason_of
from adapters.late_dataclasses import dataclass
from adapters.signatures.signature import Field, strip_annotated, without_none
from workbench.output.measures import describe_data_url
from workbench.output.measures import size as plain_words

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
    whole = strip_annotated(annotation)
    inner = without_none(whole)
    return strip_annotated(inner), inner is not whole


TYPES = {"Image": "a picture", "Audio": "a sound", "Document": "a text or PDF", "File": "any file"}
"""Types that accept a file, each with the kind of file."""

MOST_BYTES = 20_000_000
"""Size limit of an attached file: providers reject larger requests."""

PDF = "application/pdf"

_KEYS = ({"url"}, {"data", "audio_format"}, {"file_data", "filename"}, {"data", "title", "media_type"})
"""Sets of keys that values of these types may have if they are only embedded data."""


class AttachError(ValueError):
    """A file that cannot be attached."""


def takes_file(field: Field) -> bool:
    """Return whether files can be attached to a field."""
    return _type_of(field) is not None


def attached(field: Field, path: Path, before: Any = None) -> Any:
    """Return a field's value that contains the file, as plain JSON.

    A list keeps its items `before`. The file's data is embedded, not its path. Raises `AttachError`.
    """
    wanted = _type_of(field)
    if wanted is None:
        raise AttachError(f"{field.name}: only inputs of the types {', '.join(TYPES)} take a file")
    try:
        problem = _why_not(path.stat())
        data = b"" if problem else path.read_bytes()
    except OSError as error:
        raise AttachError(f"{path}: {reason_of(error)}") from error
    except ValueError as error:  # NUL, or an unpaired surrogate, in a name
        raise AttachError(f"not a valid file name: {error}") from error
    if problem:
        raise AttachError(f"{path.name or path} {problem}")
    value = _value(wanted, path.name, data)
    if _item_of(field) is None:
        return value
    return [*(before if isinstance(before, list) else ()), value]


def attachment_words(value: Any) -> str:
    """Describe the file that was attached last: its type and size."""
    last = value[-1] if isinstance(value, list) else value
    return described(last) or f"text/plain · {plain_words(len(last['data'].encode()))}"


def described(value: Any) -> str:
    """Describe embedded data, as `image/png · 12.3 kB`; "" for values with other content."""
    if isinstance(value, list):
        if any(isinstance(one, list) for one in value):  # no file, and it may be nested deeper than the stack
            return ""
        parts = [described(one) for one in value]
        return "\n".join(parts) if all(parts) else ""
    name = ""
    if isinstance(value, dict):
        if not any(value.keys() <= keys for keys in _KEYS):
            return ""
        name = str(value.get("filename") or value.get("title") or "")
        if isinstance(value.get("data"), str) and isinstance(value.get("audio_format"), str):
            value = f"data:audio/{value['audio_format']};base64,{value['data']}"
        elif value.get("media_type") == PDF and isinstance(value.get("data"), str):
            value = f"data:{PDF};base64,{value['data']}"
        else:
            value = value.get("url", value.get("file_data"))
    if not isinstance(value, str) or not value.startswith("data:") or ";base64," not in value:
        return ""
    return " · ".join([*([name] if name else []), *describe_data_url(value)])


def in_one_line(values: Iterable[Any]) -> list[str]:
    """Return the start of each value for a list of rows: texts first, embedded data last."""
    texts: list[str] = []
    others: list[str] = []
    data: list[str] = []
    for value in values:
        if words := described(value):
            data.append(" ".join(words.split()))
        elif isinstance(value, str):
            texts.append(" ".join(value[:_START].split()))
        else:
            others.append(json.dumps(_start(value), ensure_ascii=False))
    return texts + others + data


_START = 400
"""Characters of a text that a row can show."""
_FEW = 8
"""Items of a list or object that a row can show."""


def _start(value: Any, depth: int = 3) -> Any:
    """Return the part of a JSON value that a row can show: it may be long, and is painted often."""
    if isinstance(value, Mapping):
        few = list(islice(value.items(), _FEW)) if depth else []
        return {str(name): _start(one, depth - 1) for name, one in few}
    if isinstance(value, list | tuple):
        return [_start(one, depth - 1) for one in value[:_FEW]] if depth else []
    if isinstance(value, str):
        return described(value) or value[:_START]
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def path_in(text: str) -> Path | None:
    """Return the file named by a pasted or dropped text, or None.

    The text is a path, which may be quoted or escaped, or a file:// URL.
    """
    if not text.strip() or "\n" in text.strip() or len(text) > 4096:
        return None
    words = [text.strip()]
    if not words[0].startswith(("/", "~", ".", "'", '"', "file://")):
        return None
    try:
        words += shlex.split(words[0]) if len(shlex.split(words[0])) == 1 else []
        for word in words:
            path = Path(unquote(urlsplit(word).path) if word.startswith("file://") else word).expanduser()
            if path.is_file():
                return path
    except (OSError, ValueError, RuntimeError):  # not a path
        return None
    return None


def _why_not(status: os.stat_result) -> str:
    """Return why a file cannot be attached, or ""; reading a pipe or a device might never end."""
    if stat.S_ISDIR(status.st_mode):
        return "is a folder; name a file in it"
    if not stat.S_ISREG(status.st_mode):
        return "is a pipe or a device; attach a regular file"
    if status.st_size > MOST_BYTES:
        return f"is {plain_words(status.st_size)}; attach a file of at most {plain_words(MOST_BYTES)}"
    return "" if status.st_size else "is empty"


def _type_of(field: Field) -> str | None:
    """Return which of `TYPES` a field has, alone, optional or in a list; None for other types."""
    wanted = _item_of(field) or strip_none(field.annotation)[0]
    if not hasattr(wanted, "model_fields"):
        return None
    from adapters.types.recognition import is_kind_of  # loads pydantic, which a model has loaded already

    return next((name for name in TYPES if is_kind_of(wanted, name)), None)


def _item_of(field: Field) -> Any:
    """Return the type of a list's items; None for other types."""
    inner = strip_none(field.annotation)[0]
    return next(iter(get_args(inner)), None) if get_origin(inner) is list else None


def _value(wanted: str, name: str, data: bytes) -> dict[str, Any]:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    encoded = base64.b64encode(data).decode()
    if wanted == "File":
        return {"file_data": f"data:{kind};base64,{encoded}", "filename": name}
    if wanted == "Image" and kind.startswith("image/"):
        return {"url": f"data:{kind};base64,{encoded}"}
    if wanted == "Audio" and kind.startswith("audio/"):
        return {"data": encoded, "audio_format": kind.removeprefix("audio/").removeprefix("x-")}
    if wanted == "Document" and kind == PDF:
        return {"data": encoded, "title": name, "media_type": PDF}
    if wanted == "Document":
        try:
            return {"data": data.decode("utf-8"), "title": name, "media_type": "text/plain"}
        except UnicodeDecodeError:
            pass
    raise AttachError(f"{name} is {kind}, {plain_words(len(data))}; {wanted} takes {TYPES[wanted]}")
