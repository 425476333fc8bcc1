"""Split the text that a model reads, and that costs tokens, into pieces with their origins.

Beside the messages these are `tools` and `response_format`; the other parameters are no part of what a model reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from adapters.prompts.prompt import DataPart, Message
from adapters.prompts.text import Kind, Segment
from adapters.values.plain_json import plain

OriginKind = Kind | Literal["tools", "response_format", "tool_call", "data", "format"]
"""What a piece of a prompt is, or the name of the parameter; `tool_call` is a call in an earlier turn, `data` an image,
a file or a sound, and `format` what the chat format puts around messages."""

MESSAGE_BEGINS = 3
REPLY_BEGINS = 3
"""Tokens that the chat format puts around each message, and in front of the reply.

Rule: openai-cookbook, "How to count tokens with tiktoken" (`num_tokens_from_messages`); a message's role comes on top.
"""
NAME_BEGINS = 1
"""As there: one token more for a message that carries a name."""

IMAGE = 250
"""Tokens that an image is taken for; what it really costs depends on its size. litellm's DEFAULT_IMAGE_TOKEN_COUNT."""

PARAMETERS: tuple[Literal["tools", "response_format"], ...] = ("tools", "response_format")


class Origin(NamedTuple):
    """The origin of a piece: its kind, the signature field, and the turn (None outside the messages)."""

    kind: OriginKind
    field: str | None
    turn: str | None


class Piece(NamedTuple):
    """A piece of a text, and what made it."""

    text: str
    origin: Origin


class Counted(NamedTuple):
    """A text that a tokenizer reads as one, all of it made by `origin` unless its `segments` say more; or `fixed`
    tokens, which no text stands for.

    `is_told`: the tokens of these very characters are what the provider counts. It is not so of what a provider
    writes into the prompt in a way of its own: tools, schemas, calls, images.
    """

    text: str
    origin: Origin
    fixed: int | None = None
    is_told: bool = True
    segments: tuple[Segment, ...] = ()

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces that the text is made of, which a prompt of a thousand demos is only asked for when it is told."""
        turn = self.origin.turn
        found = [Piece(text, Origin(kind, field, turn)) for text, kind, field in self.segments]
        return tuple(found) or (Piece(self.text, self.origin),)


def texts_of(messages: tuple[Message, ...], params: Mapping[str, Any]) -> Iterator[Counted]:
    """Everything in a request that costs tokens, in the order in which it goes out."""
    for message in messages:
        yield from texts_of_message(message)
    yield from texts_beside(params)
    yield Counted("", Origin("format", None, None), REPLY_BEGINS)


def texts_of_message(message: Message) -> Iterator[Counted]:
    """The texts of a message: role, content, and what else it carries."""
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
    """The texts of the parameters that a model reads. How a provider writes them into the prompt is not public: their
    JSON stands for it."""
    for name in PARAMETERS:
        if params.get(name):
            yield Counted(_json(params[name]), Origin(name, None, None), is_told=False)


def uncounted(messages: tuple[Message, ...]) -> tuple[str, ...]:
    """The kinds of parts whose tokens nobody can tell beforehand: `file`, `input_audio`, …"""
    parts = [part for message in messages for part in message.parts if isinstance(part, DataPart)]
    kinds = dict.fromkeys(str(part.payload.get("type", "data")) for part in parts)
    return tuple([kind for kind in kinds if kind != "image_url"])


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))
