"""One widget on a screen of its own, driven by Pilot, and what can be seen of it."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from rich.cells import cell_len
from textual._styles_cache import StylesCache
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region
from textual.message import Message
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import TextArea

W = TypeVar("W", bound=Widget)


class Stage(App[None], Generic[W]):
    """Shows one widget, and keeps the messages of the widget's own classes that reach the app."""

    def __init__(self, widget: W) -> None:
        super().__init__()
        self.widget = widget
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.widget

    def hear(self, message: Message) -> None:
        if type(message).__qualname__.startswith(type(self.widget).__name__) and all(
            message is not one for one in self.heard
        ):
            self.heard.append(message)


def on_stage(
    widget: W, act: Callable[[Stage[W], Pilot[None]], Awaitable[None]], size: tuple[int, int] = (60, 20)
) -> Stage[W]:
    """Mounts the widget, waits until it is painted, and lets `act` drive it."""
    stage = Stage(widget)

    async def run() -> None:
        async with stage.run_test(size=size, message_hook=stage.hear, notifications=True, tooltips=True) as pilot:
            await pilot.pause()
            await pilot.pause()  # what the first picture made due
            await act(stage, pilot)
            await pilot.pause()

    asyncio.run(run())
    return stage


def lower_edge(widget: Widget) -> str:
    """The last row of a widget with its border."""
    width, height = widget.outer_size
    return widget.render_lines(Region(0, height - 1, width, 1))[0].text


def seen(widget: Widget) -> list[str]:
    """The rows a widget paints, as text."""
    return [strip.text for strip in widget.render_lines(Region(0, 0, widget.size.width, widget.size.height))]


def painted_anew(text: TextArea) -> list[Strip]:
    """The rows as they are when nothing that was painted before is used."""
    text._line_cache.clear()
    return [one.simplify() for one in StylesCache().render_widget(text, text.size.region)]


def painted(text: TextArea) -> list[Strip]:
    """The rows as they stand."""
    return [one.simplify() for one in text.render_lines(text.size.region)]


def assert_harmless(widget: Widget) -> None:
    """No control character is painted, and every row fills exactly the widget's width."""
    for strip in widget.render_lines(Region(0, 0, *widget.outer_size)):
        assert not [c for c in strip.text if unicodedata.category(c) in ("Cc", "Cs")], repr(strip.text)
        assert strip.cell_length == cell_len(strip.text) == widget.outer_size.width, repr(strip.text)
