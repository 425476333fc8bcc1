"""Token counts while typing: estimates, always shown with `~`, that need no tokenizer and no time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adapters.prompts.prompt import Message

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\U0001f000-\U0003ffff]")


def estimate(text: str) -> int:
    """About how many tokens a current model counts: four characters of an alphabet each, one of a wide script."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = len(_WIDE.findall(text))
    return wide + -(-(len(text) - wide) // 3)


class Estimates:
    """The estimate of a whole prompt, counting anew only the messages that the one before did not have."""

    def __init__(self) -> None:
        self._messages: Sequence[Message] = ()
        self._counts: list[int] = []
        self._total = 0

    def total(self, messages: Sequence[Message]) -> int:
        """About how many tokens these messages are. They are known again by identity."""
        if messages is not self._messages:
            self._counts = self._counted(messages)
            self._messages = messages
            self._total = sum(self._counts)
        return self._total

    def _counted(self, messages: Sequence[Message]) -> list[int]:
        before = self._messages
        if len(before) == len(messages):
            return [
                count if one is old else estimate(one.text)
                for one, old, count in zip(messages, before, self._counts, strict=True)
            ]
        known = dict(zip(map(id, before), self._counts, strict=True))
        return [known[id(one)] if id(one) in known else estimate(one.text) for one in messages]
