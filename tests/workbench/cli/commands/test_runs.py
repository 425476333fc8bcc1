"""`workbench runs` finds what `send` sent, writes the session as it was, and clears."""

import json
from pathlib import Path

import pytest

from workbench.__main__ import main
from workbench.sending import sent_runs


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "q.session.json"
    assert main(["new", "question -> answer: int", "-o", str(path), "--input", "question=how many umbrellas"]) == 0
    return path


def runs(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, object]:
    capsys.readouterr()
    code = main(["runs", "--json", *options])
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    assert code == (0 if found.get("runs", True) else 4)
    return found


def test_what_was_sent_is_found_and_opens_as_it_was(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["send", str(session), "--adapter", "chat", "markdown"]) == 0
    assert main(["send", str(session), "--adapter", "json", "--model", "offline/empty"]) == 1
    found = runs(capsys, "umbrel")
    assert found["count"] == found["kept"] == 3 and isinstance(found["bytes"], int)
    (failed,) = runs(capsys, "--failed", "--model", "EMPTY", "--adapter", "json")["runs"]  # type: ignore[misc]
    assert failed["phase"] == "failed" and failed["path"] == str(session)
    assert runs(capsys, "umbrel", "is:failed", "model:EMPTY")["runs"] == [failed]  # as the app's search
    for options in (["--until", "2001-01-01"], ["--since", "2999-01-01"], ["--folder", str(session.parent / "x")]):
        assert runs(capsys, *options)["runs"] == []
    assert runs(capsys, "--folder", str(session.parent), "--most", "1")["count"] == 3
    assert main(["runs", "--id", "2", "-o", str(session.parent / "then.json")]) == 0
    assert main(["render", str(session.parent / "then.json"), "--adapter", "markdown"]) == 0
    assert "how many umbrellas" in capsys.readouterr().out
    written = runs(capsys, "--id", "2", "-o", str(session.parent / "again.json"))
    assert written == runs(capsys, "--id", "2") and (session.parent / "again.json").exists()
    whole = runs(capsys, "--id", "1")
    assert [one["role"] for one in whole["messages"]] == ["system", "user"]  # type: ignore[attr-defined]
    assert main(["runs", "--id", "1"]) == 0
    assert "--- reply" in capsys.readouterr().out


def test_runs_are_cleared_and_wrong_orders_are_named(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["send", str(session), "--adapter", "chat"]) == 0
    assert main(["runs", "-o", "x.json"]) == main(["runs", "--id", "77"]) == 2
    assert runs(capsys, "--clear")["freed_bytes"]
    assert runs(capsys)["runs"] == []
    sent_runs.sent_file().write_bytes(b"no database" * 1000)
    assert main(["runs"]) == 2
    assert "workbench runs --clear" in capsys.readouterr().err
    assert main(["send", str(session), "--adapter", "chat"]) == 0
    assert "runs are not kept" in capsys.readouterr().err
    assert main(["runs", "--clear"]) == 0


@pytest.mark.parametrize("how", ["private", "setting", "broken setting", "replay"])
def test_nothing_is_kept_that_shall_not_be(session: Path, how: str, capsys: pytest.CaptureFixture[str]) -> None:
    if how == "private":
        session.write_text(session.read_text().replace('"signature":', '"private": true,\n  "signature":', 1))
    elif how == "replay":
        assert main(["send", str(session), "--adapter", "chat", "--save"]) == main(["runs", "--clear"]) == 0
    else:
        config = session.parent / "config" / "adapter-workbench" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text("keep_runs = 0" if how == "setting" else "keep_runs = -1")
    code = main(["send", str(session), "--adapter", "chat", *(["--replay"] if how == "replay" else [])])
    assert code == 0
    if how == "broken setting":
        assert "expected a number from 0 to 100,000" in capsys.readouterr().err
    assert not sent_runs.sent_file().exists()
