"""Where a mistake of ours is written down."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from workbench.output import crash_log


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_private_in_its_own_folder_and_in_the_one_for_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    log = crash_log.write(ValueError("x"))
    assert (log.parent, mode(log), mode(log.parent)) == (tmp_path / "adapter-workbench", 0o600, 0o700)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    log = crash_log.write(ValueError("y"))
    assert mode(log) == 0o600 and "ValueError: y" in log.read_text()
    log.unlink()
