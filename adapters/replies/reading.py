"""Parse results: verdict, values, spans, coercion steps, flags, probabilities."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

from adapters.display.as_text import ShowsItself
from adapters.display.blocks import Block, Note, Passage, Piece, Shown, Table
from adapters.late_dataclasses import dataclass, field, replace
from adapters.replies.flag import Diagnosis, Flag
from adapters.replies.tokens import Token, probability_of
from adapters.values.plain_json import Step, plain

if TYPE_CHECKING:
    from functools import cached_property

    from adapters.prompts.text import Prompt
    from adapters.replies.sections import Section
    from adapters.signatures.signature import Signature

    kept = cached_property
else:

    class kept:  # noqa: N801
        """Keep what a method returns, like `cached_property`, which takes a lock until Python 3.12."""

        def __init__(self, make):
            self.make, self.name, self.__doc__ = make, make.__name__, make.__doc__

        def __get__(self, one, kind):
            if one is None:
                return self
            found = one.__dict__[self.name] = self.make(one)
            return found


MOST_FIXES = 3
"""Maximum number of fixes in a short account of a parse result."""

ReplyForm = Literal["markers", "xml", "json", "fenced json", "prose", "own"]
"""The form that a parser expects. Values are texts in `markers`, `xml` and `prose`, and typed in JSON. `own` is an
unknown parser."""

SpanKind = Literal["marker", "value", "repaired", "duplicate", "unknown", "ignored", "prose", "untraced"]
"""The parser's use of a piece of the reply.

marker: structure that names a field · value: taken as (part of) a field's value · repaired: taken, but its exact place
in the value is uncertain · duplicate: a second answer to a field, not taken · unknown: structure or content of
something that is not an output field · ignored: never examined · prose: text for another model to parse · untraced:
parsed by another release of dspy, which does not report what it took.
"""


class Span(NamedTuple):
    """Code points `start` to `end` of the reply exactly as given, for output field `field`."""

    start: int
    end: int
    kind: SpanKind
    field: str | None = None


OF_OUTPUTS = frozenset(("marker", "value", "duplicate", "ignored"))
"""Kinds of spans in an object without other keys."""
OF_OTHER_KEYS = frozenset(("unknown", "ignored"))
"""Kinds of spans in an object without outputs."""
OTHER_BRACKET = re.compile(r'\[(?!["\]\n])')
"""A bracket that does not begin a list of texts."""
OTHER_ESCAPE = re.compile(r'\\(?!["bfnrt])')
LONG_SEARCH = 4_000
"""Characters in a reply beyond which looking at its fields is quicker than searching all of it."""
SIGNS = re.compile(r'[\0-\x08\x0b\x0c\x0e-\x1f<>\[\]{}|#"\\`&_$\ud800-\udfff\ufffe\uffff“”▁：，｛｝［］＂]')
"""A sign of markup, JSON, code or a damaged text."""
OBJECT_IN_A_TEXT = re.compile(r'\{(?:\\[nrt]|\s)*+\\"')

FieldState = Literal["read", "default", "missing", "failed", "unread", "native"]
"""read: coerced from the reply · default: filled in · missing: not in the reply · failed: found but not coerced ·
unread: not parsed yet · native: taken from the response itself (tool calls, reasoning, citations)."""


STATE_OF, EXTRACT_OF, KIND_OF = itemgetter(1), itemgetter(5), itemgetter(2)
"""The state and the first step of a `FieldReading`, and the kind of a `Span`."""
ABSENT: frozenset[FieldState] = frozenset(("missing", "default"))


class Extract(NamedTuple):
    """A field's first step: `rule` turned the reply's `start` to `end` into `after`."""

    rule: str
    start: int
    end: int
    after: Any
    path: str = ""


class FieldReading(NamedTuple):
    """The parse result of an output field.

    `place` runs from its first value span to its last; None for an invented value. `raw` and `extract`'s step copy text
    of the reply on demand only: a reply may have 10 MB.
    """

    name: str
    state: FieldState
    completion: str = ""
    place: tuple[int, int] | None = None
    value: Any = None
    extract: Extract | None = None
    coercions: tuple[Step, ...] = ()
    error: str | None = None

    def __repr__(self) -> str:
        told = [f"{key}={value!r}" for key, value in self._asdict().items() if key != "completion"]
        return f"FieldReading({', '.join(told)})"

    @property
    def raw(self) -> str | None:
        """Return the text at `place`."""
        return None if self.place is None else self.completion[self.place[0] : self.place[1]]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return all steps from the text to the value."""
        first = self.extract
        if first is None:
            return self.coercions
        return (Step(first.rule, self.completion[first.start : first.end], first.after, first.path), *self.coercions)


@dataclass(frozen=True, slots=True)
class ReadingError:
    """A parse error: dspy's exception type and message, with field and place."""

    type: str
    message: str
    field: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True)
class NearMiss:
    """A likely intended reply: description, corrected text, and the same parser's result for it."""

    message: str
    mended: str
    reading: Reading


class Ending(NamedTuple):
    """Why the model stopped: finish reason in OpenAI's words, refusal, token limit; after an error also the prompt."""

    finish_reason: str | None = None
    refusal: str = ""
    limit: int | None = None
    prompt: Prompt | None = None


UNKNOWN_END = Ending()


class Reader(Protocol):
    """The adapter that parsed a reply (`adapters.formats.base.Adapter`) and can explain it."""

    def read(self, signature: Signature, completion: str) -> Reading: ...

    def flags_of(self, reading: Reading) -> tuple[Flag, ...]: ...

    def near_misses_of(self, reading: Reading) -> tuple[NearMiss, ...]: ...

    def diagnosis_of(self, reading: Reading) -> tuple[Diagnosis, ...]: ...


@dataclass(frozen=True)
class Reading(ShowsItself):
    """The parse result of a reply under an adapter; bad replies never raise."""

    adapter: str
    signature: Signature = field(repr=False)
    completion: str
    values: Mapping[str, Any]
    spans: tuple[Span, ...]
    fields: Mapping[str, FieldReading]
    error: ReadingError | None = None
    exception: Exception | None = field(default=None, repr=False, compare=False)
    """The exception that `parse` raises for this reply."""
    extraction: Reading | None = None
    """TwoStep: the parse result of the second model's reply."""
    form: ReplyForm = "own"
    """The form that the parser expected."""
    reader: Reader | None = field(default=None, repr=False, compare=False)
    """The adapter that parsed the reply, with its options and user-defined methods; None yields no flags or near
    misses."""

    repair_steps: int = field(default=0, repr=False, compare=False)
    """Steps that json_repair took (`adapters.json_text.repair_limits.REPAIR_STEPS`); near misses have the rest."""

    sections: Sequence[Section] = field(default=(), repr=False, compare=False)
    """The sections of a Chat reply."""

    tokens: tuple[Token, ...] = field(default=(), repr=False, compare=False)
    """The reply's tokens with their probabilities, if the provider returned them."""

    called: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """The names of the tools that the model called natively where an answer in text was expected."""

    ended: Ending = field(default=UNKNOWN_END, repr=False, compare=False)
    """Why the model stopped, as far as the provider said."""

    def ending(
        self, finish_reason: str | None, refusal: str | None, params: Mapping[str, Any], prompt: Prompt | None = None
    ) -> Reading:
        """Return the parse result with the reason why the model stopped, and after an error with the prompt."""
        if finish_reason is None and not refusal and (self.ok or prompt is None):
            return self
        limit = params.get("max_completion_tokens", params.get("max_tokens"))
        known = limit if isinstance(limit, int) else None
        ended = Ending(finish_reason, refusal or "", known, None if self.ok else prompt)
        return replace(self, ended=ended)

    def probability(self, name: str) -> float | None:
        """Return the joint probability of a field's value, 0 to 1; None if unknown.

        Counts the tokens that touch `FieldReading.place`, including JSON's quotes.
        """
        place = self.fields[name].place if name in self.fields else None
        return None if place is None else probability_of(self.tokens, *place)

    @property
    def ok(self) -> bool:
        return self.error is None

    @kept
    def states(self) -> list[FieldState]:
        """Return the states of the outputs."""
        return [*map(STATE_OF, self.fields.values())]

    @kept
    def kinds(self) -> frozenset[SpanKind]:
        """Return the kinds of the spans."""
        return frozenset(map(KIND_OF, self.spans))

    @kept
    def lacking(self) -> tuple[str, ...]:
        """Return the outputs that are not in the reply."""
        states = self.states
        if "missing" not in states and "default" not in states:
            return ()
        if states.count("missing") == len(states):
            return tuple(self.fields)
        return tuple([name for name, one in self.fields.items() if one.state in ABSENT])

    @kept
    def has_values(self) -> bool:
        """Return whether the reply parsed, or at least one output is in it."""
        return self.error is None or not ABSENT.issuperset(self.states)

    @kept
    def has_only_markers(self) -> bool:
        """Return whether a Chat reply has brackets only in markers and lists of texts, and no tags or escapes."""
        text, end = self.completion, 0
        if self.form != "markers" or "<" in text or "{" in text or "`" in text or "\\" in text or "\0" in text:
            return False
        for one in self.sections:  # to count all brackets takes twenty times as long
            if text.find("[", end, one.marker_start) >= 0 and OTHER_BRACKET.search(text, end, one.marker_start):
                return False
            end = one.marker_end
        return text.find("[", end) < 0 or OTHER_BRACKET.search(text, end) is None

    @kept
    def is_prose(self) -> bool:
        """Return whether a reply has no sign of any format."""
        return SIGNS.search(self.completion) is None

    @kept
    def may_hold_escaped_signs(self) -> bool:
        """Return whether a reply may hold an escape of more than a quote or white space."""
        return len(self.completion) > LONG_SEARCH or OTHER_ESCAPE.search(self.completion) is not None

    @kept
    def flags(self) -> tuple[Flag, ...]:
        """Return surprises in the whole reply (`flag.field` is None) and in fields."""
        return () if self.reader is None else self.reader.flags_of(self)

    @kept
    def detected(self) -> dict[object, Any]:
        """Return what was found in the reply so far, by the function that found it."""
        return {}

    @kept
    def is_plain_object(self) -> bool:
        """Return whether the whole reply is a valid JSON object of outputs, without an object in a text."""
        text, spans = self.completion, self.spans
        return (
            text[:1] == "{"
            and text[spans[-1].start :].strip() == "}"
            and self.kinds <= OF_OUTPUTS
            and any(map(EXTRACT_OF, self.fields.values()))
            and ("\\" not in text or text.find("{", 1) < 0 or OBJECT_IN_A_TEXT.search(text) is None)
        )

    @kept
    def is_other_object(self) -> bool:
        """Return whether the whole reply is a valid JSON object without any output."""
        text, spans = self.completion, self.spans
        return (
            text[:1] == "{"
            and self.form == "json"
            and not self.repair_steps
            and self.kinds == OF_OTHER_KEYS
            and text[spans[-1].start :].strip() == "}"
        )

    @kept
    def is_flat_object(self) -> bool:
        """Return whether the whole reply is a valid JSON object of outputs with a single opening brace."""
        return self.is_plain_object and self.completion.find("{", 1) < 0

    @property
    def uncertain(self) -> tuple[str, ...]:
        """Return outputs where dspy may differ, as their types' own code never runs here."""
        return tuple([flag.field for flag in self.flags if flag.name == "unchecked-by-its-code" and flag.field])

    @kept
    def near_misses(self) -> tuple[NearMiss, ...]:
        """Suggest likely intended replies, each with the corrected text."""
        return () if self.reader is None else self.reader.near_misses_of(self)

    @kept
    def diagnosis(self) -> tuple[Diagnosis, ...]:
        """Return the causes of a parse error or a surprising value, with fixes for each."""
        return () if self.reader is None else self.reader.diagnosis_of(self)

    def apart(self) -> Reading:
        """Return this parse result as another object: causes that refer to their own reading are freed late."""
        apart = object.__new__(Reading)
        object.__setattr__(apart, "__dict__", vars(self).copy())
        return apart

    @property
    def bug_report(self) -> str:
        """Return the text of a bug report if no pattern explains the parse error, else ""."""
        return next((one.report for one in self.diagnosis if one.report), "")

    @property
    def fix_messages(self) -> tuple[str, ...]:
        """Return the messages of all fixes, each once, best first."""
        return tuple(dict.fromkeys(fix.message for cause in self.diagnosis for fix in cause.fixes))

    @kept
    def salvage(self) -> Mapping[str, Any]:
        """Return the other fields' values after a parse error; never part of the verdict."""
        return (
            {name: one.value for name, one in self.fields.items() if one.state in ("read", "default")}
            if self.error
            else {}
        )

    def line_and_column(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line (by `\\n`) and column of a code point of the reply."""
        text = self.completion
        return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)

    def shown(self) -> Shown:
        """Show verdict, reply with spans, fields with steps, flags and near misses."""
        blocks: list[Block] = [self._verdict()]
        pieces = []
        for span in self.spans:
            says = f"{span.kind} of {span.field}" if span.field else span.kind
            text = self.completion[span.start : span.end]
            pieces.append(Piece(text, f"reply-{span.kind}", says, span.field or ""))
        blocks.append(Passage("reply", tuple(pieces)))
        if self.fields:
            rows = [_row(one) for one in self.fields.values()]
            blocks.append(Table.of(("field", "value", "state", "how"), rows))
        blocks += [Note(f"! {flag.message}", "warning") for flag in self.flags]
        blocks += [Note(f"? {miss.message}", "warning") for miss in self.near_misses]
        if self.error is not None:
            said = {flag.message for flag in self.flags}
            blocks += [Note(f"cause: {one.message}", "bad") for one in self.diagnosis if one.message not in said]
            blocks += [Note(f"fix: {message}") for message in self.fix_messages[:MOST_FIXES]]
        if self.extraction is not None:
            blocks += [Note("The extraction by the second model:"), *self.extraction.shown().blocks]
        return Shown("", tuple(blocks))

    def _verdict(self) -> Note:
        error = self.error
        if error is None:
            return Note(f"✓ {self.adapter} parses it", "good")
        place = "" if error.start is None else " at line {}, column {}".format(*self.line_and_column(error.start))
        return Note(f"✗ {self.adapter}: parse error{place}: {error.type}: {error.message.strip()}", "bad")


Detector: TypeAlias = Callable[[Reading], "Iterable[Flag | Detector]"]
"""A search for flags in a parse result.

It may yield another detector, which runs only when all flags are requested: its flags cannot explain the verdict.
"""


def sought(reading: Reading, detect: Detector, are_causes: bool) -> Iterable[Flag | Detector]:
    """Return a detector's flags if they may be causes of the verdict, else the detector."""
    return detect(reading) if are_causes else (detect,)


def _row(one: FieldReading) -> tuple[str, str, str, str]:
    has_value = one.state in ("read", "default", "native")
    value = json.dumps(plain(one.value), ensure_ascii=False) if has_value else ""
    how = " → ".join([step.rule for step in one.steps]) if one.error is None else one.error.strip()
    return one.name, value, one.state, how
