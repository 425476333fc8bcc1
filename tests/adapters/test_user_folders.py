"""One rule for a user's folders: the XDG variable, else the usual place below the home folder, else none."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.lm import config_file
from adapters.user_folders import user_folder
from sessions.file import whole_files


@pytest.mark.parametrize(
    ("environment", "folder"),
    [
        ({"XDG_X": "/mine", "HOME": "/home/me"}, "/mine/adapter-workbench"),
        ({"XDG_X": "relative", "HOME": "/home/me"}, "/home/me/.x/adapter-workbench"),
        ({"HOME": "/home/me"}, "/home/me/.x/adapter-workbench"),
        ({"XDG_X": "relative", "HOME": "relative"}, None),
        ({}, None),
    ],
)
def test_a_folder_is_the_variables_or_the_usual_one(environment: dict[str, str], folder: str | None) -> None:
    assert user_folder("XDG_X", ".x", environment) == (None if folder is None else Path(folder))


def test_settings_and_kept_work_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/c")
    monkeypatch.setenv("XDG_STATE_HOME", "/s")
    assert config_file.config_path() == Path("/c/adapter-workbench/config.toml")
    assert whole_files.state_folder() == Path("/s/adapter-workbench")
