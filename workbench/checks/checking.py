"""Check session files in order with command line options, in this process or in several."""

from __future__ import annotations

import gc
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.late_dataclasses import dataclass, replace
from sessions.checking import checking, key_order
from sessions.checking.verdicts import FixtureResult, Part, verdict_changes
from sessions.errors import SessionError
from sessions.file import saving, store
from sessions.model.session import Case, Session
from sessions.running import recording, rendering
from sessions.source.linking import Follower, add_source_verdict, check_source, why_unlinked
from workbench.checks import fixture_files
from workbench.config import user_code
from workbench.config.confinement import NOTHING_MORE, Allowed
from workbench.output.exit_codes import CommandError, no_such

if TYPE_CHECKING:
    from sessions.releases.release import Release


OBJECTS_BETWEEN_COLLECTIONS = 500_000


@dataclass(frozen=True)
class Plan:
    """The options of a check; picklable, for other processes."""

    adapters: tuple[str, ...] = ()
    """Column ids or adapters' names; empty: all columns."""
    cases: tuple[str, ...] = ()
    keyword: str = ""
    update: tuple[Part, ...] = ()
    """The verdicts to record again."""
    update_verdicts: bool = False
    """True to update fixtures whose replies parse differently, too, instead of skipping them."""
    dspy: str | None = None
    """The Python whose dspy also renders and parses."""
    live: bool = False
    model: str | None = None
    """The model for `live` instead of the session's."""
    repeat: int = 1
    deadline_s: float | None = None
    """The timeout of a live run in seconds."""
    allowed: Allowed = NOTHING_MORE
    source: bool = True
    """True to follow links to programs."""
    restore_order: bool = False
    """True to restore the recorded key order in files with sorted keys."""


@dataclass(frozen=True)
class Checked:
    """A file's results, or its read error. `updated`: it was recorded again; `nothing`: why it has no results."""

    path: Path
    results: tuple[FixtureResult, ...] = ()
    error: str = ""
    updated: bool = False
    restored: bool = False
    """True if the order of its keys was restored."""
    nothing: str = ""
    unlinked: str = ""
    """The reason why it follows no program; empty if it does."""
    releases: frozenset[str] = frozenset()
    """The releases of dspy that its columns follow."""
    names: frozenset[str] = frozenset()
    """The names of its cases, columns and adapters."""


def check_all(files: Sequence[Path], plan: Plan, jobs: int) -> Iterator[Checked]:
    """Yield each file's outcome, in the order of `files`. Raises `CommandError`."""
    if jobs > 1 and len(files) > 1:
        size = max(1, min(16, len(files) // (4 * jobs)))
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs, initializer=_collect_seldom) as pool:
            yield from pool.map(partial(check_alone, plan=plan), files, chunksize=size)
        return
    with ExitStack() as stack:
        stack.callback(gc.set_threshold, *gc.get_threshold())
        stack.callback(gc.unfreeze)
        # What is left becomes old unseen: looking at half a million objects takes 4 % of a check.
        stack.callback(gc.freeze)
        _collect_seldom()
        dspy = None
        if plan.dspy is not None:
            dspy = stack.enter_context(_upstream(plan.dspy))
        follower = Follower()
        for path in files:
            yield check_file(path, plan, dspy, follower)


def check_alone(path: Path, plan: Plan) -> Checked:
    """Check a file in a process of a pool, which starts a dspy of its own."""
    if plan.dspy is None:
        return check_file(path, plan, None, Follower())
    with _upstream(plan.dspy) as dspy:
        return check_file(path, plan, dspy, Follower())


def check_file(path: Path, plan: Plan, dspy: Release | None, follower: Follower) -> Checked:
    try:
        if plan.update:
            session, updated = _updated(path, plan)
        else:
            session, updated = store.load(path), False
        restored = False
        own, wanted = adapters_of_the_user(session, plan.adapters), wanted_of(session, str(path), plan)
        results = list(checking.each(session, str(path), adapters=own, wanted=wanted))
        if any(one.failed for one in results):
            results, restored = _key_order_checked(path, results, plan, own)
    except SessionError as error:
        return Checked(path, error=str(error))
    names = _names(session)
    if not results:
        return Checked(path, nothing=_why_nothing(session, plan), names=names)
    unlinked = ""
    if plan.source:
        results = add_source_verdict(results, check_source(session, path.parent, follower))
        unlinked = why_unlinked(session)
    more = tuple([_extended(one, session, plan, dspy) for one in results])
    # The releases of dspy that the columns follow.
    of_dspy = [one.adapter for one in session.columns if catalog.dspy_class(one.adapter.partition("@")[0]) is not None]
    named = [catalog.parse_release(one) for one in of_dspy]
    releases = frozenset([one.version if one is not None else recording.DSPY for one in named])
    return Checked(path, more, updated=updated, restored=restored, unlinked=unlinked, releases=releases, names=names)


def _key_order_checked(
    path: Path, results: list[FixtureResult], plan: Plan, own: Mapping[str, Adapter]
) -> tuple[list[FixtureResult], bool]:
    """Report fixtures that failed only because keys were sorted, or restore their order.

    Returns the results, and whether the order was restored. Raises `SessionError` if the file changes meanwhile.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return results, False
    if not key_order.were_sorted(text):
        return results, False
    opened = store.open_file(path)
    restored = key_order.restored(opened.session, own)
    again = {(one.case, one.column): one for one in checking.check(restored, str(path), adapters=own)}
    mended = {key for key, one in again.items() if not one.failed}
    # Also restore beside other drift, which would otherwise hide that prompts show another order.
    if plan.restore_order and store.dumps(restored) != store.dumps(opened.session):
        saving.keep_restore_point(path)
        store.save(restored, path, over=opened.fingerprint)
        return [again[one.case, one.column] for one in results], True
    return [
        replace(one, drift=(key_order.drift(str(path)),)) if one.failed and (one.case, one.column) in mended else one
        for one in results
    ], False


def _collect_seldom() -> None:
    """Collect garbage rarely: checks create almost no cycles, and collecting often takes a quarter of their time."""
    gc.freeze()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS, 20, 20)


def _updated(path: Path, plan: Plan) -> tuple[Session, bool]:
    """Record today's prompts and parse results. Return the session and whether the file changed."""
    opened = store.open_file(path)
    session = opened.session
    own, wanted = adapters_of_the_user(session, plan.adapters), wanted_of(session, str(path), plan)
    if not plan.update_verdicts and "parse" in plan.update:
        results = checking.each(session, str(path), adapters=own, wanted=wanted)
        left_out = {(one.case, one.column) for one in results if verdict_changes(one)}
        if left_out:
            chosen = wanted

            def wanted(case: str, column: str) -> bool:
                return (case, column) not in left_out and chosen(case, column)

    made = checking.update(session, parts=plan.update, adapters=own, wanted=wanted)
    if made is session:  # compare by identity: 3 and 3.0 are equal in Python
        return session, False
    saving.keep_restore_point(path)
    store.save(made, path, over=opened.fingerprint)
    return made, True


def _upstream(python: str) -> Release:
    from sessions.releases import environments

    try:
        return environments.open_named(python)
    except SessionError as error:
        raise CommandError(str(error)) from error


def wanted_of(session: Session, path: str, plan: Plan) -> checking.IsWanted:
    """Combine `--adapter`, `--case` and `-k` into a filter of fixtures."""
    if not (plan.adapters or plan.cases or plan.keyword):
        return checking.always
    known = {one.id for one in session.columns}
    others = set(plan.adapters) - known
    ids = {*plan.adapters, *(one.id for one in session.columns if one.adapter in others)}
    meant = fixture_files.parse(plan.keyword) if plan.keyword else None

    def wanted(case: str, column: str) -> bool:
        if (plan.adapters and column not in ids) or (plan.cases and case not in plan.cases):
            return False
        return meant is None or meant(path, (case, column))

    return wanted


def unseen(names: Collection[str], files: Iterable[Path]) -> set[str]:
    """Return the names that no case, column or adapter of these files has."""
    left = set(names)
    for path in files:
        if not left:
            break
        with suppress(SessionError):  # whoever checks the file reports it
            left -= _names(store.load(path))
    return left


def _names(session: Session) -> frozenset[str]:
    return frozenset([*(case.name for case in session.cases), *_names_of_columns(session)])


def _names_of_columns(session: Session) -> list[str]:
    """List the ids, then the adapters, of its columns."""
    return list(dict.fromkeys([*(one.id for one in session.columns), *(one.adapter for one in session.columns)]))


def _why_nothing(session: Session, plan: Plan) -> str:
    columns, cases = _names_of_columns(session), [one.name for one in session.cases]
    for what, given, known in (("column or adapter", plan.adapters, columns), ("case", plan.cases, cases)):
        for name in given:
            if name not in known:
                return no_such(what, name, known)
    return f"nothing matches -k {plan.keyword!r}" if plan.keyword else "the session has no column or no case"


def adapters_of_the_user(session: Session, adapters: Sequence[str]) -> Mapping[str, Adapter]:
    """Return the `module:Class` adapters named on the command line, by column. No other code is imported."""
    named = user_code.named(adapters)
    try:
        own = [column for column in session.columns if column.adapter in named]
        return {column.id: rendering.adapter_of(column, allow_code=True) for column in own}
    except catalog.UnknownAdapterError as error:
        raise CommandError(str(error)) from error


def _extended(result: FixtureResult, session: Session, plan: Plan, dspy: Release | None) -> FixtureResult:
    """Add the requested verdicts to a result."""
    column = next((one for one in session.columns if one.id == result.column), None)
    if column is None or (dspy is None and not plan.live):
        return result
    case: Case = session.case(result.case)
    start = time.perf_counter()
    if dspy is not None:
        from sessions.checking import upstream

        word, drift = upstream.check(dspy, session, case, column)
        why_not = upstream.why_not(dspy, session, case, column) if not result.is_empty else ""
        result = replace(
            result,
            verdicts={**result.verdicts, "upstream": word},
            drift=(*result.drift, *drift),
            notes=(*result.notes, *([why_not] if why_not else [])),
        )
    if plan.live:
        from workbench.checks import live_check

        sent = replace(column, model=plan.model or column.model)
        allow_code = column.adapter in user_code.named(plan.adapters)
        word, drift = live_check.check(session, case, sent, plan.repeat, plan.allowed, allow_code, plan.deadline_s)
        result = replace(result, verdicts={**result.verdicts, "live": word}, drift=(*result.drift, *drift))
    return replace(result, seconds=result.seconds + time.perf_counter() - start)
