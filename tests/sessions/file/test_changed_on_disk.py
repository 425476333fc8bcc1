"""A file that somebody else has changed is never written over unseen."""

from __future__ import annotations

import dataclasses
import json
import os
import time
from pathlib import Path

import pytest

from sessions.errors import SessionError
from sessions.file import store, whole_files
from sessions.model.session import Case, Session, SignatureText

MINE = Session(SignatureText("a -> b", instructions="Mine."), cases=(Case("c"),))
THEIRS = dataclasses.replace(MINE, signature=SignatureText("a -> b", instructions="Theirs."))


def test_a_change_by_another_program_is_noticed_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(MINE, path)
    opened = store.open_file(path)
    assert not store.has_changed(path, opened.fingerprint)
    store.save(THEIRS, path)
    before = path.read_bytes()
    assert store.has_changed(path, opened.fingerprint)
    with pytest.raises(store.ChangedOnDiskError, match="changed on disk since it was opened"):
        store.save(MINE, path, over=opened.fingerprint)
    assert path.read_bytes() == before


def test_keeping_mine_writes_over_it_and_saving_again_is_no_conflict_with_myself(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(THEIRS, path)
    written = store.save(MINE, path)
    again = store.save(dataclasses.replace(MINE, name="again"), path, over=written)
    assert store.load(path).name == "again"
    assert store.open_file(path).fingerprint == again


def test_the_same_content_written_anew_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(MINE, path)
    opened = store.open_file(path)
    path.write_bytes(path.read_bytes())
    os.utime(path, (1, 1))
    assert not store.has_changed(path, opened.fingerprint)


def test_a_file_that_is_gone_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(MINE, path)
    opened = store.open_file(path)
    path.unlink()
    assert not store.has_changed(path, opened.fingerprint)
    store.save(MINE, path, over=opened.fingerprint)
    assert store.load(path) == MINE


def test_a_folder_or_a_broken_file_in_its_place_is_a_change(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(MINE, path)
    opened = store.open_file(path)
    path.write_bytes(b'{"half')
    assert store.has_changed(path, opened.fingerprint)
    path.unlink()
    path.mkdir()
    assert store.has_changed(path, opened.fingerprint)
    with pytest.raises(SessionError):
        store.save(MINE, path, over=opened.fingerprint)


def test_the_difference_shows_what_saving_would_change(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    path.write_text(json.dumps(json.loads(store.dumps(THEIRS)), indent=1))  # as another program lays it out
    changed = [line.strip() for line in store.difference(MINE, path) if line[0] in "-+"]
    assert changed == ['-      "Theirs."', '+      "Mine."']


def test_what_a_killed_save_left_behind_is_cleaned_up_and_a_young_file_is_not(tmp_path: Path) -> None:
    old, young, other = (
        tmp_path / name for name in (f".workbench-{'a' * 16}.tmp", f".workbench-{'b' * 16}.tmp", "x.tmp")
    )
    for file in (old, young, other):
        file.write_bytes(b"{")
    for file in (old, other):
        os.utime(file, (time.time() - 2 * whole_files.STRAY_AGE_S,) * 2)
    store.save(MINE, tmp_path / "q.json")
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted([young.name, "q.json", "x.tmp"])
