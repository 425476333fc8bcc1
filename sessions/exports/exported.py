"""Sources, results and errors of exports."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypedDict, Unpack

from adapters.formats.base import Adapter
from adapters.formats.catalog import UnknownAdapterError
from adapters.requests.request import Request
from adapters.signatures.signature import Signature
from sessions.model import variants
from sessions.model.session import Case, Column, Session
from sessions.running import rendering


class ExportError(ValueError):
    """Raised if a format cannot hold the session; has a remedy and the `flag` that selects it."""

    def __init__(self, message: str, flag: str = "") -> None:
        super().__init__(message)
        self.flag = flag


@dataclass(frozen=True)
class Exported:
    """The text of the file, phrases naming omitted parts of the session, and notes."""

    text: str
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class View:
    """A case of a session in a column. `code` lists the `module:Class` adapters that may be imported."""

    session: Session
    column: Column
    case: Case
    code: Collection[str] = ()
    earlier: View | None = field(default=None, repr=False, compare=False)
    """The previous case of the same column; the prompt reuses its rendered demos."""

    @property
    def place(self) -> str:
        return f"column {self.column.id}, {self.case.in_words}"

    @cached_property
    def adapter(self) -> Adapter:
        """The column's adapter. Raises ExportError for an unknown adapter or code that is not allowed."""
        try:
            return rendering.adapter_of(self.column, allow_code=self.column.adapter in self.code)
        except UnknownAdapterError as error:
            raise ExportError(f"column {self.column.id}: {error}") from error

    @cached_property
    def varied(self) -> Session:
        """The session with the column's variants applied. Raises SignatureError and `variants.VariantError`."""
        return variants.session_of(self.session, self.column)

    @property
    def signature(self) -> Signature:
        """The signature with the column's variants. Raises SignatureError and `variants.VariantError`."""
        return self.varied.signature.read()

    @property
    def model(self) -> str:
        return self.session.model_of(self.column)

    @cached_property
    def request(self) -> Request:
        """The case's request. Raises SignatureError, and ExportError if it cannot be rendered."""
        signature, adapter = self.signature, self.adapter
        before = self.earlier.__dict__.get("request") if self.earlier is not None else None
        reuse = before.prompt if before is not None else None
        try:
            return rendering.request_of(self.session, self.column, self.case, reuse, adapter=adapter)
        except Exception as error:  # whatever dspy's format raises for this signature and these values
            raise ExportError(
                f"{self.place}: {signature.name} cannot be rendered: {type(error).__name__}: {error}"
            ) from error


@dataclass(frozen=True)
class Source:
    """A session to export: `views` holds each case in each column, column by column, and is never empty.

    `name` is the session's name in the export. `allow_hosts` are hosts named by a session that may receive the user's
    API key.
    """

    views: tuple[View, ...]
    name: str = "session"
    allow_hosts: Collection[str] = ()

    @property
    def first(self) -> View:
        return self.views[0]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple({view.column.id: view.column for view in self.views}.values())

    @property
    def cases(self) -> tuple[Case, ...]:
        return tuple({view.case.name: view.case for view in self.views}.values())


class SourceOptions(TypedDict, total=False):
    """Options of an export, in addition to columns and cases."""

    name: str
    """The session's name in the export; by default its own."""
    code: Collection[str]
    """The `module:Class` adapters that may be imported."""
    allow_hosts: Collection[str]
    """Hosts named by a session that may receive the user's API key."""


def source_of(
    session: Session, columns: Sequence[Column], cases: Sequence[Case], **options: Unpack[SourceOptions]
) -> Source:
    """Select a session's columns and cases. Raises ExportError without a column or a case."""
    code = options.get("code", ())
    views: list[View] = []
    for column in columns:
        earlier: View | None = None
        for case in cases:
            earlier = View(session, column, case, code, earlier)
            views.append(earlier)
    if not views:
        raise ExportError(f"the session has no {'case' if columns else 'column'}; add one first")
    name = options.get("name") or session.name or "session"
    return Source(tuple(views), name, options.get("allow_hosts", ()))


def switched_off(session: Session, cases: Sequence[Case] = ()) -> tuple[str, ...]:
    """Name disabled demos, and disabled history turns of `cases`, which are not exported."""
    numbers = [str(number) for number, demo in enumerate(session.demos, 1) if not demo.enabled]
    said = [f"demo {', '.join(numbers)}: switched off"] if numbers else []
    for case in cases:
        places = [str(place + 1) for place in sorted(case.turns_off)]
        which = f" of {case.in_words}" if len(cases) > 1 else ""
        said += [f"history turn {', '.join(places)}{which}: switched off"] if places else []
    return tuple(said)


def beside(view: View) -> tuple[str, ...]:
    """Name the parts of a session that are not in a case's request."""
    return (*switched_off(view.session, (view.case,)), *view.request.prompt.notes, *other_cases(view))


def other_cases(view: View) -> tuple[str, ...]:
    """Name the cases that are not exported in a phrase, if any."""
    names = [one.name for one in view.session.cases if one.name != view.case.name]
    return (f"the other cases: {', '.join(names)}",) if names else ()
