"""One warm process a release for the whole program: several start side by side, and none outlives the end."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sessions.model.session import Case, Column, Session, SignatureText
from sessions.releases import environments, release
from sessions.releases.engine import Question, ReleaseError
from sessions.releases.release import Release

PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def nothing_runs() -> Iterator[None]:
    environments.end()
    environments.begin()
    yield
    environments.end()
    environments.begin()


def python_that(tmp_path: Path, *lines: str) -> str:
    """A program in the place of a Python, which does `lines` of shell."""
    made = tmp_path / "python"
    made.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n")
    made.chmod(0o755)
    return str(made)


def asked() -> Question:
    session = Session(SignatureText("q -> a"), columns=(Column("chat", "chat"),), cases=(Case("one", {"q": "?"}),))
    return Question(session, session.cases[0], session.columns[0])


def opened_by(monkeypatch: pytest.MonkeyPatch, open_release: Callable[[str], Any]) -> None:
    monkeypatch.setattr(environments, "open_release", open_release)


def test_two_releases_start_side_by_side(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = python_that(tmp_path, 'echo \'{"dspy": "9.9"}\'', "exec sleep 600")
    both = threading.Barrier(2)

    def open_release(version: str) -> Release:
        both.wait(PATIENCE_S)
        return Release(python)

    opened_by(monkeypatch, open_release)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(environments.release_of, ["1.0", "2.0"])
    assert first is not second
    assert environments.release_of("1.0") is first


def test_one_release_is_started_once_however_many_ask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    python = python_that(tmp_path, 'echo \'{"dspy": "9.9"}\'', "exec sleep 600")
    opened: list[str] = []

    def open_release(version: str) -> Release:
        opened.append(version)
        return Release(python)

    opened_by(monkeypatch, open_release)
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(environments.release_of, ["1.0"] * 4))
    assert opened == ["1.0"] and len(found) == 1


def test_after_the_end_who_waits_and_who_asks_gets_an_error_and_nothing_is_started(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"
    heard.touch()
    python = python_that(tmp_path, 'echo \'{"dspy": "9.9"}\'', "read question", f"echo heard >> {heard}", "sleep 600")
    opened_by(monkeypatch, lambda version: Release(python))
    engine = environments.release_of("1.0")
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(engine.call, asked())
        wait_for(lambda: heard.read_text(), "for the question to reach the process")
        environments.end()
        with pytest.raises(ReleaseError, match="ended"):
            waits.result(PATIENCE_S)
    for ask in (lambda: engine.call(asked()), lambda: environments.release_of("1.0"), lambda: Release(sys.executable)):
        with pytest.raises(ReleaseError, match="is asked no more") as found:
            ask()
        assert found.value.kind == "ended"
    assert release._children == set()
    environments.begin()
    assert environments.release_of("1.0").version == "9.9"


def wait_for(condition: Callable[[], object], what: str) -> None:
    waiting = threading.Event()
    for _ in range(6_000):
        if condition():
            return
        waiting.wait(0.01)
    raise AssertionError(f"waited in vain {what}")
