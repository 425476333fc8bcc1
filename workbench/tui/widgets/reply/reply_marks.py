"""Label the margin of a reply with the field of each stretch and how it was parsed."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len

from adapters.replies.reading import Span, SpanKind
from workbench.output.display import one_line, short_name

SYMBOL_OF: dict[SpanKind, str] = {"repaired": "≈", "duplicate": "×2"}
WORD_OF: dict[SpanKind, str] = {
    "unknown": "unknown",
    "ignored": "ignored",
    "prose": "prose",
    "untraced": "not traced",
}
BAR_OF: dict[SpanKind, str] = {
    "marker": "│",
    "value": "┃",
    "repaired": "╏",
    "duplicate": "┊",
    "unknown": "?",
    "ignored": "·",
    "prose": "~",
    "untraced": "╎",
}
LONGEST_PUNCTUATION = 40
_WORD = re.compile(r"\w")
LOOKED_AT = 20_000
LONGEST_MARGIN = 24
SHORTEST_MARGIN = 3


class Label(NamedTuple):
    """The label of a stretch: offset of its first visible character, kind and field."""

    offset: int
    kind: SpanKind
    field: str | None

    @property
    def shortest(self) -> str:
        """The shortest form of the label."""
        symbol = SYMBOL_OF.get(self.kind)
        if self.field is None:
            return WORD_OF.get(self.kind) or "structure"
        return f"{self.field} {symbol}" if symbol else self.field

    def fit(self, width: int) -> str:
        """Fit the label into `width` cells: `answer (duplicate)`, or `answer ×2` if that is too long."""
        word, symbol = WORD_OF.get(self.kind), SYMBOL_OF.get(self.kind)
        if self.field is None:
            return one_line(word or "structure", width)
        if symbol:
            full = f"{self.field} ({self.kind})"
            return full if len(full) <= width else f"{short_name(self.field, width - 1 - len(symbol))} {symbol}"
        full = f"{self.field} ({word})" if word else self.field
        return short_name(full if len(full) <= width else self.field, width)


class Marks:
    """The spans of a reply, by offset; `margin` is the width in cells that its labels need."""

    def __init__(self, text: str, spans: Sequence[Span], names: Sequence[str] = ()) -> None:
        self.spans = tuple(spans)
        self._starts = [span.start for span in self.spans]
        self.labels: list[Label] = []
        last: tuple[str | None, str] = (None, "")
        for span in self.spans:
            if span.kind == "marker" and span.field is None:
                continue
            piece = text[span.start : span.end]
            stripped = piece.lstrip()
            # braces and commas between fields are parsed: to call them ignored would mislead
            is_punctuation = len(piece) < LONGEST_PUNCTUATION and not _WORD.search(piece)
            if not stripped or (span.kind == "ignored" and is_punctuation):
                continue
            face = (span.field, "value" if span.kind == "marker" else span.kind)
            if face != last:
                self.labels.append(Label(span.end - len(stripped), span.kind, span.field))
                last = face
        self._label_offsets = [label.offset for label in self.labels]
        self.margin = max(
            [
                *[len(name) for name in names],
                *[cell_len(label.shortest) for label in self.labels],
                len(WORD_OF["ignored"]),
            ]
        )
        self.longest_word = max(map(cell_len, text[:LOOKED_AT].split()), default=0)
        """Cells of the longest word at the start of the reply, which the margin should not force to break."""
        self.longest_line = max(map(cell_len, text[:LOOKED_AT].splitlines()), default=0)

    def spans_in_range(self, start: int, end: int) -> list[Span]:
        """Return the spans that overlap [start, end), cut to that range."""
        found: list[Span] = []
        position = max(0, bisect_right(self._starts, start) - 1)
        while position < len(self.spans) and self.spans[position].start < end:
            span = self.spans[position]
            if span.end > start:
                found.append(span._replace(start=max(start, span.start), end=min(end, span.end)))
            position += 1
        return found

    def label_in(self, start: int, end: int, preferred: str | None = None) -> tuple[Label, int] | None:
        """Return the most important label that starts in [start, end), and the number of other fields there."""
        first, last = bisect_right(self._label_offsets, start - 1), bisect_right(self._label_offsets, end - 1)
        if first >= last:
            return None
        here = self.labels[first:last]
        chosen = min(
            here,
            key=lambda label: (preferred is not None and label.field != preferred, _RANK[label.kind], label.offset),
        )
        others = {label.field for label in here if label.field not in (None, chosen.field)}
        return chosen, len(others)


_MATTERS: tuple[SpanKind, ...] = ("duplicate", "repaired", "value", "unknown", "marker", "ignored", "prose", "untraced")
_RANK = {kind: rank for rank, kind in enumerate(_MATTERS)}


def shifted(spans: Sequence[Span], start: int, growth: int) -> tuple[Span, ...]:
    """Move spans for an edit at `start` that made the text longer by `growth`."""

    def moved(offset: int) -> int:
        return offset if offset <= start else max(start, offset + growth)

    found = [span._replace(start=moved(span.start), end=moved(span.end)) for span in spans]
    return tuple([span for span in found if span.end > span.start])
