"""The app and two commands write one file at the same time, hundreds of times: nothing that anybody did is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sessions.errors import SessionError
from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from tests.support.open_app import Desk, at_the_desk
from workbench.tui.actions import files, sending

CASES = 120
EDITED = 20
"""Cases whose input the app changes, and whose Markdown column it sends."""

SENDS = """
import sys
from adapters.lm.offline import OfflineLM
from workbench.__main__ import main

OfflineLM.__init__.__defaults__ = (0.0,)  # no pause between chunks
path, count, *columns = sys.argv[1:]
for number in range(int(count)):
    code = main(["send", path, "--case", f"case {number}", "--adapter", *columns, "--save", "--jobs", "2"])
    if code:
        sys.exit(code)
"""
"""Sends these columns of case after case, and saves each reply."""


def writer(path: Path, *columns: str) -> subprocess.Popen[bytes]:
    words = [sys.executable, "-c", SENDS, str(path), str(CASES), *columns]
    return subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=Path(__file__).parents[4])


@pytest.mark.slow
def test_hundreds_of_sends_edits_and_saves_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    names = ("chat", "json", "xml", "baml", "markdown")
    cases = tuple([Case(f"case {number}", {"question": f"Question {number}?"}) for number in range(CASES)])
    session = Session(
        SignatureText("question -> answer"), columns=tuple(Column(one, one) for one in names), cases=cases
    )
    store.save(session, path)
    unreadable: list[SessionError] = []
    saves = 0

    def look() -> None:
        """Whatever is in the file at any moment is a whole session."""
        try:
            store.load(path)
        except SessionError as error:
            unreadable.append(error)

    async def act(desk: Desk) -> None:
        nonlocal saves
        assert files.open_path(desk.app, path)
        commands = [writer(path, "chat", "json"), writer(path, "xml", "baml")]
        number = 0
        while number < EDITED or any(one.poll() is None for one in commands):
            if number < EDITED:
                desk.document.look_at_case(CASES - 1 - number)
                await desk.go_to("input", "question")
                await desk.paste_over(f"Edited {number}?")
                sending.send(desk.app, [session.column("markdown")])
                await desk.sent()
                number += 1
            await desk.press("ctrl+s")
            await desk.until(lambda: not desk.document.dirty or len(desk.app.screen_stack) > 1, "for the save")
            said = [str(one.message) for one in desk.app._notifications if one.severity != "information"]
            assert len(desk.app.screen_stack) == 1 and not said, said  # nothing collided, so nothing is asked
            saves += 1
            assert saves < 5_000, "waited in vain for the commands"
            look()
        assert [one.wait() for one in commands] == [0, 0], [one.stderr.read() for one in commands if one.stderr]
        await desk.press("ctrl+s")
        await desk.until(lambda: not desk.document.dirty, "for the last save")

    at_the_desk(act, session=session)
    assert not unreadable
    assert saves >= EDITED
    found = {case.name: case for case in store.load(path).cases}
    assert list(found) == [case.name for case in cases]
    for number, case in enumerate(found.values()):
        edit = CASES - 1 - number
        expected = f"Edited {edit}?" if edit < EDITED else f"Question {number}?"
        assert case.inputs == {"question": expected}
        assert sorted(case.recordings) == ["baml", "chat", "json", "xml"]
        assert set(case.replies) == {*case.recordings, *(["markdown"] if edit < EDITED else [])}
