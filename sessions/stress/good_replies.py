"""Where the replies come from that are broken: recorded, shown, written from a demo, or an offline model's.

A good reply is one that its adapter reads. Of each adapter the first of these is taken: the recorded reply of its
column, the reply under it, what another column of the case was answered (written in this adapter's own form), the first
demo that names every output, and the answer of the offline model that makes no mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from adapters.errors import SignatureError
from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import extraction_signature
from adapters.lm.offline import OfflineLM
from adapters.replies.reading import Reading
from adapters.requests.capabilities import NONE
from adapters.signatures.signature import Signature
from adapters.values.value_text import serialize_for_json
from sessions.file.typed_values import same, typed
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session
from sessions.running import rendering
from sessions.stress.forms import FORMS, FieldText, Form, is_deep

MOST_CHARACTERS = 50_000
"""Of a reply that is broken: each of a hundred broken ones is read by each parser."""


@dataclass(frozen=True)
class GoodReply:
    """A reply that `parser` reads, with what the mutations need of it.

    `parser` reads replies of `signature`: the column's adapter, or Chat where that takes the values out of a second
    model's reply (TwoStep). `fields` are the outputs as the adapter itself writes them, in their order; empty where
    the form is not known or writing them does not give the same values again.
    """

    parser: Adapter
    signature: Signature
    text: str
    reading: Reading
    source: str
    """Where it came from, in words."""
    form: Form | None
    fields: tuple[FieldText, ...]
    passed_over: tuple[str, ...] = ()
    """What would have come before it, and why it could not be broken."""

    @property
    def values(self) -> Mapping[str, Any]:
        return self.reading.values

    def write(self, fields: Sequence[FieldText]) -> str | None:
        """A reply of these fields in its form; None for none, which no model is thought to write."""
        return None if self.form is None or not fields else self.form.write(fields)


class NoGoodReplyError(Exception):
    """Nothing was found that could be broken; the message says what was tried, and what would work."""


class _Found(NamedTuple):
    text: str
    source: str


def find(session: Session, case: Case, column: Column, adapter: Adapter) -> GoodReply:
    """The good reply of a column. Raises `NoGoodReplyError`, and what making its prompt raises."""
    try:
        request = rendering.request_of(session, column, case, adapter=adapter)
    except SignatureError:
        raise
    except Exception as error:  # whatever dspy's format raises for this signature and these values
        raise NoGoodReplyError(f"no prompt can be made: {type(error).__name__}: {error}") from error
    parser, signature = parser_of(adapter, request.signature)
    tried: list[str] = []
    for found in _candidates(session, case, column, adapter, parser, signature):
        if len(found.text) > MOST_CHARACTERS:
            tried.append(f"{found.source} has {len(found.text):,} characters, of at most {MOST_CHARACTERS:,}")
            continue
        reading = parser.read(signature, found.text)
        if not reading.ok or not any(one.state == "read" for one in reading.fields.values()):
            tried.append(f"{found.source} does not parse")
            continue
        form = FORMS.get(reading.form)
        fields = () if form is None else _fields(parser, signature, reading.values, form)
        return GoodReply(parser, signature, found.text, reading, found.source, form, fields, tuple(tried))
    said = "; ".join(tried) or "there is no recorded reply, no reply under a column and no whole demo"
    raise NoGoodReplyError(f"there is no good reply to break: {said}; record one that parses, or add a demo")


def parser_of(adapter: Adapter, signature: Signature) -> tuple[Adapter, Signature]:
    """Who reads the reply that holds the values, and by which signature: of TwoStep it is Chat that reads the second
    model's reply, since the prose of the first is read by no parser."""
    if adapter.profile.has_second_model:
        return ChatAdapter(), extraction_signature(signature)
    return adapter, signature


def _candidates(
    session: Session, case: Case, column: Column, adapter: Adapter, parser: Adapter, signature: Signature
) -> Iterator[_Found]:
    second = adapter.profile.has_second_model
    yield from _of_column(case, column, second)
    for other in session.columns:
        if other.id != column.id:
            yield from _of_another(session, case, other, parser, signature)
    yield from _of_demos(session, parser, signature)
    yield _Found(_offline(session, case, column, parser), "the answer of offline/exact")


def _of_column(case: Case, column: Column, second: bool) -> Iterator[_Found]:
    recorded = case.recordings.get(column.id)
    main = next((one for one in recorded.attempts if one.role == "main"), None) if recorded is not None else None
    if main is not None and main.completions:
        yield from _text_of(main.completions[0], second, f"the recorded reply of {column.id}")
    shown = case.replies.get(column.id)
    if shown is not None and not shown.raw:
        yield from _text_of(shown, second, f"the reply under {column.id}")


def _text_of(answer: Answer, second: bool, source: str) -> Iterator[_Found]:
    if not second:
        yield _Found(answer.text, source)
    elif answer.extraction is not None and answer.extraction.adapter in ("", ChatAdapter.name):
        yield _Found(answer.extraction.text, f"{source}, of its second model")


def _of_another(session: Session, case: Case, other: Column, parser: Adapter, signature: Signature) -> Iterator[_Found]:
    """What another column was answered, if its adapter reads it: the same values in this adapter's form."""
    try:
        adapter = rendering.adapter_of(other)
    except ValueError:  # its own adapter is code, which nobody asked for here
        return
    reader, read_by = parser_of(adapter, signature)
    for found in _of_column(case, other, adapter.profile.has_second_model):
        reading = reader.read(read_by, found.text) if len(found.text) <= MOST_CHARACTERS else None
        if reading is not None and reading.ok:
            yield from _written(parser, signature, reading.values, f"{found.source}, written anew")


def _of_demos(session: Session, parser: Adapter, signature: Signature) -> Iterator[_Found]:
    enabled = [number for number, demo in enumerate(session.demos, 1) if demo.enabled]
    for number, demo in zip(enabled, rendering.demos_of(session), strict=True):
        if all(name in demo for name in signature.output_fields):
            yield from _written(parser, signature, demo, f"demo {number}")


def _written(parser: Adapter, signature: Signature, values: Mapping[str, Any], source: str) -> Iterator[_Found]:
    outputs = {name: values[name] for name in signature.output_fields if name in values}
    try:
        content = parser.format_assistant_message_content(signature, outputs)
    except Exception:  # a user's own adapter, or a type's serializer, may raise anything; the next source is tried
        return
    if isinstance(content, str):
        yield _Found(str(content), source)


def _offline(session: Session, case: Case, column: Column, parser: Adapter) -> str:
    request = rendering.request_of(session, column, case, adapter=parser, capabilities=NONE)
    return "".join([chunk.text for chunk in OfflineLM("offline/exact", 0).stream(request.as_dict())])


def _fields(parser: Adapter, signature: Signature, values: Mapping[str, Any], form: Form) -> tuple[FieldText, ...]:
    """The outputs as the parser's own adapter writes them; none where that gives other values."""
    plain = {name: serialize_for_json(value) for name, value in values.items()}
    if any(is_deep(one) for one in plain.values()):
        return ()
    for found in _written(parser, signature, values, ""):
        written = parser.read(signature, found.text)
        fields = tuple(
            [
                FieldText(name, one.annotation, values[name], plain[name], written.fields[name].raw or "")
                for name, one in signature.output_fields.items()
                if name in values and name in written.fields
            ]
        )
        again = parser.read(signature, form.write(fields))
        if again.ok and all_same(again.values, values):
            return fields
    return ()


def all_same(values: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether two readings have the same values for the same fields, the types of all within included."""
    return values.keys() == others.keys() and not different(values, others)


def different(values: Mapping[str, Any], others: Mapping[str, Any]) -> tuple[str, ...]:
    """The fields that have another value in `others`, or only one of the two has."""
    names = {**values, **others}
    return tuple(
        [
            name
            for name in names
            if name not in values or name not in others or not same(typed(values[name]), typed(others[name]))
        ]
    )
