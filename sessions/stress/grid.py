"""The survival grid: verdicts on each adapter's parser for each mutation of its good reply.

- same: the reply was parsed, and every value is as intended;
- refused: the parser raised an error, so the program sees it;
- flagged: a value differs, and the workbench has a flag that the good reply lacks, on the whole reply or on a field
  with a wrong value (dspy alone has no flags);
- silently_wrong: a value differs, without such a flag.

The intended values are those of the good reply, even if a part was cut off. A mutation that adds something to a text (a
quoted word, an ampersand) intends the text with the addition.

A good reply parses under its adapter. The first that exists is used: the recorded reply of the adapter's column, the
reply under it, another column's answer rewritten in this adapter's form, the first demo with every output, and the
reply of the offline model that makes no mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import extraction_signature
from adapters.late_dataclasses import dataclass, replace
from adapters.lm.offline import OfflineLM
from adapters.mutations import CATALOGUE
from adapters.mutations.mutation import GoodReply, Mutation, good_reply, written
from adapters.replies.flag import Flag
from adapters.replies.reading import Reading, ReadingError, Span
from adapters.requests.capabilities import NONE
from adapters.signatures.signature import Signature
from sessions.file.typed_values import same, typed
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session
from sessions.releases.engine import ReleaseError, ReleaseReading
from sessions.running import rendering

if TYPE_CHECKING:
    from sessions.releases.release import Release

MOST_CHARACTERS = 50_000
"""Maximum length of a reply to damage, in characters: each parser parses more than a hundred copies."""


class NoGoodReplyError(Exception):
    """There is no reply to damage; the message says what was tried and would work."""


class _Found(NamedTuple):
    text: str
    source: str


def find(session: Session, case: Case, column: Column, adapter: Adapter) -> GoodReply:
    """Find the good reply of a column. Raises `NoGoodReplyError`, and SignatureError from rendering its prompt."""
    if catalog.parse_release(column.adapter) is not None:
        raise NoGoodReplyError("`workbench stress --dspy-python` tries the parsers of another dspy release")
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
        if other.id == column.id:
            continue
        try:  # another column's reply in this adapter's form, if its own adapter parses it
            own = rendering.adapter_of(other)
        except ValueError:  # its adapter is code, which is not imported here
            continue
        reader, read_by = parser_of(own, signature)
        for found in _column_reply(case, other, own.profile.has_second_model):
            reading = reader.read(read_by, found.text) if len(found.text) <= MOST_CHARACTERS else None
            if reading is not None and reading.ok:
                yield from _anew(parser, signature, reading.values, f"{found.source}, written again")
    enabled = [number for number, demo in enumerate(session.demos, 1) if demo.enabled]
    for number, demo in zip(enabled, rendering.demos_of(session), strict=True):
        if all(name in demo for name in signature.output_fields):
            yield from _anew(parser, signature, demo, f"demo {number}")
    request = rendering.request_of(session, column, case, adapter=parser, capabilities=NONE)
    model = OfflineLM("offline/exact", 0).asked_by(parser, request)
    yield _Found("".join([chunk.text for chunk in model.stream(request.as_dict())]), "the answer of offline/exact")


def _column_reply(case: Case, column: Column, second: bool) -> Iterator[_Found]:
    shown = case.replies.get(column.id)
    replies: dict[str, Answer | None] = {
        f"the recorded reply of {column.id}": case.recorded_reply(column.id),
        f"the reply under {column.id}": None if shown is None or shown.raw else shown,
    }
    for source, answer in replies.items():
        if answer is not None and not second:
            yield _Found(answer.text, source)
        elif answer is not None and answer.extraction and answer.extraction.adapter in ("", ChatAdapter.name):
            yield _Found(answer.extraction.text, f"{source}, of its second model")


def _anew(parser: Adapter, signature: Signature, values: Mapping[str, object], source: str) -> Iterator[_Found]:
    text = written(parser, signature, values)
    if text is not None:
        yield _Found(text, source)


def different(values: Mapping[str, object], others: Mapping[str, object]) -> tuple[str, ...]:
    """Return the fields whose values differ or that only one result has."""
    alike = {name for name in values if name in others and same(typed(values[name]), typed(others[name]))}
    return tuple([name for name in {**values, **others} if name not in alike])


Verdict = Literal["same", "refused", "flagged", "silently_wrong"]
VERDICTS: tuple[Verdict, ...] = ("silently_wrong", "flagged", "refused", "same")
"""Verdicts, the worst first."""


@dataclass(frozen=True)
class Cell:
    """The result of a mutation under an adapter; `wrong` are the fields with unintended values."""

    mutation: Mutation
    text: str
    meant: Mapping[str, Any]
    reading: Reading
    verdict: Verdict
    wrong: tuple[str, ...] = ()
    flags: tuple[Flag, ...] = ()
    """Flags on the wrong values."""


@dataclass(frozen=True)
class Survival:
    """An adapter's good reply, and the cell of every applicable mutation, by the mutation's name."""

    id: str
    column: Column
    good: GoodReply | None
    cells: Mapping[str, Cell]
    problem: str = ""
    """The reason why there is no good reply."""

    @cached_property
    def counts(self) -> Mapping[Verdict, int]:
        """Count the cells of each verdict, the worst first."""
        found = Counter(cell.verdict for cell in self.cells.values())
        return {verdict: found[verdict] for verdict in VERDICTS}


@dataclass(frozen=True)
class Grid:
    """The columns of a case, and the mutations that apply to any of them."""

    case: str
    columns: tuple[Survival, ...]
    mutations: tuple[Mutation, ...]

    def silently_wrong(self) -> tuple[tuple[Mutation, tuple[Survival, ...]], ...]:
        """Return mutations that some parsers parse to a different value without a flag, worst first."""
        found = []
        for mutation in self.mutations:
            cells = [(one, one.cells.get(mutation.name)) for one in self.columns]
            columns = [one for one, cell in cells if cell is not None and cell.verdict == "silently_wrong"]
            found += [(mutation, tuple(columns))] if columns else []
        return tuple(sorted(found, key=lambda pair: -len(pair[1])))


def every_adapter(session: Session) -> dict[str, Column]:
    """Return a column for each adapter, by the adapter's name.

    Uses the session's first column with that adapter, for its options and replies, else default options.
    """
    first = {column.adapter: column for column in reversed(session.columns)}
    return {name: first.get(name, Column(name, name)) for name in catalog.NAMES}


def grid_of(
    session: Session, case: Case, columns: Mapping[str, Column], allow_code: frozenset[str] = frozenset()
) -> Grid:
    """Damage the good reply of each column in every applicable way; calls only offline models.

    `columns` are keyed by their names in the grid; `allow_code` are the `module:Class` adapters that may be imported.
    Raises `adapters.errors.SignatureError`.
    """
    found = tuple([survival(session, case, name, column, allow_code) for name, column in columns.items()])
    applied = tuple([one for one in CATALOGUE.values() if any(one.name in column.cells for column in found)])
    return Grid(case.name, found, applied)


def survival(
    session: Session, case: Case, name: str, column: Column, allow_code: frozenset[str] = frozenset()
) -> Survival:
    """Return a column of the grid, without cells if there is no good reply."""
    try:
        adapter = rendering.adapter_of(column, allow_code=column.adapter in allow_code)
        good = find(session, case, column, adapter)
    except (NoGoodReplyError, catalog.UnknownAdapterError) as error:
        return Survival(name, column, None, {}, str(error))
    cells = [judged(good, mutation) for mutation in CATALOGUE.values()]
    return Survival(name, column, good, {one.mutation.name: one for one in cells if one is not None})


def judged(good: GoodReply, mutation: Mutation) -> Cell | None:
    """Parse one mutation; None if it does not apply."""
    broken = mutation(good)
    if broken is None:
        return None
    reading = good.parser.read(good.signature, broken.text)
    if not reading.ok:
        return Cell(mutation, broken.text, broken.meant, reading, "refused")
    wrong = different(broken.meant, reading.values)
    if not wrong:
        return Cell(mutation, broken.text, broken.meant, reading, "same")
    # Flags on the whole reply or wrong fields that the good reply lacks
    usual = {(one.name, one.field) for one in good.reading.flags}
    unusual = [one for one in reading.flags if (one.name, one.field) not in usual]
    flags = tuple([one for one in unusual if one.field is None or one.field in wrong])
    return Cell(mutation, broken.text, broken.meant, reading, "flagged" if flags else "silently_wrong", wrong, flags)


def read_by(dspy: Release, session: Session, ours: Survival) -> Survival | None:
    """Return a column next to `ours` for `dspy`'s parser on the same damaged replies.

    Values are compared as written in a session file. There is no verdict `flagged`, since dspy has no flags. None if
    dspy has no such parser: TwoStep's replies are parsed by Chat, and Markdown is not dspy's.
    """
    if ours.good is None or not has_parser(ours.column.adapter):
        return None
    id = f"{ours.id}@{dspy.version}"
    cells = list(ours.cells.values())
    try:
        good, *found = dspy.readings(session, ours.column, [ours.good.text, *[cell.text for cell in cells]])
    except ReleaseError as error:
        return replace(ours, id=id, good=None, cells={}, problem=str(error))
    if not good.ok:
        refused = f"{dspy.name} does not parse the good reply ({good.why}), so damaged replies are not compared"
        return replace(ours, id=id, good=None, cells={}, problem=refused)
    judged = [_judged(cell, one) for cell, one in zip(cells, found, strict=True)]
    return replace(ours, id=id, cells={cell.mutation.name: cell for cell in judged})


def has_parser(adapter: str) -> bool:
    """Return whether dspy has this adapter and its own parser reads the reply."""
    return catalog.dspy_class(adapter) is not None and not catalog.profile(adapter).has_second_model


def _judged(cell: Cell, found: ReleaseReading) -> Cell:
    meant = {name: typed(value) for name, value in cell.meant.items()}
    refused = None if found.ok else ReadingError(found.error, found.message)
    spans = (Span(0, len(cell.text), "untraced"),) if cell.text else ()
    reading = Reading(cell.reading.adapter, cell.reading.signature, cell.text, found.values, spans, {}, refused)
    if refused is not None:
        return Cell(cell.mutation, cell.text, meant, reading, "refused")
    wrong = different(meant, found.values)
    return Cell(cell.mutation, cell.text, meant, reading, "silently_wrong" if wrong else "same", wrong)
