"""Unsaved work outlives the process that it was typed into, whatever ends it."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import random
import select
import signal
import threading
import time
from pathlib import Path

import pytest

from sessions.file import autosave, saving, store
from sessions.model.session import Case, Session, SignatureText

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="ends a process by a signal")
SESSION = Session(SignatureText("a -> b"), cases=(Case("c"),))


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def numbered(number: int) -> Session:
    return dataclasses.replace(SESSION, notes=f"typed {number}\n" + "filler " * 300)


def number_of(session: Session) -> int:
    return int(session.notes.split()[1])


def in_another_process(path: Path | None, *sessions: Session) -> None:
    """Writes copies as another process does, which then ends without a word."""
    child = os.fork()
    if not child:
        own = autosave.Autosave()
        for session in sessions:
            own.write(session, path)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def test_work_of_a_process_that_died_is_offered_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(SESSION, path)
    living = autosave.Autosave()
    assert living.write(numbered(1), path) == ""
    assert autosave.left_over(path) is None
    in_another_process(path, numbered(2), numbered(3))
    left = autosave.left_over(path)
    assert left is not None
    assert left.session == numbered(3)


def test_it_is_offered_also_when_the_file_was_changed_since(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    in_another_process(path, numbered(2))
    store.save(SESSION, path)
    os.utime(path, (time.time() + 100,) * 2)
    assert autosave.left_over(path) is not None


def test_work_without_a_file_is_offered_to_the_next_process(tmp_path: Path) -> None:
    in_another_process(None, numbered(5))
    left = autosave.left_over(None)
    assert left is not None
    assert left.session == numbered(5)
    assert autosave.left_over(tmp_path / "q.json") is None


def test_what_is_in_the_file_already_is_not_offered(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    store.save(numbered(1), path)
    in_another_process(path, numbered(1))
    assert autosave.left_over(path) is None


def test_a_copy_that_was_decided_on_is_not_offered_again_and_can_still_be_had(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    in_another_process(path, numbered(1))
    in_another_process(path, numbered(2))
    left = autosave.left_over(path)
    assert left is not None
    autosave.put_away(left, path)
    assert autosave.left_over(path) is None
    kept = [number_of(store.load(point.place)) for point in saving.restore_points(path)]
    assert kept == [2, 1]


def test_work_that_was_saved_or_let_go_leaves_no_copy(tmp_path: Path, state: Path) -> None:
    own = autosave.Autosave(delay_s=0.0)
    own.write(numbered(1), tmp_path / "q.json")
    own.changed(numbered(2), tmp_path / "q.json")
    own.discard(tmp_path / "q.json")
    assert not list(state.rglob("*.json"))


def test_a_process_that_ends_well_leaves_no_lock_but_that_of_the_copies_it_leaves(tmp_path: Path, state: Path) -> None:
    saved, left = autosave.Autosave(), autosave.Autosave()
    for own in (saved, left):
        own.write(numbered(1), tmp_path / "q.json")
    saved.discard(tmp_path / "q.json")
    for own in (saved, left):
        own.close()
    assert [path.stem for path in state.rglob("*.lock")] == [left._token]
    saved.write(numbered(2), tmp_path / "q.json")
    assert len(list(state.rglob("*.lock"))) == 2, "what is typed after all is kept under a lock too"
    assert autosave.left_over(tmp_path / "q.json") is None


def test_a_lock_that_another_process_looks_at_in_that_instant_is_made_anew(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at = iter([False, False])
    lock = autosave.hold
    monkeypatch.setattr(autosave, "hold", lambda descriptor: next(looked_at, True) and lock(descriptor))
    ours = autosave.Autosave()
    assert ours.write(numbered(1), tmp_path / "a.json") == ""
    (copy,) = (state / "adapter-workbench" / "autosave").glob("*.json")
    (held,) = (state / "adapter-workbench" / "autosave").glob("*.lock")
    assert copy.name.endswith(f"-{held.stem}.json")
    assert next(looked_at, None) is None


def test_where_nothing_can_be_locked_a_copy_is_kept_all_the_same(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autosave, "hold", lambda descriptor: False)
    assert autosave.Autosave().write(numbered(1), tmp_path / "a.json") == ""
    assert len(list((state / "adapter-workbench" / "autosave").glob("*.json"))) == 1


def test_a_copy_that_is_removed_while_others_are_looked_for_hides_none_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_another_process(tmp_path / "q.json", numbered(1))
    folder = autosave._folder()
    names = [*os.listdir(folder), "q-0-saved.json", "saved.lock"]
    monkeypatch.setattr(os, "listdir", lambda _: names)
    left = autosave.left_over(tmp_path / "q.json")
    assert left is not None and left.session == numbered(1)


def test_of_changes_in_quick_succession_the_last_is_written(tmp_path: Path, state: Path) -> None:
    own = autosave.Autosave(delay_s=0.01)
    for number in range(200):
        own.changed(numbered(number), tmp_path / "q.json")
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        copies = list(state.rglob("*.json"))
        if copies and number_of(store.load(copies[0])) == 199:
            return
        select.select([], [], [], 0.01)
    pytest.fail("the last change was not written")


def test_without_a_home_folder_there_is_a_message_and_editing_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    own = autosave.Autosave(delay_s=0.0)
    assert "set XDG_STATE_HOME" in own.write(SESSION, None)
    assert "set XDG_STATE_HOME" in autosave.why_not()
    assert "not kept" not in autosave.why_not()  # the title of the message says so
    own.changed(SESSION, None)
    own.discard(None)
    assert autosave.left_over(None) is None


def test_what_could_not_be_kept_is_told_once_by_its_reason_and_kept_when_it_can_be_without_another_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    is_told = threading.Event()
    replace, reasons = os.replace, iter([errno.ENOSPC, errno.ENOSPC, errno.EROFS])

    def fail_three_times(source: str, target: str) -> None:
        for reason in reasons:
            raise OSError(reason, os.strerror(reason))
        replace(source, target)

    def hear(why_not: str) -> None:
        told.append(why_not)
        if not why_not:
            is_told.set()

    monkeypatch.setattr(os, "replace", fail_three_times)
    own = autosave.Autosave(delay_s=0.0, again_s=0.0)
    own.tell(hear)
    own.changed(numbered(1), None)
    assert is_told.wait(60)
    folder = tmp_path / "state" / "adapter-workbench"
    assert told == [
        f"the disk is full; free some space ({folder})",
        f"the folder cannot be written; change its permissions or XDG_STATE_HOME ({folder})",
        "",
    ]
    assert [number_of(store.load(one)) for one in (folder / "autosave").glob("*.json")] == [1]
    own.discard(None)


def test_work_that_was_let_go_while_it_could_not_be_kept_is_not_kept_later(monkeypatch: pytest.MonkeyPatch) -> None:
    own = autosave.Autosave(delay_s=0.0, again_s=0.0)
    replace, told = os.replace, threading.Semaphore(0)
    is_tried, goes_on = threading.Event(), threading.Event()
    tried: list[str] = []

    def refuse(source: str, target: str) -> None:
        is_tried.set()
        goes_on.wait(60)
        tried.append(Path(target).name)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    own.tell(lambda why_not: told.release())
    monkeypatch.setattr(os, "replace", refuse)
    own.changed(numbered(1), None)
    assert is_tried.wait(60)
    letting_go = threading.Thread(target=own.discard, args=(None,))
    letting_go.start()
    goes_on.set()
    letting_go.join()
    assert told.acquire(timeout=60)
    before = len(tried)
    monkeypatch.setattr(
        os, "replace", lambda source, target: (tried.append(Path(target).name), replace(source, target))
    )
    own.changed(numbered(2), Path("another.json"))
    assert told.acquire(timeout=60), "it works again"
    assert [name.rpartition("-")[0] for name in tried[before:]] == [autosave.key_of(Path("another.json"))]
    own.discard(Path("another.json"))


def test_whoever_listens_from_now_on_hears_of_trouble_that_was_told_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    own = autosave.Autosave()
    first: list[str] = []
    second: list[str] = []
    for told in (first, second):
        own.tell(told.append)
        own.write(SESSION, None)
        own.write(SESSION, None)
    own.tell(None)
    own.write(SESSION, None)
    assert first == second and len(first) == 1 and "set XDG_STATE_HOME" in first[0]


def type_and_save(path: Path, report: int) -> None:
    """A process that edits every few milliseconds, saves now and then, and says what it has done."""
    own = autosave.Autosave()
    number = 0
    chance = random.Random(os.getpid())
    while True:
        number += 1
        session = numbered(number)
        own.changed(session, path)
        os.write(report, json.dumps([time.time(), number, "typed"]).encode() + b"\n")
        if chance.random() < 0.1:
            store.save(session, path)
            own.discard(path)
            os.write(report, json.dumps([time.time(), number, "saved"]).encode() + b"\n")
        select.select([], [], [], chance.random() * 0.01)


def kill_at_a_random_moment(folder: Path, chances: random.Random, longest_s: float) -> None:
    """Kills an editing process and states what must then hold of its file and its copy."""
    folder.mkdir()
    path = folder / "q.json"
    store.save(numbered(0), path)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            type_and_save(path, writing)
        finally:
            os._exit(1)
    os.close(writing)
    select.select([], [], [], chances.random() * longest_s)
    killed = time.time()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(reading, "rb") as pipe:
        lines = [json.loads(line) for line in pipe.read().split(b"\n") if line.endswith(b"]")]
    typed = {number: at for at, number, what in lines if what == "typed"}
    saved = max([number for _, number, what in lines if what == "saved"], default=0)
    content = store.load(path)  # whole, or this raises
    in_file = number_of(content)
    assert content == numbered(in_file)
    assert saved <= in_file <= max(typed, default=0)
    left = autosave.left_over(path)
    offered = max(in_file, number_of(left.session) if left is not None else 0)
    due = [number for number, at in typed.items() if at < killed - 1.0]
    assert offered >= max(due, default=0)


def test_a_kill_at_any_moment_leaves_a_whole_file_and_what_was_typed(tmp_path: Path) -> None:
    chances = random.Random(5)
    for number in range(8):
        kill_at_a_random_moment(tmp_path / str(number), chances, 0.6)


@pytest.mark.slow
def test_500_kills_leave_whole_files_and_what_was_typed_up_to_a_second_before(tmp_path: Path) -> None:
    chances = random.Random(500)
    for number in range(500):
        kill_at_a_random_moment(tmp_path / str(number), chances, 2.0)
