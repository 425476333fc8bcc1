"""A name that no file can have is refused where it is typed, with the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.file import saving
from tests.support.hostile import HOSTILE
from workbench.config.confinement import FREE


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("  ", "enter a path such as q.json"),
        ("\ud83d.json", "unpaired surrogates"),
        ("a\0b.json", "null byte"),
        ("x" * 300, "too long"),
        ("x" * 300 + "/q.json", "too long"),
        ("~nobody-of-this-name/q.json", "home directory"),
        (".", "is a folder"),
        ("none/q.json", "no such folder: none"),
        ("file/q.json", "no such folder: file"),
        ("file", ""),
        ("new.json", ""),
    ],
)
def test_the_reason_is_said(text: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    found = FREE.why_no_name(text, "q.json")
    assert said in found if said else not found


@pytest.mark.parametrize("text", HOSTILE.values())
def test_whatever_is_typed_is_refused_or_can_be_written(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if not FREE.why_no_name(text, "q.json"):
        Path(text).expanduser().write_text("x", encoding="utf-8")


@pytest.mark.parametrize("name", ["\ud83d.json", "a\0b.json", "x" * 300])
def test_where_no_file_can_be_there_is_nothing_to_keep_of_it(name: str) -> None:
    assert saving.keep_restore_point(name) == ""
