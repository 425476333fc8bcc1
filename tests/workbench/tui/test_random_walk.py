"""A person without a plan: whatever is pressed, clicked, pasted, resized or sent, nothing breaks and nothing is lost.

`WALK_SECONDS` and `WALK_SEED` choose how long the slow walk takes and which way it goes (300 for the long one).
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from pathlib import Path

import pytest
from textual import events
from textual.pilot import OutOfBounds

from adapters.lm import child
from sessions.checking import patterns
from sessions.file import store
from tests.support.hostile import HOSTILE
from tests.support.open_app import MIDDLE, SMALL, WIDE, Desk, at_the_desk
from workbench.tui.widgets.text.editor import Editor

LETTERS = "abcdrkxJK {}[]\"',:01\t"
KEYS = (
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "shift+tab", "enter", "escape"),
    *("backspace", "delete", "shift+up", "shift+down", "shift+left", "ctrl+a", "ctrl+k", "ctrl+u", "ctrl+w", "space"),
    *("f1", "f2", "f2", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9", "f10", "ctrl+n", "ctrl+p", "ctrl+t", "ctrl+g"),
    *("ctrl+l", "ctrl+r", "ctrl+z", "ctrl+z", "ctrl+y", "ctrl+s", "ctrl+o", "f12"),
    *("f11", "f11", "ctrl+f", "alt+j", "ctrl+@", "shift+f7", "m", "e", "v", "v"),
)
PASTES = (
    *HOSTILE.values(),
    "[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n3\n\n[[ ## completed ## ]]",
    '{"label": "bug", "urgency": "three"}',
    "question, context: list[str] -> answer: float",
    '{"ticket": "one"}\n{"ticket": "two"}',
    "x" * 20_000,
)
SIZES = (WIDE, MIDDLE, SMALL, (200, 60), (100, 30), (40, 12), (20, 5))


class Walk:
    """One seeded walk; `steps` names what was done, for when something breaks."""

    def __init__(self, desk: Desk, seed: int) -> None:
        self._desk = desk
        self._random = random.Random(seed)
        self.steps: list[str] = []

    async def step(self) -> None:
        kind = self._random.choices(
            ("key", "letters", "burst", "click", "paste", "resize", "send", "cancel"), (40, 20, 6, 20, 5, 2, 5, 2)
        )[0]
        await getattr(self, f"_{kind}")()
        await self._desk.pilot.pause()

    async def _key(self) -> None:
        key = self._random.choice(KEYS)
        self.steps.append(key)
        await self._desk.pilot.press(key)

    async def _letters(self) -> None:
        for letter in self._random.choices(LETTERS, k=self._random.randint(1, 8)):
            self.steps.append(letter)
            self._desk.app.post_message(events.Key(letter if letter.isalnum() else "unknown", letter))

    async def _burst(self) -> None:
        for key in self._random.choices(KEYS, k=4):
            self.steps.append(key)
            self._desk.app.post_message(events.Key(key, None))

    async def _click(self) -> None:
        width, height = self._desk.app.size
        spot = (self._random.randrange(width), self._random.randrange(height))
        self.steps.append(f"click {spot}")
        try:
            await self._desk.pilot.click(offset=spot)
        except OutOfBounds:
            return

    async def _paste(self) -> None:
        text = self._random.choice(PASTES)
        self.steps.append(f"paste {text[:40]!r}")
        self._desk.app.post_message(events.Paste(text))

    async def _resize(self) -> None:
        for size in self._random.choices(SIZES, k=self._random.randint(1, 5)):
            self.steps.append(f"resize {size}")
            await self._desk.pilot.resize_terminal(*size)

    async def _send(self) -> None:
        self.steps.append("send")
        await self._desk.pilot.press("f5")

    async def _cancel(self) -> None:
        self.steps.append("cancel")
        self._desk.main.cancel()


async def back_at_the_start(desk: Desk) -> None:
    """Out of every dialog, nothing under way, everything shown."""
    for _ in range(10):
        if len(desk.app.screen_stack) == 1:
            break
        await desk.press("escape")
    await desk.until(lambda: len(desk.app.screen_stack) == 1, "for the dialogs to close")
    desk.main.cancel()
    await desk.pilot.resize_terminal(*WIDE)
    for tab in ("demos", "history", "signature", "inputs"):
        desk.main.editors.open(tab)
        await desk.settle()


def assert_nothing_lost(desk: Desk) -> None:
    """What the editors hold is in the document, and the document is what its log of edits makes of its beginning."""
    document, main = desk.document, desk.main
    state = document.state
    signature = main.editors.signature.query_one("#signature-editor", Editor)
    assert signature.raw == state.session.signature.text
    for column in main.columns.all:
        kept = state.case.replies.get(column.column_id)
        assert column.reply.raw == (kept.text if kept is not None else "")
    steps = 0
    while (undone := document.undo()) is not None:
        steps += 1
        assert document.state is undone.before
    for _ in range(steps):
        redone = document.redo()
        assert redone is not None and document.state is redone.after
    assert document.state.session is state.session
    again = store.loads(store.dumps(state.session))
    assert store.dumps(again) == store.dumps(state.session)


def is_textuals_own(error: Exception) -> bool:
    """Textual 8.2.8's OptionList raises KeyError(0) at pagedown while it is empty; the app goes on after it."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return (
        repr(error) == "KeyError(0)" and at is not None and at.tb_frame.f_code.co_filename.endswith("_option_list.py")
    )


def children() -> dict[str, str]:
    """The command lines of the processes that this one has started and that are still there, by their ids."""
    tasks = Path(f"/proc/{os.getpid()}/task")
    started = [id for one in tasks.glob("*/children") for id in one.read_text().split()]
    return {id: Path(f"/proc/{id}/cmdline").read_text().replace("\0", " ") for id in started}


def end_those_that_are_kept() -> None:
    """Models and patterns have a process each that waits for the next question until this one ends."""
    kept = [one._process for one in child._children.values()]
    child.shut_down()
    for process in kept:
        process.wait()
    patterns._WORKER.stop()


def walk(seed: int, *, steps: int = 0, seconds: float = 0.0) -> None:
    before = set(children())

    async def act(desk: Desk) -> None:
        desk.app.exit = lambda *_, **__: None  # type: ignore[method-assign]
        way = Walk(desk, seed)
        until = time.monotonic() + seconds
        try:
            while len(way.steps) < steps or time.monotonic() < until:
                await way.step()
                for _, error in desk.app.mistakes.seen:
                    if not is_textuals_own(error):
                        raise error
            await back_at_the_start(desk)
            assert_nothing_lost(desk)
            await desk.until(lambda: not [one for one in threading.enumerate() if one.name.startswith("run ")])
            await desk.until(lambda: not list(desk.app.workers), "for the workers")
        except BaseException:
            print(f"seed {seed}, last steps: {json.dumps(way.steps[-60:])}")
            raise

    at_the_desk(act, mistakes=None)
    end_those_that_are_kept()
    left = {id: command for id, command in children().items() if id not in before}
    assert not left


@pytest.mark.parametrize(
    ("seed", "steps"), [(1, 40), *[pytest.param(one, 120, marks=pytest.mark.slow) for one in (1, 2)]]
)
def test_a_short_walk_breaks_and_loses_nothing(
    seed: int, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    walk(seed, steps=steps)


@pytest.mark.slow
def test_a_long_walk_breaks_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    walk(int(os.environ.get("WALK_SEED", "3")), seconds=float(os.environ.get("WALK_SECONDS", "60")))
