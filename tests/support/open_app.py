"""The whole app, driven by Pilot, with a state folder of its own; a mistake that it survived fails the test."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from unittest.mock import patch

import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input

from sessions.file import autosave
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from workbench.state.document import Place
from workbench.tui.app import WorkbenchApp
from workbench.tui.panes.status import StatusLine
from workbench.tui.runs.runs import Send
from workbench.tui.widgets.text.editor import Editor

WIDE, MIDDLE, SMALL = (160, 45), (120, 35), (80, 24)
SIZES = [MIDDLE, *(pytest.param(size, marks=pytest.mark.slow) for size in (SMALL, WIDE))]
"""The usual size in every run, the smallest and the wide one in the long runs."""

MANY_COLOURS = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}

CLASSIFY = '''import dspy
from typing import Literal


class Classify(dspy.Signature):
    """Classify the ticket."""

    ticket: str = dspy.InputField(desc="as the customer wrote it")
    channel: Literal["mail", "phone"] = dspy.InputField()
    tags: list[str] = dspy.InputField()
    label: Literal["bug", "wish"] = dspy.OutputField()
    urgency: int = dspy.OutputField()
'''

TICKETS = Session(
    SignatureText(CLASSIFY),
    demos=(
        Demo({"ticket": "It crashes.", "channel": "mail", "tags": ["crash"], "label": "bug", "urgency": 3}),
        Demo({"ticket": "Dark mode, please.", "channel": "mail", "tags": [], "label": "wish"}),
        Demo({"note": "neither input nor output"}),
    ),
    columns=(Column("chat", "chat"), Column("json", "json"), Column("xml", "xml")),
    cases=(
        Case("first", {"ticket": "The export is empty.", "channel": "phone", "tags": ["export"]}),
        Case("second", {"ticket": "A shorter menu?", "channel": "mail", "tags": []}),
    ),
    name="tickets",
)


class Desk:
    """The app under test and what a person does at it."""

    def __init__(self, app: WorkbenchApp, pilot: Pilot[int]) -> None:
        self.app = app
        self.pilot = pilot
        self.main = app.main
        self.document = app.document

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def type(self, text: str) -> None:
        """Types into whatever has the focus."""
        for character in text:
            await self.pilot.press({" ": "space", "\n": "enter"}.get(character, character))
        await self.settle()

    async def click(self, words: str, times: int = 1) -> None:
        """Clicks on these words wherever they are first seen on the screen in front."""
        await self.settle()
        for row, strip in enumerate(self.app.screen._compositor.render_strips()):
            if words in strip.text:
                at = cell_len(strip.text[: strip.text.index(words)])
                await self.pilot.click(offset=(at, row), times=times)
                await self.settle()
                return
        raise AssertionError(f"{words!r} is not on the screen")

    async def paste_over(self, text: str) -> None:
        """Replaces the text of the editor with the focus."""
        editor = self.editor
        editor.select_all()
        editor.type_over(text, *editor.selection)
        await self.settle()

    async def fill_in(self, text: str) -> None:
        """Puts a text into the field of a dialog."""
        self.app.screen.query_one(Input).value = text
        await self.settle()

    async def settle(self) -> None:
        """Waits until keys are taken in and what they changed is shown, unless they ended the app."""
        await self.pilot.pause()
        for _ in range(20_000):
            if not self.app.is_running or not (
                self.app.key_order.is_busy or self.main._show_is_due or self.main._panes_are_due
            ):
                break
            await self.pilot.pause(0.001)
        else:
            raise AssertionError("keys were not taken in, or what they changed is not shown")
        await self.pilot.pause()

    async def stands_still(self, widget: Widget) -> None:
        """Waits until the layouts of the start no longer move a widget, so that a click meets it."""
        before = None
        while widget.region != before:
            before = widget.region
            await self.pilot.pause(0.3)

    async def until(self, condition: Callable[[], object], what: str | Callable[[], str] = "") -> None:
        """Waits for a condition, by the app's own clock and never by a fixed time."""
        for _ in range(2_000):
            if condition():
                await self.settle()
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"waited in vain {what if isinstance(what, str) else what()}")

    async def sent(self) -> None:
        """Waits until no run is under way."""
        await self.until(lambda: not self.main.runs.active, "for the runs")

    async def go_to(self, kind: str, field: str = "", row: int = -1) -> None:
        case = self.document.state.case.name if kind in ("input", "history") else ""
        self.main.go_to(Place(kind, case, row, field))  # type: ignore[arg-type]
        await self.settle()

    @property
    def editor(self) -> Editor:
        focused = self.app.focused
        assert isinstance(focused, Editor), focused
        return focused

    def prompt(self, column: str) -> str:
        pane = self.main.columns.column(column)
        assert pane is not None
        return pane.prompt.plain_text()

    def reply(self, column: str) -> str:
        pane = self.main.columns.column(column)
        assert pane is not None
        return pane.reply.raw

    def verdict(self, column: str) -> str:
        pane = self.main.columns.column(column)
        assert pane is not None
        return pane.splitter.line.plain


def at_the_desk(
    act: Callable[[Desk], Awaitable[None]],
    session: Session = TICKETS,
    path: Path | None = None,
    size: tuple[int, int] = WIDE,
    send: Send | None = None,
    mistakes: int | None = 0,
    home: Path | None = None,
    terminal: Mapping[str, str] = MANY_COLOURS,
) -> WorkbenchApp:
    """Opens the app on a session and lets `act` use it.

    Fails if the app made another number of `mistakes` (None: any number is fine). With a `home` the config file in its
    folder `config` holds, and what is remembered stays there for the next time. `terminal` is how the environment
    tells of its colours.
    """

    async def run() -> WorkbenchApp:
        app = WorkbenchApp(session, path, send)
        if home is not None:
            app.preferences.use_config()
        async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            desk = Desk(app, pilot)
            await desk.until(lambda: app.main.editors.history.is_mounted, "for the first picture")
            await act(desk)
            await desk.settle()
        return app

    with tempfile.TemporaryDirectory() as state:
        folders = {"XDG_STATE_HOME": state}
        if home is not None:
            folders = {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
        # what the status line says stays until a test on a busy machine has read it, yet ends while a test waits for it
        said = patch.object(StatusLine.say, "__defaults__", (10.0,))
        with patch.dict("os.environ", {**folders, **terminal}), said:
            app = asyncio.run(run())
            autosave.discard(app.document.path)  # or its thread writes to a folder that is being removed
    assert mistakes is None or len(app.mistakes.seen) == mistakes, list(app.mistakes.seen)
    return app
