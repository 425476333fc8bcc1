"""The child process of a capture: makes sessions of the calls in a folder of files, a line of JSON each.

It ends when its standard input has and no process calls any more, and says what became of it: on standard error, or in
a report (`workbench capture` and the pytest plugin then say it).
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import asdict
from sessions.captured.folder import MOST_CASES, CallFilter, CapturedFolder
from sessions.file import whole_files
from workbench.capture import attached_apps
from workbench.capture.capturing import plain_words
from workbench.capture.in_your_process.outlet import CALLS, REPORT
from workbench.output import display

LOOKS_EVERY_S = 0.05


def main() -> None:
    """Read calls until standard input ends; the arguments are their folder and the options."""
    calls, told = CallFiles(Path(sys.argv[1])), json.loads(sys.argv[2])
    wanted = CallFilter(told["cases"] or MOST_CASES, told["only"], told["sample"], tuple(told["redact"]))
    place = Path(told["folder"])
    folder = CapturedFolder(place, wanted, Path(told["linked_from"] or place), attached_apps.teller(place))
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


class CallFiles:
    """The files of calls of a folder, each read as far as it is written."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[Path, int] = {}
        self._versions: dict[Path, Mapping[str, Any]] = {}

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


if __name__ == "__main__":
    main()
