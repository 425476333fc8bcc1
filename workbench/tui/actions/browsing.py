"""List sessions and examples (ctrl+o), preview and open them; open a pasted call as a session."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from textual import work
from textual.content import Content
from textual.widgets import OptionList

from adapters.errors import SignatureError, reason_of
from adapters.late_dataclasses import replace
from sessions import examples
from sessions.errors import SessionError, counted
from sessions.file import store
from sessions.imports import pasted_calls, pasted_text
from sessions.imports.reading import GIVE_SIGNATURE, Imported
from sessions.model.session import Session, SignatureText
from workbench.output.display import one_line
from workbench.tui import preferences
from workbench.tui.actions import files
from workbench.tui.dialogs.ask import AskScreen
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.host import Ended, Host, answer_to
from workbench.tui.keys import keys_of, pane_keys
from workbench.tui.widgets.text.plain import QUIET, PlainStatic, lines, plain_notify

LARGEST = 4_000_000
"""Bytes above which a file has no preview."""
TOO_LARGE = "bytes: too large for a preview; enter opens it"
MOST_SIGNATURE_LINES = 12
_TAG = re.compile(r"(?<![\w#&])#([^\W\d]\w*)")


class Card(NamedTuple):
    """The preview of a session, and the words that a search finds it by."""

    preview: Content
    words: str = ""


def read(path: Path) -> Card | str:
    """Read the preview of a file, or return why there is none."""
    try:
        size = path.stat().st_size
        return f"{size:,} {TOO_LARGE}" if size > LARGEST else card_of(store.load(path))
    except OSError as error:
        return reason_of(error)
    except SessionError as error:
        return one_line(": ".join(filter(None, (error.place, error.message))), 200)


def card_of(session: Session) -> Card:
    """Return the preview of a session; its tags are the words after a `#` in name and notes."""
    tags = [f"#{one}" for one in dict.fromkeys(_TAG.findall(f"{session.name}\n{session.notes}"))]
    columns = [f"{one.id} → {one.model}" if one.model else one.id for one in session.columns]
    recorded = sum(len(one.recordings) for one in session.cases)
    counts = [counted(len(session.cases), "case"), counted(len(session.demos), "demo"), f"{recorded:,} recorded"]
    written = [line for line in session.signature.text.split("\n") if line.strip()]
    start = next((index for index, line in enumerate(written) if "Signature)" in line), 0)
    preview = lines(
        (one_line(session.name, 60) or "unnamed", "bold"),
        ("".join(f"  {one_line(tag, 20)}" for tag in tags[:6]), "$text-accent"),
        (f"\n{' · '.join(counts)}   {one_line(session.model, 40)}", QUIET),
        (f"\n{one_line(', '.join(columns), 90)}\n", "$text-secondary"),
        *[f"\n{one_line(line, 90)}" for line in written[start : start + MOST_SIGNATURE_LINES]],
    )
    words = " ".join((session.name, *tags, *columns, *[one.name for one in session.cases]))
    return Card(preview, words.lower())


class BrowseScreen(ChooseScreen):
    """Choose an entry; returns its value, or None after escape.

    `cards` are the known previews (of the examples); a thread reads the others. Typing searches file names, folders,
    names, tags, columns and cases.
    """

    BINDINGS = pane_keys(
        "This dialog",
        ("escape", "dismiss(None)", "Close", "browse.close", "Close without opening anything"),
    )

    def __init__(self, entries: Sequence[Entry], cards: Mapping[str, Card | str], current: str = "") -> None:
        super().__init__(
            "Open a session",
            entries,
            placeholder="file name, session name, #tag, column or case; or a path",
            free=lambda typed: Entry(typed, typed, "open this path") if "/" in typed or "." in typed else None,
            hint="type to search   ↑↓ preview   enter open   {browse.close|esc} close",
            current=current,
        )
        self._cards = dict(cards)
        self._glance = PlainStatic(id="browse-glance")

    def on_mount(self) -> None:
        dialog = self.query_one(".dialog")
        dialog.add_class("-browse")
        dialog.mount(self._glance, before=".dialog-hint")
        self._look_into_files()

    def share(self, room: int) -> int:
        """Divide the room between the entries and the preview, so that the keys below it stay in view."""
        entries = max(4, min(len(self._entries), room // 2))
        self._glance.styles.max_height = max(4, room - entries)
        return entries

    def searched_text(self, entry: Entry) -> str:
        card = self._cards.get(entry.value)
        return f"{super().searched_text(entry)} {card.words if isinstance(card, Card) else ''}"

    def take_lines(self, text: str) -> None:
        """Open a pasted call instead of a file."""
        if pasted_text.holds_calls(text):
            self.dismiss(PASTED + text)
        else:
            super().take_lines(text)

    def preview(self, entry: Entry | None) -> None:
        card = self._cards.get(entry.value) if entry is not None else ""
        if isinstance(card, Card):
            self._glance.show(card.preview)
        elif card and card.endswith(TOO_LARGE):  # no error: the file opens
            self._glance.show(lines((card, QUIET)))
        elif card:
            self._glance.show(lines((f"✗ {card}", "$text-warning")))
        else:
            self._glance.show(lines(("" if entry is None else "…", QUIET)))

    @work(exit_on_error=False)
    async def _look_into_files(self) -> None:
        """Read the previews in a thread."""
        for entry in [one for one in self._entries if one.value not in self._cards]:
            self._cards[entry.value] = await asyncio.to_thread(read, Path(entry.value))
            if not self.is_attached:
                return
            index = self.query_one(OptionList).highlighted
            if index is not None and index < len(self._shown) and self._shown[index] is entry:
                self.preview(entry)


MOST_FILES = 500
EXAMPLE = "example:"
PASTED = "pasted:"
"""Prefixes of the value returned for an example (followed by its name) and for pasted text."""


async def open_session(host: Host) -> None:
    """Ask which session to open and open it, after asking about unsaved changes."""
    # The list starts at the example that the guide names, else at the latest file. The choice is a path, `EXAMPLE` with
    # a name, `PASTED` with a text, or None.
    folder = host.document.folder
    recent = [Path(one) for one in preferences.load().recent]
    entries = entries_of(folder, recent)
    example = host.guidance.example(has_files=not entries[0].value.startswith(EXAMPLE))
    named = EXAMPLE + example if example else ""
    cards = {EXAMPLE + name: card_of(examples.load(name)) for name in examples.ALL}
    chosen = await answer_to(host, BrowseScreen(entries, cards, named))
    if chosen.startswith(PASTED):
        await open_pasted(host, chosen.removeprefix(PASTED))
        return
    path = Path(os.path.expanduser(chosen))
    may_be_read = not host.confinement.why_no_file(path) and path.is_file()
    if may_be_read and isinstance(read(path), str) and (text := pasted_text.calls_at(str(path))):
        await open_pasted(host, text)
        return
    await files.confirm_close(host)
    if chosen.startswith(EXAMPLE):
        name = chosen.removeprefix(EXAMPLE)
        host.load(examples.load(name), None)
        host.guidance.show("first" if name == examples.FIRST else "notes")
        return
    files.open_path(host, path)


def entries_of(folder: Path, recent: list[Path]) -> list[Entry]:
    """Return the recent files that still exist, the other files of the folder, and the examples."""
    here = os.path.realpath(folder)
    last = [one for one in recent if one.is_file()]
    known = {os.path.realpath(one) for one in last}
    found: list[Path] = []
    with suppress(OSError):
        found = sorted(path for path in folder.iterdir() if path.suffix == ".json" and path.is_file())[:MOST_FILES]
    others = [one for one in found if os.path.realpath(one) not in known]
    entries: list[Entry] = []
    for one in last:
        where = "" if os.path.realpath(one.parent) == here else f", {one.parent}"
        entries.append(Entry(str(one), one.name, f"opened recently{where}"))
    entries += [Entry(str(one), one.name, "in this folder") for one in others]
    return [*entries, *(Entry(EXAMPLE + one, one, "example") for one in examples.ALL)]


NAME = "pasted call"
SECONDS = 12
"""Seconds that notes are shown."""
OF_A_SIGNATURE = "all its fields, as in question -> answer: str   enter accept   {ask.close|esc} close"


async def open_pasted(host: Host, text: str) -> None:
    """Open a session from a pasted call, after asking which call to use and about unsaved changes."""
    calls = pasted_calls.find(text) or pasted_calls.entries_in(text)
    number = 1
    if len(calls) > 1:
        entries = [Entry(str(index), one_line(title, 100)) for index, title in enumerate(calls.titles(), 1)]
        chosen = await answer_to(host, ChooseScreen("Which call?", entries))
        number = int(chosen)
    made = _read_pasted(calls, number)
    if isinstance(made, SessionError) and made.hint == GIVE_SIGNATURE:

        def refuse(typed: str) -> str:
            read = _read_pasted(calls, number, SignatureText(typed))
            return "" if isinstance(read, Imported) else one_line(str(read), 300)

        title = "The pasted call does not name all its fields. Its signature?"
        typed = await answer_to(host, AskScreen(title, "", refuse, OF_A_SIGNATURE))
        made = _read_pasted(calls, number, SignatureText(typed))
    if not isinstance(made, Imported):
        raise Ended(made, "Not pasted", "error")
    await files.confirm_close(host)
    host.load(replace(made.session, name=NAME), None)
    if made.session.cases[0].replies:
        host.main.columns.show_part("reply")
    told = [*made.notes]
    if made.guesses:
        count = counted(len(made.guesses), "guess is", "guesses are")
        told.append(keys_of(host.app)(f"{count} in the notes: {{app.jump|alt+j}} leads there"))
    plain_notify(host.app, "\n".join(told), title="Pasted", timeout=SECONDS)


def _read_pasted(
    calls: pasted_calls.PastedCalls, number: int, given: SignatureText | None = None
) -> Imported | SessionError | SignatureError:
    """Read a pasted call, or return why it cannot be read."""
    try:
        return pasted_calls.from_calls(calls, "the pasted text", given, number=number)
    except (SessionError, SignatureError) as error:
        return error
