"""Replies as a session keeps them: shown under a column, or recorded with their parse results.

Each type is a part of the file that keeps the layout that it was given (`sessions.model.file_parts.FilePart`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from sessions.model.file_parts import ALWAYS, LENIENT, LENIENT_ALWAYS, FilePart, Rule, nothing

Source = Literal["sent", "edited", "pasted"]
"""Of a reply: a model's own, changed by a person, or brought by one."""
Rating = Literal["good", "bad"]
Role = Literal["main", "tools", "fallback", "extraction"]
"""Of a recorded call: the column's own, one that goes on after tool calls, the JSON adapter's, TwoStep's second one."""


@dataclass(frozen=True)
class Extraction(FilePart):
    """The values that TwoStep's second model extracted from a reply."""

    adapter: Annotated[str, LENIENT_ALWAYS] = ""
    """Who reads it: `chat`, or `json` where Chat could not and JSON asked again."""
    text: Annotated[str, LENIENT_ALWAYS] = ""
    """The second model's own reply."""


@dataclass(frozen=True)
class Answer(FilePart):
    """A model's answer: its text, and what else the provider returned."""

    text: Annotated[str, Rule(null_is_absent=True, is_always_written=True)] = ""
    """The reply exactly as it came."""
    reasoning: Annotated[str | None, LENIENT] = None
    """The model's reasoning, where the provider returned it apart."""
    tool_calls: Annotated[tuple[Mapping[str, Any], ...] | None, LENIENT] = None
    """Calls of tools as the provider returned them: `{"id", "type", "function": {"name", "arguments"}}` each."""
    finish_reason: Annotated[str | None, LENIENT] = None
    """Why the model stopped, in the provider's word, such as `stop` or `length`."""
    refusal: Annotated[str | None, LENIENT] = None
    """The model's words where it refused to answer, which the provider returns apart."""
    logprobs: Any = None
    """Log probabilities as the provider returned them."""
    extraction: Annotated[Extraction | None, LENIENT] = None
    """What TwoStep's second model made of the text."""


@dataclass(frozen=True)
class Reply(Answer):
    """The reply last shown under a column, and what a person thinks of it."""

    ORDER = ("text", "source", "model", "raw")

    text: str = field()  # without the default that it has in a recording
    """The reply exactly as it came, was edited or was pasted."""
    source: Annotated[Source, ALWAYS] = "sent"
    """Where it came from."""
    model: Annotated[str | None, LENIENT] = None
    """Who gave it."""
    raw: Annotated[bool, LENIENT] = False
    """Whether it is kept as it is, and not read."""
    rating: Rating | None = None
    """What a person thinks of it."""
    note: str | None = None
    """And why."""


@dataclass(frozen=True)
class RecordedError(FilePart):
    """Why a recorded reply did not parse."""

    type: Annotated[str, LENIENT] = ""
    """The name of dspy's exception."""
    field: Annotated[str | None, LENIENT_ALWAYS] = None
    """The field that it is about, where it is about one."""


@dataclass(frozen=True)
class RecordedReading(FilePart):
    """The parse result of a recorded reply."""

    ok: Annotated[bool, ALWAYS] = False
    """Whether it parsed."""
    values: Annotated[Mapping[str, Any], ALWAYS] = field(default_factory=nothing)
    """What was read, by field, with its types (`sessions.file.typed_values`)."""
    error: Annotated[RecordedError | None, LENIENT_ALWAYS] = None
    """Why it did not parse."""


@dataclass(frozen=True)
class RecordedCompletion(Answer):
    """A recorded reply with its parse result, which raw replies and mere tool calls lack."""

    reading: Annotated[RecordedReading | None, ALWAYS] = None
    """How it was read: verdict and typed values."""


@dataclass(frozen=True)
class RecordedAttempt(FilePart):
    """A recorded call of a model."""

    adapter: str
    """The adapter that made the prompt and reads the replies."""
    role: Annotated[Role | None, LENIENT_ALWAYS] = None
    """What the call was for."""
    request: Annotated[Mapping[str, Any] | None, Rule(has_messages=True, is_always_written=True)] = None
    """The whole request, messages included; null for the recording's own."""
    completions: Annotated[tuple[RecordedCompletion, ...], ALWAYS] = ()
    """The replies."""
    error: Annotated[str | None, LENIENT_ALWAYS] = None
    """Why the call failed, in one line."""


@dataclass(frozen=True)
class Measured(FilePart):
    """Tokens, cost and time of a recorded call; never compared, only checked against a case's limits."""

    usage: Annotated[Mapping[str, Any] | None, LENIENT_ALWAYS] = None
    """Tokens as the provider counted them."""
    cost: Annotated[float | None, LENIENT_ALWAYS] = None
    """US dollars."""
    duration_ms: Annotated[float | None, LENIENT_ALWAYS] = None
    """Milliseconds from the call to the end of the reply."""
