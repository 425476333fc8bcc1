"""All flags of a reading."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from adapters.replies.flags.chat_structure import chat_structure
from adapters.replies.flags.flag import Flag
from adapters.replies.flags.json_structure import json_structure
from adapters.replies.flags.repaired_json import repaired_json
from adapters.replies.flags.values_read import values_read
from adapters.replies.flags.values_refused import values_refused
from adapters.replies.flags.verdict import verdict
from adapters.replies.flags.xml_structure import xml_structure

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

DETECTORS: tuple[Callable[[Reading], Iterator[Flag]], ...] = (
    verdict,
    chat_structure,
    json_structure,
    repaired_json,
    xml_structure,
    values_read,
    values_refused,
)


def explain(reading: Reading) -> tuple[Flag, ...]:
    """The flags of a reading: at most one of each name for a field, and for the whole reply. Never raises.

    TwoStep's are those of the extraction's reply, from which the fields come.
    """
    if reading.extraction is not None:
        return explain(reading.extraction)
    found: dict[tuple[str, str | None], Flag] = {}
    for detect in DETECTORS:
        try:
            for flag in detect(reading):
                found.setdefault((flag.name, flag.field), flag)
        except (
            Exception
        ):  # a user's type may raise in its own __eq__, __repr__ or hooks; what that would tell is left out
            continue
    return tuple(found.values())
