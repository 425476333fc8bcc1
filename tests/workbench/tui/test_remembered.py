"""What is kept about the look of the screen, and what a damaged file of it does: nothing."""

from pathlib import Path

import pytest

from workbench.tui import preferences
from workbench.tui.preferences import Remembered, share_in


@pytest.fixture(autouse=True)
def _state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_a_session_keeps_its_own_layout_over_the_users(tmp_path: Path) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    kept = Remembered().add_session_layout(one, {"left": 40, "theme": "nord"}, {"left": 40, "tab": "demos"})
    kept = kept.add_session_layout(other, {"left": 60}, {"left": 60, "tab": "inputs"})
    assert preferences.save(kept) == ""
    read = preferences.load()
    assert read.of(one) == {"left": 40, "theme": "nord", "tab": "demos"}
    assert read.of(tmp_path / "third.json") == {"left": 60, "theme": "nord"}
    assert [Path(one).name for one in read.recent] == ["other.json", "one.json"]


def test_only_so_many_are_kept(tmp_path: Path) -> None:
    kept = Remembered()
    for index in range(preferences.MOST_SESSIONS + 10):
        kept = kept.add_session_layout(tmp_path / f"{index}.json", {}, {"tab": str(index)})
    assert len(kept.sessions) == preferences.MOST_SESSIONS
    assert len(kept.recent) == preferences.MOST_RECENT
    assert kept.of(tmp_path / "209.json") == {"tab": "209"}


@pytest.mark.parametrize(
    "content",
    [b"", b"[1]", b"{", b'{"user": 3, "sessions": [1], "recent": [1, null]}', b"\xff\xfe", b"[" * 100_000],
)
def test_a_damaged_file_is_none(content: bytes, tmp_path: Path) -> None:
    place = tmp_path / "adapter-workbench" / preferences.NAME
    place.parent.mkdir()
    place.write_bytes(content)
    assert preferences.load() == Remembered()


def test_numbers_out_of_bounds_are_none() -> None:
    parts = {"a": 1e400, "b": True, "c": "3", "d": 0.5, "e": float("nan")}
    assert [share_in(parts, name) for name in "abcdef"] == [None, None, None, 0.5, None, None]


def test_why_nothing_could_be_kept_is_said(tmp_path: Path) -> None:
    (tmp_path / "adapter-workbench").write_text("a file where the folder should be")
    assert preferences.save(Remembered()) != ""
