"""Attach files to inputs: pictures, sounds, documents and other files as values of their types."""

from __future__ import annotations

import base64
import mimetypes
import shlex
from pathlib import Path
from typing import Any, get_args, get_origin
from urllib.parse import unquote, urlsplit

from adapters.signatures.signature import Field
from workbench.editing.field_values import strip_none
from workbench.output.data_parts import of_data_url
from workbench.output.data_parts import size as in_words

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
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise AttachError(f"{path.name} is {in_words(size)}; attach a file of at most {in_words(MOST_BYTES)}")
        data = path.read_bytes()
    except OSError as error:
        raise AttachError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # NUL, or an unpaired surrogate, in a name
        raise AttachError(f"not a valid file name: {error}") from error
    value = _value(wanted, path.name, data)
    if _item_of(field) is None:
        return value
    return [*(before if isinstance(before, list) else ()), value]


def described(value: Any) -> str:
    """Describe embedded data, as `image/png · 12.3 kB`; "" for values with other content."""
    if isinstance(value, list):
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
    return " · ".join([*([name] if name else []), *of_data_url(value)])


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
    raise AttachError(f"{name} is {kind}, {in_words(len(data))}; {wanted} takes {TYPES[wanted]}")
