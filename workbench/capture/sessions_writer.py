"""The child process of a capture: makes sessions of the calls in a folder of files, a line of JSON each.

It ends when its standard input has and no process calls any more, and says what became of it: on standard error, or in
a report (`workbench capture` and the pytest plugin then say it).

An app that is attached to the folder of the sessions makes a folder there, and locks a file in it before it makes the
file for calls. The child process adds calls to that file, and removes what a killed app left.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import asdict, dataclass, field
from sessions.captured.folder import MOST_CASES, CallFilter, CapturedFolder, TakenCall
from sessions.file import autosave, whole_files
from sessions.imports.lm_call import answer_parts
from workbench.capture.capturing import plain_words
from workbench.capture.in_your_process.outlet import CALLS, REPORT
from workbench.output import display
from workbench.sending.sent_runs import PastRun, SentRuns, text_of

LOOKS_EVERY_S = 0.05
LIVE_PREFIX, HELD, LIVE_CALLS = ".live-", "held", "calls.sqlite"
LIVE_MEGABYTES = 128
"""Megabytes of calls that an attached app can show."""


def main() -> None:
    """Read calls until standard input ends; the arguments are their folder and the options."""
    calls, told = CallFiles(Path(sys.argv[1])), json.loads(sys.argv[2])
    wanted = CallFilter(told["cases"] or MOST_CASES, told["only"], told["sample"], tuple(told["redact"]))
    place = Path(told["folder"])
    folder = CapturedFolder(place, wanted, Path(told["linked_from"] or place), teller(place))
    has_ended = threading.Event()

    def wait() -> None:
        while os.read(0, 1_000):
            pass
        has_ended.set()

    threading.Thread(target=wait, daemon=True).start()
    _follow(calls, folder, has_ended, is_said=not told["report"])
    if not told["report"]:
        shutil.rmtree(calls.folder, ignore_errors=True)


def _follow(calls: CallFiles, folder: CapturedFolder, has_ended: threading.Event, is_said: bool) -> None:
    reported = -1
    while True:
        is_last = has_ended.is_set()
        are_held = is_last and calls.are_held()
        found = calls.read(folder)
        if found and not is_last:
            continue
        folder.save()
        if is_last and reported != (reported := folder.calls + folder.lost):
            shape = {
                "process": os.getpid(),
                "calls": folder.calls,
                "lost": folder.lost,
                "sessions": [asdict(one) for one in folder.report()],
                "findings": [asdict(one) for one in folder.findings],
                "notes": list(folder.notes),
                "problems": list(folder.problems),
            }
            if is_said and reported:
                for line in plain_words([shape], str(folder.folder)):
                    sys.stderr.write(display.safe(line) + "\n")
            whole_files.write(str(calls.folder / REPORT), json.dumps(shape).encode("utf-8"))
        if is_last and not are_held:
            return
        if is_last:
            time.sleep(LOOKS_EVERY_S)
        else:
            has_ended.wait(LOOKS_EVERY_S)


@dataclass(eq=False)
class CallFiles:
    """The files of calls of a folder, each read as far as it is written."""

    folder: Path
    _read: dict[Path, int] = field(default_factory=dict)
    _versions: dict[Path, Mapping[str, Any]] = field(default_factory=dict)

    def read(self, into: CapturedFolder) -> int:
        """Read the new lines; return how many. An unfinished last line is not read."""
        files = sorted(self.folder.glob(f"*{CALLS}"))
        count = 0
        for file, following in itertools.zip_longest(files, files[1:]):
            with file.open("rb") as opened:
                opened.seek(self._read.get(file, 0))
                lines = opened.read().split(b"\n")[:-1]
            self._read[file] = self._read.get(file, 0) + sum(len(one) + 1 for one in lines)
            if lines and file in self._versions:
                into.take(self._versions[file])
            for line in map(_read_line, lines):
                self._versions.setdefault(file, line)
                into.take(line)
            count += len(lines)
            if following is not None and following.name.partition(".")[0] == file.name.partition(".")[0]:
                file.unlink()
        return count

    def are_held(self) -> bool:
        """Tell whether a process still writes to a file."""
        try:
            import fcntl
        except ImportError:  # on Windows
            return False
        for file in self.folder.glob(f"*{CALLS}"):
            with file.open("rb") as opened:
                try:
                    fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except OSError:
                    return True
        return False


def _read_line(line: bytes) -> Mapping[str, Any]:
    """Read a line of a file of calls; garbage counts as a lost call."""
    try:
        read = json.loads(line)
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, dict) else {"lost": 1}


@contextmanager
def attached(folder: Path) -> Iterator[Path]:
    """Attach an app to the calls captured into `folder`; yield the file that gets them. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=LIVE_PREFIX, dir=folder))
    try:
        with open(place / HELD, "wb") as held:
            autosave.hold(held.fileno())
            (place / LIVE_CALLS).touch(0o600)
            yield place / LIVE_CALLS
    finally:
        shutil.rmtree(place, ignore_errors=True)
        with suppress(OSError):
            folder.rmdir()  # only if no session came


def teller(folder: Path) -> Callable[[TakenCall], None]:
    """Return a function that shows a call in every app attached to `folder`."""
    stores: dict[Path, SentRuns] = {}

    def tell(taken: TakenCall) -> None:
        there = [one for one in folder.glob(f"{LIVE_PREFIX}*/{LIVE_CALLS}") if not _was_left(one.with_name(HELD))]
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


if __name__ == "__main__":
    main()
