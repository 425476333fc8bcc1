"""Export the open session, copy from the focused column (ctrl+g), or download a seat's file."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

from adapters.errors import reason_of
from sessions.file import whole_files
from sessions.running import rendering
from workbench.exporting import forms
from workbench.output.exit_codes import CommandError
from workbench.serving import seats
from workbench.state.document import RenderedColumn
from workbench.tui.actions.files import confirm_replace
from workbench.tui.dialogs.ask import Answer, AskScreen, ConfirmScreen
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.host import Ended, Host, answer_to, ends_on, focused_column
from workbench.tui.pages import request_pages


async def choose_download(host: Host) -> None:
    """Ask for a file of the folder, newest first, and download it."""
    folder = host.confinement.folder
    # hidden files and the file that marks the top of the folder are not the participant's
    found = [one for one in folder.iterdir() if one.is_file() and one.name != "pyproject.toml"] if folder else []
    files = sorted((one for one in found if not one.name.startswith(".")), key=lambda one: -one.stat().st_mtime)
    entries = [Entry(str(one), one.name, f"{one.stat().st_size:,} bytes") for one in files]
    if not entries:
        raise Ended("Save the session or export it to a file first.", "Nothing to download", "information")
    title = "Download (without unsaved changes)" if host.document.dirty else "Download"
    chosen = await answer_to(host, ChooseScreen(title, entries))
    hand_out(host, Path(chosen))


def hand_out(host: Host, path: Path) -> None:
    """Send a file of the folder to the participant's browser."""
    try:
        said = seats.download_error(path.stat().st_size)
        if not said:
            host.app.deliver_binary(path)
    except OSError as error:
        said = reason_of(error)
    if said:
        raise Ended(f"{path.name}: {said}", "Not downloaded", "error")
    host.main.status.say(f"{path.name} is in your browser's downloads")


def free_name(path: Path) -> Path:
    """Return the path, with a number after its name if the file exists, such as `page-2.html`."""
    stem, dot, ends = path.name.partition(".")
    number = 1
    while path.exists():
        number += 1
        path = path.with_name(f"{stem}-{number}{dot}{ends}")
    return path


MOST_LINES = 8
"""Maximum lines in a dialog about what an export leaves out."""

ANSWERS = (Answer("file", "f", "To a file", "asks for its name"), Answer("clipboard", "c", "To the clipboard"))
DOWNLOAD = Answer("download", "d", "Download", "save it on your machine")


async def export(host: Host, name: str) -> None:
    """Export the focused column, or as much as the format `name` can hold, and report it."""
    document = host.document
    form = forms.FORMS[name]
    session, path, rendered = document.session, document.path, host.main.shown_column()
    is_one = rendered is not None and not form.wants_every_column
    columns = [rendered.column] if rendered is not None and is_one else list(session.columns)
    cases = session.cases if form.wants_every_case else (document.state.case,)
    of = session.name or (path.name if path is not None else "")
    make = partial(forms.export, name, session, columns, cases, name=of, names_flags=False)
    host.main.status.say(f"making {form.title} …")
    with ends_on(CommandError, title=f"No {form.title}", severity="warning"):
        made = await asyncio.to_thread(make)  # a session with a thousand demos takes a second in some formats
    answers = (DOWNLOAD, *ANSWERS) if host.confinement.hands_out else ANSWERS
    which = f"the column {columns[0].id}" if is_one else "every column"
    case = "every case" if form.wants_every_case else document.state.case.plain_words
    said = [*(f"left out: {one}" for one in made.left_out), *made.notes]
    more = [f"… and {len(said) - MOST_LINES} more; `workbench export` lists all"] if len(said) > MOST_LINES else []
    about = "\n".join([f"{which}, {case}: {len(made.text):,} characters", *said[:MOST_LINES], *more])
    title = f"Export as {form.title}"
    answer = await answer_to(host, ConfirmScreen(title, about, answers))
    if answer == "clipboard":
        host.app.copy_to_clipboard(made.text)
        host.main.status.say(f"copied {form.title}: {len(made.text):,} characters")
        return
    path = free_name(document.folder / form.file)
    if answer == "file":
        refuse = partial(host.confinement.why_no_name, example=form.file)
        proposed = str(document.folder / form.file)
        chosen = await answer_to(host, AskScreen(title, proposed, refuse, is_path=True))
        path = Path(chosen).expanduser()
        await confirm_replace(host, path, "Export")
    try:
        whole_files.write(path, made.text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise Ended(f"{path}: {reason_of(error)}", "Not exported", "error") from error
    if answer == "download":
        hand_out(host, path)
    else:
        host.main.status.say(f"exported {form.title} to {path.name}")


COPIES = (
    Answer("prompt", "p", "Prompt", "Copy every message as text"),
    Answer("message", "m", "Message", "Copy the message at the cursor"),
    Answer("messages", "j", "Messages as JSON", "Copy roles and contents as sent"),
    Answer("request", "q", "Request as JSON", "Copy model, messages and parameters"),
    Answer("curl", "c", "Request as curl", "Copy a shell command; the API key stays a variable"),
    Answer("reply", "r", "Reply", "Copy the reply"),
    Answer("values", "v", "Values as JSON", "Copy the parsed values"),
)


async def copy(host: Host, what: str = "") -> None:
    """Copy an item of `COPIES`, or one that the user chooses, from the focused column to the clipboard."""
    rendered = focused_column(host)
    what = what or await answer_to(host, ConfirmScreen(f"Copy from {rendered.column.id}", "", COPIES))
    with ends_on(CommandError, title="Not copied", severity="warning"):
        if what == "curl" and rendered.request is not None:
            text = await request_pages.curl_of(host.document.session, rendered.column, host.document.state.case)
        else:
            text = _text(host, rendered, what)
    if not text:
        raise Ended("There is nothing to copy yet.")
    host.app.copy_to_clipboard(text)
    host.main.status.say(f"copied {what}: {len(text):,} characters")


def _text(host: Host, rendered: RenderedColumn, what: str) -> str:
    column = host.main.columns.current
    if what == "reply":
        return rendered.text
    if what == "values":
        return _json_text(dict(rendered.reading.values)) if rendered.reading is not None else ""
    if rendered.request is None or column is None:
        return ""
    if what == "request":
        return _json_text(rendering.body_of(host.document.state.session, rendered.column, rendered.request))
    if what == "messages":
        return _json_text(rendered.request.prompt.as_dicts())
    return column.prompt.text_of_message_at_cursor() if what == "message" else column.prompt.plain_text()


def _json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
