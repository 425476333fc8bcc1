"""The app in a real terminal: `python benchmarks/screen.py` prints first paint, keystrokes, memory beside their bars.

First paint is paired with a bare Textual app of three text areas, in turn. A keystroke runs from the write to the
pseudo-terminal to the first byte back, and to the moment when every visible column shows what was typed. The model
list runs from its key to its last line, F10 from the key that ends it until all that was covered is painted.

Both apps run from bytecode, as what pip installed does; the first round writes it and does not count. Beside each time
of the clock stands the processor time of the program (all its threads), which other work on the machine hardly changes.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from measure import state_with_open_prompts  # noqa: E402
from terminal import Terminal  # noqa: E402

SIZE = (160, 45)
BARE = """
from textual.app import App
from textual.containers import Horizontal
from textual.widgets import Footer, TextArea

class Bare(App):
    def compose(self):
        with Horizontal():
            yield TextArea("Signature one")
            yield TextArea("two")
            yield TextArea("three")
        yield Footer()

Bare().run()
"""
SOURCE = [
    "class Ask(dspy.Signature):",
    "    answer: str = dspy.OutputField()",
    '    question: str = dspy.InputField(desc="")',
]
COLUMNS = ("chat", "json", "xml", "baml", "twostep")
KEYS = 60
QUIET = 0.3
"""Seconds after which nothing more is painted for a key; what was painted last before them is its end."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _first_paint(here)
        for demos in (16, 1000):
            _keystrokes(here, demos)
        _large_editor(here)
        _large_session(here)
        _model_list(here)
        _leaving_alone(here)


def _terminal(words: list[str], here: Path) -> Terminal:
    environment = {
        "HOME": str(here),
        "XDG_STATE_HOME": state_with_open_prompts(here),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(here / "bytecode"),
    }
    return Terminal(words, here, SIZE, environment)


def _first_paint(here: Path, rounds: int = 7) -> None:
    frame: list[Cost] = []
    prompts: list[Cost] = []
    bare: list[Cost] = []
    session = _session(here, 16, 200)
    for _ in range(rounds + 1):
        with _terminal([sys.executable, "-c", BARE], here) as terminal:
            bare.append(_until(terminal, "Signature one"))
        with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
            frame.append(_until(terminal, "class Ask"))
            more = _until(terminal, "Your input")
            prompts.append(Cost(frame[-1].clock + more.clock, more.processor))
    for said, ours, bar in (("first paint", frame, " (bar 2)"), ("prompts of the columns", prompts, "")):
        clock, processor = (
            [statistics.median(getattr(one, kind) for one in costs[1:]) for costs in (ours, bare)]
            for kind in Cost._fields
        )
        print(
            f"{said}: {clock[0]:.3f} s, bare {clock[1]:.3f} s, ratio {clock[0] / clock[1]:.2f}{bar}; "
            f"processor {processor[0]:.3f} s, bare {processor[1]:.3f} s, ratio {processor[0] / processor[1]:.2f}"
        )


class Cost(NamedTuple):
    """Seconds: of the clock, and of processor time since the program began."""

    clock: float
    processor: float


def _until(terminal: Terminal, marker: str) -> Cost:
    start = time.perf_counter()
    terminal.wait_for(marker)
    return Cost(time.perf_counter() - start, _processor(terminal.pid))


def _processor(pid: int) -> float:
    """Seconds that all threads of a process have run; not a number where the system does not tell."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        return float("nan")
    return sum(int((one / "schedstat").read_text().split()[0]) for one in tasks.iterdir()) / 1e9


def _session(
    here: Path,
    demos: int,
    size: int,
    instructions: str = "Answer from the context.",
    columns: Sequence[str] = COLUMNS,
) -> Path:
    text = ("The context says a thing or two about it. " * (size // 42 + 1))[:size]
    content: dict[str, Any] = {
        "format": 0,
        "signature": {"text": SOURCE, "instructions": instructions.split("\n")},
        "model": "offline/exact",
        "columns": [{"id": name, "adapter": name} for name in columns],
        "demos": [{"values": {"question": f"{number} {text}", "answer": "yes"}} for number in range(demos)],
        "cases": [{"name": "one", "inputs": {"question": "Is it so?"}}],
    }
    path = here / f"bench-{demos}-{size}-{len(instructions)}-{len(columns)}.json"
    path.write_text(json.dumps(content))
    return path


def _keystrokes(here: Path, demos: int) -> None:
    session = _session(here, demos, 2000)
    with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
        terminal.wait_for("Your input")
        _settle(terminal)
        for key in ("\x1b[B", "\x1b[B", "\x1b[F", "\x1b[D", "\x1b[D"):
            terminal.press(key)
            _settle(terminal, 0.1)
        first: list[float] = []
        columns: list[float] = []
        work: list[float] = []
        visible = 3
        for letter in _letters():
            before = _processor(terminal.pid)
            start = time.perf_counter()
            terminal.press(letter)
            terminal.wait_for_byte()
            first.append(time.perf_counter() - start)
            terminal.wait_for(f"(str): {letter}", times=visible)
            columns.append(time.perf_counter() - start)
            work.append(_processor(terminal.pid) - before)
            _settle(terminal, 0.05)
            terminal.press("\x7f")
            _settle(terminal, 0.1)
        print(f"{demos:5} demos of 2 kB: key -> editor {_p95(first)} (bar 16), key -> columns {_p95(columns)} (bar 33)")
        print(f"{demos:5} demos of 2 kB: processor time, key -> columns {_p95(work)}")
        print(f"{demos:5} demos of 2 kB: memory {_memory(terminal.pid):.0f} MB (bar 75, without a model called)")


def _large_editor(here: Path) -> None:
    lines = "\n".join(f"{number} keep to the rules of the house and say so in plain words" for number in range(1700))
    session = _session(here, 2, 200, lines)
    with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
        terminal.wait_for("Your input")
        _settle(terminal)
        terminal.press("\t")
        _settle(terminal)
        times: list[float] = []
        for letter in _letters():
            start = time.perf_counter()
            terminal.press(letter)
            terminal.wait_for_byte()
            times.append(time.perf_counter() - start)
            _settle(terminal, 0.05)
        print(f"editor of {len(lines) // 1000} kB: key -> editor {_p95(times)} (bar 33)")


def _large_session(here: Path, rounds: int = 5) -> None:
    session = _session(here, 2_500, 2_000)
    times: list[float] = []
    for _ in range(rounds + 1):
        with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
            times.append(_until(terminal, "class Ask").clock)
    size = session.stat().st_size / 1e6
    print(f"session of {size:.1f} MB: first paint {statistics.median(times[1:]):.3f} s (bar 1)")


def _model_list(here: Path, rounds: int = 7) -> None:
    """The first time in a program, which reads litellm's list; then again. The last line says how many there are."""
    first: list[float] = []
    again: list[float] = []
    work: list[float] = []
    session = _session(here, 16, 200)
    for _ in range(rounds):
        with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
            terminal.wait_for("Your input")
            _settle(terminal)
            for times in (first, again):
                before = _processor(terminal.pid)
                start = time.perf_counter()
                terminal.press("ctrl+l")
                terminal.wait_for("models of litellm")
                terminal.wait_for("offline/chatty")
                times.append(time.perf_counter() - start)
                if times is first:
                    work.append(_processor(terminal.pid) - before)
                _settle(terminal)
                terminal.press("escape")
                _settle(terminal)
    print(f"model list: {_p95(first)} (bar 300), again {_p95(again)}; processor time {_p95(work)}")


def _leaving_alone(here: Path, rounds: int = 20) -> None:
    """F10 on the editors, and back to editors, six columns and their replies."""
    session = _session(here, 16, 2000, columns=(*COLUMNS, "markdown"))
    with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
        terminal.wait_for("Your input")
        _settle(terminal)
        times: list[float] = []
        work: list[float] = []
        for _ in range(rounds):
            terminal.press("f10")
            _settle(terminal)
            before = _processor(terminal.pid)
            start = time.perf_counter()
            terminal.press("f10")
            while terminal.reads_within(QUIET):
                end = time.perf_counter()
            times.append(end - start)
            work.append(_processor(terminal.pid) - before)
        print(f"leaving F10 with six columns: {_p95(times)} (bar 150); processor time {_p95(work)}")


def _letters() -> Iterator[str]:
    return iter([chr(ord("a") + number % 26) for number in range(KEYS)])


def _settle(terminal: Terminal, quiet: float = 0.4) -> None:
    """Waits until nothing has been painted for a while."""
    while terminal.reads_within(quiet):
        pass


def _p95(times: list[float]) -> str:
    ordered = sorted(times)
    return f"p50 {1000 * ordered[len(ordered) // 2]:.1f} ms, p95 {1000 * ordered[int(len(ordered) * 0.95)]:.1f} ms"


def _memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    (line,) = [one for one in status.read_text().splitlines() if one.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
