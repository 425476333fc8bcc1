"""What a run under way is doing, from its events: the text of the reply so far, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adapters.running.events import (
    ChunkReceived,
    Event,
    ExtractionStarted,
    FallbackStarted,
    ModelLoading,
    RequestSent,
    RetryStarted,
    ToolInvoked,
)


@dataclass(frozen=True, kw_only=True)
class ToolWaits(Event):
    """The model calls a tool whose result the user has to type."""

    name: str


@dataclass(frozen=True, kw_only=True)
class RunRepeated(Event):
    """The next of several runs begins; `number` counts from 1."""

    number: int


@dataclass
class Progress:
    """How far a run is. `text` is what came of the reply of the column's own adapter, in the last call for it.

    A fallback's or an extraction's text is none of the column's own, so it is not shown as its reply.
    """

    text: str = ""
    reasoning: str = ""
    """What the model has thought so far, in the call of which nothing else has come."""
    doing: str = ""
    attempt: int = 1
    number: int = 1
    """Of several runs, which one."""
    loading_s: float = 0.0
    """Seconds that went by while litellm was loaded, which are not the model's."""
    _shown: int = 0
    _loads_since: float | None = None
    _is_own: bool = True

    @property
    def call(self) -> tuple[int, int]:
        """Which call `text` is the reply of: of several runs which one, and in it which attempt."""
        return self.number, self._shown

    def hear(self, events: Iterable[Event]) -> None:
        """Takes note of events."""
        pieces, thoughts = [self.text], [self.reasoning]
        for event in events:
            self.attempt = max(self.attempt, event.attempt)
            if isinstance(event, ChunkReceived):
                if not self._is_own or event.choice or not (event.text or event.reasoning):
                    continue
                if event.attempt != self._shown:
                    self._shown = event.attempt
                    pieces.clear()
                    thoughts.clear()
                self.doing = "thinking" if event.reasoning and not event.text else ""
                pieces.append(event.text)
                thoughts.append(event.reasoning)
            elif isinstance(event, RunRepeated):
                self.attempt, self.number, self._shown, self._is_own, self.doing = 1, event.number, 0, True, ""
            else:
                self._is_own = self._is_own and not isinstance(event, FallbackStarted | ExtractionStarted)
                self._note_loading(event)
                self.doing = _doing(event, self.doing)
        self.text = "".join(pieces)
        self.reasoning = "".join(thoughts)

    def _note_loading(self, event: Event) -> None:
        if isinstance(event, ModelLoading):
            self._loads_since = event.at
        elif isinstance(event, RequestSent) and self._loads_since is not None:
            self.loading_s += event.at - self._loads_since
            self._loads_since = None


def _doing(event: Event, before: str) -> str:
    """What is being done since the event, in a few words; empty while a model answers for the first time."""
    if isinstance(event, ModelLoading):
        return "loading litellm"
    if isinstance(event, ToolWaits):
        return f"{event.name} waits for you"
    if isinstance(event, ToolInvoked):
        return f"{event.name} answered"
    if isinstance(event, RetryStarted):
        return f"again in {event.delay_s:.0f} s"
    if isinstance(event, FallbackStarted):
        return f"falls back to {event.adapter}"
    if isinstance(event, ExtractionStarted):
        return f"{event.model} extracts"
    if isinstance(event, RequestSent) and before in ("loading litellm",):
        return ""
    return before
