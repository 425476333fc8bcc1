"""What the process of a visitor gets: folders of its own, and no variable of the teacher's that could be a secret."""

from __future__ import annotations

import site
from pathlib import Path

import pytest

from workbench.serving import seats
from workbench.serving.messages import Orders, key_variables
from workbench.tui.launch_visitor import visitor_app
from workbench.tui.runs import run_history
from workbench.tui.runs.run_history import RunHistory

TEACHERS = {
    "OPENAI_API_KEY": "sk-teacher",
    "ANTHROPIC_API_KEY": "sk-other",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "GITHUB_TOKEN": "ghp",
    "HOME": "/home/teacher",
    "XDG_CONFIG_HOME": "/home/teacher/.config",
    "EDITOR": "vi",
    "VISUAL": "emacs",
    "TMUX": "/tmp/tmux-0/default,1,0",
    "SSH_AUTH_SOCK": "/tmp/agent",
    "PATH": "/usr/bin",
    "LANG": "de_DE.UTF-8",
    "HTTPS_PROXY": "http://user:secret@proxy",
}


def test_no_variable_of_the_teachers_but_how_text_is_written() -> None:
    made = Orders("/class/seat-01").environment((120, 35), TEACHERS)
    assert {name for name in made if made[name] == TEACHERS.get(name)} == {"LANG"}
    assert all("teacher" not in value for value in made.values())


@pytest.mark.parametrize("name", ["PYTHONPATH", "LD_LIBRARY_PATH"])
def test_no_code_is_looked_for_in_the_folder_of_the_visitor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/usr")
    for given, passed in [
        ("/a:/b", "/a:/b"),
        (":/a:", "/a"),
        (".:lib:/a", "/usr:/usr/lib:/a"),
        (":", None),
        ("", None),
    ]:
        assert Orders("/class/seat-01").environment((80, 24), {name: given}).get(name) == passed


def test_home_and_every_folder_of_settings_are_the_visitors_own() -> None:
    made = Orders("/class/seat-01").environment((120, 35), TEACHERS)
    folders = [made[name] for name in made if name == "HOME" or name.startswith("XDG_") or name == "TMPDIR"]
    assert len(folders) == 6
    assert all(one.startswith("/class/seat-01/home") for one in folders)


def test_models_that_are_allowed_bring_the_key_of_their_provider_and_no_other() -> None:
    made = Orders("/class/seat-01", models=("openai/gpt-6-luna",)).environment((80, 24), TEACHERS)
    assert made["OPENAI_API_KEY"] == "sk-teacher"
    assert "ANTHROPIC_API_KEY" not in made
    named = key_variables(("openai/a", "openai/b", "anthropic/c"))
    assert {"OPENAI_API_KEY", "ANTHROPIC_API_KEY"} <= set(named)
    assert len(set(named)) == len(named)


def test_orders_survive_the_command_line() -> None:
    orders = Orders("/class/seat-01", "späti s.json", 3, ("openai/gpt-6-luna",), 50)
    assert Orders.read(orders.as_text()) == orders


def test_a_folder_has_a_copy_of_every_session_and_is_nobody_elses(tmp_path: Path) -> None:
    session = tmp_path / "receipt.session.json"
    session.write_text("{}")
    folder = seats.make_folder(tmp_path / "class", 1, [session])
    orders = Orders(str(folder))
    assert (orders.files / session.name).read_text() == "{}"
    assert (orders.home / "tmp").is_dir()
    assert folder.stat().st_mode & 0o077 == 0
    (orders.files / session.name).write_text("mine")
    assert session.read_text() == "{}"
    assert seats.remove_folder(folder) == ""
    assert not folder.exists()


def test_a_folder_that_cannot_be_filled_is_not_left(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        seats.make_folder(tmp_path, 1, [tmp_path / "gone.session.json"])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_kept_is_not_used_again(tmp_path: Path) -> None:
    first = seats.make_folder(tmp_path, 1, [])
    second = seats.make_folder(tmp_path, 1, [])
    assert [first.name, second.name] == ["seat-01", "seat-02"]


def test_packages_are_those_of_the_server_and_none_of_the_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "USER_BASE", "/home/teacher-base")
    made = Orders("/class/seat-01").environment((80, 24), TEACHERS)
    assert made["PYTHONUSERBASE"] == "/home/teacher-base", "else a folder of the seat's HOME"


def test_stored_runs_and_files_together_stay_below_the_limit_of_a_seat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = Orders(str(seats.make_folder(tmp_path, 1, [])), disk_mb=100)
    made: list[int] = []

    class History(RunHistory):
        def __init__(self, megabytes: int) -> None:
            made.append(megabytes)
            super().__init__(megabytes)

    monkeypatch.setattr(run_history, "RunHistory", History)
    visitor_app(orders).past_runs.close()
    assert made == [orders.runs_mb] == [10]
