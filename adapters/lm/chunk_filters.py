"""Change the chunks of a stream: apply stop sequences, and remove the user's own secrets.

Servers, models and tools may echo a secret. It is removed from the chunks, even if split across them, because
everything else (the screen, the session, its earlier versions, exports, `--json`) is made from them. Tool results are
not split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from adapters.late_dataclasses import replace
from adapters.lm.protocol import Chunk, ProviderError
from adapters.lm.secrets import Scrubber, map_texts


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
        lengths = (size for stop in wanted for size in range(1, len(stop)) if text.endswith(stop[:size]))
        begun = len(text) if is_over else len(text) - max(lengths, default=0)
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


Channel = tuple[int, str, int]
"""The text that a fragment belongs to: choice, kind of text, and index of the tool call."""


def without_secrets(chunks: Iterable[Chunk], scrubber: Scrubber | None = None) -> Iterator[Chunk]:
    """Yield the chunks with known secrets replaced by the names of their variables.

    Holds back a chunk that may end with the beginning of a secret until the next arrives. Strings that only look like
    secrets are the model's own text and remain. Raises what `chunks` raises.
    """
    secrets = (Scrubber() if scrubber is None else scrubber).unmistakable
    if not secrets:
        yield from chunks
        return
    first_letters, longest = {one[0] for one in secrets}, max(map(len, secrets))

    def is_begun(text: str) -> bool:
        """Tell whether the text ends with the beginning of a secret."""
        for at in range(max(0, len(text) - longest + 1), len(text)):
            if text[at] in first_letters:
                rest = text[at:]
                if any(len(one) > len(rest) and one.startswith(rest) for one in secrets):
                    return True
        return False

    waiting: list[Chunk] = []
    try:
        for chunk in chunks:
            waiting.append(chunk)
            texts = _texts(waiting)
            if not any(map(is_begun, texts.values())):
                yield from _cleaned(waiting, texts, secrets)
                waiting = []
    except ProviderError:
        yield from _cleaned(waiting, _texts(waiting), secrets)
        raise
    yield from _cleaned(waiting, _texts(waiting), secrets)


def text_without_secrets(text: str, scrubber: Scrubber | None = None) -> str:
    """Return a complete text with known secrets replaced, as by `without_secrets`."""
    return replaced(text, (Scrubber() if scrubber is None else scrubber).unmistakable)


def json_without_secrets(value: object) -> Any:
    """Apply `text_without_secrets` to every string and key of a JSON value."""
    scrubber = Scrubber()
    return map_texts(value, lambda text: text_without_secrets(text, scrubber), with_keys=True)


def replaced(text: str, secrets: Mapping[str, str]) -> str:
    """Replace the secrets in `text` by the names of their variables."""
    for secret, name in secrets.items():
        text = text.replace(secret, name)
    return text


def _texts(chunks: list[Chunk]) -> dict[Channel, str]:
    texts: dict[Channel, str] = {}
    for chunk in chunks:
        for kind, text in (("text", chunk.text), ("reasoning", chunk.reasoning)):
            if text:
                channel = (chunk.choice, kind, 0)
                texts[channel] = texts.get(channel, "") + text
        for part in chunk.tool_calls:
            channel = (chunk.choice, "arguments", part.index)
            texts[channel] = texts.get(channel, "") + part.arguments
    return texts


def _cleaned(chunks: list[Chunk], texts: Mapping[Channel, str], secrets: Mapping[str, str]) -> Iterator[Chunk]:
    left: dict[Channel, str] = {}
    for channel, text in texts.items():
        if (cleaned := replaced(text, secrets)) != text:
            left[channel] = cleaned
    if not left:
        yield from chunks
        return

    def clean(channel: Channel, own: str) -> str:
        """Give the whole scrubbed text to the channel's first chunk, "" to later ones."""
        text = left.get(channel, own)
        if channel in left:
            left[channel] = ""
        return text

    for chunk in chunks:
        choice = chunk.choice
        parts = [
            replace(one, arguments=clean((choice, "arguments", one.index), one.arguments)) for one in chunk.tool_calls
        ]
        yield replace(
            chunk,
            text=clean((choice, "text", 0), chunk.text),
            reasoning=clean((choice, "reasoning", 0), chunk.reasoning),
            tool_calls=tuple(parts),
            logprobs=None,  # they would spell it
        )
