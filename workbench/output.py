"""Results to standard output, messages to standard error; a terminal never gets a control character of somebody's."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from workbench import display

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "dim": "2"}


def prepare() -> None:
    """What cannot be encoded (a lone surrogate) is written as an escape and never ends the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty()


def text(content: str, end: str = "\n") -> None:
    """Text of a result: as it is into a pipe or file, without control characters on a terminal."""
    sys.stdout.write((display.safe(content) if is_terminal(sys.stdout) else content) + end)


def heading(content: str, colour: str) -> None:
    """A line that structures a result, coloured on a terminal (not with NO_COLOR set)."""
    shown = display.safe(content) if is_terminal(sys.stdout) else content
    sys.stdout.write(coloured(shown, colour, sys.stdout) + "\n")


def coloured(shown: str, colour: str, stream: TextIO) -> str:
    """`shown`, which must be safe already, in a colour if `stream` is a terminal that wants colours."""
    if not is_terminal(stream) or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return shown
    return f"\x1b[{_COLOURS[colour]}m{shown}\x1b[0m"


def diff_lines(lines: Iterable[str], indent: str = "") -> None:
    """Lines of a unified diff, red and green on a terminal."""
    for line in lines:
        colour = {"-": "red", "+": "green", "@": "dim"}.get(line.lstrip(" ")[:1])
        if colour is None:
            text(f"{indent}{line}")
        else:
            heading(f"{indent}{line}", colour)


def chunk(content: str) -> None:
    """A piece of a reply as it comes."""
    text(content, end="")
    sys.stdout.flush()


def progress(content: str) -> None:
    """A piece of a reply as it comes, on standard error, and only for a person who watches."""
    if is_terminal(sys.stderr):
        sys.stderr.write(display.safe(content))
        sys.stderr.flush()


def json(data: Any) -> None:
    """A result as the documented JSON. (The shapes know the engine, which `--help` does not load.)"""
    from workbench import json_shapes

    sys.stdout.write(json_shapes.dumps(data) + "\n")


def message(content: str) -> None:
    """One line (or a few) for a person, on standard error; always without control characters."""
    sys.stdout.flush()
    sys.stderr.write(display.safe(content) + "\n")
    sys.stderr.flush()
