"""Locate the fields of a reply while it streams, complete and partial."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from adapters.replies.reading import ReplyForm, Span
from adapters.replies.sections import MARKER

_SIGN = re.compile(r'["{}\[\],:]')
_REST_OF_STRING = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)


class Arrival:
    """Locates fields in a growing reply; as in most parsers, a field's first value counts.

    Covers markers, XML and JSON, and finds nothing in other forms. Only for displaying incomplete replies: the verdict
    is the parser's alone.
    """

    def __init__(self, form: ReplyForm, fields: Collection[str]) -> None:
        ways: dict[ReplyForm, Callable[[str], None]] = {
            "markers": self._markers,
            "xml": self._tags,
            "json": self._json,
            "fenced json": self._json,
        }
        self._find = ways.get(form)
        self._fields = frozenset(fields)
        self._tag = re.compile(f"<(/?)({'|'.join(map(re.escape, fields))})>")
        self._at = 0
        self._complete: list[Span] = []
        self._current: tuple[str, int] | None = None
        # for JSON
        self._depth = 0
        self._key = ""
        self._string: int | None = None

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the values in the text so far; a partial value's field ends in `…`."""
        if self._find is not None:
            self._find(text)
        if self._current is None:
            return tuple(self._complete)
        field, start = self._current
        return (*self._complete, Span(start, len(text), "value", f"{field} …"))

    def _begin(self, field: str, at: int) -> None:
        is_known = any(one.field == field for one in self._complete)
        self._current = (field, at) if field in self._fields and not is_known else None

    def _end(self, at: int) -> None:
        if self._current is not None:
            field, start = self._current
            self._complete.append(Span(start, at, "value", field))
        self._current = None

    def _markers(self, text: str) -> None:
        for found in MARKER.finditer(text, self._at):
            self._end(found.start())
            self._begin(found[1], found.end())
            self._at = found.end()
        self._at = max(self._at, text.rfind("\n") + 1)

    def _tags(self, text: str) -> None:
        for found in self._tag.finditer(text, self._at):
            if not found[1] and self._current is None:
                self._begin(found[2], found.end())
            elif found[1] and self._current is not None and self._current[0] == found[2]:
                self._end(found.start())
            self._at = found.end()
        self._at = max(self._at, text.rfind("<"))

    def _json(self, text: str) -> None:
        at = self._at
        while True:
            if self._string is not None:
                rest = _REST_OF_STRING.match(text, at)
                at = at if rest is None else rest.end()
                if at >= len(text) or text[at] != '"':
                    break
                self._key = text[self._string : at] if self._depth == 1 and self._current is None else self._key
                self._string, at = None, at + 1
            found = _SIGN.search(text, at)
            if found is None:
                at = len(text)
                break
            sign, at = found[0], found.end()
            if self._depth == 0:
                self._depth = int(sign == "{")
            elif sign == '"':
                self._string = at
            elif sign in "{[":
                self._depth += 1
            elif sign in "}]":
                self._depth -= 1
                if self._depth == 0:
                    self._end(found.start())
            elif self._depth == 1 and sign == ":" and self._current is None:
                self._begin(self._key, at)
            elif self._depth == 1 and sign == ",":
                self._end(found.start())
        self._at = at
