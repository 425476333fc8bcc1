"""ctrl+g: copy something from the focused column."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sessions.running import rendering
from workbench.output.exit_codes import CommandError
from workbench.state.derived import RenderedColumn
from workbench.tui.dialogs.ask import Answer, ConfirmScreen
from workbench.tui.pages import true_request
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

ANSWERS = (
    Answer("prompt", "p", "Prompt", "Copy every message as text"),
    Answer("message", "m", "Message", "Copy the message at the cursor"),
    Answer("messages", "j", "Messages as JSON", "Copy roles and contents as sent"),
    Answer("request", "q", "Request as JSON", "Copy model, messages and parameters"),
    Answer("curl", "c", "Request as curl", "Copy a shell command; the API key stays a variable"),
    Answer("reply", "r", "Reply", "Copy the reply"),
    Answer("values", "v", "Values as JSON", "Copy the parsed values"),
)


async def choose_copy(host: Host) -> None:
    rendered = host.main.shown_column()
    if rendered is None:
        return
    chosen = await host.app.push_screen_wait(ConfirmScreen(f"Copy from {rendered.column.id}", "", ANSWERS))
    if chosen is not None:
        await copy(host, chosen)


async def copy(host: Host, what: str) -> None:
    """Copy one of `ANSWERS` from the focused column to the clipboard."""
    rendered = host.main.shown_column()
    if rendered is None:
        return
    try:
        if what == "curl" and rendered.request is not None:
            text = await true_request.curl_of(host.document.session, rendered.column, host.document.state.case)
        else:
            text = _text(host, rendered, what)
    except CommandError as error:
        plain_notify(host.app, str(error), title="Not copied", severity="warning", timeout=15)
        return
    if not text:
        host.app.notify("There is nothing to copy yet.", severity="warning")
        return
    host.app.copy_to_clipboard(text)
    host.main.status.say(f"copied {what}: {len(text):,} characters")


def _text(host: Host, rendered: RenderedColumn, what: str) -> str:
    column = host.main.columns.current
    if what == "reply":
        return rendered.text
    if what == "values":
        return _as_json(dict(rendered.reading.values)) if rendered.reading is not None else ""
    if rendered.request is None or column is None:
        return ""
    if what == "request":
        return _as_json(rendering.body_of(host.document.state.session, rendered.column, rendered.request))
    if what == "messages":
        return _as_json(rendered.request.prompt.as_dicts())
    return column.prompt.text_of_message_at_cursor() if what == "message" else column.prompt.plain_text()


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
