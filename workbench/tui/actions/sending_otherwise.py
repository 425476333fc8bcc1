"""Sending in other ways than once and to be read: several times, or raw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.tui.actions import sending
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.dialogs.confirm import Answer, ConfirmScreen

if TYPE_CHECKING:
    from workbench.tui.app import WorkbenchApp

MOST_REPEATS = 1_000

ANSWERS = (
    Answer("repeat-all", "n", "Several times, every column", "equal values are counted, and replies that do not parse"),
    Answer(
        "repeat-column",
        "c",
        "Several times, this column",
        "the page Repeats shows what came how often",
    ),
    Answer("deadline-all", "d", "With a deadline, every column", "ends what is not done by then, and keeps what came"),
    Answer("raw-all", "r", "Raw, every column", "prompt and request stay as they are; nothing of the reply is read"),
    Answer("raw-column", "w", "Raw, this column", "the reply is kept as text until it is edited or sent anew"),
)


async def choose(app: WorkbenchApp) -> None:
    """Asks how, and sends."""
    chosen = await app.push_screen_wait(ConfirmScreen("Send", "", ANSWERS))
    if chosen is not None:
        await send(app, chosen)


async def send(app: WorkbenchApp, how: str) -> None:
    """Sends as one of `ANSWERS` says."""
    live = app.main.shown_column()
    if live is None:
        return
    columns = app.document.session.columns if how.endswith("all") else (live.column,)
    if how.startswith("raw"):
        sending.send(app, columns, raw=True)
        return
    if how.startswith("deadline"):
        typed = await app.push_screen_wait(AskScreen("How many seconds?", "20", refused_seconds))
        if typed is not None:
            sending.send(app, columns, deadline_s=float(typed))
        return
    typed = await app.push_screen_wait(AskScreen("How many times?", "5", refused))
    if typed is not None:
        sending.send(app, columns, times=int(typed))


def refused(text: str) -> str:
    """Why a text is no number of runs."""
    fits = text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_REPEATS
    return "" if fits else f"a number from 1 to {MOST_REPEATS:,}"


def refused_seconds(text: str) -> str:
    """Why a text is no number of seconds."""
    try:
        fits = 0 < float(text) < 1e6
    except ValueError:
        fits = False
    return "" if fits else "a number of seconds above 0"
