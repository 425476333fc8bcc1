"""`workbench config`: what is set and from where, and every mistake with its line and the nearest name."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.config import settings
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture
def write(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    for name in ("VISUAL", "EDITOR", "WORKBENCH_THEME", "WORKBENCH_MODEL"):
        monkeypatch.delenv(name, raising=False)

    def write_text(text: str) -> Path:
        path = tmp_path / "config" / "adapter-workbench" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write_text


def test_each_setting_says_where_it_comes_from(
    run: Run, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write('\n# mine\ntheme = "nord"\nmodel = "openai/gpt-4o"\n[servers]\nhosted_vllm = "http://gpu:8000/v1"\n')
    monkeypatch.setenv("EDITOR", "nano")
    monkeypatch.setenv("WORKBENCH_MODEL", "offline/sloppy")
    done = run("config", "--json")
    assert done.code == 0
    assert (done.json["path"], done.json["exists"], done.json["problems"]) == (str(path), True, [])
    assert done.json["settings"] == {
        "theme": {"value": "nord", "source": "file", "place": f"{path}:3"},
        "model": {"value": "offline/sloppy", "source": "environment", "place": "WORKBENCH_MODEL"},
        "columns": {"value": ["chat", "json", "xml"], "source": "default", "place": None},
        "editor": {"value": "nano", "source": "environment", "place": "EDITOR"},
        "compact": {"value": False, "source": "default", "place": None},
        "remember_layout": {"value": True, "source": "default", "place": None},
        "keep_runs": {"value": 200, "source": "default", "place": None},
        "fetched_models": {"value": True, "source": "default", "place": None},
        "servers": {"value": {"hosted_vllm": "http://gpu:8000/v1"}, "source": "file", "place": f"{path}:5"},
        "keymap": {"value": {}, "source": "default", "place": None},
    }
    lines = run("config").out.splitlines()
    assert [line.split()[0] for line in lines] == [key.name for key in settings.KEYS]
    assert lines[0].endswith("config.toml:3") and lines[1].endswith("$WORKBENCH_MODEL")


def test_without_a_file_it_says_how_to_begin(run: Run, write: Callable[[str], Path], tmp_path: Path) -> None:
    done = run("config")
    assert done.code == 0 and "--example" in done.err
    place = tmp_path / "config" / "adapter-workbench" / "servers.json"
    place.parent.mkdir(parents=True)
    place.write_text("{}")
    assert "servers.json is no longer read" in run("config").err


def test_the_example_sets_nothing_and_each_of_its_keys_can_be_set(run: Run, write: Callable[[str], Path]) -> None:
    example = run("config", "--example").out
    assert tomllib.loads(example) == {}
    bare = "\n".join(line[1:] for line in example.split("\n") if line.startswith("#") and not line.startswith("# "))
    assert list(tomllib.loads(bare)) == [key.name for key in settings.KEYS]
    write(bare)
    done = run("config", "--json")
    assert done.code == 0, done.err
    assert all(one["source"] == "file" for one in done.json["settings"].values())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('them = "nord"', "1: there is no setting 'them'; did you mean theme?"),
        ('\n\ntheme = "nrod"', "3: theme: no theme 'nrod'; did you mean 'nord'?"),
        ('columns = [\n  "chat",\n  "jsn",\n]', "1: columns: there is no adapter 'jsn'; did you mean 'json'?"),
        ('columns = ["chat", "chat"]', "1: columns: the same adapter appears twice"),
        ("columns = []", "1: columns: expected a list of adapters"),
        ('compact = "yes"', "1: compact: expected true or false, got text ('yes')"),
        ("# x\nmodel = 3", "2: model: expected text in quotes, got a number (3)"),
        ("editor = 1979-05-27", "1: editor: expected text in quotes, got a date or time"),
        ('[servers]\na = "http://h"\nb = "ftp://h"', "3: servers: b: it begins with neither http:// nor https://"),
        ("servers = 3", "1: servers: expected a table"),
        ('[keymap]\n"app.save" = 3', "2: keymap: app.save: expected keys in quotes"),
        ("[keymap]\napp.save = 'f5,'", "2: keymap: app.save: expected keys in quotes"),
        ("theme = ", "1: not TOML"),
        ('theme = "nord"\ntheme = "nord"', "2: not TOML"),
        ("x = " + "[" * 5_000, "nested too deeply"),
        ('"\\u001b[31m" = 1', "1: there is no setting '\\x1b[31m'"),
    ],
)
def test_a_mistake_names_file_line_and_what_would_work(
    text: str, said: str, run: Run, write: Callable[[str], Path]
) -> None:
    path = write(text)
    done = run("config")
    assert done.code == exit_codes.USAGE
    assert f"{path}:" in done.err and said in done.err, done.err
    assert "\x1b" not in done.err


def test_a_file_that_is_no_text_is_refused(run: Run, write: Callable[[str], Path]) -> None:
    write("").write_bytes(b'theme = "nord"\n\xff\xfe')
    assert "config.toml:2: not UTF-8" in run("config").err
    write("").write_bytes(b"#" * 2_000_000)
    assert "so it is not a config file" in run("config").err


def test_the_keys_of_the_file_are_checked_against_those_of_the_app(run: Run, write: Callable[[str], Path]) -> None:
    path = write('theme = "nord"\n[keymap]\napp.send_al = "f5"\n')
    done = run("config", "--keys", "--json")
    assert done.code == exit_codes.USAGE
    assert f"{path}:3: keymap: there is no key binding 'app.send_al'; did you mean app.send_all?" in done.err
    keys = {one["id"]: one["keys"] for one in done.json["keys"]}
    assert "f5" in keys["app.send_all"].split(",")


def test_a_new_session_has_the_columns_and_the_model_of_the_config(run: Run, write: Callable[[str], Path]) -> None:
    write('model = "openai/gpt-6-luna"\ncolumns = ["baml", "chat"]')
    assert run("new", "a -> b", "-o", "q.json").code == 0
    made = json.loads(Path("q.json").read_text())
    assert made["model"] == "openai/gpt-6-luna"
    assert [one["adapter"] for one in made["columns"]] == ["baml", "chat"]
    Path("demos.jsonl").write_text('{"a": "1", "b": "2"}\n')
    assert run("import", "demos.jsonl", "--accept", "-o", "i.json").code == 0
    assert [one["adapter"] for one in json.loads(Path("i.json").read_text())["columns"]] == ["baml", "chat"]
    write("model = 1")
    assert "config.toml:1: model:" in run("new", "a -> b", "-o", "r.json").err


def test_the_themes_are_ours_and_textuals() -> None:
    from textual.theme import BUILTIN_THEMES

    from workbench.tui import themes

    assert settings.THEMES == (*(one.name for one in themes.OURS), *sorted(BUILTIN_THEMES))
    assert settings.Settings().theme == themes.DARK.name
