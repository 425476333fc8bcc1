"""A text in the user's own editor: what is saved there is one edit here, and no failure of it costs anything."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.actions import external_editor


@contextlib.contextmanager
def no_terminal() -> Iterator[None]:
    yield


def edited_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, steps: tuple[str, ...] = ()) -> list[str]:
    """The ticket after the editor was this Python program, and after each of the keys that followed."""
    script = tmp_path / "my editor.py"
    script.write_text("import sys\npath = sys.argv[1]\n" + program)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{script}'")
    seen: list[str] = []

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(desk.app, "suspend", no_terminal)
        await desk.go_to("input", "ticket")
        for key in ("ctrl+backslash", *steps):
            await desk.press(key)
            seen.append(str(desk.document.state.case.inputs["ticket"]))

    at_the_desk(act)
    return seen


def test_what_was_saved_is_the_text_and_one_undo_takes_it_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = "open(path, 'a').write(' Since Monday.\\n')"
    after, undone = edited_by(monkeypatch, tmp_path, program, ("ctrl+z",))
    assert after == "The export is empty. Since Monday."
    assert undone == "The export is empty."


def test_an_interrupt_of_the_editor_does_not_end_the_app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    program = "import os, signal; os.kill(os.getppid(), signal.SIGINT); open(path, 'a').write(' Since Monday.')"
    assert edited_by(monkeypatch, tmp_path, program) == ["The export is empty. Since Monday."]
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    ["import os; os.remove(path)", "open(path, 'w').write('x'); sys.exit(1)", "open(path, 'wb').write(b'\\xff')"],
    ids=["the file is gone", "it failed", "not UTF-8"],
)
def test_an_editor_that_fails_changes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str) -> None:
    assert edited_by(monkeypatch, tmp_path, program) == ["The export is empty."]


def test_a_blank_editor_is_no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", " ")
    assert external_editor.command(" ") == ["vi"]


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("import os; os.remove(path)", ": No such file or directory."),
        ("open(path, 'wb').write(b'\\xff')", "not UTF-8."),
    ],
)
def test_why_an_editor_failed_is_said_without_pythons_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, why: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr(external_editor, "plain_notify", lambda app, text, **named: said.append(text))
    edited_by(monkeypatch, tmp_path, program)
    assert len(said) == 1 and said[0].endswith(f"{why} Your text is unchanged."), said


@pytest.mark.slow
def test_an_editor_that_does_not_exist_and_a_terminal_that_cannot_be_left_are_said() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "ticket")
        await desk.press("ctrl+backslash")
        assert any(one.title == "Not edited" for one in desk.app._notifications)
        assert desk.document.state.case.inputs["ticket"] == "The export is empty."

    at_the_desk(act)
