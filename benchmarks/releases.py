"""Columns of other releases of dspy in a real terminal: `python benchmarks/releases.py [VERSION …]`.

VERSION are releases that were added (`workbench dspy add 3.0.4`), at most two; without any the dspy beside this Python
stands for one. Each key is typed into the description of a field, beside 16 demos of 2 kB; it ends when every column
shows it. Bars: a release's column 100 ms at p95, the editor 16 ms and our own column 33 ms as without releases, which
are measured in the same run with columns of ours in their place.

The CPU time of a key tells on a machine that has other work too, as its time by the clock does not (Linux only).
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from terminal import Terminal  # noqa: E402

from benchmarks.measure import state_with_open_prompts  # noqa: E402
from sessions.releases import environments  # noqa: E402

SIZE = (160, 45)
SOURCE = (
    "class Ask(dspy.Signature):",
    "    answer: str = dspy.OutputField()",
    '    question: str = dspy.InputField(desc="")',
)
TO_THE_DESCRIPTION = ("down", "down", "\x1b[F", "\x1b[D", "\x1b[D")
OURS = ("chat", "json", "xml")
KEYS = 60
REST_S = 0.25
"""Between a key and the next: what a key makes due is over by then, and counts as its own."""


@dataclass
class Typed:
    """Seconds by the clock, and of CPU, one a key."""

    editor: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)
    columns: list[float] = field(default_factory=list)
    screen_cpu: list[float] = field(default_factory=list)
    """Of the thread that paints and answers keys."""
    asking_cpu: list[float] = field(default_factory=list)
    """Of the program's other threads: writing the question, reading and aligning the answer."""
    release_cpu: list[float] = field(default_factory=list)
    """Of all releases' processes."""
    bytes: list[float] = field(default_factory=list)
    """Painted, not seconds."""


def main(versions: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        if not versions:
            os.environ["XDG_DATA_HOME"] = folder
            versions = [environments.use(sys.executable).version]
        for version in versions:
            if environments.find(version) is None:
                raise SystemExit(f"dspy {version} is not added: `workbench dspy add {version}` adds it")
        theirs = [f"chat@{version}" for version in versions]
        for names in (["chat", *theirs], OURS[: 1 + len(theirs)]):
            own = here / names[-1]  # else the work of the one before would be offered
            own.mkdir()
            _tell(names, _typed(names, own, environments.folder().parents[1]))
        if hasattr(os, "getloadavg"):
            print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _typed(names: Sequence[str], here: Path, data: Path) -> Typed:
    environment = {
        "HOME": str(here),
        "XDG_STATE_HOME": state_with_open_prompts(here),
        "XDG_DATA_HOME": str(data),
        "PYTHONPATH": str(ROOT),
    }
    words = [sys.executable, "-m", "workbench", str(_session(names, here))]
    made = Typed()
    with Terminal(words, here, SIZE, environment) as terminal:
        for name in names:  # its title counts tokens once it has a prompt; a release's process takes seconds to start
            terminal.wait_for(
                f"dspy {name.partition('@')[2]} · ~" if "@" in name else "Your input fields", patience=300
            )
        _rest(terminal)
        for key in TO_THE_DESCRIPTION:
            terminal.press(key)
            _rest(terminal)
        for number in range(KEYS):
            letter = chr(ord("a") + number % 26)
            _type(terminal, letter, len(names), made)
            terminal.press("\x7f")
            _rest(terminal)
    return made


def _type(terminal: Terminal, letter: str, columns: int, made: Typed) -> None:
    children = _children(terminal.pid)
    before = (_cpu(terminal.pid, "main"), _cpu(terminal.pid), sum(map(_cpu, children)), len(terminal.painted))
    start = time.perf_counter()
    terminal.press(letter)
    terminal.wait_for_byte()
    made.editor.append(time.perf_counter() - start)
    terminal.wait_for(f"(str): {letter}")
    made.own.append(time.perf_counter() - start)
    terminal.wait_for(f"(str): {letter}", times=columns)
    made.columns.append(time.perf_counter() - start)
    _rest(terminal)
    screen = _cpu(terminal.pid, "main") - before[0]
    made.screen_cpu.append(screen)
    made.asking_cpu.append(_cpu(terminal.pid) - before[1] - screen)
    made.release_cpu.append(sum(map(_cpu, children)) - before[2])
    made.bytes.append(len(terminal.painted) - before[3])


def _session(names: Sequence[str], here: Path) -> Path:
    text = ("The context says a thing or two about it. " * 48)[:2000]
    content: dict[str, Any] = {
        "format": 0,
        "signature": {"text": list(SOURCE), "instructions": ["Answer from the context."]},
        "model": "offline/exact",
        "columns": [{"id": name, "adapter": name} for name in names],
        "demos": [{"values": {"question": f"{number} {text}", "answer": "yes"}} for number in range(16)],
        "cases": [{"name": "one", "inputs": {"question": "Is it so?"}}],
    }
    path = here / "session.json"
    path.write_text(json.dumps(content))
    return path


def _rest(terminal: Terminal) -> None:
    """Takes in what is painted for a moment; the cursor of an editor blinks, so that there is no end to wait for."""
    until = time.monotonic() + REST_S
    while (left := until - time.monotonic()) > 0:
        terminal.reads_within(left)


def _children(pid: int) -> list[int]:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _cpu(pid: int, threads: str = "all") -> float:
    """Seconds of CPU of a process, or of its main thread, to the nanosecond; 0 where nobody says."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        found = [tasks / str(pid)] if threads == "main" else list(tasks.iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in found) / 1e9
    except OSError:
        return 0.0


def _tell(names: Sequence[str], made: Typed) -> None:
    print(f"columns {', '.join(names)}: {KEYS} keys, 16 demos of 2 kB")
    bars = {"editor": 16, "own": 33, "columns": 100 if any("@" in name for name in names) else 33}
    for what, bar in bars.items():
        times: list[float] = sorted(getattr(made, what))
        middle, late = times[len(times) // 2], times[int(len(times) * 0.95)]
        print(f"  key -> {what:8} p50 {1000 * middle:6.1f} ms, p95 {1000 * late:6.1f} ms (bar {bar})")
    for what in ("screen", "asking", "release"):
        print(f"  CPU of a key, {what:8} median {1000 * statistics.median(getattr(made, f'{what}_cpu')):6.1f} ms")
    print(f"  painted for a key       median {statistics.median(made.bytes) / 1000:6.1f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
