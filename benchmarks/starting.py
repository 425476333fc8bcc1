"""Starting, beside the least possible: `python benchmarks/starting.py` measures each command in turn with its base.

Processor time of a whole process, its children included, on a session of one case and three columns. `render` and
`check` stand beside a Python that imports pydantic's models, which they need; the others beside a Python that imports
nothing. The first round writes the bytecode and does not count.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
ROUNDS = 11
PASS, PYDANTIC = ("-c", "pass"), ("-c", "from pydantic import BaseModel")
BARS = (
    ("--help", PASS, 4.0),
    ("models", PASS, 11.0),
    ("render q.json", PYDANTIC, 2.0),
    ("check q.json", PYDANTIC, 2.5),
)
"""The command, what stands beside it, and how many times its processor time it may take."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        new = ("new", "question -> answer", "-o", "q.json", "--input", "question=Why?")
        for words in (new, ("send", "q.json", "--save")):
            processor(["-m", "workbench", *words], here)
        for command, least, bar in BARS:
            words = ["-m", "workbench", *command.split()]
            pairs = [(processor(words, here), processor(least, here)) for _ in range(ROUNDS + 1)][1:]
            ours, bare = (statistics.median(times) for times in zip(*pairs, strict=True))
            verdict = "ok  " if ours <= bar * bare else "SLOW"
            told = f"{1000 * ours:.0f} / {1000 * bare:.0f} ms; load {os.getloadavg()[0]:.1f}"
            print(f"{verdict} {command:14} {ours / bare:5.2f} x of python {' '.join(least)!r} (bar {bar:g}); {told}")


def processor(words: Sequence[str], here: Path, code: int = 0) -> float:
    """Seconds of processor time that a Python takes with these arguments, which ends with this exit code."""
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
        "HOME": str(here),
        "PYTHONPATH": str(ROOT),
        "PYTHONPYCACHEPREFIX": str(here / "bytecode"),
    }
    command = [sys.executable, *words]
    with subprocess.Popen(
        command, cwd=here, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == code, command
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
