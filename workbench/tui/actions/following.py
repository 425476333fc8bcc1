"""Follow the linked program: changes saved in another editor appear at once.

Its files are checked fifty times a second, which costs a few system calls; changes are read in a thread.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from functools import partial
from pathlib import Path
from typing import NamedTuple

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, field, replace
from adapters.signatures.signature import Signature
from sessions.checking.verdicts import Drift
from sessions.errors import SessionError, counted
from sessions.model.session import SourceLink, Variant
from sessions.source.gathering import Gathered, read_gathered
from sessions.source.linking import Follower, differences, read_alone
from sessions.source.project import SourceError
from sessions.source.pull_push import pulled, pushed
from sessions.text_diff import line_diff
from workbench.editing import column_edits, edits
from workbench.output.display import one_line
from workbench.state.document import Place, State
from workbench.tui.dialogs.ask import Answer, ConfirmScreen
from workbench.tui.host import Ended, Host, answer_to, ends_on
from workbench.tui.textual_internals.access import take_back
from workbench.tui.widgets.text.plain import plain_notify

EVERY_S = 0.02
"""Seconds between two checks: a tenth of the time allowed between a save and its appearance."""
SETTLED_S = 0.5
"""Seconds that a file must stay unchanged before its error is reported, because editors empty a file before writing it.
"""
TOAST_S = 10
"""Seconds that a toast stays."""
MOST_LINES = 24
ROWS_AROUND_LINES = 13
"""Approximate rows of the dialog that are not lines of the difference."""
TITLE = "The program"
"""Title of the toasts; a warning is withdrawn when the next one appears or its cause is gone."""
TAG = "program"
"""The tag of variants with the program's wording, and of the columns that use them."""

Stamp = tuple[int, int, int] | None


class _Key(NamedTuple):
    """The followed link of a session to a class."""

    folder: Path
    file: str
    class_name: str


@dataclass(eq=False)
class Following:
    """Watch the files that the open session links to."""

    _host: Host
    _key: _Key | None = None
    _stamps: dict[Path, Stamp] = field(default_factory=dict)
    _told: str = ""
    _found: Gathered | None = None
    """The program's content when it was last readable."""
    _is_other: bool = False
    _mistake: tuple[float, str] | None = None
    """Time and text of the read error; it is reported once the files have stayed unchanged."""

    def start(self) -> None:
        """Start watching."""
        self._host.app.set_interval(EVERY_S, self.look)

    def look(self) -> None:
        """Read the program if one of its files changed, and show whether it differs from the session."""
        self._look()
        signature = self._host.document.session.signature
        found = self._found if signature.source is not None else None
        is_other = found is not None and found.text != signature.text
        if self._is_other and not is_other:
            take_back(self._host.app, TITLE)
        self._is_other = is_other
        self._host.main.status.differs_from_program = is_other

    def _look(self) -> None:
        link = self._host.document.session.signature.source
        if link is None:
            self._key = self._found = None
            return
        key = _Key(self._host.document.folder, link.file, link.class_name)
        is_first = key != self._key
        if is_first:
            self._key, self._told, self._found = key, "", None
        elif all(_stamp(file) == stamp for file, stamp in self._stamps.items()):
            if self._mistake is not None and time.monotonic() - self._mistake[0] > SETTLED_S:
                self._tell(self._mistake[1])
                self._mistake = None
            return
        self._stamps = {file: _stamp(file) for file in self._stamps or [key.folder / key.file]}
        self._host.app.run_worker(
            self._read(link, key, is_first), group="following", exclusive=True, exit_on_error=False
        )

    async def _read(self, link: SourceLink, key: _Key, is_first: bool) -> None:
        started = time.time_ns()
        follower = Follower()
        error = ""
        found: Gathered | None = None
        try:
            found = await asyncio.to_thread(_read_whole, follower, link, key.folder)
        except SourceError as failed:
            error = str(failed)
        files = {*follower.project(key.folder).texts, key.folder / key.file}
        # Files written while they were being read are read again at the next check.
        stamps = {file: _stamp(file) for file in files}
        self._stamps = {
            file: None if stamp is not None and stamp[0] >= started else stamp for file, stamp in stamps.items()
        }
        if key != self._key:
            return
        self._mistake = (time.monotonic(), error) if found is None else None
        if found is not None:
            self._found = found
            self._show(found, follower, is_first)

    def _show(self, found: Gathered, follower: Follower, is_first: bool) -> None:
        session = self._host.document.session
        link = session.signature.source
        if link is None or session.signature.text == found.text:
            self._told = ""
            return
        if is_first or not session.signature.is_as_taken:
            words = "{app.program|shift+F11} shows both and chooses."
            self._tell(f"{link.file} and this session differ. {self._host.key_words(words)}", found.digest)
            return
        _take_over(self._host, follower)
        self._told = ""

    def _tell(self, said: str, about: str = "") -> None:
        """Report a warning once, not at every save of a file that is still being written."""
        if self._told != (about or said):
            self._told = about or said
            take_back(self._host.app, TITLE)
            plain_notify(self._host.app, one_line(said, 300), title=TITLE, severity="warning", timeout=TOAST_S)


def _read_whole(follower: Follower, link: SourceLink, folder: Path) -> Gathered:
    found = follower.follow(link, folder)
    read_gathered(found, link.file)
    return found


def _take_over(host: Host, follower: Follower) -> None:
    """Replace the session's text with the program's, as a change that can be undone."""
    try:
        made = pulled(host.document.session, host.document.folder, follower)
    except (SourceError, SignatureError) as error:
        plain_notify(host.app, one_line(str(error), 300), title=TITLE, severity="error", timeout=TOAST_S)
        return
    host.main.edit(lambda state: replace(state, session=made.session), Place("signature"), "the program's text")
    host.main.status.say("taken over from the program")
    if made.notes:
        plain_notify(
            host.app, "\n".join(one_line(note, 200) for note in made.notes[:6]), title="Kept aside", timeout=TOAST_S
        )


class _Sides(NamedTuple):
    """The program's class, read in its present state, and its comparison with the session."""

    found: Gathered
    follower: Follower
    variants: tuple[Variant, ...]
    """Variants with the program's wording; empty if `why_not` says why they are impossible."""
    why_not: str


async def _both_now(host: Host, link: SourceLink) -> _Sides:
    """Read the program and compare it; equal texts end the action."""
    follower = Follower()
    with ends_on(SourceError, title=TITLE):
        found = await asyncio.to_thread(_read_whole, follower, link, host.document.folder)
        theirs = read_gathered(found, link.file)
    signature = host.document.session.signature
    if found.text == signature.text:
        raise Ended("Program and session are equal.", severity="information")
    try:
        mine = read_alone(signature)
    except SignatureError as error:
        return _Sides(found, follower, (), f"This session's own text cannot be read: {one_line(str(error), 200)}")
    variants = side_by_side(mine, theirs)
    others = [drift.message for drift in differences(mine, theirs) if not is_wording(drift)]
    why_not = "" if variants else "Cannot show both side by side: no prompt shows the differences."
    if others:  # all columns share their fields, so only wording can differ
        more = f", and {len(others) - 1} more" if len(others) > 1 else ""
        why_not = f"Cannot show both side by side, as all columns share their fields: {one_line(others[0], 120)}{more}."
    return _Sides(found, follower, variants, why_not)


async def choose(host: Host) -> None:
    """Ask which version to keep if program and session differ: the program's, the session's, or both.

    The program is read again after the answer, because it may have been saved meanwhile.
    """
    link = host.document.session.signature.source
    if link is None:
        said = "This session has no link to a program; `workbench import FILE.py:Class --into SESSION` makes one."
        raise Ended(said, severity="information")
    take_back(host.app, TITLE)  # the user has followed the warning
    shown = await _both_now(host, link)
    both = Answer("both", "b", "Both side by side", "add columns with the program's wording")
    width, height = host.app.size
    most = max(4, min(MOST_LINES, height * 85 // 100 - ROWS_AROUND_LINES - 2 * bool(shown.why_not)))
    lines = line_diff(host.document.session.signature.text.split("\n"), shown.found.text.split("\n"))
    hidden = len(lines) - most
    more = [f"… and {counted(hidden, 'more line')}"] if hidden > 0 else []
    diff = "\n".join([one_line(line, min(110, width - 12)) for line in lines[:most]] + more)
    why_not = f"{shown.why_not}\n" if shown.why_not else ""
    question = f"{why_not}{one_line(link.file, 80)} and this session differ (- this session, + the program):\n\n{diff}"
    answers = [
        Answer("theirs", "t", "The program's", "undo restores yours"),
        Answer("push", "w", "Write mine", "into the program's file; its comments and layout stay"),
        Answer("mine", "m", "Mine", "keep it in this session alone"),
        *([both] if shown.variants else []),
    ]
    answer = await answer_to(host, ConfirmScreen("Program and session", question, answers))
    if answer == "push":
        await _write(host)
        return
    if answer == "mine":
        change = partial(edits.set_signature, source=replace(link, digest=shown.found.digest))
        host.main.edit(change, Place("signature"), "keep mine")
        return
    now = await _both_now(host, link)
    if answer == "theirs":
        _take_over(host, now.follower)
    elif now.variants:
        host.main.edit(
            lambda state: _add_program_columns(state, now.variants), Place("column"), "the program's wording beside"
        )
    else:
        raise Ended(now.why_not, TITLE)


async def _write(host: Host) -> None:
    """Write the session's signature into the program's file, unless the program changed since it was taken."""
    with ends_on(SourceError, SignatureError, SessionError, title="Not written"):
        try:
            push = await asyncio.to_thread(pushed, host.document.session, host.document.folder)
        except SourceError as error:
            if "`workbench " not in error.hint:
                raise
            keys = host.key_words("{app.program|shift+F11}, The program's, takes it over; undo restores yours")
            raise SourceError(error.message, keys) from error
        refused = [why for file in push.files if (why := host.confinement.why_no_file(file))]
        if refused:
            raise SourceError(refused[0])
        push.write()
    change = partial(edits.set_session, signature=push.session.signature)  # replies may have come meanwhile
    host.main.edit(change, Place("signature"), "write into the program")
    names = ", ".join(push.project.name(file) for file in push.files)
    host.main.status.say(host.key_words(f"written to {one_line(names, 80)}; {{app.save|^s}} saves the session"))


def is_wording(drift: Drift) -> bool:
    """Return whether a difference is in instructions or a description, so that a variant can contain it."""
    return drift.place == "instructions" or re.fullmatch(r"fields\.[^.]+\.desc", drift.place) is not None


def side_by_side(mine: Signature, theirs: Signature) -> tuple[Variant, ...]:
    """Return variants with the program's wording, or () if more than wording differs."""
    found: list[Variant] = []
    for drift in differences(mine, theirs):
        if not is_wording(drift):
            return ()
        if drift.place == "instructions":
            before, after = mine.instructions, theirs.instructions
        else:
            name = drift.place.split(".")[1]
            before, after = mine.fields[name].description, theirs.fields[name].description
        found.append(Variant(TAG, drift.place, after, Variant.hash_of(before)))
    return tuple(found)


def _add_program_columns(state: State, variants: tuple[Variant, ...]) -> State:
    """Add a column with the program's wording for each column that does not have one yet."""
    others = tuple(one for one in state.session.variants if one.tag != TAG)
    made = replace(state, session=replace(state.session, variants=(*others, *variants)))
    theirs = {(one.adapter, one.model) for one in state.session.columns if one.variant == TAG}
    for column in state.session.columns:
        if column.variant is None and (column.adapter, column.model) not in theirs:
            made = column_edits.copy(made, column.id, variant=TAG)
    return made


def _stamp(file: Path) -> Stamp:
    """Return values that change with a file's content, or None if there is no file."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
