"""The events of a run as immutable data, for app, command line and session file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from adapters.late_dataclasses import dataclass, fields

if TYPE_CHECKING:
    from adapters.lm.worker.replies import CallPiece
    from adapters.prompts.text import Prompt
    from adapters.replies.reading import Reading
    from adapters.tools.tools import ToolResult


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events; `at` is seconds since the run began, `attempt` the 1-based call."""

    at: float
    attempt: int

    @property
    def kind(self) -> str:
        """Return the name of the class."""
        return type(self).__name__


@dataclass(frozen=True, kw_only=True)
class PromptRendered(Event):
    """The messages are rendered; nothing has been sent."""

    adapter: str
    prompt: Prompt


@dataclass(frozen=True, kw_only=True)
class ModelLoading(Event):
    """The call waits for its code to load; neither model time nor deadline runs."""


@dataclass(frozen=True, kw_only=True)
class RequestSent(Event):
    """`request` was sent to the model: `{"model", "messages", …parameters}`."""

    model: str
    request: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChunkReceived(Event):
    """A piece of the completion at `choice` (0-based)."""

    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[CallPiece, ...] = ()
    choice: int = 0


@dataclass(frozen=True, kw_only=True)
class ResponseReceived(Event):
    """The model has finished; `texts` has a text for each completion."""

    texts: tuple[str, ...]
    finish_reason: str | None
    usage: Mapping[str, Any] | None
    cost: float | None
    """US dollars; None if unknown, never 0 for unknown."""
    duration_ms: float


@dataclass(frozen=True, kw_only=True)
class ReplyRead(Event):
    """The adapter has parsed the completion at `choice`."""

    adapter: str
    reading: Reading | None
    """None if there was nothing to parse (only tool calls, or an empty reply)."""
    ok: bool
    choice: int = 0


@dataclass(frozen=True, kw_only=True)
class FallbackStarted(Event):
    """The previous reply did not parse, so `adapter` asks again; `attempt` is the upcoming call."""

    adapter: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AskedAgain(Event):
    """The previous reply did not parse, so `messages` follow it; dspy does not do this."""

    reason: str
    messages: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class ExtractionStarted(Event):
    """TwoStep: a second model extracts the fields from the previous attempt's free text."""

    adapter: str
    model: str


@dataclass(frozen=True, kw_only=True)
class RetryStarted(Event):
    """The previous call failed for `reason`; the same request is sent again after `delay_s` seconds."""

    reason: str
    delay_s: float
    failure: str = ""
    """The kind of failure, as in `adapters.lm.protocol.ErrorKind`."""


@dataclass(frozen=True, kw_only=True)
class ToolInvoked(Event):
    """A tool call was executed or failed; the model is sent `rendered_output`."""

    name: str
    call_id: str
    arguments: Any
    """The validated arguments; as the model wrote them if they could not be decoded."""
    result: ToolResult
    rendered_output: str
    rolled_back: bool = False
    """True if the call's changes were undone because they were not accepted."""
    duration_ms: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PromptExecuted(Event):
    """The run succeeded."""

    values: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """The run failed."""

    phase: str
    message: str
    payload: Any = None


Listener = Callable[[Event], None]
"""An observer of events; its exceptions are collected in `Run.listener_errors` and change nothing."""


def as_dict(event: Event) -> dict[str, Any]:
    """Return `{"kind", "at", "attempt", …}` with the event's own fields unconverted (not yet JSON)."""
    return {"kind": event.kind, **{one.name: getattr(event, one.name) for one in fields(event)}}
