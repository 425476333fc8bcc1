"""Show the calls that programs capture into a folder in the apps that are attached to it.

An attached app makes a folder in that folder, and locks a file there before it makes the file for calls. Whoever
writes sessions adds calls to that file, and removes what a killed app left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from sessions.captured.folder import TakenCall
from sessions.file import autosave
from sessions.imports.lm_call import answer_parts
from workbench.sending.sent_runs import PastRun, SentRuns, text_of

PREFIX, HELD, CALLS = ".live-", "held", "calls.sqlite"
LIVE_MEGABYTES = 128
"""Megabytes of calls that an attached app can show."""


@contextmanager
def attached(folder: Path) -> Iterator[Path]:
    """Attach an app to the calls captured into `folder`; yield the file that gets them. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
    try:
        with open(place / HELD, "wb") as held:
            autosave.hold(held.fileno())
            (place / CALLS).touch(0o600)
            yield place / CALLS
    finally:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            folder.rmdir()  # only if no session came


def teller(folder: Path) -> Callable[[TakenCall], None]:
    """Return a function that shows a call in every app attached to `folder`."""
    stores: dict[Path, SentRuns] = {}

    def tell(taken: TakenCall) -> None:
        there = [one for one in folder.glob(f"{PREFIX}*/{CALLS}") if not _was_left(one.with_name(HELD))]
        for gone in [one for one in stores if one not in there]:
            stores.pop(gone).close()
        for one in there:
            stores.setdefault(one, SentRuns(one, LIVE_MEGABYTES)).add(_past_run(taken), taken.session)

    return tell


def _was_left(held: Path) -> bool:
    """Return whether the app of this file has ended; if it was killed, remove its folder."""
    try:
        with held.open("rb") as file:
            if not autosave.hold(file.fileno()):
                return False
    except OSError:
        return True
    shutil.rmtree(held.parent, ignore_errors=True)
    return True


def _past_run(taken: TakenCall) -> PastRun:
    call = taken.call
    first = call.attempts[0]
    adapters = [one.adapter.classes[0].rpartition(":")[2] for one in call.attempts]
    errors = [one.error for one in call.attempts if one.error is not None]
    errors += [
        f"{adapter}: {one.error}"
        for adapter, attempt in zip(adapters, call.attempts, strict=True)
        for one in attempt.readings
        if one.error is not None
    ]
    return PastRun(
        at=datetime.now().isoformat(timespec="milliseconds"),
        case=taken.session.cases[0].name,
        column=taken.column or adapters[0],
        model=first.model.name if first.model is not None else "",
        phase="failed" if call.has_failed else "done",
        seconds=0.0,
        text=answer_parts(first.outputs[0])["text"] or "" if first.outputs else "",
        error="\n".join(dict.fromkeys(errors)) or (call.error or {}).get("type", ""),
        values=call.values[0] if call.values else {},
        adapter=taken.session.column(taken.column).adapter if taken.column else adapters[0],
        session=call.name,
        path=os.path.realpath(taken.path),
        messages=tuple((str(one.get("role", "")), text_of(one.get("content"))) for one in first.messages),
    )
