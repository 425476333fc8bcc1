"""The app in a real terminal: `python benchmarks/screen.py` prints first paint, keystrokes, memory beside their bars.

First paint is paired with a bare Textual app of three text areas, in turn. A keystroke runs from the write to the
pseudo-terminal to the first byte back, and to the moment when every visible column shows what was typed.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

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


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        _first_paint(here)
        for demos in (16, 1000):
            _keystrokes(here, demos)
        _large_editor(here)
        _large_session(here)


def _terminal(words: list[str], here: Path) -> Terminal:
    environment = {"HOME": str(here), "XDG_STATE_HOME": str(here / "state"), "PYTHONPATH": str(ROOT)}
    return Terminal(words, here, SIZE, environment)


def _first_paint(here: Path, rounds: int = 7) -> None:
    frame: list[float] = []
    prompts: list[float] = []
    bare: list[float] = []
    session = _session(here, 16, 200)
    for _ in range(rounds + 1):
        with _terminal([sys.executable, "-c", BARE], here) as terminal:
            bare.append(_until(terminal, "Signature one"))
        with _terminal([sys.executable, "-m", "workbench", str(session)], here) as terminal:
            frame.append(_until(terminal, "class Ask"))
            prompts.append(frame[-1] + _until(terminal, "Your input"))
    first, later, theirs = (statistics.median(times[1:]) for times in (frame, prompts, bare))
    print(f"first paint: {first:.3f} s, bare {theirs:.3f} s, ratio {first / theirs:.2f} (bar 2)")
    print(f"prompts of the columns: {later:.3f} s, ratio {later / theirs:.2f}")


def _until(terminal: Terminal, marker: str) -> float:
    start = time.perf_counter()
    terminal.wait_for(marker)
    return time.perf_counter() - start


def _session(here: Path, demos: int, size: int, instructions: str = "Answer from the context.") -> Path:
    text = ("The context says a thing or two about it. " * (size // 42 + 1))[:size]
    content: dict[str, Any] = {
        "format": 0,
        "signature": {"text": SOURCE, "instructions": instructions.split("\n")},
        "model": "offline/exact",
        "columns": [{"id": name, "adapter": name} for name in COLUMNS],
        "demos": [{"values": {"question": f"{number} {text}", "answer": "yes"}} for number in range(demos)],
        "cases": [{"name": "one", "inputs": {"question": "Is it so?"}}],
    }
    path = here / f"bench-{demos}-{len(instructions)}.json"
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
        visible = 3
        for letter in _letters():
            start = time.perf_counter()
            terminal.press(letter)
            terminal.wait_for_byte()
            first.append(time.perf_counter() - start)
            terminal.wait_for(f"(str): {letter}", times=visible)
            columns.append(time.perf_counter() - start)
            _settle(terminal, 0.05)
            terminal.press("\x7f")
            _settle(terminal, 0.1)
        print(f"{demos:5} demos of 2 kB: key -> editor {_p95(first)} (bar 16), key -> columns {_p95(columns)} (bar 33)")
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
            times.append(_until(terminal, "class Ask"))
    size = session.stat().st_size / 1e6
    print(f"session of {size:.1f} MB: first paint {statistics.median(times[1:]):.3f} s (bar 1)")


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
