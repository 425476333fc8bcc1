"""Estimate token counts without a tokenizer, instantly; estimates are always shown with `~`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from adapters.prompts.text import Message, Text
from adapters.requests.token_origins import MESSAGE_BEGINS, REPLY_BEGINS, Counted, texts_beside, texts_of_message

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]")


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
    wide = len(_WIDE.findall(text))
    ascii_only = len(text.encode("ascii", "ignore"))
    return 3 * ascii_only + 4 * (len(text) - ascii_only - wide) + 12 * wide


def estimates_of(texts: Iterable[Sequence[str]]) -> list[list[int]]:
    """Return `estimates` of each text."""
    return [estimates(text) for text in texts]


class Estimates:
    """Estimates whole requests, counting only messages that the previous request lacked."""

    def __init__(self) -> None:
        self._messages: Sequence[Message] = ()
        self._counts: list[int] = []
        self._beside: tuple[Mapping[str, Any], int] = ({}, 0)

    def total(self, messages: Sequence[Message], params: Mapping[str, Any]) -> int:
        """Estimate the tokens of a request with these messages (compared by identity) and parameters."""
        if messages is not self._messages:
            self._counts = self._counted(messages)
            self._messages = messages
        if params != self._beside[0]:
            self._beside = (params, _sum(texts_beside(params)))
        return sum(self._counts) + self._beside[1] + REPLY_BEGINS

    def _counted(self, messages: Sequence[Message]) -> list[int]:
        before = self._messages
        if len(before) == len(messages):
            return [
                count if one is old else of_message(one)
                for one, old, count in zip(messages, before, self._counts, strict=True)
            ]
        known = dict(zip(map(id, before), self._counts, strict=True))
        return [known[id(one)] if id(one) in known else of_message(one) for one in messages]


def of_message(message: Message) -> int:
    """Estimate the tokens of a message, including those that the chat format puts around it."""
    if len(message.parts) == 1 and not message.extra and isinstance(message.parts[0], Text):
        # Like `texts_of_message`, without a list: a thousand demos are two thousand such messages.
        return MESSAGE_BEGINS + _of_role(message.role) + estimate(message.parts[0])
    return _sum(texts_of_message(message))


_of_role = lru_cache(maxsize=16)(estimate)


def _sum(texts: Iterable[Counted]) -> int:
    return sum([one.fixed if one.fixed is not None else estimate(one.text) for one in texts])
