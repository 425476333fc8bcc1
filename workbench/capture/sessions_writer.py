"""The child process of a capture: reads what the program's side tells it, a line of JSON each, and writes sessions.

It ends when the pipe does, and says what became of it: on standard error, or in the file that it was told to write a
report to (`workbench capture` then says it for all the processes of a program).
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from sessions.captured.folder import MOST_CASES, CallFilter, CapturedFolder
from sessions.file import whole_files
from workbench.capture.capturing import in_words
from workbench.output import display


def main() -> None:
    """Reads to the end of standard input. Its first line says what is wanted."""
    lines = sys.stdin.buffer
    first = lines.readline()
    if not first:
        return
    told = json.loads(first)
    wanted = CallFilter(told["cases"] or MOST_CASES, told["only"], told["sample"], tuple(told["redact"]))
    folder = CapturedFolder(
        Path(told["folder"]), wanted, told["versions"], Path(told.get("linked_from") or told["folder"])
    )
    _read(lines, folder)
    folder.save()
    shape = as_json(folder)
    if told["report"]:
        whole_files.write(told["report"], json.dumps(shape).encode("utf-8"))
        return
    for line in in_words([shape], str(folder.folder)):
        sys.stderr.write(display.safe(line) + "\n")


def _read(lines: IO[bytes], folder: CapturedFolder) -> None:
    for line in lines:
        if not line.endswith(b"\n"):  # the program was killed in the midst of it
            return
        folder.take(json.loads(line))


def as_json(folder: CapturedFolder) -> dict[str, Any]:
    return {
        "process": os.getpid(),
        "calls": folder.calls,
        "lost": folder.lost,
        "sessions": [asdict(one) for one in folder.report()],
        "findings": [asdict(one) for one in folder.findings],
        "notes": list(folder.notes),
        "problems": list(folder.problems),
    }


if __name__ == "__main__":
    main()
