"""Paired timing: both sides in one process, turn about, medians of CPU time compared."""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

BARE = """
import sys
from pathlib import Path
from textual.app import App
from textual.containers import Horizontal, VerticalScroll
from textual.screen import Screen
from textual.widgets import Footer, Static, TextArea

class Pushed(Screen):
    def compose(self):
        yield Static("pushed screen")

class Bare(App):
    BINDINGS = [("f2", "push", "push"), ("f10", "back", "pop")]

    def compose(self):
        with Horizontal():
            yield TextArea(EDITOR)
            for _ in range(COLUMNS):
                with VerticalScroll():
                    yield Static(COLUMN, markup=False)
        yield Footer()

    def on_text_area_changed(self, event):
        for one in self.query(Static):
            one.update(f"(str): {event.text_area.text}{chr(10)}{COLUMN}")

    def action_push(self):
        self.push_screen(Pushed())

    def action_back(self):
        self.pop_screen()

EDITOR = Path(sys.argv[1]).read_text()
COLUMN = Path(sys.argv[2]).read_text()
COLUMNS = int(sys.argv[3])
Bare().run()
"""
"""A bare Textual app: its arguments are the files of the editor's text and of a column's, and how many columns."""


TO_DESCRIPTION = (*["\x1b[B"] * 4, "\x1b[F", "\x1b[D", "\x1b[D")
"""Keys from the start of a signature into the empty `desc=""` of its last line, which may wrap."""


@dataclass(frozen=True)
class Ratio:
    """Medians in CPU seconds; `ratio` is how many times faster ours is (2.0: half the time)."""

    what: str
    theirs: float
    ours: float
    bar: float
    compared: str = "dspy"

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours if self.ours else float("inf")

    def __str__(self) -> str:
        verdict = "ok  " if self.ratio >= self.bar else "SLOW"
        times = f"{self.compared} {self.theirs * 1e3:9.3f} ms   ours {self.ours * 1e3:9.3f} ms"
        return f"{verdict} {self.what:58} {self.ratio:8.2f} x (bar {self.bar:g})   {times}"


def pair(what: str, bar: float, theirs: Callable[[], object], ours: Callable[[], object], budget: float = 1.5) -> Ratio:
    """Both sides timed turn about for about `budget` seconds (three rounds at least), after one unmeasured round."""
    theirs()
    once = _timed(theirs) + _timed(ours)
    batch = max(1, int(0.002 / max(once, 1e-7)))
    rounds = max(3, min(200, int(budget / (once * batch))))
    left: list[float] = []
    right: list[float] = []
    gc.collect()  # the collector itself stays on: it is part of what either side costs
    for number in range(rounds):
        first, second = (left, right) if number % 2 else (right, left)
        for times in (first, second):
            times.append(_batch(theirs if times is left else ours, batch))
    return Ratio(what, statistics.median(left), statistics.median(right), bar)


def _timed(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def _batch(call: Callable[[], object], times: int) -> float:
    start = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - start) / times


def state_with_open_prompts(here: Path) -> str:
    """A state folder in which prompts were left open: what is folded is neither painted nor waited for."""
    place = here / "state" / "adapter-workbench" / "layout.json"
    if not place.exists():
        place.parent.mkdir(parents=True, mode=0o700)
        place.write_text('{"user": {"quiet": false}}')
    return str(here / "state")


def tell(what: str, bar: float, mine: Sequence[float], least: Sequence[float]) -> None:
    """Print the ratios of two sorted lists of seconds, of their medians and p95, and the load of the machine."""
    places = [(int(len(mine) * part), int(len(least) * part)) for part in (0.5, 0.95)]
    pairs = [(mine[ours], least[bare]) for ours, bare in places]
    ratios = [ours / bare for ours, bare in pairs]
    verdict = "ok  " if ratios[0] <= bar else "SLOW"
    told = zip(("p50", "p95"), pairs, strict=True)
    shown = ", ".join([f"{name} {1000 * ours:.1f} / {1000 * bare:.1f} ms" for name, (ours, bare) in told])
    load = os.getloadavg()[0]
    print(
        f"{verdict} {what:44} {ratios[0]:.2f} x, p95 {ratios[1]:.2f} x (bar {bar:g}); {shown}; load {load:.1f}",
        flush=True,
    )
