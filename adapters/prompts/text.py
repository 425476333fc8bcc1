"""Text that records the origin of each character.

A `Text` is a `str`, equal to the plain string of dspy's adapter. Its `segments` partition it: joined, they are the
string, without gaps or overlaps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, SupportsIndex, get_args

Kind = Literal[
    "instructions",
    "name",
    "type",
    "description",
    "constraint",
    "schema",
    "value",
    "marker",
    "reminder",
    "filler",
    "boilerplate",
    "custom",
]
"""Kind of a piece of a prompt; `custom` is text of unknown origin."""

KINDS: tuple[Kind, ...] = get_args(Kind)


class Segment(NamedTuple):
    """A piece of text, its kind, and the signature field of its origin, or None."""

    text: str
    kind: Kind
    field: str | None = None


_new_str = str.__new__
_new_segment = tuple.__new__


def value_segment(text: str, field: str) -> Segment:
    """Return `Segment(text, "value", field)`, faster: a prompt of 1,000 demos has ten thousand of these."""
    return _new_segment(Segment, (text, "value", field))


class Text(str):
    """A string with `segments`; `strip`, `slice` and `+` keep them, other methods return a plain `str`."""

    __slots__ = ("segments",)
    segments: tuple[Segment, ...]

    def __new__(cls, segments: Iterable[Segment] = ()) -> Text:
        kept = tuple(segments)
        texts = [segment[0] for segment in kept]
        if "" in texts:
            kept = tuple([segment for segment in kept if segment[0]])
        self = _new_str(cls, "".join(texts))
        self.segments = kept
        return self

    @classmethod
    def of(cls, text: str, kind: Kind = "custom", field: str | None = None) -> Text:
        """Convert `text` to a Text with a single segment of `kind`; return it unchanged if it is a Text."""
        return text if isinstance(text, Text) else cls((Segment(text, kind, field),))

    def slice(self, start: int, end: int) -> Text:
        """Return the characters from `start` to `end` (0 ≤ start ≤ end ≤ length), with their origins."""
        if start == 0 and end == len(self):
            return self
        pieces: list[Segment] = []
        position = 0
        for segment in self.segments:
            text = segment[0]
            following = position + len(text)
            if following > start:
                if position >= end:
                    break
                if position < start or following > end:
                    text = text[max(0, start - position) : end - position]
                    segment = _new_segment(Segment, (text, segment[1], segment[2]))
                pieces.append(segment)
            position = following
        return Text(pieces)

    def strip(self, chars: str | None = None, /) -> Text:
        if chars is None and self and not self[0].isspace() and not self[-1].isspace():
            return self
        end = len(str.rstrip(self, chars))
        if end == 0:
            return Text()
        return self.slice(len(self) - len(str.lstrip(self, chars)), end)

    def __add__(self, other: str) -> Text:
        return Text((*self.segments, *Text.of(other).segments))

    def __radd__(self, other: str) -> Text:
        return Text((*Text.of(other).segments, *self.segments))

    def __mul__(self, count: SupportsIndex) -> str:
        return str(self) * count

    def __str__(self) -> str:
        return str.__str__(self)

    def __reduce__(self) -> tuple[object, ...]:
        return (Text, (self.segments,))


def join(separator: str, parts: Sequence[str], kind: Kind = "boilerplate") -> Text:
    """Return `separator.join(parts)` with the origins of `parts`; separators have the kind `kind`."""
    between = Segment(separator, kind)
    segments: list[Segment] = []
    for index, part in enumerate(parts):
        if index:
            segments.append(between)
        if isinstance(part, Text):
            segments.extend(part.segments)
        elif isinstance(part, str):
            segments.append(Segment(part, "custom"))
        else:
            raise TypeError(f"sequence item {index}: expected str instance, {type(part).__name__} found")
    return Text(segments)
