"""Open a pasted call: the text of a parse error or of dspy's `inspect_history()` as a session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapters.errors import SignatureError
from sessions.errors import SessionError
from sessions.imports import pasted_calls
from workbench.output.display import one_line
from workbench.tui.actions import files
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

NAME = "pasted call"
SECONDS = 12
"""Seconds for which it is shown what was guessed."""


async def open_pasted(host: Host, text: str) -> None:
    """Open a session of a pasted call, after asking which call is meant and about unsaved changes."""
    calls = pasted_calls.find(text)
    number = 1
    if len(calls) > 1:
        entries = [Entry(str(index), one_line(title, 100)) for index, title in enumerate(calls.titles(), 1)]
        chosen = await host.app.push_screen_wait(ChooseScreen("Which call?", entries))
        if chosen is None:
            return
        number = int(chosen)
    try:
        made = pasted_calls.from_calls(calls, "the pasted text", number=number)
    except (SessionError, SignatureError) as error:
        plain_notify(host.app, str(error), title="Not pasted", severity="error", timeout=SECONDS)
        return
    if not await files.confirm_close(host):
        return
    host.load(replace(made.session, name=NAME), None)
    said = "\n".join([*made.notes, *(f"guessed: {one}" for one in made.guesses)])
    plain_notify(host.app, said, title="Pasted", timeout=SECONDS)
