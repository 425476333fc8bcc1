"""A session: one signature with demos, columns and cases, as immutable data. `sessions.file.store` reads and writes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from sessions.model.replies import Measured, RecordedAttempt, Reply, nothing

if TYPE_CHECKING:
    from adapters.signatures.signature import Signature

Predictor = Literal["Predict", "ChainOfThought"]
RecordedSource = Literal["sent", "edited", "pasted", "accepted"]
"""Of a recording: its reply's; `accepted` where a person took a later prompt for right, to which it is no answer."""


@dataclass(frozen=True)
class SourceLink:
    """Where in a program a signature's text was taken: `file` relative to the session's folder, with `/`, the class
    there, and the digest of the text that was taken (`sessions.source`)."""

    file: str
    class_name: str
    digest: str
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class SignatureText:
    """The signature as the user wrote it: string notation, or Python source of which `class_name` is meant."""

    text: str
    class_name: str | None = None
    predictor: Predictor = "Predict"
    instructions: str | None = None
    """Replaces what the text says (for the string notation, which has no room for instructions)."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    source: SourceLink | None = None
    """The program that it is a copy of."""
    decisions: Mapping[str, Mapping[str, Any]] = field(default_factory=nothing)
    """Of outputs that are decisions, by name: `threshold`, `cuts` or `weights`, `instructions` and `criteria`, as
    `dspy.Predict.fields` has them."""

    def read(self) -> Signature:
        """The signature: the same object for the same content, since caches go by its identity.

        Raises `adapters.errors.SignatureError` with line and column.
        """
        return _read(self.text, self.class_name, self.predictor, self.instructions, self.decisions_as_text)

    @property
    def decisions_as_text(self) -> str:
        """`decisions` as JSON; empty without any."""
        return json.dumps(self.decisions) if self.decisions else ""


@lru_cache(maxsize=256)
def _read(
    text: str, class_name: str | None, predictor: Predictor, instructions: str | None, decisions: str
) -> Signature:
    from adapters.errors import SignatureError
    from adapters.signatures import notation

    signature = notation.read(text, class_name)
    if instructions is not None:
        signature = signature.with_instructions(instructions)
    if predictor == "ChainOfThought":
        signature = signature.chain_of_thought()
    if not decisions:
        return signature
    try:
        return signature.with_decisions(json.loads(decisions))
    except ValueError as error:
        hint = "name outputs of the signature under `decisions`, or take them out there"
        raise SignatureError(f"{error}", hint=hint) from error


@dataclass(frozen=True)
class Demo:
    """One example: plain JSON values by field name. Its identity stands for its content: never change `values`."""

    values: Mapping[str, Any]
    enabled: bool = True
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class Column:
    """What is compared: an adapter with its options, the model it is sent to (None: the session's) and parameters."""

    id: str
    adapter: str
    options: Mapping[str, Any] = field(default_factory=nothing)
    model: str | None = None
    params: Mapping[str, Any] = field(default_factory=nothing)
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    variant: str | None = None
    """The tag of the variants that take the place of the signature's own texts (`sessions.model.variants`)."""


@dataclass(frozen=True)
class Recording:
    """What `check` compares for one column of one case: prompt, request, replies and their readings, with versions.

    `messages` and `request` are plain JSON; `request` is the rest of the request, without its messages.
    `capabilities` are those of the model that the request was made for. What no check compares as recorded (usage,
    cost, durations) stands in the case's `measured`.
    """

    messages: tuple[Mapping[str, Any], ...]
    request: Mapping[str, Any]
    attempts: tuple[RecordedAttempt, ...]
    versions: Mapping[str, str]
    source: RecordedSource = "sent"
    capabilities: Mapping[str, Any] = field(default_factory=nothing)
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class Case:
    """One named set of inputs and history, what is expected of it, and its recordings and last replies by column id."""

    name: str
    inputs: Mapping[str, Any] = field(default_factory=nothing)
    history: tuple[Mapping[str, Any], ...] = ()
    expect: Mapping[str, Any] = field(default_factory=nothing)
    recordings: Mapping[str, Recording] = field(default_factory=nothing)
    replies: Mapping[str, Reply] = field(default_factory=nothing)
    """By column: the reply last shown under it."""
    measured: Mapping[str, tuple[Measured, ...]] = field(default_factory=nothing)
    """By column, of the recorded run: one an attempt."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    turns_off: frozenset[int] = frozenset()
    """The places in `history`, from 0, of turns that are kept and in no prompt."""

    @property
    def turns(self) -> Mapping[int, Mapping[str, Any]]:
        """The turns that a prompt gets, by their number: the 1-based place in `history`."""
        return {place + 1: turn for place, turn in enumerate(self.history) if place not in self.turns_off}


@dataclass(frozen=True)
class Tool:
    """A function a model may call, described and never run.

    `parameters` is the JSON Schema of its arguments, or a typed line of them (`query: str, limit: int = 5`).
    `results` are canned answers, objects `{"arguments", "result"}`; one without `arguments` answers any other call, and
    one with `error` in place of `result` fails with that text.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | str = field(default_factory=nothing)
    results: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class Variant:
    """Another wording to try in the place of one of the signature's texts.

    `of` is `instructions` or `fields.NAME.desc`; variants of the same `tag` go together. `original` is the
    `hash_of` the text it was written for, so that a variant of a text that has changed since is noticed.
    """

    tag: str
    of: str
    text: str
    original: str = ""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    @staticmethod
    def hash_of(text: str) -> str:
        return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


SCHEMA = "urn:adapter-workbench:session:1"
"""The `$id` of `session.schema.json`, which every file names as its `$schema`."""


@dataclass(frozen=True)
class Session:
    """Everything a session file holds. `extra` keeps keys of the file that this version does not know."""

    signature: SignatureText
    demos: tuple[Demo, ...] = ()
    columns: tuple[Column, ...] = ()
    cases: tuple[Case, ...] = (Case("case 1"),)
    model: str = "offline/exact"
    params: Mapping[str, Any] = field(default_factory=nothing)
    fallback: bool = False
    """Whether Chat and XML fall back to JSON after a reply that does not parse. Off: the first failure shows."""
    name: str = ""
    notes: str = ""
    tools: tuple[Tool, ...] = ()
    variants: tuple[Variant, ...] = ()
    schema: str = SCHEMA
    """What the file says under `$schema`, for editors."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    def case(self, name: str) -> Case:
        """Raises KeyError, naming the cases there are."""
        for one in self.cases:
            if one.name == name:
                return one
        raise KeyError(f"no case {name!r}; there are {[one.name for one in self.cases]}")

    def column(self, id: str) -> Column:
        """Raises KeyError, naming the columns there are."""
        for one in self.columns:
            if one.id == id:
                return one
        raise KeyError(f"no column {id!r}; there are {[one.id for one in self.columns]}")

    def with_case(self, case: Case) -> Session:
        """The case of the same name replaced."""
        return replace(self, cases=tuple(case if one.name == case.name else one for one in self.cases))

    def model_of(self, column: Column) -> str:
        return column.model or self.model

    def params_of(self, column: Column) -> Mapping[str, Any]:
        return {**self.params, **column.params}


DEFAULT_COLUMNS = (Column("chat", "chat"), Column("json", "json"), Column("xml", "xml"))
