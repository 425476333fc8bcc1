"""Exit codes of `workbench`. The worst of several columns counts: 3 over 1 over 0."""

from __future__ import annotations

OK = 0
DIFFERENT = 1
"""Drift, a failed expectation, an unparsable reply, a difference."""
USAGE = 2
"""A wrong command line, or a file that cannot be read as what it should be."""
PROVIDER = 3
"""The model could not be asked or broke off, or a replay found no recording."""
NOTHING = 4
"""Nothing to check was found."""
INTERNAL = 70
"""A mistake of ours; the log file that the message names has the traceback."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""The reader of standard output went away before everything was written."""

_WORST_FIRST = (INTERRUPTED, INTERNAL, USAGE, PROVIDER, DIFFERENT, NOTHING, OK)


def worst(codes: list[int]) -> int:
    """Return the worst of several exit codes; `OK` for none."""
    return min(codes, key=_WORST_FIRST.index, default=OK)


class CommandError(Exception):
    """Ends a command with one clear line on standard error and an exit code."""

    def __init__(self, message: str, code: int = USAGE) -> None:
        self.code = code
        super().__init__(message)
