"""The replies in a session: shown in a column, or recorded with their parse results.

Each type is a part of the file that keeps its layout (`sessions.model.file_parts.FilePart`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from sessions.model.file_parts import ALWAYS, LENIENT, LENIENT_ALWAYS, FilePart, Rule, nothing

Source = Literal["sent", "edited", "pasted"]
"""The source of a reply: sent by a model, edited by a person, or pasted by a person."""
Rating = Literal["good", "bad"]
Role = Literal["main", "tools", "fallback", "extraction"]
"""The role of a recorded call: the column's own, after tool calls, the JSON fallback, TwoStep's second call."""


@dataclass(frozen=True)
class Extraction(FilePart):
    """The values that TwoStep's second model extracted from a reply."""

    adapter: Annotated[str, LENIENT_ALWAYS] = ""
    """The adapter that parses it: `chat`, or `json` if Chat failed and JSON asked again."""
    text: Annotated[str, LENIENT_ALWAYS] = ""
    """The second model's own reply."""


@dataclass(frozen=True)
class Answer(FilePart):
    """A model's answer: its text, and the other data that the provider returned."""

    text: Annotated[str, Rule(null_is_absent=True, is_always_written=True)] = ""
    """The unchanged reply."""
    reasoning: Annotated[str | None, LENIENT] = None
    """The model's reasoning, if the provider returned it separately."""
    tool_calls: Annotated[tuple[Mapping[str, Any], ...] | None, LENIENT] = None
    """Tool calls as returned by the provider: `{"id", "type", "function": {"name", "arguments"}}` each."""
    finish_reason: Annotated[str | None, LENIENT] = None
    """Why the model stopped, in the provider's term, such as `stop` or `length`."""
    refusal: Annotated[str | None, LENIENT] = None
    """The text of the model's refusal, which providers return separately."""
    logprobs: Any = None
    """Log probabilities as returned by the provider."""
    extraction: Annotated[Extraction | None, LENIENT] = None
    """The values that TwoStep's second model extracted from the text."""


@dataclass(frozen=True)
class Reply(Answer):
    """The reply last shown in a column, with a person's rating."""

    ORDER = ("text", "source", "model", "raw")

    text: str = field()  # required, unlike in a recording
    """The reply as received, edited or pasted."""
    source: Annotated[Source, ALWAYS] = "sent"
    """The source of the reply."""
    model: Annotated[str | None, LENIENT] = None
    """The model that replied."""
    raw: Annotated[bool, LENIENT] = False
    """True if the reply stays unparsed."""
    request_digest: Annotated[str | None, LENIENT] = None
    """The SHA-256 of the request that the reply answers: messages, tools, reply format."""
    rating: Rating | None = None
    """A person's rating."""
    note: str | None = None
    """The reason for the rating."""


@dataclass(frozen=True)
class RecordedError(FilePart):
    """Why a recorded reply did not parse."""

    type: Annotated[str, LENIENT] = ""
    """The name of dspy's exception."""
    field: Annotated[str | None, LENIENT_ALWAYS] = None
    """The field with the error, if it concerns a single field."""


@dataclass(frozen=True)
class RecordedReading(FilePart):
    """The parse result of a recorded reply."""

    ok: Annotated[bool, ALWAYS] = False
    """True if it parsed."""
    values: Annotated[Mapping[str, Any], ALWAYS] = field(default_factory=nothing)
    """The parsed values by field, with their types (`sessions.file.typed_values`)."""
    error: Annotated[RecordedError | None, LENIENT_ALWAYS] = None
    """Why it did not parse."""


@dataclass(frozen=True)
class RecordedCompletion(Answer):
    """A recorded reply with its parse result; raw replies and replies with only tool calls have none."""

    reading: Annotated[RecordedReading | None, ALWAYS] = None
    """The parse result: verdict and typed values."""


@dataclass(frozen=True)
class RecordedAttempt(FilePart):
    """A recorded call of a model."""

    adapter: str
    """The adapter that renders the prompt and parses the replies."""
    role: Annotated[Role | None, LENIENT_ALWAYS] = None
    """The role of the call."""
    request: Annotated[Mapping[str, Any] | None, Rule(has_messages=True, is_always_written=True)] = None
    """The whole request with its messages; null for the recording's own request."""
    completions: Annotated[tuple[RecordedCompletion, ...], ALWAYS] = ()
    """The replies."""
    error: Annotated[str | None, LENIENT_ALWAYS] = None
    """Why the call failed, in one line."""


@dataclass(frozen=True)
class Measured(FilePart):
    """Tokens, cost and time of a recorded call, checked only against a case's limits."""

    usage: Annotated[Mapping[str, Any] | None, LENIENT_ALWAYS] = None
    """Token counts from the provider."""
    cost: Annotated[float | None, LENIENT_ALWAYS] = None
    """The cost in US dollars."""
    duration_ms: Annotated[float | None, LENIENT_ALWAYS] = None
    """Milliseconds from the call to the end of the reply."""
