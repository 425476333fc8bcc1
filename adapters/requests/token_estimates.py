"""Token counts that need no tokenizer and no time: estimates, always shown with `~`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from adapters.prompts.prompt import Message
from adapters.prompts.text import Text
from adapters.requests.token_origins import MESSAGE_BEGINS, REPLY_BEGINS, Counted, texts_beside, texts_of_message

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]")


def estimate(text: str) -> int:
    """About how many tokens a current model counts: a quarter for a letter of English, a third for one of another
    alphabet, one for a character of a wide script."""
    return -(-_twelfths(text) // 12)


def estimates(pieces: Sequence[str]) -> list[int]:
    """About how many tokens begin in each piece of a text; together as many as `estimate` says of the whole."""
    begun = [-(-sofar // 12) for sofar in accumulate([_twelfths(piece) for piece in pieces], initial=0)]
    return [after - before for before, after in pairwise(begun)]


def _twelfths(text: str) -> int:
    if text.isascii():
        return 3 * len(text)
    wide = len(_WIDE.findall(text))
    ascii_only = len(text.encode("ascii", "ignore"))
    return 3 * ascii_only + 4 * (len(text) - ascii_only - wide) + 12 * wide


def estimates_of(texts: Iterable[Sequence[str]]) -> list[list[int]]:
    """`estimates` of each text."""
    return [estimates(text) for text in texts]


class Estimates:
    """The estimate of a whole request, counting anew only the messages that the one before did not have."""

    def __init__(self) -> None:
        self._messages: Sequence[Message] = ()
        self._counts: list[int] = []
        self._beside: tuple[Mapping[str, Any], int] = ({}, 0)

    def total(self, messages: Sequence[Message], params: Mapping[str, Any]) -> int:
        """About how many tokens a request with these messages and parameters has. Messages are known by identity."""
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
    """About how many tokens a message takes, with those that the chat format puts around it."""
    if len(message.parts) == 1 and not message.extra and isinstance(message.parts[0], Text):
        # As `texts_of_message` has it, without a list: a thousand demos are two thousand such messages.
        return MESSAGE_BEGINS + _of_role(message.role) + estimate(message.parts[0])
    return _sum(texts_of_message(message))


_of_role = lru_cache(maxsize=16)(estimate)


def _sum(texts: Iterable[Counted]) -> int:
    return sum([one.fixed if one.fixed is not None else estimate(one.text) for one in texts])
