"""Who saves in a folder waits for whoever is saving there, in order, and not for ever."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from sessions.errors import SessionError
from sessions.file import whole_files
from sessions.file.whole_files import locked


def test_one_at_a_time(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def enter(number: int) -> None:
        for _ in range(20):
            with locked(tmp_path / f"{number}.json"):
                inside.append(number)
                most.append(len(inside))
                inside.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(enter, range(8)))
    assert len(most) == 160 and set(most) == {1}


def test_who_waits_gets_it_when_it_is_free_and_another_folder_is_free_at_once(tmp_path: Path) -> None:
    entered, leave = Event(), Event()

    def hold() -> None:
        with locked(tmp_path / "a.json"):
            entered.set()
            assert leave.wait(60)

    (tmp_path / "other").mkdir()
    with ThreadPoolExecutor(2) as pool:
        holding = pool.submit(hold)
        assert entered.wait(60)
        with locked(tmp_path / "other" / "a.json"):
            waiting = pool.submit(lambda: locked(tmp_path / "b.json").__enter__())
            assert not waiting.done()
        leave.set()
        holding.result(60)
        waiting.result(60)


def test_a_lock_that_is_never_let_go_is_an_error_and_is_free_for_the_next_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_files, "PATIENCE_S", 0.05)
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    with locked(tmp_path / "a.json"), pytest.raises(SessionError, match="another process has been saving"):
        locked(tmp_path / "b.json").__enter__()
    monkeypatch.setattr(whole_files, "PATIENCE_S", 60)
    with locked(tmp_path / "b.json"):
        pass
    for thread in threading.enumerate():
        if thread.name == "folder lock":  # that of the one that gave up
            thread.join(60)
    if before:
        assert len(os.listdir("/proc/self/fd")) <= before


def test_a_folder_that_is_not_there_is_told_by_who_writes(tmp_path: Path) -> None:
    with locked(tmp_path / "none" / "a.json"), locked("\0"):
        pass
