"""Describe non-text content parts in a line: kind and size, never their bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from workbench.output.display import one_line

LONGEST_SUMMARY = 200
LONGEST_NAMED_VALUE = 120


def summary(payload: Mapping[str, Any]) -> str:
    """Return `image_url · image/png · 12.3 kB` or `file · report.pdf · application/pdf · 1.2 MB`."""
    words = [str(payload.get("type", "part"))]
    for key, value in _leaves(payload):
        if key == "type":
            continue
        if value.startswith("data:"):
            words += of_data_url(value)
        elif len(value) > LONGEST_NAMED_VALUE and not value.startswith(("http://", "https://")):
            words.append(size(len(value) * 3 // 4))
        else:
            words.append(value)
    return one_line(" · ".join(words), LONGEST_SUMMARY)


def size(count: int) -> str:
    """Format a number of bytes: `812 B`, `12.3 kB`, `4.0 MB`."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1_000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def of_data_url(url: str) -> list[str]:
    """Return the media type and the size of a data URL's content."""
    head, _, data = url.partition(",")
    kind = head[len("data:") :]
    if kind.endswith(";base64"):
        return [kind[: -len(";base64")], size(len(data.rstrip("=")) * 3 // 4)]
    return [kind, size(len(data))]


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > 8:
        return
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _leaves(one, str(name), depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for one in value[:20]:
            yield from _leaves(one, key, depth + 1)
    elif value is not None:
        yield key, f"{key} {json.dumps(value, default=repr)}"
