"""`workbench review` in a real terminal: decided on the screen, written when it is left, and never in CI."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sessions.checking import checking
from sessions.file import store
from tests.support.terminal import Terminal
from tests.workbench.tui.screens.test_review import fixture_session

ROOT = str(Path(__file__).parents[2])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    session = fixture_session()
    (tmp_path / "prompts").mkdir()
    for name in ("a", "b"):
        changed = replace(session, signature=replace(session.signature, instructions="Say whether it snows."))
        store.save(changed, tmp_path / "prompts" / f"{name}.session.json")
    return tmp_path


def review(folder: Path, *words: str, **environment: str) -> Terminal:
    own = {"PYTHONPATH": ROOT, "XDG_STATE_HOME": str(folder / "state"), "CI": "", **environment}
    return Terminal([sys.executable, "-m", "workbench", "review", "prompts", *words], folder, (120, 35), own)


def files(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in (folder / "prompts").iterdir()}


def holds(path: Path) -> bool:
    return all(one.passed for one in checking.check(store.load(path)))


def test_one_key_accepts_a_cause_and_every_file_is_written_when_the_screen_is_left(folder: Path) -> None:
    before = files(folder)
    with review(folder) as terminal:
        terminal.wait_for("1 to decide")
        terminal.press("a")
        terminal.wait_for("all decided")
        assert files(folder) == before
        terminal.press("escape")
        terminal.wait_for("1 accepted; 0 causes left")
        assert terminal.wait_for_end() == 0
    assert all(holds(one) for one in (folder / "prompts").iterdir())


def test_a_review_that_is_killed_has_its_decisions_back_the_next_time(folder: Path) -> None:
    before = files(folder)
    with review(folder) as terminal:
        terminal.wait_for("1 to decide")
        terminal.press("a")
        terminal.wait_for("all decided")
    assert files(folder) == before, "it was killed"
    with review(folder) as terminal:
        terminal.wait_for("1 decision is back")
        terminal.wait_for("all decided")
        terminal.press("escape")
        terminal.wait_for("1 accepted; 0 causes left")
        assert terminal.wait_for_end() == 0
    assert not list((folder / "state").rglob("decisions/*")), "what was written is no decision any more"


@pytest.mark.slow
def test_a_file_that_somebody_else_changed_meanwhile_is_said_and_left(folder: Path) -> None:
    with review(folder) as terminal:
        terminal.wait_for("1 to decide")
        terminal.press("a")
        terminal.wait_for("all decided")
        path = folder / "prompts" / "b.session.json"
        store.save(replace(store.load(path), name="somebody else's"), path)
        theirs = path.read_bytes()
        terminal.press("escape")
        terminal.wait_for("it changed since the review")
        assert terminal.wait_for_end() == 2
    assert path.read_bytes() == theirs and holds(folder / "prompts" / "a.session.json")


@pytest.mark.slow
def test_o_opens_the_session_and_leaving_it_comes_back_to_the_decisions(folder: Path) -> None:
    before = files(folder)
    with review(folder) as terminal:
        terminal.wait_for("1 to decide")
        terminal.press("a")
        terminal.wait_for("all decided")
        terminal.press("o")
        terminal.wait_for("a.session.json")
        terminal.wait_for("reply ✓")
        terminal.press("ctrl+q")
        terminal.wait_for("all decided")
        terminal.press("u")
        terminal.wait_for("1 to decide")
        terminal.press("escape")
        terminal.wait_for("0 accepted; 1 cause left")
        assert terminal.wait_for_end() == 1
    assert files(folder) == before


@pytest.mark.parametrize(("words", "environment"), [((), {"CI": "true"}), (("--by", "case"), {})])
def test_in_ci_and_where_a_list_is_asked_for_it_lists_and_writes_nothing(
    folder: Path, words: tuple[str, ...], environment: dict[str, str]
) -> None:
    before = files(folder)
    with review(folder, *words, **environment) as terminal:
        terminal.wait_for("nothing was written")
        assert terminal.wait_for_end() == 1
    assert files(folder) == before
