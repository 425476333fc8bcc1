"""Finding a text in prompts, replies, signature, inputs, demos and history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from workbench.output.display import one_line, safe
from workbench.state.document import Place

MOST_HITS = 999
CONTEXT = 60
"""Characters on either side of a hit that are shown."""


class Searched(NamedTuple):
    """A text to search: what it is called, where it is edited or shown, and of a prompt the number of the message."""

    name: str
    text: str
    place: Place | None = None
    column: str = ""
    message: int = -1


class Hit(NamedTuple):
    """A hit of a search: characters `start` to `end` of the text `of`."""

    of: Searched
    start: int
    end: int

    @property
    def context(self) -> tuple[str, str, str]:
        """Return the text before the hit, the hit, and the text after it, for one line."""
        text = self.of.text
        before = text[max(0, self.start - CONTEXT) : self.start].rpartition("\n")[2]
        behind = text[self.end : self.end + CONTEXT].partition("\n")[0]
        return (
            safe(before).replace("\t", " "),
            one_line(text[self.start : self.end], CONTEXT),
            one_line(behind, CONTEXT),
        )


def find(texts: Iterable[Searched], wanted: str) -> list[Hit]:
    """Every place where `wanted` stands, `MOST_HITS` at most. Capitals count once there is one in what is wanted."""
    return list(_first(texts, wanted)) if wanted else []


def _first(texts: Iterable[Searched], wanted: str) -> Iterator[Hit]:
    pattern = re.compile(re.escape(wanted), 0 if wanted != wanted.lower() else re.IGNORECASE)
    count = 0
    for searched in texts:
        for match in pattern.finditer(searched.text):
            if count == MOST_HITS:
                return
            count += 1
            yield Hit(searched, *match.span())
