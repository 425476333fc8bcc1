"""A reply from a file or from standard input, exactly as given: no byte order mark, line break or blank is touched."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.output import command_output
from workbench.output.exit_codes import CommandError


def read(source: str | None) -> str:
    """The text of the file `source`, or of standard input for None and `-`. Raises `CommandError`."""
    if source is None or source == "-":
        if sys.stdin.isatty():
            command_output.message("type or paste the reply, then ctrl+d on a line of its own")
        return _decode(sys.stdin.buffer.read(), "standard input")
    try:
        return _decode(Path(source).read_bytes(), source)
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror or error}") from error


def _decode(data: bytes, place: str) -> str:
    """UTF-8, lone surrogates included (as JSON escapes can make them)."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise CommandError(f"{place}: byte {error.start} is not UTF-8; convert the reply first (`iconv`)") from error
