"""Download a file of a seat's folder to the participant's browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.serving import seats
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host


async def choose(host: Host) -> None:
    """Ask for a file of the folder, the newest first, and download it."""
    entries = [Entry(str(one), one.name, f"{one.stat().st_size:,} bytes") for one in _files(host)]
    if not entries:
        plain_notify(host.app, "Save the session or export it to a file first.", title="Nothing to download")
        return
    title = "Download (without unsaved changes)" if host.document.dirty else "Download"
    chosen = await host.app.push_screen_wait(ChooseScreen(title, entries))
    if chosen is not None:
        hand_out(host, Path(chosen))


def hand_out(host: Host, path: Path) -> None:
    """Have the participant's browser fetch a file of the folder, or say why not."""
    try:
        said = seats.download_error(path.stat().st_size)
        if not said:
            host.app.deliver_binary(path)
    except OSError as error:
        said = error.strerror or str(error)
    if said:
        plain_notify(host.app, f"{path.name}: {said}", title="Not downloaded", severity="error", timeout=15)
    else:
        host.main.status.say(f"{path.name} is in your browser's downloads")


def free_name(path: Path) -> Path:
    """Return the path, or with a number after its name if the file exists: `page-2.html`."""
    stem, dot, ends = path.name.partition(".")
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{stem}-{number}{dot}{ends}")
    return path


def _files(host: Host) -> list[Path]:
    """Return the participant's files, without the file that marks the folder's top."""
    folder = host.confinement.folder
    found = [one for one in folder.iterdir() if one.is_file() and one.name != "pyproject.toml"] if folder else []
    return sorted((one for one in found if not one.name.startswith(".")), key=lambda one: -one.stat().st_mtime)
