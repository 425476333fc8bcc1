"""What a save replaces can be had back, and what is kept for that is bounded."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from sessions.errors import SessionError
from sessions.file import saving, whole_files


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_each_former_content_is_kept_once_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    assert saving.keep_restore_point(path) == ""
    for content in (b"1", b"2", b"2", b"3"):
        path.write_bytes(content)
        assert saving.keep_restore_point(path) == ""
    assert [one.place.read_bytes() for one in saving.restore_points(path)] == [b"3", b"2", b"1"]
    assert saving.restore_points(tmp_path / "other.json") == ()


def test_files_of_one_name_in_two_folders_are_kept_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "q.json").write_text(folder)
        saving.keep_restore_point(tmp_path / folder / "q.json")
    assert [one.place.read_text() for one in saving.restore_points(tmp_path / "a" / "q.json")] == ["a"]


def test_their_number_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "MOST_OF_A_FILE", 5)
    for number in range(12):
        saving.keep_content(str(number).encode(), tmp_path / "q.json")
    kept = [one.place.read_bytes() for one in saving.restore_points(tmp_path / "q.json")]
    assert kept == [b"11", b"10", b"9", b"8", b"7"]


def test_their_size_over_all_files_is_bounded(tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saving, "MOST_BYTES", 10_000)
    for number in range(20):
        saving.keep_content(bytes([number]) * 3_000, tmp_path / f"{number}.json")
    sizes = [file.stat().st_size for file in state.rglob("*.json")]
    assert sum(sizes) <= 10_000
    assert saving.restore_points(tmp_path / "19.json")


def test_the_folder_is_for_the_user_alone(tmp_path: Path, state: Path) -> None:
    saving.keep_content(b"x", tmp_path / "q.json")
    (folder,) = (state / "adapter-workbench" / "restore").iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077 == 0


def test_without_a_home_folder_there_is_a_clear_message_and_nothing_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    path = tmp_path / "q.json"
    path.write_bytes(b"x")
    assert "set XDG_STATE_HOME" in saving.keep_restore_point(path)
    assert saving.restore_points(path) == ()
    with pytest.raises(SessionError, match="no home folder"):
        whole_files.state_folder()
    assert [one.name for one in tmp_path.iterdir()] == ["q.json"]


def test_a_relative_state_home_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert whole_files.state_folder() == Path("/home/somebody/.local/state/adapter-workbench")


def test_a_state_folder_that_is_a_file_is_a_clear_message(tmp_path: Path, state: Path) -> None:
    state.write_bytes(b"")
    path = tmp_path / "q.json"
    path.write_bytes(b"x")
    assert saving.keep_restore_point(path).startswith("no restore point was kept: ")
