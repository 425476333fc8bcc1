"""The app in a real terminal beside the least possible on the same machine: `python benchmarks/screen.py`.

With words behind it, rows with such a word in their names alone are measured: `screen.py "model list" alt+p`.

A bare Textual app runs beside ours, and both are measured in turn: first paint, a key to the editor and to the columns
(a Static each, updated with the whole text), a pushed and a popped screen. The bar of each is a ratio, of medians and
of p95; the load of the machine stands behind it. Memory and the paint of a large session are measured too.

Both apps run from bytecode, as what pip installed does; the first round writes it and does not count.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from terminal import Terminal  # noqa: E402

from benchmarks.measure import BARE, TO_DESCRIPTION, state_with_open_prompts, tell  # noqa: E402
from sessions.bench.results import BenchRun, ResultsFile, path_beside  # noqa: E402
from sessions.model.replies import Answer  # noqa: E402
from workbench.sending.sent_runs import PastRun, SentRuns  # noqa: E402

SIZE = (160, 45)
SOURCE = [
    "class Ask(dspy.Signature):",
    "    answer: str = dspy.OutputField()",
    '    question: str = dspy.InputField(desc="")',
]
COLUMNS = ("chat", "json", "xml", "baml", "twostep")
SCREENS = {one: one for one in ("f1", "f6", "f7", *(f"ctrl+{letter}" for letter in "fglopt"))}
SCREENS |= {"f11": "\x1b[23~", "f12": "\x1b[24~", **{f"alt+{letter}": f"\x1b{letter}" for letter in "chjprstux"}}
"""Keys that open something, and what a terminal sends for them."""
STEPS = {
    "down": ("\x1b[B",),
    "pagedown": ("\x1b[6~",),
    "end and home": ("\x1b[F", "\x1b[H"),
}
WHEEL = {"wheel": ("\x1b[<65;20;12M",)}
"""Turned where the grid of a bench is; the list of runs is a part of its screen."""
LONG_LISTS = {
    "10,000 runs": ("runs", "reply 9999", "\x1br"),
    "bench of 5,000 cells": ("bench", "case 0", "\x10", "Bench: the grid", "\r"),
}
"""The bare list that stands beside each, what is shown once it is open, and the keys that open it."""
BARE_LISTS = """
import sys
from textual.app import App
from textual.widgets import DataTable, OptionList

class Table(DataTable):
    BINDINGS = [("end", "scroll_bottom", "last"), ("home", "scroll_top", "first")]

class Bare(App):
    def compose(self):
        if sys.argv[1] == "runs":
            yield OptionList(*[f"  run {number} {'of the bare list ' * 5}" for number in range(10_000)])
            return
        table = Table(cursor_type="cell")
        table.add_columns(*"abcde")
        table.add_rows([[f"{number} of 1"] * 5 for number in range(1_000)])
        yield table

Bare().run()
"""
"""A bare list of as many rows as the run list has, or a bare table of as many cells as the grid of a bench."""
KEYS = 30
QUIET = 0.3
"""Seconds after which nothing more is painted for a key; what was painted last before them is its end."""


def main(wanted: Sequence[str]) -> int:
    rows = {
        "first paint, prompts in view": _first_paint,
        **{f"keys with {demos:,} demos": partial(_keystrokes, demos=demos) for demos in (16, 1000)},
        "editor of 104 kB": _large_editor,
        "session of 5.1 MB": _large_session,
        "model list": _model_list,
        **{f"{name} and back": partial(_screen, name=name) for name in SCREENS},
        "leaving F10": _leaving_alone,
        **{name: partial(_long_list, name=name) for name in LONG_LISTS},
    }
    measured = [row for name, row in rows.items() if not wanted or any(word in name for word in wanted)]
    if not measured:
        print(f"no such row; there are: {'; '.join(rows)}")
        return 2
    for row in measured:
        with tempfile.TemporaryDirectory() as folder:
            row(Path(folder))
    return 0


def _terminal(words: list[str], here: Path) -> Terminal:
    environment = {
        "HOME": str(here),
        "XDG_STATE_HOME": state_with_open_prompts(here),
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(here / "bytecode"),
    }
    return Terminal(words, here, SIZE, environment)


def _bare(here: Path, editor: str, column: str = "", columns: int = 0) -> Terminal:
    """The bare app with this text in its editor, and so many columns of another."""
    files = here / f"editor-{len(editor)}.txt", here / f"column-{len(column)}.txt"
    for file, text in zip(files, (editor, column), strict=True):
        file.write_text(text)
    return _terminal([sys.executable, "-c", BARE, *map(str, files), str(columns)], here)


def _ours(here: Path, session: Path) -> Terminal:
    return _terminal([sys.executable, "-m", "workbench", str(session)], here)


def _compare(what: str, bar: float, ours: Callable[[], float], bare: Callable[[], float], rounds: int) -> None:
    """Measure both sides in turn, and print the ratios of their medians and p95; the first round does not count."""
    pairs = [(ours(), bare()) for _ in range(rounds + 1)][1:]
    mine, least = (sorted(times) for times in zip(*pairs, strict=True))
    tell(what, bar, mine, least)


def _first_paint(here: Path, rounds: int = 7) -> None:
    session = _session(here, 16, 200)
    bare, frame, prompts = [], [], []
    for _ in range(rounds + 1):
        with _bare(here, "Signature one") as terminal:
            bare.append(_until(terminal, "Signature one"))
        with _ours(here, session) as terminal:
            frame.append(_until(terminal, "class Ask"))
            more = _until(terminal, "Your input")
            prompts.append(Cost(frame[-1].clock + more.clock, more.processor))
    for said, ours, bar in (("first paint", frame, 1.7), ("prompts in view", prompts, 2.5)):
        _tell_costs(said, bar, ours[1:], bare[1:])


class Cost(NamedTuple):
    """Seconds: of the clock, and of processor time, of a start since the program began."""

    clock: float
    processor: float


def _tell_costs(what: str, bar: float, ours: Sequence[Cost], bare: Sequence[Cost]) -> None:
    for kind in Cost._fields:
        mine, least = (sorted(getattr(one, kind) for one in costs) for costs in (ours, bare))
        tell(f"{what}, {kind}", bar, mine, least)


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
    """A letter to the first byte back, and to the moment when every visible column shows it."""
    visible = 3
    # The bare columns never have more than 16 demos: with 1,000 a key takes them a minute.
    column = "".join(f"question: {number} {'The context says a thing or two. ' * 60}\n" for number in range(16))
    session = _session(here, demos, 2000)
    with _ours(here, session) as first_round:  # who compiles its modules takes 7 MB more
        first_round.wait_for("Your input")
        _settle(first_round, 1)
    with _ours(here, session) as ours, _bare(here, "") as alone, _bare(here, "", column, visible) as bare:
        ours.wait_for("Your input")
        for terminal in (ours, alone, bare):
            _settle(terminal)
        for key in TO_DESCRIPTION:
            ours.press(key)
            _settle(ours, 0.1)
        times: dict[Terminal, list[tuple[float, float]]] = {ours: [], alone: [], bare: []}
        for letter in _letters():
            for terminal, found in times.items():
                start = time.perf_counter()
                terminal.press(letter)
                terminal.wait_for_byte()
                first = time.perf_counter() - start
                if terminal is not alone:
                    terminal.wait_for(f"(str): {letter}", times=visible)
                found.append((first, time.perf_counter() - start))
                _settle(terminal, 0.05)
                terminal.press("\x7f")
                _settle(terminal, 0.1)
        for said, bar, which, beside in (("editor", 1.5, 0, alone), ("columns", 1.0, 1, bare)):
            mine, least = (sorted(one[which] for one in times[terminal]) for terminal in (ours, beside))
            tell(f"{demos:,} demos of 2 kB: key -> {said}", bar, mine, least)
        print(f"     {demos:,} demos of 2 kB: memory {_memory(ours.pid):.0f} MB (bar 85, without a model called)")


def _large_editor(here: Path) -> None:
    lines = "\n".join(f"{number} keep to the rules of the house and say so in plain words" for number in range(1700))
    with _ours(here, _session(here, 2, 200, lines)) as ours, _bare(here, lines) as bare:
        ours.wait_for("Your input")
        for terminal in (ours, bare):
            _settle(terminal)
        ours.press("\t")
        _settle(ours)
        letters = {ours: _letters(), bare: _letters()}

        def key(terminal: Terminal) -> float:
            start = time.perf_counter()
            terminal.press(next(letters[terminal]))
            terminal.wait_for_byte()
            took = time.perf_counter() - start
            _settle(terminal, 0.05)
            return took

        said = f"editor of {len(lines) // 1000} kB: key -> editor"
        _compare(said, 1.5, lambda: key(ours), lambda: key(bare), KEYS - 1)


def _large_session(here: Path, rounds: int = 5) -> None:
    session = _session(here, 2_500, 2_000)

    def paint(terminal: Terminal, marker: str) -> float:
        with terminal:
            return _until(terminal, marker).clock

    said = f"session of {session.stat().st_size / 1e6:.1f} MB: first paint"
    ours, bare = lambda: _ours(here, session), lambda: _bare(here, "Signature one")
    _compare(said, 1.8, lambda: paint(ours(), "class Ask"), lambda: paint(bare(), "Signature one"), rounds)


def _pushed(terminal: Terminal, key: str, *markers: str) -> Cost:
    """Seconds from a key until the screen that it pushes shows its last line; leaves that screen."""
    start, before = time.perf_counter(), _processor(terminal.pid)
    terminal.press(key)
    for marker in markers:
        terminal.wait_for(marker)
    took = Cost(time.perf_counter() - start, _processor(terminal.pid) - before)
    _settle(terminal)
    terminal.press("escape" if key == "ctrl+l" else "f10")
    _settle(terminal)
    return took


def _model_list(here: Path, rounds: int = 7) -> None:
    """The list, whose last line says how many models there are, against a bare screen, pushed."""
    with _ours(here, _session(here, 16, 200)) as ours, _bare(here, "Signature one") as bare:
        ours.wait_for("Your input")
        for terminal in (ours, bare):
            _settle(terminal)
        listed, least = ("ctrl+l", "models of litellm", "offline/chatty"), ("f2", "pushed screen")
        costs = [(_pushed(ours, *listed), _pushed(bare, *least)) for _ in range(rounds + 1)]
        _tell_costs("model list", 3.0, [one for one, _ in costs[1:]], [one for _, one in costs[1:]])


def _screen(here: Path, name: str, rounds: int = 5) -> None:
    """A screen or dialog that a key opens, there and back, in processor time, against a bare screen."""
    with _ours(here, _session(here, 16, 200)) as ours, _bare(here, "Signature one") as bare:
        ours.wait_for("Your input")

        def there_and_back(terminal: Terminal, *keys: str) -> float:
            _settle(terminal)
            start = _processor(terminal.pid)
            for key in keys:
                terminal.press(key)
                _settle(terminal)
            return _processor(terminal.pid) - start

        key = SCREENS[name]
        back = key if name in ("f11", "alt+p") else "escape"
        least = partial(there_and_back, bare, "f2", "f10")
        _compare(f"{name} and back", 3.0, partial(there_and_back, ours, key, back), least, rounds)


def _leaving_alone(here: Path, rounds: int = 20) -> None:
    """F10, back to the editors, six columns and their replies, against a bare screen, popped."""
    session = _session(here, 16, 2000, columns=(*COLUMNS, "markdown"))
    with _ours(here, session) as ours, _bare(here, "Signature one") as bare:
        ours.wait_for("Your input")
        for terminal in (ours, bare):
            _settle(terminal)

        def left(terminal: Terminal, key: str) -> float:
            terminal.press(key)
            _settle(terminal)
            end = start = time.perf_counter()
            terminal.press("f10")
            while terminal.reads_within(QUIET):
                end = time.perf_counter()
            return end - start

        _compare("leaving F10 with six columns", 3.0, lambda: left(ours, "f10"), lambda: left(bare, "f2"), rounds)


def _long_list(here: Path, name: str, rounds: int = 4, steps: int = 10) -> None:
    """A step in a list of 10,000 runs or in a bench of 5,000 cells, in processor time, against a bare list."""
    session = _session(here, 0, 0)
    _write_runs(here, session)
    _write_bench(session)
    bare_list, marker, *opening = LONG_LISTS[name]
    with _ours(here, session) as ours, _terminal([sys.executable, "-c", BARE_LISTS, bare_list], here) as bare:
        ours.wait_for("Your input")
        for terminal in (ours, bare):
            _settle(terminal)
        before = _processor(ours.pid)
        for key in opening:
            ours.press(key)
            _settle(ours)
        ours.wait_for(marker)
        print(f"     {name}: opened in {1000 * (_processor(ours.pid) - before):.0f} ms of processor time")

        def step(terminal: Terminal, keys: Sequence[str]) -> float:
            before = _processor(terminal.pid)
            for number in range(steps):
                terminal.press(keys[number % len(keys)])
                _settle(terminal, 0.05)
            return (_processor(terminal.pid) - before) / steps

        for pressed, keys in (STEPS | (WHEEL if bare_list == "bench" else {})).items():
            _compare(f"{name}: {pressed}", 3.0, partial(step, ours, keys), partial(step, bare, keys), rounds)


def _write_runs(here: Path, session: Path, count: int = 10_000) -> None:
    """Store runs of the session's case, each with its prompt and reply."""
    folder = Path(state_with_open_prompts(here)) / "adapter-workbench" / "runs"
    folder.mkdir(exist_ok=True)
    about = {"case": "one", "model": "offline/exact", "phase": "done", "seconds": 1.5, "path": str(session)}
    kept = SentRuns(folder / "sent.sqlite", 500)
    with kept._connection() as opened:
        opened.execute("PRAGMA synchronous = OFF")  # ten thousand waits for a disk measure nothing
    for number in range(count):
        at = f"2026-11-{number // 400 + 1:02}T{number // 20 % 20:02}:{number % 20:02}:00.000"
        messages = (("system", "Answer from the context. " * 80), ("user", f"Is it {number}? " * 40))
        text = f"reply {number} {'says that the chair was paid. ' * 30}"
        column = COLUMNS[number % len(COLUMNS)]
        kept.add(PastRun(at, column=column, text=text, adapter=column, messages=messages, **about))
    kept.close()


def _write_bench(session: Path, cases: int = 1_000) -> None:
    """Write results beside the session: a run of each case in each column, every fifth of which is a miss."""
    about: dict[str, Any] = {"number": 1, "request": "sha256:1", "model": "offline/exact", "tokens": 10}
    with ResultsFile(path_beside(session)) as file:
        for number in range(cases * len(COLUMNS)):
            case, column = f"case {number // len(COLUMNS)}", COLUMNS[number % len(COLUMNS)]
            values = {"answer": f"yes {number % 3}"} if number * 7 % 6 else {}
            error = None if values else "the reply could not be read"
            outcome = "parsed" if values else "refused"
            reply = Answer(text=f"reply {number}")
            file.append(BenchRun(case, column, outcome=outcome, reply=reply, values=values, error=error, **about))


def _letters() -> Iterator[str]:
    return iter([chr(ord("a") + number % 26) for number in range(KEYS)])


def _settle(terminal: Terminal, quiet: float = 0.4) -> None:
    """Waits until nothing has been painted for a while."""
    while terminal.reads_within(quiet):
        pass


def _memory(pid: int) -> float:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return float("nan")
    (line,) = [one for one in status.read_text().splitlines() if one.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
