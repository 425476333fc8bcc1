"""Tokens of a reply, with the probabilities that the provider returned."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple


class Token(NamedTuple):
    """Code points `start` to `end` of the reply, and the token's natural log probability.

    A token with part of a character's bytes has the place of the whole character.
    """

    start: int
    end: int
    logprob: float


def tokens_of(completion: str, logprobs: object) -> tuple[Token, ...]:
    """Return the reply's tokens in order; empty unless they spell it byte for byte.

    `logprobs` is a choice's value from OpenAI's chat (`{"content": [{"token", "logprob", "bytes"}, …]}`) or completions
    (`{"tokens": […], "token_logprobs": […]}`).
    """
    pieces = _pieces(logprobs)
    try:
        whole = completion.encode("utf-8")
    except UnicodeEncodeError:  # unpaired surrogates are in no tokenizer's alphabet
        return ()
    if not pieces or b"".join(spelled for spelled, _ in pieces) != whole:
        return ()
    starts = [0, *accumulate(len(character.encode("utf-8")) for character in completion)]
    """The byte offset of each character, and of the end."""
    tokens: list[Token] = []
    place = 0
    for spelled, logprob in pieces:
        end = place + len(spelled)
        if spelled:
            tokens.append(Token(bisect_right(starts, place) - 1, bisect_left(starts, end), logprob))
        place = end
    return tuple(tokens)


def probability_of(tokens: Sequence[Token], start: int, end: int) -> float | None:
    """Return the joint probability of tokens touching `start` to `end` (code points), 0 to 1."""
    touching = [token.logprob for token in tokens if token.start < end and token.end > start]
    return min(1.0, math.exp(sum(touching))) if touching else None


def _pieces(logprobs: object) -> list[tuple[bytes, float]]:
    """Return each token's bytes and log probability; empty for data of another shape."""
    if not isinstance(logprobs, Mapping):
        return []
    content = logprobs.get("content")
    if isinstance(content, Sequence) and not isinstance(content, str):
        known = [one for one in content if isinstance(one, Mapping)]
        entries = [(one.get("token"), one.get("bytes"), one.get("logprob")) for one in known]
        complete = len(known) == len(content)
    else:
        names, values = logprobs.get("tokens"), logprobs.get("token_logprobs")
        if not isinstance(names, list) or not isinstance(values, list):
            return []
        entries = [(name, None, value) for name, value in zip(names, values, strict=False)]
        complete = len(names) == len(values)
    pieces = [_spelled(*entry) for entry in entries]
    told = [one for one in pieces if one is not None]
    return told if complete and len(told) == len(pieces) else []


def _spelled(token: object, spelled: object, logprob: object) -> tuple[bytes, float] | None:
    if isinstance(logprob, bool) or not isinstance(logprob, int | float) or math.isnan(logprob):
        return None
    if isinstance(spelled, list) and all(type(one) is int and 0 <= one < 256 for one in spelled):
        return bytes(spelled), float(logprob)
    if not isinstance(token, str):
        return None
    try:
        return token.encode("utf-8"), float(logprob)
    except (UnicodeEncodeError, OverflowError):
        return None
