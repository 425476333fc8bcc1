"""Add calls to the sessions of a folder: one session for each predictor, a case for each distinct input.

Existing content of a session never changes: only cases, and columns for cases without them, are added.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from adapters.errors import SignatureError, reason_of
from adapters.late_dataclasses import dataclass, field, replace
from sessions.captured import recordings
from sessions.captured.parts import case_of, column_added, inputs_key, is_alike, joined, names_by_inputs, new_session
from sessions.captured.recordings import LiveCall, call_from
from sessions.captured.signatures import CapturedSignature, captured
from sessions.checking import checking
from sessions.errors import SessionError
from sessions.file import saving, store
from sessions.file.both_changes import CollisionError
from sessions.file.json_values import WrittenParts
from sessions.imports.merging import unused
from sessions.model.session import Session
from sessions.source.linking import why_unlinked

MOST_CASES = 50
"""The default maximum number of cases added to a session."""
MOST_SESSIONS = 20
"""The maximum number of sessions of a predictor: an optimiser tries hundreds of instructions and demos."""
SAVED_EVERY_S = 2.0
ENDING = ".session.json"

Only = Literal["all", "failures"]


@dataclass(frozen=True)
class CallFilter:
    """The calls to keep: new cases per session, failures only, share of inputs, redacted fields."""

    cases: int = MOST_CASES
    only: Only = "all"
    sample: float = 1.0
    redact: tuple[str, ...] = ()


@dataclass
class _Predictor:
    """A session being captured: as saved in its file, and as it is now."""

    path: Path
    session: Session
    saved: Session | None
    since: store.Fingerprint | None = None
    added: int = 0
    calls: int = 0
    failed: int = 0
    """The number of calls that failed, had a parse error, or fell back to JSON."""
    left: int = 0
    """The number of calls with further inputs after the maximum number of cases."""
    known: dict[str, str] = field(default_factory=dict)
    """The names of cases by their inputs' keys."""
    written: WrittenParts = field(default_factory=WrittenParts)
    """The parts written by the last save, for reuse by the next."""


@dataclass(frozen=True)
class Finding:
    """A difference that `check` will report for a captured fixture."""

    path: str
    case: str
    column: str
    said: str
    versions: str


@dataclass(frozen=True)
class SessionReport:
    """The counts of one captured session."""

    path: str
    cases: int
    added: int
    calls: int
    left: int
    unlinked: str = ""
    """The reason why it follows no program; empty if it does."""
    failed: int = 0
    """The number of calls that failed, had a parse error, or fell back to JSON."""


@dataclass(frozen=True)
class TakenCall:
    """A call with the session that shows it: its signature, demos and columns, and its case alone."""

    call: LiveCall
    session: Session
    path: Path
    column: str
    """The id of its column; empty for an adapter of the program's own."""


class CapturedFolder:
    """Takes the lines written by the program's side."""

    def __init__(
        self,
        folder: Path,
        wanted: CallFilter,
        linked_from: Path | None = None,
        tell: Callable[[TakenCall], object] | None = None,
    ) -> None:
        """Create it for `folder`. `linked_from` is a folder of the program's project if `folder` is outside.

        `tell` is called with every wanted call, also with those that no session gains.
        """
        self.folder = folder
        self._tell = tell
        self._linked_from = linked_from or folder
        self.findings: list[Finding] = []
        self.notes: dict[str, None] = {}
        self.problems: dict[str, None] = {}
        self.calls = 0
        self.lost = 0
        self._wanted = wanted
        self._versions: Mapping[str, str] = {}
        self._described: dict[str, Mapping[str, Any]] = {}
        self._signatures: dict[str, CapturedSignature | None] = {}
        self._predictors: dict[tuple[str, str, str], _Predictor | None] = {}
        self._changed: set[tuple[str, str, str]] = set()
        self._next_save = 0.0

    def take(self, line: Mapping[str, Any]) -> None:
        """Take a line: package versions, a signature's description, a call, or a number of lost calls.

        Never raises for the content of a call.
        """
        if "versions" in line:
            self._versions = line["versions"]
            return
        if "define" in line:
            self._described[line["define"]] = {**line["signature"], "files": line.get("files", [])}
            return
        if "lost" in line:
            self.lost += line["lost"]
            return
        self.calls += 1
        try:
            self._take_call(call_from(line))
        except (SessionError, SignatureError) as error:
            self.problems[str(error)] = None
        except Exception as error:  # these values may raise any error, as in dspy
            self.problems[f"a call could not be captured: {type(error).__name__}: {error}"[:300]] = None
        if self._changed and time.monotonic() >= self._next_save:
            self.save()

    def _take_call(self, call: LiveCall) -> None:
        if not call.attempts and call.error is None:
            why = "its model overrides `__call__`, which hides requests from dspy's callbacks; override `forward`"
            self.notes[f"{call.name}: not captured, because {why}"] = None
        if not call.attempts or (self._wanted.only == "failures" and not call.has_failed):
            return
        if call.signature not in self._signatures:
            self._signatures[call.signature] = None  # stays if it cannot be captured, which is reported once
            made_of = captured(self._described[call.signature], self._linked_from, call.name)
            self._signatures[call.signature] = made_of
            self.notes |= {f"{call.name or made_of.signature.name}: {note}": None for note in made_of.notes}
        known = self._signatures[call.signature]
        if known is None:
            return
        call = recordings.redacted(call, self._wanted.redact)
        key = (call.name, call.signature, json.dumps(call.demos))
        if key not in self._predictors:
            self._predictors[key] = self._opened(call, known)
        predictor = self._predictors[key]
        if predictor is None:
            return
        predictor.calls += 1
        predictor.failed += call.has_failed
        case = case_of(call, known)
        digest = inputs_key(case)
        name = predictor.known.get(digest)
        case = replace(case, name=name or unused(case.name, {one.name for one in predictor.session.cases}))
        session, column = column_added(predictor.session, call)
        if self._tell is not None:
            alone = replace(session, signature=known.text, cases=(case,))
            try:
                self._tell(TakenCall(call, alone, predictor.path, column.id if column is not None else ""))
            except Exception as error:  # its session is captured nevertheless
                self.problems[f"a call is not shown: {error}"] = None
        if name is None:
            # Sampled by the inputs alone: the same in every process and run.
            number = int.from_bytes(hashlib.sha256(digest.encode("utf-8", "surrogatepass")).digest()[:6], "big")
            if number >= self._wanted.sample * 2**48:
                return
            if predictor.added >= self._wanted.cases:
                predictor.left += 1
                return
            session = replace(session, cases=(*session.cases, case))
        else:
            case = session.case(name)
        if column is None:
            self.notes[f"{call.attempts[0].adapter.classes[0].rpartition(':')[2]} is an adapter of the program's own: "
                       "its calls are kept without a recording"] = None  # fmt: skip
        elif column.id not in case.recordings:
            made = recordings.recorded(call, session, case, column, self._versions)
            shown = recordings.reply_of(made, session.model_of(column))
            replies = {**case.replies, column.id: shown} if shown is not None else case.replies
            found = session.sort_by_column({**case.recordings, column.id: made})
            case = replace(case, recordings=found, replies=session.sort_by_column(replies))
            session = session.replace_case(case)
            for result in checking.check(session, predictor.path.name, columns=[column.id], cases=[case.name]):
                for drift in result.drift[:1]:
                    said = f"{drift.place}: {drift.message}"
                    self.findings.append(Finding(predictor.path.name, case.name, column.id, said, drift.versions))
        elif name is not None:
            return
        store.dumps(replace(session, cases=(case,)))  # fails now, so that other calls are still saved
        if name is None:
            predictor.added += 1
            predictor.known[digest] = case.name
        predictor.session = session
        self._changed.add(key)

    def _opened(self, call: LiveCall, known: CapturedSignature) -> _Predictor | None:
        """Open this predictor's session in the folder, or start a new one.

        An existing session is used if its signature and demos are the same.
        """
        new = new_session(call, known)
        taken = {one.path for one in self._predictors.values() if one is not None}
        for path in itertools.islice(_paths(self.folder, call.name), MOST_SESSIONS):
            if path in taken:
                continue
            if not path.exists():
                return _Predictor(path, new, None)
            opened = store.open_file(path)
            there = opened.session
            if is_alike(there, new):
                return _Predictor(path, there, there, opened.fingerprint, known=names_by_inputs(there))
            self.notes[f"{path.name} has another signature or other demos: it stays unchanged, and this is captured "
                       "beside it"] = None  # fmt: skip
        self.notes[
            f"{call.name}: more than {MOST_SESSIONS} versions of its signature and demos; others are skipped"
        ] = None
        return None

    def save(self) -> None:
        """Write the changed sessions, merged with what their files gained meanwhile."""
        for key in sorted(self._changed):
            predictor = self._predictors[key]
            assert predictor is not None
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                if predictor.saved is None and predictor.path.exists():  # created meanwhile by another process
                    self._join(predictor)
                try:
                    _save(predictor)
                except CollisionError:
                    self._join(predictor)
                    _save(predictor)
                self._changed.discard(key)
            except SessionError as error:
                self.problems[str(error)] = None
            except OSError as error:
                self.problems[f"{self.folder}: cannot be made: {reason_of(error)}"] = None
        self._next_save = time.monotonic() + SAVED_EVERY_S

    def _join(self, predictor: _Predictor) -> None:
        """Merge our cases and columns into a session that another writer, such as another process, changed.

        If its signature or demos differ, ours is saved as a separate file.
        """
        opened = store.open_file(predictor.path)
        there, ours = opened.session, predictor.session
        if not is_alike(there, ours):
            taken = {one.path for one in self._predictors.values() if one is not None}
            predictor.path = next(
                one for one in _paths(self.folder, ours.name) if one not in taken and not one.exists()
            )
            predictor.saved, predictor.since = None, None
            return
        predictor.session, predictor.saved, predictor.since = joined(there, ours), there, opened.fingerprint
        predictor.known = names_by_inputs(predictor.session)

    def report(self) -> list[SessionReport]:
        """List the sessions with their counts, in the order in which their predictors were first called."""
        return [
            SessionReport(
                one.path.name,
                len(one.session.cases),
                one.added,
                one.calls,
                one.left,
                why_unlinked(one.session),
                one.failed,
            )
            for one in self._predictors.values()
            if one is not None and one.saved is not None
        ]


def _save(predictor: _Predictor) -> None:
    base = predictor.saved or replace(predictor.session, cases=())
    saved = saving.save(
        base, predictor.session, predictor.path, "our results", since=predictor.since, parts=predictor.written
    )
    predictor.session = predictor.saved = saved.session
    predictor.since = saved.fingerprint


def _paths(folder: Path, name: str) -> Iterator[Path]:
    base = file_name(name)
    yield folder / f"{base}{ENDING}"
    yield from (folder / f"{base}-{number}{ENDING}" for number in itertools.count(2))


def file_name(name: str) -> str:
    """Derive a file name, without its ending, from a predictor's name."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "predictor"
