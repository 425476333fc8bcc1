"""Exit codes of `workbench`, and the errors of commands, which suggest the nearest valid name.

With several columns, the worst exit code is returned: 3 over 1 over 0.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.output.display import LONGEST_NAME

OK = 0
DIFFERENT = 1
"""Drift, a failed expectation, an unparsable reply, a difference."""
USAGE = 2
"""An invalid command line, or an invalid file."""
PROVIDER = 3
"""The model could not be called or its reply broke off, or a replay found no recording."""
NOTHING = 4
"""There was nothing to check."""
INTERNAL = 70
"""An internal error; the message names the log file with the traceback."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""The reader of standard output closed it before everything was written."""

_WORST_FIRST = (INTERRUPTED, INTERNAL, USAGE, PROVIDER, DIFFERENT, NOTHING, OK)


def worst(codes: list[int]) -> int:
    """Return the worst of several exit codes; `OK` for none."""
    return min(codes, key=_WORST_FIRST.index, default=OK)


class CommandError(Exception):
    """Ends a command with a message on standard error and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        self.code = code
        super().__init__(message)


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `wrong`, ignoring case; None if none is similar."""
    import difflib

    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def no_such(what: str, wrong: str, known: Iterable[str]) -> str:
    """Return `no column 'jason'; did you mean 'json'? There are: chat, json, xml`."""
    names = list(known)
    near = nearest(wrong[:LONGEST_NAME], names)
    question = f"; did you mean {near!r}?" if near else "."
    known_names = ", ".join(name[:LONGEST_NAME] for name in names) or "none"
    return f"no {what} {wrong[:LONGEST_NAME]!r}{question} There are: {known_names}"
