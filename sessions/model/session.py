"""A session as immutable data: a signature with demos, columns and cases. `sessions.file.store` loads and saves it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from adapters.display.as_text import ShowsItself
from adapters.display.blocks import Note, Passage, Piece, Shown, Table
from adapters.late_dataclasses import dataclass, field, replace
from adapters.values.plain_json import plain
from sessions.errors import counted
from sessions.model.replies import LINES, Measured, RecordedAttempt, RecordedCompletion, Reply, Rule, nothing

if TYPE_CHECKING:
    from adapters.signatures.signature import Signature

Result = TypeVar("Result")
Predictor = Literal[
    "Predict",
    "ChainOfThought",
    "ReAct.react",
    "ReAct.extract",
    "CodeAct.codeact",
    "CodeAct.extractor",
    "ProgramOfThought.code_generate",
    "ProgramOfThought.code_regenerate",
    "ProgramOfThought.generate_output",
    "Refine.hinted",
    "Refine.feedback",
]
"""The predictor that calls the signature; a name with a dot is an inner signature derived by a dspy module."""
RecordedSource = Literal["sent", "edited", "pasted", "accepted"]
"""The source of a recording's reply; `accepted` if a person accepted a newer prompt that was never sent."""


@dataclass(frozen=True)
class SourceLink:
    """The place in a program from which a signature's text was taken."""

    file: str
    """The path relative to the session's folder, with `/`."""
    class_name: Annotated[str, Rule(name="class")]
    """The class, or the place of a signature inside other code, such as `Agent.__init__.answer.Predict`."""
    digest: str = ""
    """The digest of the text that was taken."""
    meaning: Annotated[str, Rule(is_left_out=True)] = ""
    """The digest of the text's meaning, ignoring comments and layout."""
    react: Annotated[str, Rule(is_left_out=True)] = ""
    """The inner signature of a `dspy.ReAct` over the class: `react` or `extract`."""
    tools: Annotated[Mapping[str, str], Rule(is_left_out=True)] = field(default_factory=nothing)
    """The tools of that ReAct by name, with their descriptions in its instructions."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class SignatureText:
    """The text of the signature: string notation or Python source, which is parsed and never run."""

    text: Annotated[str, LINES]
    """The string notation, or Python source."""
    class_name: Annotated[str | None, Rule(name="class")] = None
    """The signature's class in the source."""
    predictor: Predictor = "Predict"
    """The caller: `ChainOfThought` puts the field `reasoning` before the other outputs; names such as `ReAct.react` are
    inner signatures of an agent with the session's tools."""
    instructions: Annotated[str | None, LINES] = None
    """Instructions that replace those of the text."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    source: Annotated[SourceLink | None, Rule(is_left_out=True)] = None
    """The program from which the text was copied."""
    decisions: Annotated[Mapping[str, Mapping[str, Any]], Rule(is_left_out=True)] = field(default_factory=nothing)
    """Parameters of outputs that are decisions, by name: `threshold`, `cuts` or `weights`, `instructions` and
    `criteria`, as in `dspy.Predict.fields`."""
    tools: Annotated[Mapping[str, str], Rule(is_no_key=True)] = field(default_factory=nothing)
    """The session's tools by name, with their descriptions in an agent's instructions."""

    def read(self) -> Signature:
        """Parse the signature; the same content gives the same object, because caches use its identity.

        Raises `adapters.errors.SignatureError` with line and column.
        """
        tools = tuple(self.tools.items())
        return _read(self.text, self.class_name, self.predictor, self.instructions, self.decisions_as_text, tools)

    @property
    def is_as_taken(self) -> bool:
        """Tell whether the text is linked to a program and was not edited since."""
        return self.source is not None and self.source.digest == digest_of(self.text)

    @property
    def decisions_as_text(self) -> str:
        """The `decisions` as JSON, or ""."""
        return json.dumps(self.decisions) if self.decisions else ""


def digest_of(text: str) -> str:
    """Return `sha256:` followed by the hash of a text."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=256)
def _read(
    text: str,
    class_name: str | None,
    predictor: Predictor,
    instructions: str | None,
    decisions: str,
    tools: tuple[tuple[str, str], ...],
) -> Signature:
    from adapters.errors import SignatureError
    from adapters.signatures.read.plain_strings import read_plain

    signature = None if class_name is not None else read_plain(text, instructions)
    if signature is None:
        from adapters.signatures import notation

        signature = notation.read(text, class_name)
        if instructions is not None:
            signature = signature.with_instructions(instructions)
    if predictor == "ChainOfThought":
        signature = signature.chain_of_thought()
    elif predictor != "Predict":
        from adapters.signatures.agents import inner_signature

        signature = inner_signature(predictor, signature, dict(tools))
    if not decisions:
        return signature
    try:
        return signature.set_decisions(json.loads(decisions))
    except ValueError as error:
        hint = "name outputs of the signature under `decisions`, or take them out there"
        raise SignatureError(f"{error}", hint=hint) from error


@dataclass(frozen=True)
class Demo:
    """A few-shot example.

    Caches use its identity for its content: never change `values`.
    """

    ORDER: ClassVar = ("enabled",)

    values: Mapping[str, Any]
    """Plain JSON by field name."""
    enabled: bool = True
    """True if the demo is in prompts."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class Column:
    """An adapter with its options and model."""

    id: str
    """The unique name of the column; by default the adapter's."""
    adapter: str
    """`chat`, `json`, `xml`, `baml`, `twostep`, `markdown`, or `module:Class`."""
    options: Mapping[str, Any] = field(default_factory=nothing)
    """The adapter's options, by the names of dspy's constructor arguments."""
    model: str | None = None
    """The model; null for the session's."""
    params: Annotated[Mapping[str, Any], Rule(has_parameters=True)] = field(default_factory=nothing)
    """The column's parameters, which override the session's."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    variant: Annotated[str | None, Rule(is_left_out=True)] = None
    """The tag of the variants that replace the signature's texts."""


@dataclass(frozen=True)
class Recording:
    """The recording of a column and case that `check` compares: request, reply and parse result.

    Data that checks do not compare (usage, cost, durations) is in the case's `measured`.
    """

    ORDER: ClassVar = ("source", "versions", "capabilities")

    messages: tuple[Mapping[str, Any], ...]
    """The prompt, as plain JSON."""
    request: Mapping[str, Any] = field(default_factory=nothing)
    """The request without its messages."""
    attempts: tuple[RecordedAttempt, ...] = ()
    """The model calls, in order."""
    versions: Mapping[str, str] = field(default_factory=nothing)
    """The versions of the software that affects the recording: engine, dspy, json_repair, pydantic."""
    source: RecordedSource = "sent"
    """The source of the reply; `accepted`: its prompt was accepted and never sent."""
    capabilities: Mapping[str, Any] = field(default_factory=nothing)
    """The capabilities of the model for which the request was made."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)


@dataclass(frozen=True)
class Case:
    """A named set of inputs, with expectations and recordings."""

    name: str
    """The unique name of the case."""
    inputs: Mapping[str, Any] = field(default_factory=nothing)
    """Plain JSON by field name."""
    history: Annotated[tuple[Mapping[str, Any], ...], Rule(has_switches=True)] = ()
    """Earlier turns, oldest first: plain JSON by field name, or `{"enabled", "values"}` around it. Disabled turns are
    not in prompts."""
    expect: Mapping[str, Any] = field(default_factory=nothing)
    """The expectations of a reply: `{"reply", "fields", "cost", "tokens", "seconds", "columns"}`."""
    recordings: Mapping[str, Recording] = field(default_factory=nothing)
    """The recordings by column id, which `check` compares."""
    replies: Mapping[str, Reply] = field(default_factory=nothing)
    """The last shown replies by column id."""
    measured: Mapping[str, tuple[Measured, ...]] = field(default_factory=nothing)
    """The measurements of recorded runs by column id, an object for each attempt; `check` does not compare them."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)
    turns_off: Annotated[frozenset[int], Rule(is_no_key=True)] = frozenset()
    """The indexes in `history`, from 0, of disabled turns."""

    def recorded_reply(self, column: str) -> RecordedCompletion | None:
        """Return the first recorded reply to a column's own call, or None."""
        recorded = self.recordings.get(column)
        calls = [one for one in recorded.attempts if one.role == "main"] if recorded is not None else []
        return calls[0].completions[0] if calls and calls[0].completions else None

    @property
    def turns(self) -> Mapping[int, Mapping[str, Any]]:
        """The enabled turns by number, their 1-based place in `history`."""
        return {place + 1: turn for place, turn in enumerate(self.history) if place not in self.turns_off}

    @property
    def plain_words(self) -> str:
        """The name in a sentence, with "case" in front unless it begins so: "case rain", "case 1"."""
        return self.name if self.name.lower().startswith("case") else f"case {self.name}"


@dataclass(frozen=True)
class Tool:
    """A function that a model may call; it is only described and never run."""

    name: str
    """The name by which a model calls it."""
    description: Annotated[str, LINES] = ""
    """The description that the model receives."""
    parameters: Mapping[str, Any] | str = field(default_factory=nothing)
    """The JSON Schema of its arguments, or a typed line of them: `query: str, limit: int = 5`."""
    results: tuple[Mapping[str, Any], ...] = ()
    """Canned results: `{"arguments", "result"}`. An entry without `arguments` answers any other call; an entry with
    `error` instead of `result` fails with that text."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    def schema(self) -> Mapping[str, Any]:
        """Return the JSON Schema of the arguments, also of a typed line. Raises `adapters.errors.SignatureError`."""
        from adapters.tools.arguments import schema_of_line

        parameters = self.parameters
        return schema_of_line(parameters) if isinstance(parameters, str) else parameters


@dataclass(frozen=True)
class Variant:
    """Alternative text for the instructions or a description."""

    tag: str
    """The tag; variants with the same tag are applied together."""
    of: str
    """`instructions` or `fields.NAME.desc`."""
    text: Annotated[str, LINES]
    """The alternative text."""
    original: str = ""
    """`sha256:…` of the text for which it was written, to detect later changes of that text."""
    score: Annotated[float | None, Rule(is_left_out=True)] = None
    """An optimiser's score; higher is better."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    hash_of = staticmethod(digest_of)


SCHEMA = "urn:adapter-workbench:session:1"
"""The `$id` of `session.schema.json`, and the `$schema` of every file."""


@dataclass(frozen=True)
class Session(ShowsItself):
    """A signature with demos, columns and cases: the content of a session file.

    `extra` keeps unknown keys of the file.
    """

    ORDER: ClassVar = (
        *("schema", "name", "signature", "variants", "model", "params", "fallback"),
        *("columns", "tools", "demos", "cases", "notes"),
    )

    signature: SignatureText
    """The inputs, outputs and instructions."""
    demos: tuple[Demo, ...] = ()
    """Few-shot examples."""
    columns: tuple[Column, ...] = ()
    """The adapters to compare."""
    cases: tuple[Case, ...] = (Case("case 1"),)
    """Sets of inputs with expectations and recordings."""
    model: str = "offline/exact"
    """The model of columns without their own."""
    params: Annotated[Mapping[str, Any], Rule(has_parameters=True)] = field(default_factory=nothing)
    """Parameters of every column's request."""
    fallback: bool = False
    """True if Chat and XML fall back to JSON after a parse error; if false, the first error is shown."""
    name: str = ""
    """The name of the session."""
    notes: Annotated[str, LINES] = ""
    """Notes for readers of the session."""
    tools: tuple[Tool, ...] = ()
    """Functions that a model may call, described and never run."""
    variants: tuple[Variant, ...] = ()
    """Alternative texts for instructions and descriptions."""
    private: Annotated[bool, Rule(is_left_out=True)] = False
    """True if runs stay out of the store that `workbench runs` searches."""
    schema: Annotated[str, Rule(name="$schema")] = SCHEMA
    """The schema of the file, for editors."""
    extra: Mapping[str, Any] = field(default_factory=nothing, repr=False)

    def __post_init__(self) -> None:
        """Copy descriptions of the tools to an agent's signature."""
        if "." in self.signature.predictor:
            told = {one.name: _tool_text(one) for one in self.tools}
            if told != self.signature.tools:
                object.__setattr__(self, "signature", replace(self.signature, tools=told))

    @property
    def offered_tools(self) -> tuple[Tool, ...]:
        """The tools in a request; none for an agent, whose instructions describe them."""
        return () if "." in self.signature.predictor else self.tools

    def shown(self) -> Shown:
        """Display the signature's text, and each case's inputs with the reply of each column."""
        said = f"{self.model} · {counted(sum(one.enabled for one in self.demos), 'demo')}"
        text = Passage("signature", (Piece(self.signature.text, "value"),))
        ids = [one.id for one in self.columns]
        rows = []
        for one in self.cases:
            replies = [one.replies[id].text if id in one.replies else "" for id in ids]
            rows.append((one.name, json.dumps(plain(one.inputs), ensure_ascii=False), *replies))
        return Shown(self.name or "session", (Note(said), text, Table(("case", "inputs", *ids), tuple(rows))))

    def case(self, name: str) -> Case:
        """Return the case of this name. Raises KeyError, listing all cases."""
        for one in self.cases:
            if one.name == name:
                return one
        raise KeyError(f"no case {name!r}; there are {[one.name for one in self.cases]}")

    def column(self, id: str) -> Column:
        """Return the column with this id. Raises KeyError, listing all columns."""
        for one in self.columns:
            if one.id == id:
                return one
        raise KeyError(f"no column {id!r}; there are {[one.id for one in self.columns]}")

    def sort_by_column(self, results: Mapping[str, Result]) -> dict[str, Result]:
        """Sort results by the order of the columns, so that parallel runs give the same file.

        Results of removed columns come last.
        """
        ids = [one.id for one in self.columns]
        return {id: results[id] for id in dict.fromkeys([*ids, *results]) if id in results}

    def replace_case(self, case: Case) -> Session:
        """Replace the case of the same name."""
        return replace(self, cases=tuple(case if one.name == case.name else one for one in self.cases))

    def model_of(self, column: Column) -> str:
        return column.model or self.model

    def params_of(self, column: Column) -> Mapping[str, Any]:
        return {**self.params, **column.params} if self.params else column.params


DEFAULT_COLUMNS = (Column("chat", "chat"), Column("json", "json"), Column("xml", "xml"))


def _tool_text(tool: Tool) -> str:
    """Describe a tool as dspy does; invalid arguments are left out."""
    from adapters.errors import SignatureError
    from adapters.signatures.agents import tool_text

    try:
        arguments = tool.schema().get("properties")
    except SignatureError:
        arguments = {}
    return tool_text(tool.name, tool.description, arguments if isinstance(arguments, Mapping) else {})
