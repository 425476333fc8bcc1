from __future__ import annotations

from pathlib import Path

import pytest

from workbench.checks import fixture_files
from workbench.output.exit_codes import CommandError

SESSION = '{"format": 0, "name": "", "signature": {"text": ["a -> b"]}}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "a.json": SESSION,
        "b.session.json": "broken, and so reported by whoever reads it",
        "c.json": '{"format": "wide", "signature": 1}',
        "d.json": "[]",
        "e.txt": SESSION,
        "deep/er/f.json": "\n  " + SESSION,
        ".hidden/g.json": SESSION,
        "node_modules/h.session.json": SESSION,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_folder_gives_every_session_below_it(folder: Path) -> None:
    found = [str(path.relative_to(folder)) for path in fixture_files.find([str(folder)])]
    assert found == ["a.json", "b.session.json", "deep/er/f.json"]


def test_a_named_file_is_taken_whatever_it_is_and_once(folder: Path) -> None:
    text, session = str(folder / "e.txt"), str(folder / "a.json")
    assert fixture_files.find([text, session, session, str(folder)])[:2] == [Path(text), Path(session)]
    assert len(fixture_files.find([session, str(folder)])) == 3


def test_links_to_folders_are_not_followed(folder: Path) -> None:
    (folder / "deep" / "loop").symlink_to(folder)
    assert len(fixture_files.find([str(folder)])) == 3


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"gone\.json: no such file or folder"):
        fixture_files.find([str(tmp_path / "gone.json")])
