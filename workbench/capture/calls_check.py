"""Compare a program's calls today with sessions captured from it before."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from sessions.captured.folder import ENDING, file_name
from sessions.captured.signatures import reads_as
from sessions.checking import checking
from sessions.checking.verdicts import Drift, FixtureResult
from sessions.file import store
from sessions.file.typed_values import same
from sessions.model.session import Case, Session
from sessions.text_diff import line_diff


class CallsCheck(NamedTuple):
    """The results of checking today's prompts, and the file names of new and missing predictors."""

    results: tuple[FixtureResult, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]

    @property
    def failed(self) -> bool:
        return bool(self.new or self.gone) or any(one.failed for one in self.results)


def compare(folder: Path, today: Path) -> CallsCheck:
    """Compare captured sessions in `folder` with those in `today` by predictor. Raises SessionError.

    Other sessions are ignored: their name differs from that of their file.
    """
    results: list[FixtureResult] = []
    new: list[str] = []
    gone: list[str] = []
    before, after = _group_by_predictor(folder), _group_by_predictor(today)
    for name in dict.fromkeys([*before, *after]):
        old, now = before.get(name, {}), after.get(name, {})
        # equal sessions first, the others in order
        pairs: list[tuple[Path, Path]] = []
        left = list(now)
        for path, session in old.items():
            alike = next((one for one in left if _says_the_same(session, now[one])), None)
            if alike is not None:
                pairs.append((path, alike))
                left.remove(alike)
        others = [path for path in old if path not in dict(pairs)]
        for path, asked in [*pairs, *zip(others, left, strict=False)]:
            results += _judged(old[path], now[asked], str(path))
            del old[path], now[asked]
        new += [path.name for path in now]
        gone += [path.name for path in old]
    return CallsCheck(tuple(results), tuple(new), tuple(gone))


def _group_by_predictor(folder: Path) -> dict[str, dict[Path, Session]]:
    found: dict[str, dict[Path, Session]] = defaultdict(dict)
    for path in sorted(folder.glob(f"*{ENDING}")):
        session = store.load(path)
        base = re.sub(r"-\d+$", "", path.name.removesuffix(ENDING))
        if session.name and file_name(session.name) in (base, path.name.removesuffix(ENDING)):
            found[file_name(session.name)][path] = session
    return found


def _says_the_same(before: Session, after: Session) -> bool:
    try:
        is_alike = reads_as(before.signature, after.signature.read())
    except SignatureError:
        return False
    return is_alike and [dict(one.values) for one in before.demos] == [dict(one.values) for one in after.demos]


def _judged(before: Session, after: Session, path: str) -> Iterator[FixtureResult]:
    """Check the recordings of `before` with today's signature, demos, columns and model."""
    columns = {one.id: one.id for one in before.columns if one.id in {each.id for each in after.columns}}
    if not columns and len(before.columns) == len(after.columns) == 1:  # the adapter changed
        columns = {before.columns[0].id: after.columns[0].id}
    adapters = {now: (_adapter(before, old), _adapter(after, now)) for old, now in columns.items()}
    cases: list[Case] = []
    for case in before.cases:
        recordings = {columns.get(name, name): one for name, one in case.recordings.items()}
        cases.append(replace(case, recordings=recordings, replies={}, expect={}))
    asked = replace(after, cases=tuple(cases), variants=before.variants)
    judged = {(one.case, one.column): one for one in checking.each(asked, path) if not one.is_empty}
    for case in asked.cases:
        for column in case.recordings:
            result = judged.get((case.name, column))
            if result is not None:
                yield _group_by_adapter(_add_live(result, case, after), adapters.get(column, ("", "")))


def _adapter(session: Session, column: str) -> str:
    found = session.column(column)
    return f"{found.adapter} {json.dumps(found.options)}" if found.options else found.adapter


def _group_by_adapter(result: FixtureResult, adapters: tuple[str, str]) -> FixtureResult:
    """Report a changed adapter once, instead of every change of its prompts.

    The recorded reply was made for the former adapter and is irrelevant to parsing today.
    """
    before, after = adapters
    prompts = [one for one in result.drift if one.part == "render"]
    if before == after or not prompts:
        return result
    said = f"the adapter was {before} and is {after}"
    drift = Drift("render", "adapter", said, prompts[0].diff, before=before, after=after)
    if before.partition(" ")[0] != after.partition(" ")[0]:
        return replace(result, verdicts={**result.verdicts, "parse": "empty"}, drift=(drift,))
    return replace(result, drift=(drift, *[one for one in result.drift if one.part != "render"]))


def _add_live(result: FixtureResult, case: Case, after: Session) -> FixtureResult:
    """Compare the messages that dspy sent today, if our own prompt shows no difference."""
    recorded = case.recordings[result.column]
    for one in after.cases:
        live = one.recordings.get(result.column)
        if live is None or dict(one.inputs) != dict(case.inputs) or one.history != case.history:
            continue
        if result.verdicts.get("render") == "pass" and not same(list(live.messages), list(recorded.messages)):
            before, now = (
                "\n".join(f"{each.get('role')}: {each.get('content')}" for each in of.messages).split("\n")
                for of in (recorded, live)
            )
            drift = Drift("render", "messages", "dspy sends other messages today", line_diff(before, now))
            return replace(result, verdicts={**result.verdicts, "render": "drift"}, drift=(*result.drift, drift))
    return result
