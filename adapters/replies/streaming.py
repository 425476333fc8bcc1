"""Follow a streamed reply as dspy 3.4.1's `StreamListener` does: what each chunk emits, and when.

Rule: `StreamListener.receive`, `flush` and `finalize`, surprises included: a chunk that contains a whole field is never
emitted, and text after `[[` in a value can be lost.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Literal, NamedTuple

from adapters.late_dataclasses import dataclass

StreamedForm = Literal["markers", "json", "xml"]
FORMS: Mapping[str, StreamedForm] = MappingProxyType({"chat": "markers", "json": "json", "xml": "xml"})
"""Adapters that dspy's listener can follow, by name; it raises for others, such as BAML and TwoStep."""
MOST_HELD = 10
"""Maximum number of chunks held back while they may begin the next marker."""
_ENDINGS: Mapping[StreamedForm, tuple[str, ...]] = MappingProxyType(
    {"markers": ("[", "[[", "[[ ", "[[ #", "[[ ##"), "json": ('"', '",', '" ', '"}'), "xml": ("<", "</")}
)
_INSIDE: Mapping[StreamedForm, str] = MappingProxyType({"markers": "[[ ##", "json": "}", "xml": "</"})
_INDICATORS: Mapping[StreamedForm, str] = MappingProxyType({"markers": "[", "json": '"', "xml": "<"})


class Emitted(NamedTuple):
    """A `StreamResponse`; `at` is its chunk's number from 0, None for the end."""

    field: str
    chunk: str
    is_last: bool
    at: int | None


@dataclass(frozen=True)
class StreamedField:
    """Everything a field's listener emits; `ended_at` is the chunk at which it detects the end."""

    field: str
    emitted: tuple[Emitted, ...]
    ended_at: int | None
    is_in_a_chunk: bool
    """True if a single chunk contained the whole field: dspy takes it for a cached reply and emits nothing."""

    @property
    def text(self) -> str:
        return "".join(one.chunk for one in self.emitted)

    def compared(self, raw: str) -> tuple[str, str]:
        """Return the field's text that is never emitted, and the text emitted in excess."""
        raw, text = raw.strip(), self.text.strip()
        start = _in_common(raw, text)
        end = _in_common(raw[start:][::-1], text[start:][::-1])
        return raw[start : len(raw) - end], text[start : len(text) - end]


def streamed(form: StreamedForm, fields: Iterable[str], chunks: Sequence[str]) -> tuple[StreamedField, ...]:
    """Follow a stream with a listener for each field."""
    found: list[StreamedField] = []
    for name in fields:
        listener = Listener(form, name)
        emitted: list[Emitted] = []
        ended_at: int | None = None
        for number, chunk in enumerate(chunks):
            text = listener.receive(chunk)
            if text is not None:
                emitted.append(Emitted(name, text, listener.has_ended, number))
            if listener.has_ended and ended_at is None:
                ended_at = number
        last = listener.finalize()
        if last is not None:
            emitted.append(Emitted(name, last, True, None))
        found.append(StreamedField(name, tuple(emitted), ended_at, listener.is_in_a_chunk))
    return tuple(found)


def cut_at_random(text: str, seed: int) -> tuple[str, ...]:
    """Cut a reply into chunks of a few characters; `seed` determines the cuts."""
    rng = random.Random(seed)
    chunks: list[str] = []
    at = 0
    while at < len(text):
        size = rng.randint(1, 9)
        chunks.append(text[at : at + size])
        at += size
    return tuple(chunks)


def _in_common(one: str, other: str) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class Listener:
    """Follows a stream for the value of a single field."""

    def __init__(self, form: StreamedForm, field: str) -> None:
        self.field = field
        self.has_ended = False
        self.is_in_a_chunk = False
        self._form = form
        self._start = {"markers": f"[[ ## {field} ## ]]", "json": f'"{field}":', "xml": f"<{field}>"}[form]
        ends = {"markers": r"\[\[ ## (\w+) ## \]\]", "json": r"\w*\"(,|\s*})", "xml": rf"</{field}>"}
        self._end = re.compile(ends[form])
        self._waiting: list[str] = []
        self._held: list[str] = []
        self._has_started = False
        self._has_value = False
        self._white_space = ""
        self._json = ""

    def receive(self, chunk: str) -> str | None:
        """Process the next chunk and return the emitted text, if any."""
        if self.has_ended:
            return None
        if chunk and self._start in chunk and self._form != "json":
            if self._end.search(chunk[chunk.find(self._start) + len(self._start) :]):
                self.is_in_a_chunk = self._has_started = self.has_ended = True
                return None
        if not self._waiting and not self._has_started and _INDICATORS[self._form] in chunk:
            self._waiting.append(chunk)
            return None
        if self._waiting and not self._has_started:
            self._waiting.append(chunk)
            together = "".join(self._waiting)
            if self._start not in together:
                text = together.strip()
                most = min(len(text), len(self._start))
                if not any(self._start.startswith(text[-length:]) for length in range(1, most + 1)):
                    self._waiting = []
                return None
            self._has_started = True
            self._waiting = []
            chunk = together[together.find(self._start) + len(self._start) :].lstrip()
            if self._form == "json":
                self._json += "{" + self._start
        return self._value(chunk) if self._has_started and chunk else None

    def _value(self, chunk: str) -> str | None:
        self._held.append(chunk)
        text: str | None = None
        held = "".join(self._held).strip()
        if not held.endswith(_ENDINGS[self._form]) and _INSIDE[self._form] not in held:
            text = self._flush()
        elif len(self._held) > MOST_HELD:
            text = self._held.pop(0)
        return self._json_value(text, chunk) if self._form == "json" else self._text_value(text)

    def _json_value(self, text: str | None, chunk: str) -> str | None:
        from pydantic_core import from_json  # the same parser as dspy's `jiter`

        self._json += chunk
        if self._json.rstrip().endswith("}"):
            try:
                from_json(self._json.encode())
            except ValueError:
                pass
            else:
                self.has_ended = True
                last = self._flush()
                return (text or "") + last[: last.rfind("}")]
        try:
            parsed = from_json(self._json.encode(), allow_partial="trailing-strings")
        except ValueError:
            parsed = {}
        if len(parsed) > 1:
            self.has_ended = True
            last = self._flush()
            following = next(name for name in parsed if name != self.field)
            text = (text or "") + last[: last.find(following)]
        return text if text or self.has_ended else None

    def _text_value(self, text: str | None) -> str | None:
        if self._end.search("".join(self._held).strip()):
            self.has_ended = True
            text = ((text or "") + self._flush()).rstrip()
        if text and not self._has_value:
            text = text.lstrip()
        if text:
            stripped = text.rstrip()
            if stripped:
                self._has_value = True
                text, self._white_space = self._white_space + stripped, text[len(stripped) :]
            else:
                self._white_space += text
                text = ""
        return (text or "") if text or self.has_ended else None

    def _flush(self) -> str:
        last = "".join(self._held)
        self._held = []
        if self._form == "json":
            return last
        end = last.find(f"</{self.field}>" if self._form == "xml" else "[[")
        return last if end < 0 else last[:end]

    def finalize(self) -> str | None:
        """End the stream and return the text still held back, if any."""
        if self.has_ended or not self._has_started:
            return None
        self.has_ended = True
        last = self._flush() if self._held else ""
        return self._white_space + last if last else None
