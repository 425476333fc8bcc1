"""A call as data: the request, what an answer became, and who may make both in the place of an adapter."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from adapters.prompts.prompt import Message, Prompt
from adapters.replies.reading import Reading
from adapters.requests.capabilities import Capabilities
from adapters.requests.decisions import Decisions
from adapters.signatures.signature import Signature
from adapters.tools.fields import with_calls


@dataclass(frozen=True)
class Request:
    """A request: the prompt, the parameters beside the messages, and the signature that the reply is parsed by.

    `removed_fields` are those that native features took out of the prompt.
    """

    prompt: Prompt
    params: Mapping[str, Any]
    signature: Signature
    removed_fields: tuple[str, ...] = ()
    model: str | None = None
    calls_field: str | None = None
    """The output through which a reply in text calls the run's tools; None where calls come natively or not at all."""
    decisions: Decisions | None = None
    """How values are made of the evidence that the reply holds, where the signature has decision types."""
    whole_call: WholeCall | None = dataclasses.field(default=None, repr=False, compare=False)
    """Who made it, and reads its answers, where that is no adapter of ours."""

    @property
    def asked(self) -> Signature:
        """The signature whose outputs the prompt asks for: with `calls_field`, if the session's tools added it."""
        return self.signature if self.calls_field is None else with_calls(self.signature, self.calls_field)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.prompt.messages

    def asks_the_same(self, other: Request) -> bool:
        """Return whether the model is told the same: the messages as they go out, the tools and the form of the reply.

        The number of a demo or turn, which rows that are switched off count in, does not go out.
        """
        if len(self.messages) != len(other.messages):
            return False
        if any(self.params.get(key) != other.params.get(key) for key in ("tools", "response_format")):
            return False
        pairs = zip(self.messages, other.messages, strict=True)
        return all(one is another or one.as_dict() == another.as_dict() for one, another in pairs)

    def digest(self) -> str:
        """The same text for requests that ask the same, for a time when this one is gone."""
        beside = {key: self.params.get(key) for key in ("tools", "response_format")}
        told = [[one.as_dict() for one in self.messages], beside]
        return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()

    def counts_the_same(self, other: Request) -> bool:
        """Return whether both have the same tokens: what is told the same to the same model."""
        return self.model == other.model and self.asks_the_same(other)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON in the shape of an OpenAI chat request."""
        head = {"model": self.model} if self.model is not None else {}
        return {**head, "messages": self.prompt.as_dicts(), **self.params}


@dataclass(frozen=True)
class Outcome:
    """The result of a completion: the values of every output (empty when it failed) and the reading of its text."""

    values: Mapping[str, Any]
    reading: Reading
    is_undecided: bool = False
    """Whether the text was read, and the evidence in it decides nothing: dspy reads all completions before that."""


class WholeCall(Protocol):
    """A call that somebody else makes from end to end, such as another release of dspy: for a case, known to it."""

    def request(self, capabilities: Capabilities, model: str | None, reuse: Prompt | None = None) -> Request:
        """Build the request, messages included, with this call as its `whole_call`. Raises why it cannot.

        Messages that are as in `reuse`, the prompt before, are the same objects: what is shown of them stays.
        """

    def outcome(self, request: Request, signature: Signature, output: Mapping[str, Any] | str | None) -> Outcome:
        """Parse an answer to `request`, as `adapters.requests.request.postprocess`. Never raises."""
