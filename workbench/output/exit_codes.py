"""Exit codes of `workbench`. With several columns, the worst one is returned: 3 over 1 over 0."""

from __future__ import annotations

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
