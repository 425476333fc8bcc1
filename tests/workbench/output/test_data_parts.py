"""A part that is not text is named with its type and size, and its bytes are never shown."""

import base64
from typing import Any

import pytest

from workbench.output.measures import size, summary

PNG = "image_url · image/png · 12.3 kB"
PICTURE = base64.b64encode(b"x" * 12_300).decode()


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
            "image_url · image/png · 12.3 kB",
        ),
        ({"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}, "image_url · https://a.example/b.png"),
        ({"type": "input_audio", "input_audio": {"data": PICTURE, "format": "wav"}}, "input_audio · 12.3 kB · wav"),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PICTURE}"}},
            "file · a.pdf · application/pdf · 12.3 kB",
        ),
        ({"type": "citation", "index": 3}, "citation · index 3"),
        ({}, "part"),
        ({"type": "\x1b[2J"}, "␛[2J"),
    ],
)
def test_summary(payload: dict[str, Any], shown: str) -> None:
    assert summary(payload) == shown


def test_a_summary_is_one_short_line() -> None:
    assert len(summary({"type": "x", "url": "https://" + "a\n" * 5_000})) <= 200


@pytest.mark.parametrize(("count", "words"), [(0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (3_456_789, "3.5 MB")])
def test_size(count: int, words: str) -> None:
    assert size(count) == words
