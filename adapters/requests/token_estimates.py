"""Estimate the tokens of texts, and find the parts of a request that they belong to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any, Literal, NamedTuple

from adapters.late_dataclasses import dataclass, field
from adapters.prompts.text import DataPart, Kind, Message, Segment, Text
from adapters.values.plain_json import plain

OriginKind = Kind | Literal["tools", "response_format", "tool_call", "data", "format"]
"""The kind of a prompt's piece, or the parameter's name; `tool_call` is a call in an earlier turn, `data` an image, a
file or a sound, and `format` the chat format around messages."""

MESSAGE_BEGINS = 3
REPLY_BEGINS = 3
"""Tokens that the chat format puts around each message, and before the reply.

Rule: openai-cookbook, "How to count tokens with tiktoken" (`num_tokens_from_messages`); the message's role is extra.
"""
NAME_BEGINS = 1
"""Additional token of a message with a name, by the same rule."""

IMAGE = 250
"""Assumed tokens of an image (litellm's DEFAULT_IMAGE_TOKEN_COUNT); the real cost depends on its size."""

PARAMETERS: tuple[Literal["tools", "response_format"], ...] = ("tools", "response_format")


class Origin(NamedTuple):
    """The origin of a piece: kind, signature field, and turn (None outside messages)."""

    kind: OriginKind
    field: str | None
    turn: str | None


class Piece(NamedTuple):
    """A piece of a text, and its origin."""

    text: str
    origin: Origin


class Counted(NamedTuple):
    """A text that a tokenizer reads at once, or `fixed` tokens without text.

    `origin` applies to the whole text unless there are `segments`. `is_told`: the provider counts the tokens of exactly
    these characters; false for parts that a provider writes into the prompt in its own way: tools, schemas, calls,
    images.
    """

    text: str
    origin: Origin
    fixed: int | None = None
    is_told: bool = True
    segments: tuple[Segment, ...] = ()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Return the text's pieces, on demand, as a prompt may have a thousand demos."""
        turn = self.origin.turn
        found = [Piece(text, Origin(kind, field, turn)) for text, kind, field in self.segments]
        return tuple(found) or (Piece(self.text, self.origin),)


def texts_of(messages: tuple[Message, ...], params: Mapping[str, Any]) -> Iterator[Counted]:
    """Yield everything in a request that costs tokens, in order of sending."""
    for message in messages:
        yield from texts_of_message(message)
    yield from texts_beside(params)
    yield Counted("", Origin("format", None, None), REPLY_BEGINS)


def texts_of_message(message: Message) -> Iterator[Counted]:
    """Yield the texts of a message: role, content, and its other keys."""
    turn = message.turn
    around = Origin("format", None, turn)
    yield Counted("", around, MESSAGE_BEGINS)
    yield Counted(message.role, around)
    for part in message.parts:
        if isinstance(part, DataPart):
            tokens = IMAGE if part.payload.get("type") == "image_url" else 0
            yield Counted("", Origin("data", part.field, turn), tokens, False)
        elif part:
            yield Counted(part, around, segments=part.segments)
    for name, value in message.extra.items():
        if name == "name" and isinstance(value, str):
            yield Counted("", around, NAME_BEGINS)
            yield Counted(value, around)
        else:
            yield Counted(_json(value), Origin("tool_call", None, turn), is_told=False)


def texts_beside(params: Mapping[str, Any]) -> Iterator[Counted]:
    """Yield the JSON of the parameters that a model reads.

    It approximates how a provider writes them into the prompt, which is not public.
    """
    for name in PARAMETERS:
        if params.get(name):
            yield Counted(_json(params[name]), Origin(name, None, None), is_told=False)


def uncounted(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """Return the kinds of parts whose tokens cannot be known beforehand: `file`, `input_audio`, …"""
    parts = [part for message in messages for part in message.parts if isinstance(part, DataPart)]
    kinds = dict.fromkeys(str(part.payload.get("type", "data")) for part in parts)
    return tuple([kind for kind in kinds if kind != "image_url"])


def _json(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))


_WIDE = "[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]"
"""A character of a wide script, compiled with the first text that is not ASCII: it takes 2 milliseconds."""


def estimate(text: str) -> int:
    """Estimate the tokens of a text for current models.

    Counts a quarter for an ASCII character, a third for another alphabet's, and one for a wide script's.
    """
    return -(-_twelfths(text) // 12)


def estimates(pieces: Sequence[str]) -> list[int]:
    """Estimate the tokens that begin in each piece; they add up to `estimate`."""
    begun = [-(-sofar // 12) for sofar in accumulate([_twelfths(piece) for piece in pieces], initial=0)]
    return [after - before for before, after in pairwise(begun)]


def _twelfths(text: str) -> int:
    if text.isascii():
        return 3 * len(text)
    wide = len(re.findall(_WIDE, text))
    ascii_only = len(text.encode("ascii", "ignore"))
    return 3 * ascii_only + 4 * (len(text) - ascii_only - wide) + 12 * wide


@dataclass(eq=False)
class Estimates:
    """Estimates whole requests, counting only messages that the previous request lacked."""

    _messages: Sequence[Message] = ()
    _counts: list[int] = field(default_factory=list)
    _beside: tuple[Mapping[str, Any], int] = field(default_factory=lambda: ({}, 0))

    def total(self, messages: Sequence[Message], params: Mapping[str, Any]) -> int:
        """Estimate the tokens of a request with these messages (compared by identity) and parameters."""
        if messages is not self._messages:
            before = self._messages
            if len(before) == len(messages):
                self._counts = [
                    count if one is old else of_message(one)
                    for one, old, count in zip(messages, before, self._counts, strict=True)
                ]
            else:
                known = dict(zip(map(id, before), self._counts, strict=True))
                self._counts = [known[id(one)] if id(one) in known else of_message(one) for one in messages]
            self._messages = messages  # last: a message that cannot be counted leaves the counts of `before`
        if params != self._beside[0]:
            self._beside = (params, _sum(texts_beside(params)))
        return sum(self._counts) + self._beside[1] + REPLY_BEGINS


def of_message(message: Message) -> int:
    """Estimate the tokens of a message, including those that the chat format puts around it."""
    if len(message.parts) == 1 and not message.extra and isinstance(message.parts[0], Text):
        # Like `texts_of_message`, without a list: a thousand demos are two thousand such messages.
        return MESSAGE_BEGINS + _of_role(message.role) + estimate(message.parts[0])
    return _sum(texts_of_message(message))


_of_role = lru_cache(maxsize=16)(estimate)


def _sum(texts: Iterable[Counted]) -> int:
    return sum([one.fixed if one.fixed is not None else estimate(one.text) for one in texts])
