"""The result of a run as immutable data, and why its replies ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from adapters.errors import RunError
    from adapters.lm.protocol import ToolCall
    from adapters.replies.reading import Reading
    from adapters.running import events


@dataclass(frozen=True)
class Completion:
    """A completion of a call, and what the adapter made of its text (None: it was not read)."""

    text: str
    reading: Reading | None = None
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    logprobs: Any = None
    refusal: str = ""
    """What the model said in the place of an answer that it refused."""


Purpose = Literal["first", "retry", "tools", "fallback", "extraction", "again"]
"""Why a call was made: tools: the conversation goes on after tool calls; retry: the call before it failed; again: the
reply before it did not parse, and its error went back to the model."""


@dataclass(frozen=True)
class Attempt:
    """A call that was made. `usage` and `cost` are None when unknown; `error` says in a line why it failed.

    `completions` hold what had arrived when the call broke off. `payload` is what the provider sent with an error.
    """

    number: int
    adapter: str
    model: str
    request: Mapping[str, Any]
    completions: tuple[Completion, ...] = ()
    usage: Mapping[str, Any] | None = None
    cost: float | None = None
    duration_ms: float = 0.0
    error: str | None = None
    payload: Any = None
    raw: Any = None
    """The provider's own account of the reply: its id, the model that answered, and the like."""
    purpose: Purpose = "first"


@dataclass(frozen=True)
class Run:
    """Everything a run did: `ok`, or why not in `error`; each call that was made, and all that happened, in order."""

    ok: bool
    values: Mapping[str, Any]
    """The first completion's, by output field; empty when nothing could be read."""
    events: tuple[events.Event, ...] = field(repr=False)
    attempts: tuple[Attempt, ...] = field(repr=False)
    error: RunError | None = None
    cancelled: bool = False
    all_values: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """Those of each completion, where several were asked for."""
    listener_errors: tuple[Exception, ...] = ()
    """What listeners raised; the run went on."""
    tool_turns: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """Ready for a `History`: one `{"tool_calls": {"tool_calls": […], "tool_call_results": […]}}` a turn, plain JSON."""


LONGEST_REFUSAL = 200


WORDS = {
    "length": "cut off at its token limit",
    "content_filter": "stopped by a content filter",
}
"""By the finish reason, as OpenAI names them and litellm maps everybody's."""


def why_it_ended(finish_reason: str | None, refusal: str = "") -> str:
    """A line; empty for a reply that came to its own end. `refusal` is what the model said instead of an answer.

    >>> why_it_ended("length")
    'cut off at its token limit'
    >>> why_it_ended("stop")
    ''
    """
    if refusal:
        said = " ".join(refusal.split())
        return f"refused: {said if len(said) <= LONGEST_REFUSAL else said[:LONGEST_REFUSAL] + '…'}"
    return WORDS.get(finish_reason or "", "")
