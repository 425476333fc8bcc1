"""Find a good reply for a stress test: recorded, shown, from a demo, or offline.

A good reply parses under its adapter. The first that exists is used: the recorded reply of the adapter's column, the
reply under it, another column's answer rewritten in this adapter's form, the first demo with every output, and the
reply of the offline model that makes no mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from adapters.errors import SignatureError
from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import extraction_signature
from adapters.lm.offline import OfflineLM
from adapters.mutations.mutation import GoodReply, good_reply, written
from adapters.requests.capabilities import NONE
from adapters.signatures.signature import Signature
from sessions.file.typed_values import same, typed
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session
from sessions.running import rendering

MOST_CHARACTERS = 50_000
"""Maximum length of a reply to damage, in characters: each parser parses more than a hundred copies."""


class NoGoodReplyError(Exception):
    """There is no reply to damage; the message says what was tried and would work."""


class _Found(NamedTuple):
    text: str
    source: str


def find(session: Session, case: Case, column: Column, adapter: Adapter) -> GoodReply:
    """Find the good reply of a column. Raises `NoGoodReplyError`, and SignatureError from rendering its prompt."""
    try:
        request = rendering.request_of(session, column, case, adapter=adapter)
    except SignatureError:
        raise
    except Exception as error:  # any error of dspy's format for this signature and these values
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
        return good_reply(parser, signature, reading, found.source, tuple(tried))
    said = "; ".join(tried) or "there is no recorded reply, no reply under a column and no whole demo"
    raise NoGoodReplyError(f"there is no good reply to break: {said}; record one that parses, or add a demo")


def parser_of(adapter: Adapter, signature: Signature) -> tuple[Adapter, Signature]:
    """Return the adapter that parses the reply with the values, and its signature.

    For TwoStep, Chat parses the second model's reply; no parser reads the prose of the first.
    """
    if adapter.profile.has_second_model:
        return ChatAdapter(), extraction_signature(signature)
    return adapter, signature


def _candidates(
    session: Session, case: Case, column: Column, adapter: Adapter, parser: Adapter, signature: Signature
) -> Iterator[_Found]:
    second = adapter.profile.has_second_model
    yield from _column_reply(case, column, second)
    for other in session.columns:
        if other.id != column.id:
            yield from _another_reply(session, case, other, parser, signature)
    enabled = [number for number, demo in enumerate(session.demos, 1) if demo.enabled]
    for number, demo in zip(enabled, rendering.demos_of(session), strict=True):
        if all(name in demo for name in signature.output_fields):
            yield from _anew(parser, signature, demo, f"demo {number}")
    request = rendering.request_of(session, column, case, adapter=parser, capabilities=NONE)
    model = OfflineLM("offline/exact", 0).asked_by(parser, request)
    yield _Found("".join([chunk.text for chunk in model.stream(request.as_dict())]), "the answer of offline/exact")


def _column_reply(case: Case, column: Column, second: bool) -> Iterator[_Found]:
    recorded = case.recorded_reply(column.id)
    if recorded is not None:
        yield from _text_of(recorded, second, f"the recorded reply of {column.id}")
    shown = case.replies.get(column.id)
    if shown is not None and not shown.raw:
        yield from _text_of(shown, second, f"the reply under {column.id}")


def _text_of(answer: Answer, second: bool, source: str) -> Iterator[_Found]:
    if not second:
        yield _Found(answer.text, source)
    elif answer.extraction is not None and answer.extraction.adapter in ("", ChatAdapter.name):
        yield _Found(answer.extraction.text, f"{source}, of its second model")


def _another_reply(
    session: Session, case: Case, other: Column, parser: Adapter, signature: Signature
) -> Iterator[_Found]:
    """Rewrite another column's reply in this adapter's form, if its own adapter parses it."""
    try:
        adapter = rendering.adapter_of(other)
    except ValueError:  # its adapter is code, which is not imported here
        return
    reader, read_by = parser_of(adapter, signature)
    for found in _column_reply(case, other, adapter.profile.has_second_model):
        reading = reader.read(read_by, found.text) if len(found.text) <= MOST_CHARACTERS else None
        if reading is not None and reading.ok:
            yield from _anew(parser, signature, reading.values, f"{found.source}, written again")


def _anew(parser: Adapter, signature: Signature, values: Mapping[str, object], source: str) -> Iterator[_Found]:
    text = written(parser, signature, values)
    if text is not None:
        yield _Found(text, source)


def different(values: Mapping[str, object], others: Mapping[str, object]) -> tuple[str, ...]:
    """Return the fields whose values differ or that only one result has."""
    names = {**values, **others}
    return tuple(
        [
            name
            for name in names
            if name not in values or name not in others or not same(typed(values[name]), typed(others[name]))
        ]
    )
