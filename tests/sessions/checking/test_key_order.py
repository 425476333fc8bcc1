"""A formatter that sorts keys is told once, and undone from what the recordings show."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.checking.key_order import were_sorted
from sessions.file import saving, store
from workbench.__main__ import main
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture
def sorted_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recorded session of which a formatter has sorted all keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    new = ["new", "note, facts: dict[str, int] -> score: float, answer: str", "-o", "q.json", "--input", "note=x"]
    assert main([*new, "--input", 'facts={"zebra": 1, "ape": 2}']) == 0
    assert main(["send", "q.json", "--save"]) == 0
    (tmp_path / "before.json").write_bytes((tmp_path / "q.json").read_bytes())
    data = json.loads((tmp_path / "q.json").read_text())
    (tmp_path / "q.json").write_text(json.dumps(data, sort_keys=True, indent=2))
    return tmp_path / "q.json"


def test_it_is_said_once_and_the_order_of_the_recording_offered_back(
    sorted_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["check", "q.json"]) == exit_codes.DIFFERENT
    said = capsys.readouterr().out
    assert said.count("the keys of the file were sorted, and prompts depend on their order") == 2
    assert "(3 fixtures)" in said and "workbench check q.json --restore-order" in said
    assert "zebra" not in said
    assert main(["check", "q.json", "--restore-order"]) == 0
    restored, before = store.load("q.json"), store.load("before.json")
    assert list(restored.cases[0].inputs["facts"]) == ["zebra", "ape"]
    assert restored.cases[0].recordings["chat"].messages == before.cases[0].recordings["chat"].messages
    assert {one.source for one in restored.cases[0].recordings.values()} == {"sent"}
    assert len(saving.restore_points(sorted_file)) >= 1
    assert main(["check", "q.json"]) == 0


def test_the_order_that_the_file_has_now_can_be_accepted(sorted_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "q.json", "--accept-all"]) == 0
    assert "q.json: 3 recorded again" in capsys.readouterr().out
    assert main(["check", "q.json"]) == 0


def test_what_else_has_changed_is_told_beside_it(sorted_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(sorted_file.read_text())
    data["signature"]["instructions"] = ["Be brief."]
    sorted_file.write_text(json.dumps(data, sort_keys=True))
    capsys.readouterr()
    assert main(["check", "q.json"]) == exit_codes.DIFFERENT
    assert "Be brief." in capsys.readouterr().out


def test_the_order_is_restored_beside_another_change(sorted_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(sorted_file.read_text())
    data["signature"]["instructions"] = ["Be brief."]
    sorted_file.write_text(json.dumps(data, sort_keys=True))
    capsys.readouterr()
    assert main(["check", "q.json", "--restore-order"]) == exit_codes.DIFFERENT
    captured = capsys.readouterr()
    assert "q.json: the order of the keys was restored\n" in captured.err and "recorded again" not in captured.err
    said = captured.out
    assert "Be brief." in said and "zebra" not in said
    assert "parse:" not in said and "[request]" not in said
    assert list(store.load("q.json").cases[0].inputs["facts"]) == ["zebra", "ape"]
    assert main(["check", "q.json", "--update"]) == 0
    assert main(["check", "q.json"]) == 0


def test_only_a_file_of_which_every_object_is_sorted_was_sorted() -> None:
    assert were_sorted('{"a": {"b": 1, "c": 2}, "d": [{"a": 1, "b": 2}], "e": 1}')
    assert not were_sorted('{"a": {"c": 1, "b": 2}, "d": [{"a": 1, "b": 2}], "e": 1}')
    assert not were_sorted("[" * 100_000)
    assert not were_sorted("{}")
