"""One call of a predictor as the program's side tells it: a line of JSON, read into types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class LiveModel:
    """The model that was asked: its name, its own parameters, and what it says it can do (None: that dspy does not
    say)."""

    name: str
    params: Mapping[str, Any]
    abilities: Mapping[str, Any] | None


@dataclass(frozen=True)
class LiveReading:
    """What dspy made of one output: typed values by field (`sessions.file.typed_values`), or the name of its error."""

    values: Mapping[str, Any] | None
    error: str | None


@dataclass(frozen=True)
class LiveAttempt:
    """One call of a model: by which adapter (`module:Class`, and the classes below it), what it was asked, and what it
    answered: a text each, or an object with the native parts."""

    adapter_classes: tuple[str, ...]
    options: Mapping[str, Any]
    is_extraction: bool
    messages: tuple[Mapping[str, Any], ...]
    params: Mapping[str, Any]
    model: LiveModel | None
    outputs: tuple[Any, ...]
    error: str | None
    readings: tuple[LiveReading, ...]


@dataclass(frozen=True)
class LiveCall:
    """One call of a predictor."""

    signature: str
    """The key of the description of its signature, told before."""
    name: str
    inputs: Mapping[str, Any]
    demos: tuple[Mapping[str, Any], ...]
    config: Mapping[str, Any]
    attempts: tuple[LiveAttempt, ...]
    values: tuple[Mapping[str, Any], ...]
    """Of each completion, typed; none where the call failed."""
    error: str | None = field(default=None)

    @property
    def has_failed(self) -> bool:
        """Whether an attempt was refused, went wrong, or had to be made again."""
        asked = [one for one in self.attempts if not one.is_extraction]
        return self.error is not None or len(asked) > 1 or any(one.error is not None for one in self.attempts)


def call_from(data: Mapping[str, Any]) -> LiveCall:
    """Raises KeyError or TypeError for what is no such call."""
    error = data["error"]
    return LiveCall(
        signature=data["signature"],
        name=data["name"],
        inputs=data["inputs"],
        demos=tuple(data["demos"]),
        config=data["config"],
        attempts=tuple([_attempt(one) for one in data["attempts"] if one["messages"]]),
        values=tuple(data["values"]),
        error=None if error is None else error["type"],
    )


def _attempt(data: Mapping[str, Any]) -> LiveAttempt:
    model = data["model"]
    return LiveAttempt(
        adapter_classes=tuple(data["adapter"]["classes"]),
        options=data["adapter"]["options"],
        is_extraction=data["is_extraction"],
        messages=tuple(data["messages"]),
        params=data["params"],
        model=None if model is None else LiveModel(model["name"], model["params"], model["abilities"]),
        outputs=tuple(data["outputs"]),
        error=data["error"],
        readings=tuple([LiveReading(one.get("values"), one.get("error")) for one in data["readings"]]),
    )
