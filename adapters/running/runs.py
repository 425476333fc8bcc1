"""The result of a run as immutable data, and explanations of finish reasons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from adapters.display.as_text import ShowsItself
from adapters.display.blocks import Block, Heading, Note, Passage, Piece, Shown
from adapters.late_dataclasses import dataclass, field

if TYPE_CHECKING:
    from adapters.errors import RunError
    from adapters.lm.protocol import Completion
    from adapters.running import events


Purpose = Literal["first", "retry", "tools", "fallback", "extraction", "again"]
"""The reason for a call: tools: continues after tool calls; retry: the previous call failed; again: the previous reply
had a parse error, which was returned to the model."""


@dataclass(frozen=True)
class Attempt:
    """A call; `usage` and `cost` are None if unknown, `error` is a line.

    `completions` contain what arrived before a call broke off. `payload` is the provider's data on an error.
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
    """The provider's metadata of the reply, such as its id and the model that answered."""
    purpose: Purpose = "first"

    def blocks(self) -> tuple[Block, ...]:
        """Return the attempt as blocks: its adapter and model, and each reply as it was parsed."""
        why = "" if self.purpose == "first" else f" · {self.purpose}"
        blocks: list[Block] = [
            Heading(f"{self.number}. {self.adapter} → {self.model} · {self.duration_ms:,.0f} ms{why}")
        ]
        if self.error and all(one.reading is None for one in self.completions):
            blocks.append(Note(f"✗ {self.error}", "bad"))
        for one in self.completions:
            if one.reading is not None:
                blocks.extend(one.reading.shown().blocks)
            elif one.text:
                blocks.append(Passage("reply", (Piece(one.text, "reply-ignored", "not parsed"),)))
        return tuple(blocks)


@dataclass(frozen=True)
class Run(ShowsItself):
    """The result of a run: `ok` or `error`, with all calls and events in order."""

    ok: bool
    values: Mapping[str, Any]
    """The first completion's values, by output field; empty if nothing parsed."""
    events: tuple[events.Event, ...] = field(repr=False)
    attempts: tuple[Attempt, ...] = field(repr=False)
    error: RunError | None = None
    cancelled: bool = False
    all_values: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """The values of each completion."""
    listener_errors: tuple[Exception, ...] = ()
    """Exceptions of listeners; they did not end the run."""
    tool_turns: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """Turns for a `History`, as plain JSON: `{"tool_calls": {"tool_calls": […], "tool_call_results": […]}}` each."""

    def shown(self) -> Shown:
        """Describe every attempt with its replies; `error` first."""
        failed = () if self.error is None else (Note(f"✗ {self.error}", "bad"),)
        return Shown("", (*failed, *[block for one in self.attempts for block in one.blocks()]))


LONGEST_REFUSAL = 200

WORDS = {
    "length": "cut off at its token limit",
    "content_filter": "stopped by a content filter",
    "insufficient_system_resource": "ended early: the server ran out of resources",
    "network_error": "ended early: an error of the server",
    "ERROR": "ended early: an error of the server",
    "TIMEOUT": "ended early: the server took too long",
    "MALFORMED_FUNCTION_CALL": "ended early: the model wrote a malformed tool call",
    "MALFORMED_RESPONSE": "ended early: the model wrote a malformed reply",
    "UNEXPECTED_TOOL_CALL": "ended early: the model called a tool that it was not given",
    "TOO_MANY_TOOL_CALLS": "ended early: the model called too many tools in a row",
}
"""Explanations by finish reason: OpenAI's, to which litellm maps others, and providers' for failures."""


def why_it_ended(finish_reason: str | None, refusal: str = "") -> str:
    """Explain in a line why a reply ended; empty for a normal end. `refusal` is the model's text.

    >>> why_it_ended("length")
    'cut off at its token limit'
    >>> why_it_ended("stop")
    ''
    """
    if refusal:
        said = " ".join(refusal.split())
        return f"refused: {said if len(said) <= LONGEST_REFUSAL else said[:LONGEST_REFUSAL] + '…'}"
    return WORDS.get(finish_reason or "", "")
