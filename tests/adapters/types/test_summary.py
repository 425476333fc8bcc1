"""A content part is named in one line: its type and size, and never its bytes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.types import Audio, Citations, Document, File, Image, summary

PNG = "data:image/png;base64," + "A" * 16_400
LINES: list[tuple[Any, str]] = [
    (Image(PNG).format()[0], "image/png, 12.3 kB"),
    (Image("https://x.y/z.png").format()[0], "https://x.y/z.png"),
    (Image("data:image/gif;base64,QUI=").format()[0], "image/gif, 2 bytes"),
    (Image("data:,a%20b").format()[0], "text/plain, 5 characters"),
    (Audio(data="QUJD" * 1_000_000, audio_format="wav").format()[0], "audio/wav, 3.0 MB"),
    (
        File(file_data="data:application/pdf;base64,QUJD", filename="a.pdf").format()[0],
        "a.pdf, application/pdf, 3 bytes",
    ),
    (File(file_id="file-1").format()[0], "uploaded as file-1"),
    (File(filename="").format()[0], "file without content"),
    (Document(data="12345", title="T").format()[0], "T, text/plain, 5 characters"),
    (Document(data="QUJD", media_type="application/pdf").format()[0], "application/pdf, 3 bytes"),
    (
        Citations.Citation(cited_text="c", document_index=0, start_char_index=0, end_char_index=1).format(),
        "citation of document 0: “c”",
    ),
    ({"type": "text", "text": "a" * 1234, "cache_control": {}}, "text, 1,234 characters"),
    ({"type": "video", "data": "x"}, "video, 30 characters"),
    ({}, "JSON object, 2 characters"),
    ({"type": "image_url"}, "image_url, 4 characters"),
    ({"type": "image_url", "image_url": "https://x.y"}, "https://x.y"),
    ({"type": "input_audio", "input_audio": {}}, "audio/?, no data"),
    ({"type": "document", "source": 5}, "document"),
    (
        {"type": "image_url", "image_url": {"url": "https://x.y/\n\x1b[31m" + "a" * 500}},
        "https://x.y/ \x1b[31m" + "a" * 81 + "…",
    ),
]


@pytest.mark.parametrize(("payload", "line"), LINES, ids=[row[1][:30] for row in LINES])
def test_a_part_is_named_by_its_type_and_size(payload: Any, line: str) -> None:
    assert summary(payload) == line


KEYS = st.sampled_from(["type", "image_url", "url", "input_audio", "data", "format", "file", "file_data", "source"])
ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["image_url", "file"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(KEYS, ANY, max_size=4))
@settings(max_examples=300, deadline=None)
def test_any_object_has_one_short_line(payload: dict[str, Any]) -> None:
    line = summary(payload)
    assert line
    assert len(line) <= 100
    assert len(line.splitlines()) == 1


def test_a_deep_object_has_one_too() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert summary({"type": "video", "data": deep}) == "video, not JSON"
