"""The events of a run, in order, as immutable data for the app, the command line and the session file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.lm.worker.completions import CallPiece
    from adapters.prompts.prompt import Prompt
    from adapters.replies.reading import Reading
    from adapters.tools.results import ToolResult


@dataclass(frozen=True, kw_only=True)
class Event:
    """`at` is seconds since the run began; `attempt` is the 1-based call it belongs to."""

    at: float
    attempt: int

    @property
    def kind(self) -> str:
        """The name of the class."""
        return type(self).__name__


@dataclass(frozen=True, kw_only=True)
class PromptRendered(Event):
    """The messages are made; nothing has been sent."""

    adapter: str
    prompt: Prompt


@dataclass(frozen=True, kw_only=True)
class ModelLoading(Event):
    """The call waits until what calls the model has been loaded; neither the model's time nor the deadline runs."""


@dataclass(frozen=True, kw_only=True)
class RequestSent(Event):
    """`request` is handed to the model: `{"model", "messages", …parameters}`."""

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
    """The model has finished; one text for each completion."""

    texts: tuple[str, ...]
    finish_reason: str | None
    usage: Mapping[str, Any] | None
    cost: float | None
    """In US dollars; None when unknown, never 0 for unknown."""
    duration_ms: float


@dataclass(frozen=True, kw_only=True)
class ReplyRead(Event):
    """The adapter has read the completion at `choice`."""

    adapter: str
    reading: Reading | None
    """None when there was nothing to read (tool calls alone, or an empty reply)."""
    ok: bool
    choice: int = 0


@dataclass(frozen=True, kw_only=True)
class FallbackStarted(Event):
    """The reply before could not be read, so `adapter` asks again; `attempt` is the attempt about to start."""

    adapter: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class AskedAgain(Event):
    """The reply before could not be read, so `messages` go to the model behind the others; dspy does not do this."""

    reason: str
    messages: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, kw_only=True)
class ExtractionStarted(Event):
    """TwoStep: the free text of the attempt before goes to a second model, which extracts the fields."""

    adapter: str
    model: str


@dataclass(frozen=True, kw_only=True)
class RetryStarted(Event):
    """The call before failed for `reason`; the same request goes out again after `delay_s` seconds."""

    reason: str
    delay_s: float
    failure: str = ""
    """The kind of what failed, as `adapters.lm.errors.ErrorKind` names it."""


@dataclass(frozen=True, kw_only=True)
class ToolInvoked(Event):
    """A tool was called for the model, or could not be; `rendered_output` goes back to it."""

    name: str
    call_id: str
    arguments: Any
    """As checked; as the model wrote them where they could not be read."""
    result: ToolResult
    rendered_output: str
    rolled_back: bool = False
    """Whether what the call had changed was undone, because it was not accepted."""
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
"""Observes; what it raises is collected in `Run.listener_errors` and changes nothing."""


def as_dict(event: Event) -> dict[str, Any]:
    """`{"kind", "at", "attempt", …}` with the event's own fields as they are (not yet JSON)."""
    return {"kind": event.kind, **{one.name: getattr(event, one.name) for one in fields(event)}}
