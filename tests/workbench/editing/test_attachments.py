"""Files become values of their types, with their data; what cannot be attached says why."""

from __future__ import annotations

import base64
import os
import re
from pathlib import Path
from typing import Any

import pytest

from adapters.signatures.signature import Field
from adapters.types import Audio, Document, File, Image
from adapters.values.custom_types import build
from sessions.model.session import SignatureText
from workbench.editing import field_values
from workbench.editing.field_values import AttachError, attached, attachment_words, described, path_in, takes_file

SIGNATURE = """import dspy
from dspy.experimental import Document
from typing import Optional

class Look(dspy.Signature):
    picture: dspy.Image = dspy.InputField()
    more: list[dspy.Image] = dspy.InputField()
    sound: Optional[dspy.Audio] = dspy.InputField()
    paper: Document = dspy.InputField()
    any_file: dspy.File = dspy.InputField()
    note: str = dspy.InputField()
    table: dict[str, dspy.Image] = dspy.InputField()
    answer: str = dspy.OutputField()
"""


def field(name: str) -> Field:
    return SignatureText(SIGNATURE).read().fields[name]


@pytest.mark.parametrize(
    ("name", "file", "data", "kind", "said"),
    [
        ("picture", "a b.png", b"\x89PNG" * 10, Image, "image/png · 40 B"),
        ("sound", "s.wav", b"RIFF" * 1000, Audio, "audio/wav · 4.0 kB"),
        ("paper", "p.pdf", b"%PDF-1.7 ", Document, "p.pdf · application/pdf · 9 B"),
        ("paper", "p.md", "é".encode(), Document, ""),
        ("any_file", "x.unknown", b"\x00\xff", File, "x.unknown · application/octet-stream · 2 B"),
    ],
)
def test_a_file_becomes_a_value_that_its_type_takes(
    tmp_path: Path, name: str, file: str, data: bytes, kind: Any, said: str
) -> None:
    (tmp_path / file).write_bytes(data)
    value = attached(field(name), tmp_path / file)
    assert isinstance(build(field(name).annotation, value), kind)
    assert base64.b64encode(data).decode() in str(value) or data.decode() == value["data"]
    assert described(value) == said
    assert attachment_words(value) == (said or "text/plain · 2 B")


def test_a_list_gets_one_more_item(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"abc")
    one = attached(field("more"), tmp_path / "a.png")
    two = attached(field("more"), tmp_path / "a.png", one)
    assert len(two) == 2 and described(two) == "image/png · 3 B\nimage/png · 3 B"


def test_what_cannot_be_attached_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "n.txt").write_text("hello")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe")
    (tmp_path / "none.png").touch()
    os.mkfifo(tmp_path / "pipe.png")
    for name, file, said in (
        ("picture", "n.txt", "n.txt is text/plain, 5 B; Image takes a picture"),
        ("sound", "n.txt", "Audio takes a sound"),
        ("paper", "b.bin", "Document takes a text or PDF"),
        ("note", "n.txt", "note: only inputs of the types Image, Audio, Document, File take a file"),
        ("table", "n.txt", "table: only inputs"),
        ("picture", "gone.png", "no such file"),
        ("picture", ".", f"^{re.escape(tmp_path.name)} is a folder; name a file in it$"),
        ("picture", "none.png", "^none.png is empty$"),
        ("picture", "pipe.png", "^pipe.png is a pipe or a device; attach a regular file$"),
        ("picture", "/dev/zero", "^zero is a pipe or a device; attach a regular file$"),
        ("picture", "\0.png", "not a valid file name"),
    ):
        with pytest.raises(AttachError, match=said):
            attached(field(name), tmp_path / file)
    monkeypatch.setattr(field_values, "MOST_BYTES", 4)
    with pytest.raises(AttachError, match=r"^n\.txt is 5 B; attach a file of at most 4 B"):
        attached(field("any_file"), tmp_path / "n.txt")
    assert [name for name in ("picture", "more", "sound", "note") if takes_file(field(name))] == [
        *("picture", "more", "sound")
    ]


@pytest.mark.parametrize(
    "value",
    [{"url": "https://x"}, {"url": "data:image/png;base64,AA", "own": 1}, "data:,x", 3, None, [], {"data": "x"}],
)
def test_only_embedded_data_is_described(value: Any) -> None:
    assert described(value) == ""


def test_a_dropped_path_is_found_however_the_terminal_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "a b.png"
    file.write_bytes(b"x")
    for text in (str(file), f"'{file}'", str(file).replace(" ", "\\ "), file.as_uri(), f" {file}\n"):
        assert path_in(text) == file
    for text in ("", "hello", str(tmp_path), f"{file}\n{file}", '"unclosed', "/" * 5000, "file://\0", "\ud800"):
        assert path_in(text) is None
