"""Apply stop sequences to a reply whose API has none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from adapters.lm.protocol import Chunk


def cut_at_stops(chunks: Iterable[Chunk], stops: Sequence[str]) -> Iterator[Chunk]:
    """Cut each completion at the first of `stops`, for an API without stop sequences; set finish reason `stop`.

    Text that may begin a stop sequence is held back until more arrives.
    Rule: `dspy._vendor.lm15.result.apply_client_side_stop`.
    """
    wanted = tuple(one for one in stops if one)
    if not wanted:
        yield from chunks
        return
    held: dict[int, str] = {}
    ended: set[int] = set()
    for chunk in chunks:
        if chunk.choice in ended:
            # Text after the stop is not part of the reply, but the token counts of the whole call are.
            yield replace(chunk, text="", reasoning="", tool_calls=(), finish_reason=None, logprobs=None, refusal="")
            continue
        text = held.pop(chunk.choice, "") + chunk.text
        is_over = chunk.finish_reason is not None
        # An incomplete stop sequence may turn out to begin before a complete one.
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
    """Return the offset of the first of `stops` in `text`, if any."""
    return min((place for place in (text.find(one) for one in stops) if place >= 0), default=None)


def _beginning(text: str, stops: Sequence[str]) -> int:
    """Return how many characters at the end of `text` may begin a stop sequence."""
    lengths = (length for stop in stops for length in range(1, len(stop)) if text.endswith(stop[:length]))
    return max(lengths, default=0)
