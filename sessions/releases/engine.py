"""Define the interface of engines: a question in, a whole call of an adapter out.

An engine is a dspy release in its own process (`sessions.releases.release.Release`), or ours
(`sessions.upgrades.sides.Ours`). Both return the same data types, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from adapters.late_dataclasses import dataclass
from adapters.requests.capabilities import Capabilities
from sessions.errors import SessionError
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session

Failure = Literal["missing", "unsupported", "raised", "ended", "too slow"]
"""missing: no such Python, or no dspy in it · unsupported: this dspy lacks the adapter or a type · raised: an exception
while making the prompt · ended: the process died · too slow: no answer in time, so the process was killed.

After `ended` and `too slow` the next question starts a new process."""


class ReleaseError(SessionError):
    """Why an engine does not answer, in a single line, with the fix if any."""

    def __init__(self, kind: Failure, place: str, message: str, hint: str = "") -> None:
        self.kind = kind
        super().__init__(None, place, message, hint)


@dataclass(frozen=True)
class Question:
    """A case in a column, and model answers to parse."""

    session: Session
    case: Case
    column: Column
    capabilities: Capabilities | None = None
    """The capabilities of the model that the request is made for; None for the column's model."""
    answers: Sequence[Answer] = ()
    """The model's answers, native parts included."""
    adapter: str = ""
    """An adapter to use instead of the column's, without options, as in a fallback."""


@dataclass(frozen=True)
class ReleaseReading:
    """An engine's parse result: values as written by `sessions.file.typed_values`, or its exception."""

    ok: bool
    values: Mapping[str, Any]
    error: str = ""
    """The type of the exception."""
    message: str = ""
    """The message of the exception."""

    @property
    def why(self) -> str:
        """The error in a single line of at most 200 characters."""
        return " ".join(f"{self.error}: {self.message}".split())[:200] if self.message else self.error


@dataclass(frozen=True)
class Call:
    """The request for a question, and how its answers are parsed."""

    messages: tuple[Mapping[str, Any], ...]
    """Plain JSON, as dspy passes it to a model."""
    request: Mapping[str, Any]
    """The rest of the request: `response_format`, tools, the user's parameters; without the model's name."""
    readings: tuple[ReleaseReading, ...] = ()
    """The parse results, one for each answer."""
    removed_fields: tuple[str, ...] = ()
    """The fields that native features removed from the prompt."""


class Engine(Protocol):
    """Renders and parses like some dspy. Close it when done: it may hold a process."""

    @property
    def name(self) -> str:
        """The name to use in sentences: `dspy 3.0.4`."""

    @property
    def version(self) -> str:
        """Return the version of dspy, such as `3.0.4`."""

    def call(self, question: Question) -> Call:
        """Make a whole call. Raises `ReleaseError`, and our own errors for invalid values or signatures."""

    def close(self) -> None: ...
