"""A content part in one line for the screen: what it is and how large, never its bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

LONGEST = 100


def summary(payload: Mapping[str, Any]) -> str:
    """The type and size of a content part: `image/png, 12.3 kB`, or the URL it points to. Never raises."""
    kind = payload.get("type")
    if kind == "image_url":
        return _image(payload.get("image_url"))
    inner = payload.get(kind) if isinstance(kind, str) else None
    if kind == "input_audio" and isinstance(inner, Mapping):
        return _line("audio/", inner.get("format"), ", ", _base64_size(inner.get("data")))
    if kind == "file" and isinstance(inner, Mapping):
        return _file(inner)
    if kind == "document":
        return _document(payload)
    if kind == "text":
        return _line("text, ", _characters(payload.get("text")))
    if "cited_text" in payload:
        return _line("citation of document ", payload.get("document_index"), ": “", payload["cited_text"], "”")
    return _line(kind if isinstance(kind, str) else "JSON object", ", ", _json_size(payload))


def _image(image: Any) -> str:
    url = image.get("url") if isinstance(image, Mapping) else image
    return _uri(url) if isinstance(url, str) else _line("image_url, ", _json_size(image))


def _file(file: Mapping[str, Any]) -> str:
    data, name, file_id = file.get("file_data"), file.get("filename"), file.get("file_id")
    said = [name] if isinstance(name, str) else []
    said += [_uri(data)] if isinstance(data, str) else []
    said += [f"uploaded as {file_id}"] if isinstance(file_id, str) else []
    return _line(", ".join(said) or "file without content")


def _document(document: Mapping[str, Any]) -> str:
    title, source = document.get("title"), document.get("source")
    named = f"{title}, " if isinstance(title, str) else ""
    if not isinstance(source, Mapping):
        return _line(named, "document")
    size = _base64_size(source.get("data")) if source.get("type") == "base64" else _characters(source.get("data"))
    return _line(named, source.get("media_type"), ", ", size)


def _uri(uri: str) -> str:
    if not uri.startswith("data:"):
        return _line(uri)
    header, _, data = uri.partition(",")
    mime_type = header[len("data:") : len("data:") + LONGEST].split(";", 1)[0]
    size = _base64_size(data) if header.endswith("base64") else _characters(data)
    return _line(mime_type or "text/plain", ", ", size)


def _base64_size(data: Any) -> str:
    if not isinstance(data, str):
        return "no data"
    return _bytes(max(0, len(data) * 3 // 4 - data[-2:].count("=")))


def _bytes(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    if count < 1_000_000:
        return f"{count / 1000:.1f} kB"
    return f"{count / 1_000_000:.1f} MB"


def _characters(text: Any) -> str:
    return f"{len(text):,} characters" if isinstance(text, str) else "no text"


def _json_size(value: Any) -> str:
    try:
        return _characters(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return "not JSON"


def _line(*pieces: Any) -> str:
    """The pieces in one line of at most `LONGEST` characters; what is neither text nor a number is a question mark."""
    words = [
        piece if isinstance(piece, str) else str(piece) if isinstance(piece, int | float) else "?" for piece in pieces
    ]
    joined = " ".join("".join([word[: 4 * LONGEST] for word in words]).split())
    return joined if len(joined) <= LONGEST else joined[: LONGEST - 1] + "…"
