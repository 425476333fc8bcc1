"""A visitor who tries every command of the palette and every key to reach a file, a program, a key or a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.serving import seats
from workbench.tui.keys import APP_BINDINGS

WALK = Path(__file__).parents[2] / "support" / "confined_walk.py"
SECRET = "SECRET-OF-THE-TEACHER"
SESSION = {"version": 1, "name": SECRET, "signature": {"text": "question -> answer"}}


def walked(tmp_path: Path, *names: str) -> dict[str, Any]:
    """What a visitor saw and did; the teacher's folder and everything beside the visitor's is as it was."""
    outside = tmp_path / "teacher"
    outside.mkdir()
    secret = outside / "secret.session.json"
    secret.write_text(json.dumps(SESSION), "utf-8")
    folder = seats.make_folder(tmp_path / "class", 1, [])
    result = tmp_path / "result.json"
    words = [sys.executable, "-P", str(WALK), str(folder), str(outside), str(result), *names]
    subprocess.run(words, check=True, timeout=1100)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["class", "result.json", "teacher"]
    assert [one.name for one in outside.iterdir()] == [secret.name]
    assert json.loads(secret.read_text("utf-8")) == SESSION
    assert [one.name for one in (tmp_path / "class").iterdir()] == [folder.name]
    told: dict[str, Any] = json.loads(result.read_text("utf-8"))
    return told


def check(told: dict[str, Any]) -> None:
    """Nothing was reached, and it was the app that refused: the walls below it were never run into."""
    shown = "\n".join(told["said"])
    assert SECRET not in shown
    assert "root:x:0" not in shown
    assert told["hit"] == []
    assert told["modules"] == []
    assert told["mistakes"] == []
    assert "in this class files stay in your own folder" in shown


@pytest.mark.slow
def test_files_programs_and_models_are_refused_in_words(tmp_path: Path) -> None:
    told = walked(tmp_path, "Save as", "Open", "Editor", "Model", "Export as dspy")
    check(told)
    assert "in this class no programs are started" in "\n".join(told["said"])


@pytest.mark.slow
def test_no_command_and_no_key_leads_out(tmp_path: Path) -> None:
    told = walked(tmp_path)
    check(told)
    assert {key for one in APP_BINDINGS for key in one.key.split(",")} <= set(told["tried"])
    assert len(told["tried"]) > 150
