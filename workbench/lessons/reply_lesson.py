"""Explain step by step how a reply is parsed.

The steps are the structure, slices, repairs, coercion and the verdict. They need only the `Reading`, and show its
spans, which cover the whole reply.

Every other parser parses the reply, too, without a call, to count the outputs that each finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

from adapters.formats import catalog
from adapters.json_text.repair_limits import quick_reading
from adapters.late_dataclasses import dataclass, replace
from adapters.prompts.text import Prompt
from adapters.replies.patterns import most_common
from adapters.replies.reading import MOST_FIXES, FieldReading, FieldState, NearMiss, Reading, Span, SpanKind
from adapters.requests.request import Request, read_reply
from adapters.signatures.signature import Signature
from adapters.signatures.type_names import name_of
from adapters.values.coercion import RULE_WORDS
from workbench.output.display import one_line, value_text
from workbench.output.reading_text import first_line, raised_by

ORDER: tuple[SpanKind, ...] = ("marker", "value", "repaired", "prose", "untraced", "duplicate", "unknown", "ignored")

WORD = re.compile(r"\w")
MOST_COMMON = 6
"""The number of common causes that the verdict on a parse error lists, by number of public threads."""
LONGEST_TEXT = 200
"""The limit, in cells, of a piece of the reply quoted in a step; the reply itself is shown in full."""
REPLY = (
    "The reply is plain text. The parser now has to find the values in it. It does not ask the model again and does "
    "not understand the text; it looks for the format that the prompt asked for."
)
SPAN_TITLES: Mapping[SpanKind, str] = MappingProxyType(
    {
        "marker": "Found: the structure",
        "value": "Sliced: the values",
        "repaired": "Sliced after a repair",
        "duplicate": "Given twice",
        "unknown": "Unknown fields",
        "ignored": "Ignored",
        "prose": "Prose for a second model",
        "untraced": "Not traced",
    }
)
SPAN_WORDS: Mapping[SpanKind, str] = MappingProxyType(
    {
        "marker": "The parser looks for the structure that it asked for: markers, tags or keys that name a field. "
        "A misspelt marker does not count, however clear it is to a person.",
        "value": "The text after a marker, tag or key is cut out as the text of its field.",
        "repaired": "The text was not quite valid, so it was repaired by rule before it was cut. The places of its "
        "pieces are therefore approximate.",
        "duplicate": "A field that has more than one text. Only one of them is used; these are not.",
        "unknown": "Structure that names no output of the signature. The parser finds and ignores it.",
        "ignored": "The parser never looked at this text. No value contains any of it.",
        "untraced": "Another release of dspy parsed this reply and reports only the values. Which of them came from "
        "this text is uncertain.",
        "prose": "There is nothing to parse here: a second model extracts the fields from this text.",
    }
)
FIELD_STATES: Mapping[FieldState, str] = MappingProxyType(
    {
        "read": "The text for this field becomes a value of its type. Each line below is one step, by a fixed rule.",
        "default": "The reply has nothing for this field, so its default is filled in and the reply still parses.",
        "missing": "The reply has nothing for this field, and the field has no default. That alone is a parse error.",
        "failed": "The text was found but cannot be converted to the field's type. That is a parse error.",
        "unread": "The parser had stopped before it reached this field.",
        "native": "The provider returned this value separately from the reply's text.",
    }
)
READ = "All outputs have a value of their type: the reply parses. This is what the program gets."
NOT_READ = (
    "The whole reply is a parse error: one field without a value is enough. The program gets an error and no values, "
    "not even the valid ones. The error names the place, which shows what to fix in the prompt or the reply."
)


@dataclass(frozen=True)
class ReplyStep:
    """A step of a reply's lesson: its title, its explanation, and facts line by line.

    `spans` are places in the text of `reading`, the reply's parse result or that of the second model's reply
    (`Reading.extraction`). `facts` are pairs of label and text, such as a rule and the value it produced.
    """

    reading: Reading
    title: str
    explanation: str
    spans: tuple[Span, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


def steps_of(reading: Reading) -> tuple[ReplyStep, ...]:
    """List the steps of a parse, from the reply's text to the verdict."""
    length = f"{len(reading.completion):,} characters"
    steps = [ReplyStep(reading, "The reply", REPLY, (), (("reply", length),))]
    by_kind: dict[SpanKind, list[Span]] = {}
    for span in reading.spans:
        # "ignored" would be misleading for braces and commas between fields
        if span.kind != "ignored" or WORD.search(reading.completion, span.start, span.end):
            by_kind.setdefault(span.kind, []).append(span)
    for kind in ORDER:
        spans = [one for one in by_kind.get(kind, ()) if reading.completion[one.start : one.end].strip()]
        if spans:
            texts = [
                (span.field or span.kind, one_line(reading.completion[span.start : span.end], LONGEST_TEXT))
                for span in spans
                if span.kind != "marker"
            ]
            every = tuple(by_kind[kind])
            steps.append(ReplyStep(reading, SPAN_TITLES[kind], SPAN_WORDS[kind], every, tuple(texts)))
    if reading.extraction is not None:
        first, *others = steps_of(reading.extraction)
        return (*steps, replace(first, title="The second model's reply"), *others)
    steps += [_of_field(reading, field) for field in reading.fields.values()]
    return (*steps, _verdict(reading))


def _of_field(reading: Reading, field: FieldReading) -> ReplyStep:
    declared = reading.signature.output_fields.get(field.name)
    annotation = f" ({name_of(declared.annotation)})" if declared is not None else ""
    facts: list[tuple[str, str]] = []
    if field.raw is not None:
        facts.append(("text", one_line(field.raw, LONGEST_TEXT)))
    for step in field.steps:
        facts.append((RULE_WORDS.get(step.rule, step.rule), value_text(step.after)))
        if step.note:
            facts.append(("note", step.note))
    if field.state in ("read", "default", "native"):
        facts.append(("value", f"{value_text(field.value)}, a {type(field.value).__name__}"))
    if field.error:
        facts.append(("✗", first_line(field.error)))
    facts += [("⚠", flag.message) for flag in reading.flags if flag.field == field.name]
    spans = tuple([span for span in reading.spans if span.field == field.name])
    return ReplyStep(reading, f"{field.name}{annotation}", FIELD_STATES[field.state], spans, tuple(facts))


def _verdict(reading: Reading) -> ReplyStep:
    error = reading.error
    flags = [("⚠", flag.message) for flag in reading.flags if flag.field is None]
    if error is None:
        values = [(name, value_text(value)) for name, value in reading.values.items()]
        return ReplyStep(reading, "✓ Parsed", READ, (), (*values, *flags))
    # near misses are computed while the app is idle; a lesson opened before that shows none
    near_misses: tuple[NearMiss, ...] = vars(reading).get("near_misses", ())
    flags += [("?", miss.message) for miss in near_misses]
    if "diagnosis" in vars(reading):
        said = {flag.message for flag in reading.flags}
        flags += [("cause", one.message) for one in reading.diagnosis if one.message not in said]
        flags += [("fix", message) for message in reading.fix_messages[:MOST_FIXES]]
    flags += [("often", f"{one.cause} ({one.threads})") for one in most_common(MOST_COMMON)]
    facts = [(f"{raised_by(reading)} raises", error.type), ("because", first_line(error.message))]
    spans: tuple[Span, ...] = ()
    if error.start is not None:
        line, column = reading.line_and_column(error.start)
        facts.append(("place", f"line {line}, column {column}"))
        spans = (Span(error.start, max(error.start + 1, error.end or 0), "value", error.field),)
    return ReplyStep(reading, "✗ Parse error", NOT_READ, spans, (*facts, *flags))


LONGEST = 100_000
"""The longest reply, in characters, for other parsers than its own: five more parses would take too long."""
UNREAD = "–"


def parsers_for(adapters: Iterable[str]) -> tuple[str, ...]:
    """Return the parsers that are compared: the built-in adapters, then others of these, each once."""
    return tuple(dict.fromkeys([*catalog.NAMES, *adapters]))


def reading_by(parser: str, request: Request, text: str) -> Reading | None:
    """Parse the reply to `request` with an adapter without options.

    Returns None if the reply is too long, its repair takes too long, or the adapter is not available.
    """
    if len(text) > LONGEST or ":" in parser:
        return None
    return _read(parser, request.signature, request.calls_field, text)


@lru_cache(maxsize=64)
def _read(parser: str, signature: Signature, calls_field: str | None, text: str) -> Reading | None:
    try:
        with quick_reading() as steps:
            made = read_reply(catalog.make(parser), Request(Prompt(()), {}, signature, calls_field=calls_field), text)
        return None if steps.ran_out else made
    except Exception:  # an installed adapter may raise anything
        return None


def found(reading: Reading) -> int:
    """Return the number of outputs whose value is in the reply."""
    return sum(one.state in ("read", "native") for one in reading.fields.values())


def is_waiting(reading: Reading) -> bool:
    """Return whether the parse needs a second model that has not been called yet."""
    return reading.error is not None and reading.error.type == "NeedsExtraction"


def words_of(reading: Reading | None, is_own: bool) -> str:
    """Return a cell's text: `✓ 4/4 own`, `✗ 1/4`, `2nd call` or `–`."""
    if reading is None:
        return UNREAD
    if is_waiting(reading):
        return "2nd call"
    return f"{'✓' if reading.ok else '✗'} {found(reading)}/{len(reading.fields)}{' own' if is_own else ''}"
