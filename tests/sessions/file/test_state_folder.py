"""What the workbench keeps beside the user's files is nobody else's to read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sessions.file import autosave, saving
from sessions.file.whole_files import private, state_folder
from sessions.model.session import Session, SignatureText


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = os.umask(0o022)
    yield state_folder()
    os.umask(before)


def test_every_folder_is_private_whoever_makes_it_first(state: Path) -> None:
    autosave.write(Session(SignatureText("a -> b")), None)
    saving.keep_content(b"{}", "q.json")
    folders = [state, *(one for one in state.rglob("*") if one.is_dir())]
    assert len(folders) >= 4
    assert {mode(one) for one in folders} == {0o700}
    autosave.discard(None)
    autosave.close()


def test_one_that_an_earlier_release_made_becomes_private(state: Path) -> None:
    (state / "runs").mkdir(parents=True)
    assert mode(state) == 0o755
    assert private(state / "runs") == state / "runs"
    assert (mode(state), mode(state / "runs")) == (0o700, 0o700)
