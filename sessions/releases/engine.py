"""Questions to an engine and its answers: a whole call of an adapter, whoever makes it.

An engine is a release of dspy in a process of its own (`sessions.releases.release.Release`), or ours
(`sessions.upgrades.engines.Ours`). Both say the same things in the same shapes, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from adapters.requests.capabilities import Capabilities
from sessions.errors import SessionError
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session

Failure = Literal["missing", "unsupported", "raised", "ended", "too slow"]
"""missing: there is no such Python, or no dspy in it · unsupported: that dspy lacks the adapter or a type · raised: it
refuses to make the prompt · ended: its process died · too slow: it did not answer in time, and was ended.

After `ended` and `too slow` the next question starts a new process."""


class ReleaseError(SessionError):
    """Why an engine does not answer, in a line with the fix if any."""

    def __init__(self, kind: Failure, place: str, message: str, hint: str = "") -> None:
        self.kind = kind
        super().__init__(None, place, message, hint)


@dataclass(frozen=True)
class Question:
    """A case under a column, and the answers of a model that are to be read there."""

    session: Session
    case: Case
    column: Column
    capabilities: Capabilities | None = None
    """Of the model that the request is made for; None: those of the column's model."""
    answers: Sequence[Answer] = ()
    """What a model answered, native parts included."""
    adapter: str = ""
    """An adapter in the place of the column's, without options: that of a fallback."""


@dataclass(frozen=True)
class ReleaseReading:
    """An engine's parse result: values as `sessions.file.typed_values` writes them, or its exception."""

    ok: bool
    values: Mapping[str, Any]
    error: str = ""
    """The type of the exception."""
    message: str = ""
    """What the exception says."""

    @property
    def why(self) -> str:
        """Why it is not read, in a line of at most 200 characters."""
        return " ".join(f"{self.error}: {self.message}".split())[:200] if self.message else self.error


@dataclass(frozen=True)
class Call:
    """The request for a question, and how its answers are parsed."""

    messages: tuple[Mapping[str, Any], ...]
    """Plain JSON, as dspy hands it to a model."""
    request: Mapping[str, Any]
    """All else that goes out: `response_format`, tools, the user's parameters; without the model's name."""
    readings: tuple[ReleaseReading, ...] = ()
    """One an answer."""
    removed_fields: tuple[str, ...] = ()
    """The fields that native features took out of the prompt."""


class Engine(Protocol):
    """Something that renders and reads as a dspy does. Close it when done: it may hold a process."""

    @property
    def name(self) -> str:
        """As it stands in sentences: `dspy 3.0.4`."""

    @property
    def version(self) -> str:
        """Return the version of dspy, such as `3.0.4`."""

    def call(self, question: Question) -> Call:
        """The whole call. Raises `ReleaseError`, and for values or signatures that nobody can hold what ours raises."""

    def close(self) -> None: ...
