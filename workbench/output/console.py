"""Write results to standard output and messages to standard error; terminals get no control characters from data."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from workbench.output import display

if TYPE_CHECKING:
    from adapters.display.blocks import Block

_LONG_NAME = re.compile(rf"([^\s/\\]{{{display.LONGEST_NAME}}})[^\s/\\]+")

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2", "bold": "1"}
_TONES = {"strong": "bold", "good": "green", "warning": "yellow", "bad": "red", "worst": "red", "dim": "dim"}
"""The color of each tone of display blocks."""


_results: TextIO | None = None
"""The stream for results while `results_alone` redirects standard output."""


class CannotWriteError(Exception):
    """Standard output cannot be written. If its reader closed it, `BrokenPipeError` is raised instead."""


def prepare() -> None:
    """Escape characters that cannot be encoded (such as unpaired surrogates), instead of raising.

    Discard what is written to a stream that was closed before the start, as by `>&-`; a closed input is empty.
    """
    sys.stdin = sys.stdin or open(os.devnull, encoding="utf-8")
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty()


@contextmanager
def results_alone() -> Iterator[None]:
    """Reserve standard output for results; anything else printed meanwhile goes to standard error.

    This includes output of the user's functions and adapters, and of programs that they start.
    """
    global _results
    before, number = sys.stdout, None
    with suppress(OSError, ValueError):  # a stream in memory has no descriptor
        number = before.fileno() if sys.stderr.fileno() >= 0 else None
    _attempt(before.flush)
    own: TextIO = before
    if number is not None:  # another stream to the same file, independent of the descriptor
        own = open(os.dup(number), "w", 1 if is_terminal(before) else -1, before.encoding, before.errors)
    _results, sys.stdout = own, sys.stderr
    try:
        if number is not None:
            os.dup2(sys.stderr.fileno(), number)
        yield
        _attempt(own.flush)
    finally:
        _results, sys.stdout = None, before
        if number is not None:
            os.dup2(own.fileno(), number)
            with suppress(OSError):  # already reported above
                own.close()


def _out() -> TextIO:
    return sys.stdout if _results is None else _results


Say = Callable[[Callable[[], None]], None]
"""Takes a function that writes, and calls it now or later (see `Turns`)."""

_say: ContextVar[Say | None] = ContextVar("say", default=None)


def _write_in_turn(write: Callable[[], None]) -> None:
    say = _say.get()
    if say is None:
        write()
    else:
        say(write)


def _write(content: str) -> None:
    _write_in_turn(lambda: _attempt(partial(_out().write, content)))


def _attempt(write: Callable[[], object]) -> None:
    """Write or flush. Raises `CannotWriteError` and BrokenPipeError."""
    try:
        write()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotWriteError((error.strerror or str(error)).lower()) from error


def flush() -> None:
    """Flush all output. Like all writes in this module, raises `CannotWriteError` and BrokenPipeError."""
    _write_in_turn(lambda: _attempt(_out().flush))


def give_up() -> None:
    """Discard unwritten output, which Python would otherwise try to write again at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def text(content: str, end: str = "\n") -> None:
    """Write text of a result: unchanged to a pipe or file, without control characters to a terminal."""
    _write((display.safe(content) if is_terminal(_out()) else content) + end)


def heading(content: str, colour: str | None) -> None:
    """Write a line of a result, colored on a terminal (unless NO_COLOR is set); None is no color."""
    shown = display.safe(content) if is_terminal(_out()) else content
    _write((shown if colour is None else coloured(shown, colour, _out())) + "\n")


def blocks(made: Iterable[Block]) -> None:
    """Write display blocks; on a terminal, each line has the color of its tone."""
    from adapters.display import as_text
    from adapters.display.blocks import Shown

    for line, tone in as_text.toned_lines(Shown("", tuple(made)), most_rows=sys.maxsize):
        heading(line, _TONES.get(tone))


def coloured(shown: str, colour: str, stream: TextIO) -> str:
    """Color `shown`, which must be safe already, if `stream` is a terminal with colors."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return shown
    return f"\x1b[{_COLOURS[colour]}m{shown}\x1b[0m"


def diff_lines(lines: Iterable[str], indent: str = "") -> None:
    """Write the lines of a unified diff, red and green on a terminal."""
    for line in lines:
        colour = {"-": "red", "+": "green", "@": "dim"}.get(line.lstrip(" ")[:1])
        heading(f"{indent}{line}", colour)


def chunk(content: str) -> None:
    """Write a piece of a reply as it streams."""
    text(content, end="")
    flush()


def thought(content: str) -> None:
    """Write a piece of the model's reasoning, dimmed."""
    _write(coloured(display.safe(content), "dim", _out()))
    flush()


def progress(content: str) -> None:
    """Write a piece of a reply to standard error as it streams, if that is a terminal."""
    if is_terminal(sys.stderr):
        _write_in_turn(partial(print, display.safe(content), end="", file=sys.stderr, flush=True))


def json(data: Any) -> None:
    """Write a result as the documented JSON. `json_shapes` is imported late, because `--help` must stay fast."""
    from workbench.output import json_shapes

    _write(json_shapes.dumps(data) + "\n")


def result(as_json: bool, shape: Mapping[str, Any], content: str, end: str = "\n") -> None:
    """Write a result as the documented JSON or as text."""
    if as_json:
        json(shape)
    else:
        text(content, end)


def message(content: str) -> None:
    """Write a message for people to standard error, always without control characters."""
    _write_in_turn(partial(_message_now, content))


def problem(content: object) -> None:
    """Write a message about what is wrong or left out."""
    message(f"workbench: {content}")


def _message_now(content: str) -> None:
    with suppress(CannotWriteError):  # reported when results are written
        _attempt(_out().flush)
    with suppress(OSError):  # nowhere left to report it
        sys.stderr.write(display.safe(_LONG_NAME.sub(r"\1…", content)) + "\n")
        sys.stderr.flush()


class StatusLine:
    """A line of the terminal that is written anew with each step, and cleared before results.

    It shows at most a step each `every_s` seconds, and nothing where standard error is not a terminal.
    """

    def __init__(self, every_s: float = 0.0) -> None:
        self._every_s = every_s
        self._shown_at: float | None = None

    def show(self, content: str) -> None:
        now = time.monotonic()
        if is_terminal(sys.stderr) and (self._shown_at is None or now - self._shown_at > self._every_s):
            self._shown_at = now
            _status_now(content)

    def clear(self) -> None:
        if self._shown_at is not None:
            _status_now("")


def _status_now(content: str) -> None:
    with suppress(OSError):
        width = os.get_terminal_size(sys.stderr.fileno()).columns - 1  # standard output may be a file
        sys.stderr.write(f"\r\x1b[K{display.one_line(content, width)}")
        sys.stderr.flush()


class Turns:
    """Orders the output of numbered threads: the current thread writes at once, later ones are buffered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = 0
        self._waiting: dict[int, list[Callable[[], None]]] = {}
        self._ended: set[int] = set()

    @contextmanager
    def turn(self, number: int) -> Iterator[None]:
        """Assign this thread's writes to turn `number`."""
        before = _say.set(partial(self._say, number))
        try:
            yield
        finally:
            with self._lock:
                self._ended.add(number)
                while self._now in self._ended:
                    self._now += 1
                    for write in self._waiting.pop(self._now, ()):
                        write()
            _say.reset(before)

    def _say(self, number: int, write: Callable[[], None]) -> None:
        with self._lock:
            if number == self._now:
                write()
            else:
                self._waiting.setdefault(number, []).append(write)
