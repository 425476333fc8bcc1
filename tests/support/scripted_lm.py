"""A model that answers from a script, for tests of what calls models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Event
from types import SimpleNamespace
from typing import Any

from adapters.lm.protocol import Chunk, Collector
from adapters.requests.capabilities import NONE, Capabilities

Step = str | Chunk | Exception | Callable[[], None]


def collect(chunks: Iterable[Chunk]) -> tuple[Any, ...]:
    """The completions that the chunks make, each with the token counts, cost and metadata of its call."""
    collector = Collector()
    for chunk in chunks:
        collector.add(chunk)
    told = {"usage": collector.usage, "cost": collector.cost, "raw": collector.raw}
    return tuple(SimpleNamespace(**vars(one), **told) for one in collector.completions)


class ScriptedLM:
    """One reply a call: a text, or steps (chunks, texts, exceptions to raise, functions to call on the way)."""

    def __init__(
        self, *replies: str | Iterable[Step], capabilities: Capabilities = NONE, model: str = "scripted/model"
    ) -> None:
        self._replies = list(replies)
        self.requests: list[dict[str, Any]] = []
        self.stopped = Event()
        """Set once a stream was left before its end."""
        self.model = model
        self.capabilities = capabilities

    def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[Chunk]:
        self.requests.append(dict(request))
        reply = self._replies.pop(0)
        for step in [reply] if isinstance(reply, str) else reply:
            if isinstance(step, Exception):
                raise step
            if not isinstance(step, Chunk | str):
                step()
                continue
            try:
                yield step if isinstance(step, Chunk) else Chunk(text=step)
            except GeneratorExit:
                self.stopped.set()
                raise
        yield Chunk(finish_reason="stop")


class DeafLM(ScriptedLM):
    """Gives a text, then nothing, and does not listen when it is told to stop; `released` lets it go."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self.released = Event()

    def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[Chunk]:
        self.requests.append(dict(request))
        yield Chunk(text=self._text)
        self.released.wait()


class HangingLM(ScriptedLM):
    """Gives a text, then nothing until it is told to stop."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self._text = text

    def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[Chunk]:
        self.requests.append(dict(request))
        if self._text:
            yield Chunk(text=self._text)
        assert cancel is not None
        cancel.wait()
        self.stopped.set()


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now = 100.0
        self.readings_since_jump = 0
        self._coming = (-1, 0.0)

    def __call__(self) -> float:
        readings, seconds = self._coming
        self._coming = (readings - 1, seconds)
        if readings == 0:
            self.jump(seconds)
        self.readings_since_jump += 1
        return self.now

    def jump(self, seconds: float = 10.0, after_readings: int = 0) -> None:
        """Lets `seconds` pass, now or when the clock has been read so many times more."""
        if after_readings:
            self._coming = (after_readings, seconds)
            return
        self.now += seconds
        self.readings_since_jump = 0
