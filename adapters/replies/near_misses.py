"""What was probably meant where the parser saw nothing, and what it reads once the text is so mended."""

from __future__ import annotations

from itertools import islice

from adapters.json_text.repair_limits import one_reading
from adapters.replies.reading import NearMiss, Reading
from adapters.replies.repairs.guesses import guesses

LONGEST = 20_000
"""Characters of a reply that is mended at all: every guess is read again, all within one reading's repair steps."""

MOST_GUESSES = 12
MOST_KEPT = 3

LEAKS = frozenset(
    (
        "completed-marker-in-value",
        "cut-off-marker-in-value",
        "fence-in-value",
        "indented-marker-leaks",
        "marker-in-value",
        "marker-inside-think",
    )
)
"""Flags of values that hold a piece of the format: a text without them is read better."""


def find(reading: Reading) -> tuple[NearMiss, ...]:
    """The near misses of a reading, the best guess first; none when nothing better would come of mending.

    A guess is kept when more fields are read from the mended text, or when they no longer hold pieces of the format.
    TwoStep's are those of the extraction's reply. Never raises, and does nothing for replies past `LONGEST`.
    """
    if reading.extraction is not None:
        return find(reading.extraction)
    try:
        with one_reading():
            return _find(reading)
    except Exception:  # a user's type may raise in its own hooks; a guess less is no harm
        return ()


def _find(reading: Reading) -> tuple[NearMiss, ...]:
    reader = reading.reader
    before = _quality(reading)
    if (
        before == (True, len(reading.fields), 0)
        or reader is None
        or not reading.completion
        or len(reading.completion) > LONGEST
    ):
        return ()
    kept: list[NearMiss] = []
    seen = {reading.completion}
    for guess in islice(guesses(reading), MOST_GUESSES):
        if guess.mended in seen or len(guess.mended) > 2 * LONGEST:
            continue
        seen.add(guess.mended)
        mended = reader.read(reading.signature, guess.mended)
        if _quality(mended) > before and all(mended.values != one.reading.values for one in kept):
            kept.append(NearMiss(guess.message, guess.mended, mended))
        if len(kept) == MOST_KEPT:
            break
    return tuple(kept)


def _quality(reading: Reading) -> tuple[bool, int, int]:
    read = sum(one.state == "read" for one in reading.fields.values())
    return reading.ok, read, -sum(flag.name in LEAKS for flag in reading.flags)
