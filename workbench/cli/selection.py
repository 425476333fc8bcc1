"""Select the session, columns and case for a command line, and prepare their requests."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.late_dataclasses import dataclass, replace
from adapters.requests.request import Request
from sessions.errors import SessionError
from sessions.file import store
from sessions.model import variants
from sessions.model.session import Case, Column, Session
from sessions.releases.engine import ReleaseError
from sessions.running import rendering
from workbench.config import user_code
from workbench.output import console
from workbench.output.exit_codes import CommandError, no_such

if TYPE_CHECKING:
    from sessions.file.both_changes import Winner
    from sessions.file.json_values import WrittenParts
    from sessions.file.saving import Saved
    from sessions.file.store import Fingerprint


@dataclass(frozen=True)
class Selection:
    """The session, columns and case selected on the command line.

    `loaded` is the session in the file, without changes by options. `allow_code` has the `module:Class` names from the
    command line; no other code is ever imported.
    """

    loaded: Session
    session: Session
    columns: tuple[Column, ...]
    case: Case
    allow_code: frozenset[str]


def select(
    path: str,
    adapters: Sequence[str] = (),
    case: str | None = None,
    model: str | None = None,
    *,
    every_case: bool = False,
) -> Selection:
    """Select columns, case and model of a session file; `every_case` suppresses the message about other cases."""
    session = store.load(path)
    allow_code = user_code.named(adapters)
    columns = choose_columns(session, adapters)
    chosen_case = choose_case(session, case)
    if not every_case:
        report_first_case(session, case)
    if model is not None:
        columns = tuple(replace(column, model=model) for column in columns)
    return Selection(
        loaded=session,
        session=replace_columns(session, columns),
        columns=columns,
        case=chosen_case,
        allow_code=allow_code,
    )


def choose_columns(session: Session, names: Sequence[str]) -> tuple[Column, ...]:
    """Return the columns for these ids or adapter names; without names, all columns of the session."""
    if not names:
        if not session.columns:
            raise CommandError("the session has no column; name an adapter, e.g. `--adapter chat`")
        return session.columns
    by_id = {column.id: column for column in session.columns}
    chosen: dict[str, Column] = {}
    for given in names:
        parts = [part for part in re.split(r"(?<!\\),", given) if part]  # `\,` is a comma of a name
        for name in [given] if given in by_id else [part.replace("\\,", ",") for part in parts]:
            chosen[name] = by_id.get(name) or Column(name, name)
            try:
                if name not in by_id:
                    rendering.adapter_of(chosen[name], allow_code=True)
            except catalog.UnknownAdapterError as error:
                is_named_whole = ":" in name or "@" in name
                known = dict.fromkeys([*by_id, *catalog.NAMES])
                message = str(error) if is_named_whole else no_such("column or adapter", name, known)
                raise CommandError(message) from error
    return tuple(chosen.values())


def replace_columns(session: Session, columns: Sequence[Column]) -> Session:
    """Replace the session's columns with the same ids by `columns`, and append the others."""
    by_id = {column.id: column for column in (*session.columns, *columns)}
    return replace(session, columns=tuple(by_id.values()))


def vary_columns(chosen: Selection, options: argparse.Namespace, *, beside: bool) -> Selection:
    """Apply `--model`, `--variant` and `--ask-again` to the chosen columns. Raises CommandError.

    For several models, each column is copied, and its id names the model. With `beside`, columns that ask again are
    added to the others.
    """
    models = options.models
    if models:
        columns = tuple(
            replace(column, id=column.id if len(models) == 1 else f"{column.id} · {model}", model=model)
            for column in chosen.columns
            for model in models
        )
        chosen = replace(chosen, columns=columns, session=replace_columns(chosen.session, columns))
    chosen = add_variant_columns(chosen, options.variants)
    if not options.ask_again:
        return chosen
    asking: list[Column] = []
    for column in chosen.columns:
        again = replace(column, params={**column.params, "ask_again": options.ask_again})
        asking += [column, replace(again, id=f"{column.id} · ask again")] if beside else [again]
    return replace(chosen, columns=tuple(asking), session=replace_columns(chosen.session, asking))


def add_variant_columns(chosen: Selection, tags: Sequence[str]) -> Selection:
    """Add a copy of each chosen column for each tag, and report outdated variants. Raises CommandError."""
    if not tags:
        return chosen
    known = variants.tags(chosen.session)
    for tag in tags:
        if tag not in known:
            raise CommandError(no_such("variant", tag, known))
        for use in variants.uses(chosen.session, tag):
            if use.state != "current":
                why = "its original has changed" if use.state == "stale" else "that is gone"
                console.message(f"variant {tag}: {use.variant.of} is left out: {why}")
    columns = tuple([made for column in chosen.columns for made in variants.columns_of(column, tags)])
    return replace(chosen, columns=columns, session=replace_columns(chosen.session, columns))


def choose_case(session: Session, name: str | None) -> Case:
    """Return the named case, by default the first."""
    if not session.cases:
        raise CommandError("the session has no case, so there is nothing to put into a prompt; add one in the app")
    if name is not None:
        found = next((case for case in session.cases if case.name == name), None)
        if found is None:
            raise CommandError(no_such("case", name, [case.name for case in session.cases]))
        return found
    return session.cases[0]


def report_first_case(session: Session, name: str | None) -> None:
    """Report that the first case was chosen because none was named, if there are others."""
    if name is None and len(session.cases) > 1:
        first, count = session.cases[0].name, len(session.cases)
        console.message(f"case {first!r}, the first of {count}; choose another with --case NAME")


def save(
    base: Session,
    session: Session,
    path: str,
    winner: Winner = "nobody",
    since: Fingerprint | None = None,
    parts: WrittenParts | None = None,
) -> Saved:
    """Merge the changes from `base` to `session` into the file (see `sessions.file.saving.save`).

    Raises `CommandError` on failure; the file is then unchanged, and the session is kept as a restore point.
    """
    from sessions.file import saving

    try:
        return saving.save(base, session, path, winner, since=since, parts=parts)
    except (SessionError, OSError) as error:
        raise CommandError(f"{error}; none of it was overwritten, and {saving.keep_aside(session, path)}") from error


def refuse_existing(paths: Iterable[str | None], is_forced: bool, instead: str = "--force overwrites it") -> None:
    """Raise `CommandError` for a file that is there and may not be overwritten; `instead` is the remedy."""
    for path in paths:
        if path and Path(path).is_file() and not is_forced:
            raise CommandError(f"{path} is there already; {instead}")


def save_new(session: Session, path: str, is_forced: bool, instead: str = "--force overwrites it") -> None:
    """Write a session to a new file, or if forced over another, which becomes a restore point.

    Raises `SessionError`, and `CommandError` for a file that is there; `instead` is the remedy.
    """
    from sessions.file import saving

    if is_forced:
        if not_kept := saving.overwrite(session, path).not_kept:
            console.problem(f"{path}: {not_kept}")
        return
    try:
        store.save_new(session, path)
    except store.FileIsThereError:
        raise CommandError(f"{path} is there already; {instead}") from None


@dataclass(frozen=True)
class Unrenderable:
    """A column without a prompt: its adapter is unavailable, or rendering raised an error."""

    type: str
    message: str


def has_two_step(chosen: Selection) -> bool:
    """Return whether a chosen column has our TwoStep, whose second reply or model an option can give."""
    from adapters.formats.two_step import TwoStepAdapter

    for column in chosen.columns:
        with suppress(catalog.UnknownAdapterError):  # reported when the column is used
            adapter = rendering.adapter_of(column, allow_code=column.adapter in chosen.allow_code)
            if isinstance(adapter, TwoStepAdapter):
                return True
    return False


def prepare_request(chosen: Selection, column: Column) -> Request | Unrenderable:
    """Return the request of a column. Raises `CommandError` for an invalid signature."""
    try:
        adapter = rendering.adapter_of(column, allow_code=column.adapter in chosen.allow_code)
        return rendering.request_of(chosen.session, column, chosen.case, adapter=adapter)
    except SignatureError as error:
        raise CommandError(f"the signature, {error}") from error
    except (catalog.UnknownAdapterError, ReleaseError) as error:
        return Unrenderable(type(error).__name__, str(error).removeprefix(f"{column.id}: "))
    except Exception as error:  # whatever dspy's format raises for this signature and these values
        return Unrenderable(type(error).__name__, f"cannot be rendered: {type(error).__name__}: {error}")


def require_request(chosen: Selection, column: Column) -> Request:
    """Return the request of a column. Raises `CommandError` if there is none."""
    request = prepare_request(chosen, column)
    if isinstance(request, Unrenderable):
        raise CommandError(f"column {column.id}: {request.message}")
    return request
