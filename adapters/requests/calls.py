"""A call as data: of `dspy.Predict`, request and outcome, who makes them, and asking again after a parse error.

dspy 3.4.1 does not ask again (its issue 7693; pull requests 7922, 8050, 9368, 9392 and 9800 propose it): these messages
are ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adapters.late_dataclasses import dataclass, field, replace
from adapters.prompts.text import Demos, Message, Prompt, Text, Values, message_of
from adapters.replies.flag import named
from adapters.replies.reading import Reader, Reading
from adapters.requests.capabilities import Capabilities
from adapters.requests.decisions import Decisions
from adapters.signatures.signature import Signature
from adapters.tools.tools import add_calls_output
from adapters.values.custom_types import BuildError

LONGEST_REPLY = 20_000
"""Maximum length of the reply that is sent back to the model, in characters."""
MOST_CAUSES = 3
TAKEN: Mapping[str, str] = {
    "demos": "as its demos, in place of its own",
    "config": "as parameters of the call",
    "lm": "as its model",
    "prediction": "as a parameter of the call when it is {'type': 'content', 'content': …}",
    "signature": "as its signature",
    "new_signature": "as a mistake and raises AssertionError",
    "self": "as itself and raises TypeError",
    "instance": "as itself and raises TypeError",
}
"""dspy.Predict's use of an input of each name, which never reaches the prompt.

Rule: `dspy.Predict._forward_preprocess` pops `signature`, `demos`, `config` and `lm` from its keyword arguments,
rejects `new_signature`, and takes a `prediction` in OpenAI's form; `self` and `instance` are parameters of
`dspy.Predict.__call__` and of the callback wrapper around it.
"""
RENAME = "rename the field"


@dataclass(frozen=True)
class Request:
    """A request: prompt, other parameters, and the signature that parses the reply.

    `removed_fields` are fields that native features took out of the prompt.
    """

    prompt: Prompt
    params: Mapping[str, Any]
    signature: Signature
    removed_fields: tuple[str, ...] = ()
    model: str | None = None
    calls_field: str | None = None
    """The output for tool calls in a text reply; None if calls are native or there are no tools."""
    decisions: Decisions | None = None
    """The rules that compute values from the reply's evidence, if the signature has decision types."""
    whole_call: WholeCall | None = field(default=None, repr=False, compare=False)
    """The maker of the request and parser of its replies, if not an adapter of ours."""

    @property
    def asked(self) -> Signature:
        """Return the signature of the requested outputs: with `calls_field`, if the session's tools added it."""
        return self.signature if self.calls_field is None else add_calls_output(self.signature, self.calls_field)

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.prompt.messages

    def with_turns(self, turns: Sequence[Message]) -> Request:
        """Append the turns of tools; a tool that was prescribed is prescribed no longer."""
        choice = self.params.get("tool_choice")
        is_named = isinstance(choice, Mapping) and choice.get("type") == "function"
        params = {**self.params, "tool_choice": "auto"} if is_named else dict(self.params)
        prompt = replace(self.prompt, messages=(*self.messages, *turns), reusable=None)
        return replace(self, prompt=prompt, params=params)

    def asks_the_same(self, other: Request) -> bool:
        """Return whether the model is sent the same messages, tools and reply format.

        The number of a demo or turn, which also counts disabled rows, is not sent.
        """
        if len(self.messages) != len(other.messages):
            return False
        if any(self.params.get(key) != other.params.get(key) for key in ("tools", "response_format")):
            return False
        pairs = zip(self.messages, other.messages, strict=True)
        return all(one is another or one.as_dict() == another.as_dict() for one, another in pairs)

    def digest(self) -> str:
        """Return a lasting hash, equal for requests that ask the same."""
        return digest_of(self.as_dict())

    def counts_the_same(self, other: Request) -> bool:
        """Return whether both have the same tokens: the same content for the same model."""
        return self.model == other.model and self.asks_the_same(other)

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON in the shape of an OpenAI chat request."""
        head = {"model": self.model} if self.model is not None else {}
        return {**head, "messages": self.prompt.as_dicts(), **self.params}


def digest_of(request: Mapping[str, Any]) -> str:
    """Hash the messages, tools and reply format of a request in the shape of `Request.as_dict`."""
    told = [request["messages"], {key: request.get(key) for key in ("tools", "response_format")}]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class Outcome:
    """The result of a completion: output values (empty after a failure) and the parse result."""

    values: Mapping[str, Any]
    reading: Reading
    is_undecided: bool = False
    """True if the text parsed but its evidence decides nothing: dspy parses all completions first."""


Output = Mapping[str, Any] | str | None
"""An output of a model: a text, or an object with native parts."""


class WholeCall(Protocol):
    """A call made entirely elsewhere, such as by another dspy release, for its case."""

    def request(self, capabilities: Capabilities, model: str | None, reuse: Prompt | None = None) -> Request:
        """Build the request, messages included, with this call as its `whole_call`. Raises on failure.

        Messages that equal those of the previous prompt `reuse` are reused, which keeps their display.
        """

    def outcome(self, request: Request, signature: Signature, output: Output) -> Outcome:
        """Parse an answer to `request`, as `adapters.requests.request.postprocess` does. Never raises."""


class RequestedAdapter(Reader, Protocol):
    """The methods of `adapters.formats.base.Adapter`, documented there, for callers outside the class."""

    @property
    def name(self) -> str: ...

    use_native_function_calling: bool
    parallel_tool_calls: bool | None
    native_response_types: tuple[type, ...] | None
    whole_call: WholeCall | None
    """The replacement of `render` and `read` for the whole call; None for adapters that do both themselves."""

    def render(self, signature: Signature, demos: Demos, inputs: Values, reuse: Prompt | None = None) -> Prompt: ...

    def read_with_calls(self, signature: Signature, completion: str) -> Reading: ...

    def response_format(self, signature: Signature, capabilities: Capabilities) -> dict[str, Any] | None: ...

    def fallback_adapter(self) -> RequestedAdapter | None: ...

    def format_user_message_content(
        self, signature: Signature, inputs: Values, prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str: ...

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str: ...


def asked_again(request: Request, reading: Reading) -> Request:
    """Create the request that sends a reply and its parse errors back to the model, as messages.

    A blank reply is left out, because providers reject it.
    """
    messages = request.prompt.messages
    last = next((one.segments for one in reversed(messages) if one.turn == "inputs"), ())
    start = next((index for index, one in enumerate(last) if one.kind == "reminder"), len(last))
    reminder = "".join([one.text for one in last[start:]])
    text = reading.completion[:LONGEST_REPLY]
    found = reading.diagnosis
    if reading.extraction is not None:  # whose format is not the model's to mend
        found = tuple([one for one in reading.extraction.diagnosis if one.field])
    causes = [one.message for one in found[:MOST_CAUSES]]
    if reading.extraction is not None and (lacking := reading.extraction.lacking):
        causes.append(f"No value for {named(list(lacking))} could be taken out of it.")
    if not causes and reading.error is not None:
        causes = [reading.error.message.strip()]
    said = "\n".join([f"- {one}" for one in causes])
    words = f"Your last reply could not be parsed:\n{said}\n\nWrite the whole reply again, corrected.\n\n{reminder}"
    turns = [("assistant", text)] if text.strip() else []
    turns.append(("user", words.strip()))
    added = [message_of(role, "ask again", Text.of(said, "boilerplate")) for role, said in turns]
    following = (*messages, *added)
    return replace(request, prompt=replace(request.prompt, messages=following, reusable=None))


@dataclass(frozen=True)
class PredictCall:
    """The arguments of a `dspy.Predict` call; `demos` None keeps its own."""

    inputs: dict[str, Any]
    demos: Sequence[Mapping[str, Any]] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def predict_call(signature: Signature, inputs: Mapping[str, Any]) -> PredictCall:
    """Split `inputs` as dspy.Predict does, looking only at the signature's fields.

    Raises `BuildError` where dspy.Predict raises before sending anything.
    """
    left = dict(inputs)
    demos: Sequence[Mapping[str, Any]] | None = None
    params: dict[str, Any] = {}
    taken = TAKEN.keys() & inputs.keys()
    for name in taken & signature.input_fields.keys() if taken else ():
        value = inputs[name]
        if name == "prediction":
            if isinstance(value, Mapping) and value.get("type") == "content" and "content" in value:
                params["prediction"] = left.pop(name)
            continue
        del left[name]
        if name == "demos":
            if not isinstance(value, str | list | tuple):
                raise _refused(name, "TypeError")
            demos = [one for one in value if isinstance(one, Mapping)]
        elif name == "config":
            if not isinstance(value, Mapping):
                raise _refused(name, "TypeError")
            params |= value
        elif name != "lm" or value:
            raise _refused(name, {"lm": "ValueError", "new_signature": "AssertionError"}.get(name, "TypeError"))
    return PredictCall(left, demos, params)


def _refused(name: str, raised: str) -> BuildError:
    return BuildError(f"dspy.Predict uses an input of this name itself and raises {raised}", RENAME, name)
