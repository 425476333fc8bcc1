"""The replies in a session: shown in a column, or recorded with their parse results.

Each type is a `FilePart`, a part of the file that keeps its layout. Its fields are the keys of the part, in writing
order, described by their docstrings. Reading, writing and the schema all use these keys, so they cannot differ.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from adapters.late_dataclasses import dataclass, field

NOTHING: Mapping[str, Any] = MappingProxyType({})


def nothing() -> Mapping[str, Any]:
    """Return an empty mapping, as a default factory: dataclasses reject unhashable defaults."""
    return NOTHING


@dataclass(frozen=True)
class Rule:
    """Rules for a key that its type cannot express; they follow it in `Annotated`."""

    name: str = ""
    """The key in the file, if it differs from the name of the field."""
    is_no_key: bool = False
    """True if the field is written as a part of another key."""
    has_lines: bool = False
    """True if the text is written as a list of its lines."""
    has_switches: bool = False
    """True if items are turns of a history, each optionally wrapped in `{"enabled", "values"}`."""
    has_parameters: bool = False
    """True if the object holds parameters (`sessions.model.parameters`)."""
    is_left_out: bool = False
    """True if the key is omitted if it has its default."""
    is_lenient: bool = False
    """True if a value of a wrong type is kept with the unknown keys and counts as absent."""
    null_is_absent: bool = False
    """True if null is kept with the unknown keys and counts as absent; a value of a wrong type is an error."""
    is_always_written: bool = False
    """True if a part that keeps its layout writes the key even with its default."""
    has_messages: bool = False
    """True if the object is a whole request, which must have a list `messages` of objects."""


LINES = Rule(has_lines=True)
LENIENT = Rule(is_lenient=True)
ALWAYS = Rule(is_always_written=True)
LENIENT_ALWAYS = Rule(is_lenient=True, is_always_written=True)


@dataclass(frozen=True, kw_only=True)
class FilePart:
    """A part that keeps its file's layout: saving an unchanged file preserves every byte.

    Other parts are written in the order and with the defaults of their types.
    """

    ORDER: ClassVar[tuple[str, ...]] = ()
    """The keys to write first; the others follow in the order of the type."""

    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    """Unknown keys, and lenient keys with a value of a wrong type."""
    keys: Mapping[str, bool] | None = field(default=None, repr=False, compare=False)
    """The keys in the file, in its order, and whether each has its default. None for a part not read from a file."""


_NO_RULE = Rule()
_NO_KEYS = frozenset({"extra", *(one.name for one in dataclasses.fields(FilePart))})


@dataclass(frozen=True)
class Key:
    """A key of a part: its name in the file, its field, the value's type without `Annotated`, the rule, the default."""

    name: str
    field: str
    hint: Any
    rule: Rule
    default: Any
    is_needed: bool


def keys_of(kind: type[Any]) -> Mapping[str, Key]:
    """Return the keys of a part by their names in the file, in writing order.

    `kind` is a dataclass of `sessions.model`; fields named in its `ORDER` come first.
    """
    if kind not in _KEYS:
        hints = get_type_hints(kind, include_extras=True)
        found: dict[str, Key] = {}
        for one in dataclasses.fields(kind):
            hint, rule = hints[one.name], _NO_RULE
            if get_origin(hint) is Annotated:
                hint, rule = get_args(hint)
            if one.name not in _NO_KEYS and not rule.is_no_key:
                made = default_of(one)
                found[one.name] = Key(rule.name or one.name, one.name, hint, rule, made, made is dataclasses.MISSING)
        ordered = dict.fromkeys([*getattr(kind, "ORDER", ()), *found])
        _KEYS[kind] = {found[field].name: found[field] for field in ordered}
    return _KEYS[kind]


def default_of(one: dataclasses.Field[Any]) -> Any:
    """Return the default of a field, which may be made; `dataclasses.MISSING` if it has none."""
    return one.default_factory() if one.default_factory is not dataclasses.MISSING else one.default


_KEYS: dict[type[Any], Mapping[str, Key]] = {}


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
    citations: Annotated[tuple[Mapping[str, Any], ...] | None, LENIENT] = None
    """The passages that the reply cites, as returned by the provider."""
    extraction: Annotated[Extraction | None, LENIENT] = None
    """The values that TwoStep's second model extracted from the text."""

    def as_output(self) -> dict[str, Any]:
        """Return the answer as an adapter gets it from a model: the text, and native parts if there are any."""
        calls = list(self.tool_calls or ())
        native = {"reasoning_content": self.reasoning, "tool_calls": calls, "logprobs": self.logprobs}
        native["citations"] = list(self.citations or ())
        return {"text": self.text, **{name: part for name, part in native.items() if part}}


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
    chunks: Annotated[tuple[int, ...] | None, LENIENT] = None
    """The lengths in characters of the chunks in which the text was streamed."""
    rating: Rating | None = None
    """A person's rating."""
    note: str | None = None
    """The reason for the rating."""

    def is_of_another_model(self, model: str | None) -> bool:
        """Return whether a model other than this sent the reply."""
        return self.source == "sent" and self.model not in (None, model)


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
