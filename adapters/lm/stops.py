"""Cuts replies at stop sequences, for an API that knows none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from adapters.lm.protocol import Chunk


def cut_at_stops(chunks: Iterable[Chunk], stops: Sequence[str]) -> Iterator[Chunk]:
    """The chunks, each completion's text up to the first of `stops`, which ends it with the finish reason `stop`.

    What may be the beginning of a stop waits for what follows. Rule: `dspy._vendor.lm15.result.apply_client_side_stop`.
    """
    wanted = tuple(one for one in stops if one)
    if not wanted:
        yield from chunks
        return
    held: dict[int, str] = {}
    ended: set[int] = set()
    for chunk in chunks:
        if chunk.choice in ended:
            # What came behind the stop is no part of the reply; the counts of the whole call are.
            yield replace(chunk, text="", reasoning="", tool_calls=(), finish_reason=None, logprobs=None, refusal="")
            continue
        text = held.pop(chunk.choice, "") + chunk.text
        is_over = chunk.finish_reason is not None
        # A stop that has begun may turn out to stand before one that is whole.
        begun = len(text) if is_over else len(text) - _beginning(text, wanted)
        place = _first(text, wanted)
        if place is not None and place <= begun:
            ended.add(chunk.choice)
            yield replace(chunk, text=text[:place], finish_reason="stop", tool_calls=())
            continue
        if begun < len(text):
            held[chunk.choice] = text[begun:]
        yield replace(chunk, text=text[:begun])
    for choice, text in held.items():
        yield Chunk(text=text[: _first(text, wanted)], choice=choice)


def _first(text: str, stops: Sequence[str]) -> int | None:
    """Where the first of `stops` stands in `text`."""
    return min((place for place in (text.find(one) for one in stops) if place >= 0), default=None)


def _beginning(text: str, stops: Sequence[str]) -> int:
    """How many characters at the end of `text` may be the beginning of a stop."""
    lengths = (length for stop in stops for length in range(1, len(stop)) if text.endswith(stop[:length]))
    return max(lengths, default=0)
