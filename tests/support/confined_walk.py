"""Run as a program: a visitor who tries every command of the palette and every key to reach what is not his.

`python confined_walk.py FOLDER OUTSIDE RESULT.json [NAME …]`: FOLDER is a visitor's, OUTSIDE a folder of the teacher's
with a secret in it. Every dialog gets paths that lead outside and models that are not allowed, and each of its answers
is taken once. With names only the commands that begin so are tried. What was seen is written as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from sessions.model.session import Column, Session
from workbench.serving import walls
from workbench.serving.messages import Orders
from workbench.tui.dialogs.ask import ConfirmScreen
from workbench.tui.keys import APP_BINDINGS
from workbench.tui.launch_visitor import VisitorApp, visitor_app
from workbench.tui.palette import commands_of

MOST_STEPS = 4
"""Dialogs one after the other."""
MOST_ANSWERS = 7


class Walk:
    """One visitor, and what he saw."""

    def __init__(self, app: VisitorApp, pilot: Pilot[int], tempting: list[str]) -> None:
        self.app = app
        self.pilot = pilot
        self.tempting = tempting
        self.said: set[str] = set()
        self.tried: list[str] = []
        self._number = 0
        self._session = with_strangers(app.document.session)

    async def settle(self) -> None:
        await self.pilot.pause()
        while self.app.key_order.is_busy:
            await self.pilot.pause(0.001)
        await self.pilot.pause()
        self.said |= {one.message for one in self.app._notifications}
        self.said |= {str(one.render()) for one in self.app.screen.query(".field-error")}
        self.said.add(" ".join(strip.text for strip in self.app.screen._compositor.render_strips()))

    async def home(self) -> None:
        """Back to the panes, whatever is in front."""
        for _ in range(20):
            if len(self.app.screen_stack) == 1:
                return
            self.app.screen.dismiss()
            await self.settle()
        raise AssertionError(f"{self.app.screen} does not go")

    async def attempt(self, name: str, run: Callable[[], Any], answer: int) -> int:
        """Runs one command and answers its dialogs, a question with its answer of this number; the most answers met."""
        self.tried.append(name)
        self.app.load(self._session, None)  # whatever the command before made of it
        await self.settle()
        done = run()
        if asyncio.iscoroutine(done):
            await done
        met = 1
        for _ in range(MOST_STEPS):
            await self.settle()
            screen = self.app.screen
            if len(self.app.screen_stack) == 1:
                break
            if isinstance(screen, ConfirmScreen):
                letters = [one.key for one in screen._answers]
                met = max(met, len(letters))
                await self.pilot.press(letters[answer % len(letters)])
            elif screen.query(Input):
                for _ in range(len(self.tempting)):
                    self._number += 1
                    screen.query_one(Input).value = self.tempting[self._number % len(self.tempting)]
                    await self.settle()
                    await self.pilot.press("enter")
                    await self.settle()
                    if self.app.screen is not screen:
                        break
            else:
                await self.pilot.press("enter")
        await self.settle()
        if not isinstance(self.app.screen, type(self.app.main)):
            await self.home()
        return met


def with_strangers(session: Session) -> Session:
    """The session with columns that name code, another release of dspy, and a model that is not allowed."""
    strangers = (
        Column("code", "antigravity:geohash"),
        Column("release", "chat@3.0.4"),
        Column("paid", "chat", model="openai/gpt-6-luna"),
    )
    return replace(session, columns=(*session.columns, *strangers))


async def walk(app: VisitorApp, tempting: list[str], names: list[str]) -> Walk:
    async with app.run_test(size=(160, 45), notifications=True) as pilot:
        walker = Walk(app, pilot, tempting)
        app.exit = lambda *_, **__: None  # type: ignore[method-assign]
        await walker.settle()
        await walker.home()
        for key in ("f2", "f3", "f4"):
            await pilot.press(key)
            await walker.settle()
            for name in [one.name for one in commands_of(app, app.screen)]:
                if name in walker.tried or (names and not name.startswith(tuple(names))):
                    continue
                answers, answer = 1, 0
                while answer < min(answers, MOST_ANSWERS):
                    command = next((one for one in commands_of(app, app.screen) if one.name == name), None)
                    if command is None:
                        break  # there is nothing of it any more
                    answers = max(answers, await walker.attempt(name, command.run, answer))
                    answer += 1
        if not names:
            for binding in APP_BINDINGS:
                for key in binding.key.split(","):
                    walker.tried.append(key)
                    await pilot.press(key)
                    await walker.settle()
                    await walker.home()
        return walker


def main() -> None:
    folder, outside, result, *names = sys.argv[1:]
    orders = Orders(folder)
    os.environ.clear()
    os.environ.update(orders.environment((160, 45), {}), EDITOR=f"touch {outside}/edited")
    os.chdir(orders.files)
    app = visitor_app(orders)
    watch = walls.watcher(Path(folder), [walls.CHECKS_PATTERNS], orders.disk_mb * walls.MEGABYTE)
    hit: list[str] = []
    is_watching = True

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if not is_watching:
            return
        try:
            watch(event, arguments)
        except walls.WallError as error:
            hit.append(f"{event}: {error}")
            raise

    sys.addaudithook(note)
    secret = os.path.join(outside, "secret.session.json")
    up = os.path.relpath(secret, orders.files)
    new = os.path.join(outside, "new.json")
    tempting = [secret, up, "/etc/passwd", "openai/gpt-6-luna", "antigravity:geohash", new, "~/../../x.json", "../.."]
    walker = asyncio.run(walk(app, tempting, names))
    is_watching = False
    told = {
        "tried": walker.tried,
        "hit": hit,
        "said": sorted(walker.said),
        "mistakes": [str(one) for one in app.mistakes.seen],
        "modules": [one for one in ("antigravity", "this", "litellm") if one in sys.modules],
    }
    Path(result).write_text(json.dumps(told), "utf-8")


if __name__ == "__main__":
    main()
