"""Parse a reply with every parser, without a call, and count the outputs that each finds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from adapters.formats import catalog
from adapters.json_text.repair_limits import quick_reading
from adapters.prompts.text import Prompt
from adapters.replies.reading import Reading
from adapters.requests.request import Request, read_reply
from adapters.signatures.signature import Signature

LONGEST = 100_000
"""The longest reply, in characters, for other parsers than its own: five more parses would take too long."""
UNREAD = "–"


def parsers_for(adapters: Iterable[str]) -> tuple[str, ...]:
    """List all built-in parsers, then the other adapters of the columns."""
    return tuple(dict.fromkeys([*catalog.NAMES, *adapters]))


def reading_by(parser: str, request: Request, text: str) -> Reading | None:
    """Parse the reply to `request` with an adapter without options.

    Returns None if the reply is too long, its repair takes too long, or the adapter is not available.
    """
    if len(text) > LONGEST or ":" in parser:
        return None
    return _read(parser, request.signature, request.calls_field, text)


@lru_cache(maxsize=64)
def _read(parser: str, signature: Signature, calls_field: str | None, text: str) -> Reading | None:
    try:
        with quick_reading() as steps:
            made = read_reply(catalog.make(parser), Request(Prompt(()), {}, signature, calls_field=calls_field), text)
        return None if steps.ran_out else made
    except Exception:  # an installed adapter may raise anything
        return None


def found(reading: Reading) -> int:
    """Return the number of outputs whose value is in the reply."""
    return sum(one.state in ("read", "native") for one in reading.fields.values())


def is_waiting(reading: Reading) -> bool:
    """Return whether the parse needs a second model that has not been called yet."""
    return reading.error is not None and reading.error.type == "NeedsExtraction"


def words_of(reading: Reading | None, is_own: bool) -> str:
    """Return a cell's text: `✓ 4/4 own`, `✗ 1/4`, `2nd call` or `–`."""
    if reading is None:
        return UNREAD
    if is_waiting(reading):
        return "2nd call"
    return f"{'✓' if reading.ok else '✗'} {found(reading)}/{len(reading.fields)}{' own' if is_own else ''}"
