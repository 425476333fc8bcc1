"""The argument parser of commands, whose errors suggest a remedy, their shared options, and ctrl+c.

During a command, the first and second ctrl+c request a stop, the third ends the program as usual. `cleaned_up` handles
other signals that end a command with resources to clean up.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from workbench.config.confinement import Allowed
from workbench.output import console
from workbench.output.exit_codes import CommandError, nearest

MOST_REPEATS = 1000
Value = TypeVar("Value")
Options = argparse.Namespace
"""The options of a command, parsed."""


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that raises `CommandError` instead of printing its usage and exiting."""

    def __init__(self, prog: str, description: str, examples: str = "") -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=f"examples:\n{examples}" if examples else None,
            # With a width, as argparse makes one for every argument, and would load `shutil` for the terminal's.
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=80),
            allow_abbrev=False,
        )

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def flag(self, names: str, about: str, **settings: Any) -> None:
        """Add an option without a value; `names` are separated by spaces."""
        self.add_argument(*names.split(), action="store_true", help=about, **settings)

    def option(self, names: str, metavar: str, about: str, **settings: Any) -> None:
        """Add an option with a value."""
        self.add_argument(*names.split(), metavar=metavar, help=about, **settings)

    def several(self, names: str, metavar: str, about: str, **settings: Any) -> None:
        """Add an option that may be repeated; its values are a list."""
        self.option(names, metavar, about, action="append", default=[], **settings)

    def one_or_more(self, names: str, metavar: str, about: str, **settings: Any) -> None:
        """Add an option that takes one or more values and may be repeated; its values are a list."""
        self.option(names, metavar, about, action="extend", nargs="+", default=[], **settings)

    def shared(self, *names: str) -> None:
        """Add the options of `SHARED` with these names."""
        for name in names:
            SHARED[name](self)

    def error(self, message: str) -> NoReturn:
        """Raise `CommandError`; suggest the nearest option, or the nearest word of a closed list."""
        near = None
        if wrong := re.search(r"unrecognized arguments: .*?(--?[\w-]+)", message):
            near = nearest(wrong.group(1), self._option_string_actions)
            name = message.partition(": ")[2]
            if name.startswith("-") and os.path.lexists(name):  # a file, such as `-draft.session.json`
                near = shlex.quote(f"./{name}")
        elif wrong := re.search(r"invalid choice: '(.*)' \(choose from (.*)\)$", message, re.DOTALL):
            near = nearest(wrong.group(1), re.findall(r"[\w-]+", wrong.group(2)))
        hint = f"; did you mean {near}?" if near else ""
        raise CommandError(f"{message}{hint}; `{self.prog} --help` shows how")


def standard_input(what: str) -> str:
    """Read all of standard input as text, exactly as given; a terminal is told to paste `what`."""
    if sys.stdin.isatty():
        console.message(f"type or paste {what}, then ctrl+d on a line of its own")
    return decode(sys.stdin.buffer.read(), "standard input")


def decode(data: bytes, place: str) -> str:
    """Decode UTF-8, including unpaired surrogates (from JSON escapes). Raises `CommandError`."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise CommandError(f"{place}: byte {error.start} is not UTF-8; convert it first (`iconv`)") from error


def add_ask_again(parser: Parser, more: str) -> None:
    parser.option(
        "--ask-again",
        "N",
        f"after a parse error, return it to the model, up to N times (not dspy; {more})",
        type=int,
        choices=range(1, 6),
    )


def add_columns(parser: Parser, default_case: str = "the first") -> None:
    """Add `--adapter` and `--case`, which select parts of a session (see `workbench.cli.selection`)."""
    parser.shared("adapters")
    parser.option("--case", "NAME", f"which case of the session (default: {default_case})")


def add_fixtures(parser: Parser) -> None:
    """Add the options that choose fixtures to `check` and `review`."""
    parser.several("--adapter", "A", "only this column; repeatable", dest="adapters")
    parser.several("--case", "NAME", "only this case; repeatable", dest="cases")
    parser.option("-k", "EXPR", "only such cases, columns, path:WORDs", dest="keyword", default="")
    parser.option("--jobs", "N", "processes to check files in (default 1)", type=whole_number(1, 256), default=1)


def model(text: str) -> str:
    """Parse the name of a model; an empty name (from an unset variable) is an error."""
    if not text.strip():
        raise argparse.ArgumentTypeError("the name is empty; `workbench models` lists what can be chosen")
    return text


LISTED = "offline/exact, openai/gpt-6-sol, … (`workbench models` lists them)"
SHARED: Mapping[str, Callable[[Parser], None]] = {
    "session": lambda parser: parser.option("session", "SESSION", "a session file", nargs="?"),
    "json": lambda parser: parser.flag("--json", "print the documented JSON instead of text"),
    "adapters": lambda parser: parser.one_or_more(
        "--adapter",
        "A",
        "a column of the session by its id, or an adapter: chat json xml baml twostep markdown, or "
        "module:Class of your own, which is imported; several may follow, also as chat,json; write a comma of an "
        "id as \\, (default: the session's columns)",
        dest="adapters",
    ),
    "model": lambda parser: parser.option("--model", "M", LISTED, type=model),
    "models": lambda parser: parser.one_or_more(
        "--model", "M", f"{LISTED}; with several, adapter × model", dest="models", type=model
    ),
    "tool": lambda parser: parser.several(
        "--tool",
        "NAME=MODULE:FUNCTION",
        "answer the session's tool NAME with a function of your own, which is imported",
        dest="handlers",
    ),
    "allow_host": lambda parser: parser.several(
        "--allow-host",
        "HOST",
        "send your API key to an address of this session or a `.env` if it is at HOST (or HOST:PORT)",
        dest="allow_hosts",
    ),
    "allow_variable": lambda parser: parser.several(
        "--allow-variable",
        "NAME",
        "send the value of this variable in the header that the session's header_variables give it",
        dest="allow_variables",
    ),
}
"""Options that several commands have, by name."""


def value(expected: str, read: Callable[[str], Value], fits: Callable[[Value], bool]) -> Callable[[str], Value]:
    """Make the reader of an option's value, whose error names what was `expected`."""

    def read_value(text: str) -> Value:
        with suppress(ValueError):
            if fits(found := read(text)):
                return found
        raise argparse.ArgumentTypeError(f"{text[:40]!r}: expected {expected}")

    return read_value


def digits(text: str) -> int:
    """Parse a number of at most eleven digits, without sign. Raises ValueError."""
    if not (text.isdecimal() and text.isascii() and len(text) < 12):
        raise ValueError(text)
    return int(text)


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Make the reader of a whole number within bounds."""
    return value(f"a number from {least} to {most}", digits, lambda number: least <= number <= most)


def share_of(text: str) -> float:
    """Parse a share as a number or with a percent sign. Raises ValueError."""
    number = text.strip().removesuffix("%")
    return float(number) / (100 if number != text.strip() else 1)


def _shard(text: str) -> tuple[int, int]:
    index, _, count = text.partition("/")
    return digits(index), digits(count)


seconds = value("a number of seconds above 0", float, lambda number: 0 < number < 1e6)
count = whole_number(1, MOST_REPEATS)
shard = value("a shard such as 2/8", _shard, lambda shard: 1 <= shard[0] <= shard[1])


def add_variants(parser: Parser, said: str = "each column once more with the session's variants of this tag") -> None:
    parser.several("--variant", "TAG", said, dest="variants")


def allowed(options: Options) -> Allowed:
    """Return what `--allow-host` and `--allow-variable` allow to be sent."""
    return Allowed(frozenset(options.allow_hosts), frozenset(options.allow_variables))


def settle_session(options: Options) -> None:
    """Accept SESSION as the last value of `--adapter A …` and `--model M …`, too."""
    names, models = getattr(options, "adapters", []), getattr(options, "models", [])
    if options.session is None and len(models) > 1 and models[-1].endswith(".json"):
        options.session = models.pop()
    if options.session is None and len(names) > 1 and looks_like_a_file(names[-1]):
        options.session = names.pop()
    if options.session is None:
        raise CommandError(
            "which session? Give its file, as in `workbench render q.session.json`; `workbench new` makes one"
        )


def looks_like_a_file(text: str) -> bool:
    return text.endswith(".json") or "/" in text or Path(text).is_file()


def refuse(options: Mapping[str, object], why: str) -> None:
    """Refuse the first of these options that is given. Raises `CommandError`."""
    for name, is_given in options.items():
        if is_given:
            raise CommandError(f"{name} {why}")


def require_reports(options: Options) -> None:
    """Refuse reports that cannot be written before a command sends, runs or records. Raises `CommandError`."""
    for name in ("html", "markdown", "junit", "json"):
        path = getattr(options, name, None)
        if isinstance(path, str):  # some commands have a flag of this name
            _require_output(path)


def _require_output(path: str | Path) -> None:
    from workbench.checks.fixture_files import looks_like_session

    if str(path) == "-":
        raise CommandError("-: standard output has the command's own text; name a file")
    if Path(path).is_file() and looks_like_session(Path(path)):  # reading a pipe would wait
        raise CommandError(f"{path}: this is a session, and would be overwritten; name another file")


def write_output(path: str | Path, text: str) -> None:
    """Write the file that an option names, unless it is a session.

    Raises `CommandError`; the file is then unchanged.
    """
    from sessions.file import whole_files

    _require_output(path)
    try:
        whole_files.write(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        reason, hint = whole_files.explain(error)
        raise CommandError(f"{path}: cannot be written: {reason}" + (f" ({hint})" if hint else "")) from error
    except ValueError as error:  # a NUL character
        raise CommandError(f"{path!r}: not a file name: {error}") from error


@contextmanager
def handling(handlers: Mapping[signal.Signals, Any]) -> Iterator[None]:
    """Handle signals in another way meanwhile."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Asked(NamedTuple):
    """Requests by the user: `stop` begins nothing more, `cancel` also ends running work."""

    stop: threading.Event
    cancel: threading.Event


@contextmanager
def interruptible(said: str = "") -> Iterator[Asked]:
    """Set `stop` at the first ctrl+c, explained by `said`, and `cancel` at the second.

    Without `said`, the first ctrl+c sets both.
    """
    asked = Asked(threading.Event(), threading.Event())
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return

    def interrupt(*_: object) -> None:
        if asked.cancel.is_set():
            raise KeyboardInterrupt
        if asked.stop.is_set() or not said:
            asked.cancel.set()
        else:
            # Not in the handler itself, which may interrupt a write.
            threading.Thread(target=console.message, args=(f"\nworkbench: {said}",), daemon=True).start()
        asked.stop.set()

    with handling({signal.SIGINT: interrupt}):
        yield asked


@contextmanager
def cleaned_up() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGTERM and SIGHUP, so that `finally` runs.

    SIGTERM comes from a time limit, SIGHUP from a closed terminal. Further such signals are ignored, because they would
    interrupt the cleanup.
    """
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with handling(dict.fromkeys(numbers, end)):
        yield
