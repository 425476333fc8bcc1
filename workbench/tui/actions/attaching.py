"""Attach a file to the focused field: its data becomes the value."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.editing import attachments
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.messages import AttachFile
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host


async def attach(host: Host, wanted: AttachFile) -> None:
    """Set the value from a dropped file, or ask for a file; report its type and size, or the error."""
    path = wanted.path
    if path is None:
        if not attachments.takes_file(wanted.field):
            types = ", ".join(attachments.TYPES)
            plain_notify(host.app, f"Only values of the types {types} take a file.", severity="warning")
            return
        given = await host.app.push_screen_wait(AskScreen(f"Attach a file to {wanted.field.name}", "", _why_not))
        if given is None:
            return
        path = attachments.path_in(given) or Path(given).expanduser()
    said = host.confinement.why_no_file(path)
    if not said:
        try:
            value = await asyncio.to_thread(attachments.attached, wanted.field, path, wanted.before)
            wanted.take(value)
            last = value[-1] if isinstance(value, list) else value
            plain_notify(host.app, f"{path.name}: {attachments.described(last) or 'text'}", title="Attached", timeout=5)
            return
        except attachments.AttachError as error:
            said = str(error)
    plain_notify(host.app, said, title="Not attached", severity="error", timeout=15)


def _why_not(text: str) -> str:
    return "" if text.strip() else "enter the path of a file"
