"""`review`: drifts by their cause, accepted one by one or all, each file written once and whole."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.file import saving, store
from workbench.checks import reviewing
from workbench.checks.checking import Plan
from workbench.output import exit_codes

Run = Callable[..., Any]


@pytest.fixture
def folder(rain: str, run: Run) -> Path:
    """Three recorded sessions of one signature."""
    assert run("send", rain, "--save").code == 0
    session = store.load(rain)
    Path("prompts").mkdir()
    for number in range(3):
        store.save(session, f"prompts/{number}.session.json")
    return Path("prompts")


def reworded(folder: Path, *numbers: int, **changes: Any) -> None:
    for number in numbers:
        path = folder / f"{number}.session.json"
        session = store.load(path)
        store.save(replace(session, **changes, signature=replace(session.signature, instructions="Say.")), path)


def test_one_cause_of_all_files_is_one_decision(folder: Path, run: Run) -> None:
    assert run("review", str(folder)).code == 0
    reworded(folder, 0, 1, 2)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = run("review", str(folder))
    assert done.code == exit_codes.DIFFERENT
    assert "the instructions changed" in done.out and "(9 fixtures in 3 files)" in done.out
    assert "1 cause, nothing was written" in done.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    (cause,) = run("review", str(folder), "--json").json["causes"]
    assert len(cause["fixtures"]) == 9 and cause["kind"] == "instructions"
    assert run("check", str(folder), "--json").json["causes"] == [cause]
    done = run("review", str(folder), "--accept", cause["id"], "--json")
    assert done.code == 0
    assert (done.json["causes"], done.json["accepted"], len(done.json["written"])) == ([], [cause["id"]], 3)
    assert run("check", str(folder)).code == 0
    assert len(saving.restore_points(folder / "0.session.json")) == 1


def test_a_fixture_of_two_causes_waits_for_both(folder: Path, run: Run) -> None:
    reworded(folder, 0, 1)
    reworded(folder, 2, params={"temperature": 0.5})
    causes = run("review", str(folder), "--json").json["causes"]
    assert [(one["kind"], len(one["fixtures"])) for one in causes] == [("instructions", 9), ("parameter", 3)]
    done = run("review", str(folder), "--accept", causes[0]["id"])
    assert done.code == exit_codes.DIFFERENT
    assert "2.session.json: 0 recorded again, 3 wait for another cause" in done.out
    assert "1 accepted; 2 causes left" in done.err, "the other two files have it no more"
    assert run("check", str(folder / "0.session.json")).code == 0
    assert [one["kind"] for one in run("review", str(folder), "--json").json["causes"]] == ["instructions", "parameter"]
    done = run("review", str(folder), "--accept-all")
    assert done.code == 0 and run("check", str(folder)).code == 0


def test_what_is_chosen_is_accepted_and_nothing_else(folder: Path, run: Run) -> None:
    reworded(folder, 0, 1, 2)
    assert run("review", str(folder), "--accept-all", "-k", "chat and path:1.session").code == 0
    drifted = [
        (one["path"], one["column"]) for one in run("check", str(folder), "--json").json["fixtures"] if one["drift"]
    ]
    assert len(drifted) == 8 and (str(folder / "1.session.json"), "chat") not in drifted


def test_an_id_of_no_cause_and_what_recording_does_not_settle_are_told(folder: Path, run: Run) -> None:
    reworded(folder, 0)
    done = run("review", str(folder), "--accept", "0000000000")
    assert done.code == exit_codes.USAGE and "no such cause" in done.err
    path = folder / "1.session.json"
    session = store.load(path)
    store.save(session.replace_case(replace(session.cases[0], expect={"reply": "does_not_parse"})), path)
    (cause,) = run("review", str(path), "--json").json["causes"]
    done = run("review", str(path), "--accept", cause["id"])
    assert done.code == exit_codes.USAGE and "not settled by recording again" in done.err
    assert run("review", str(path), "--accept-all").code == exit_codes.DIFFERENT


def test_by_case_lists_what_each_case_has(folder: Path, run: Run) -> None:
    reworded(folder, 0)
    done = run("review", str(folder), "--by", "case")
    assert "prompts/0.session.json::case 1\n" in done.out
    assert "[chat, json, xml]" in done.out


def test_a_file_that_changes_meanwhile_is_left_as_it_is(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    reworded(folder, 0)
    path = folder / "0.session.json"
    (cause,) = reviewing.review([path], Plan()).causes
    keep = saving.keep_restore_point

    def write_between(path: Path) -> None:
        keep(path)
        store.save(replace(store.load(path), name="somebody else's"), path)

    monkeypatch.setattr(saving, "keep_restore_point", write_between)
    written = reviewing.accept(path, {cause.id}, Plan())
    assert "has changed on disk" in written.error and written.recorded == 0
    assert store.load(path).name == "somebody else's"


def test_a_full_disk_is_one_line_and_an_error(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reworded(folder, 0)
    path = folder / "0.session.json"
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    done = run("review", str(path), "--accept-all")
    assert (done.code, done.err.count("\n")) == (exit_codes.USAGE, 1) and "no space left" in done.err, done.err
    assert path.read_bytes() == before


def test_where_nothing_is_recorded_there_is_no_verdict(rain: str, run: Run) -> None:
    done = run("review", rain)
    assert done.code == exit_codes.NOTHING and "no drift" not in done.err and "nothing is recorded" in done.err


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_reviewed(folder: Path, run: Run) -> None:
    reworded(folder, 0)
    (folder / "bad.session.json").write_text('{"format": 1, "signature": "\x1b[31m')
    done = run("review", str(folder), "--accept-all")
    assert done.code == exit_codes.USAGE and "bad.session.json" in done.err and "\x1b" not in done.err
    assert run("check", str(folder / "0.session.json")).code == 0


def test_no_drift_is_not_all_that_is_said_beside_a_file_that_cannot_be_read(folder: Path, run: Run) -> None:
    (folder / "bad.session.json").write_text("{")
    done = run("review", str(folder))
    assert done.code == exit_codes.USAGE
    assert done.err.endswith("no drift; 1 file not read\n")
