"""The open session as immutable state, its path, and undo over everything. Panes are views of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from sessions.file.json_values import WrittenParts
from sessions.file.store import Fingerprint
from sessions.model.session import Case, Session

KEY = "drafts"
"""The key of a copy under which they stand, as objects `{"kind", "case", "row", "field", "text"}`."""


ANSWERED_KEY = "answered"
"""The key of a copy under which requests stand, as objects `{"case", "column", "request"}` with a digest of each."""


def with_drafts(state: State) -> Session:
    """The session as its copy keeps it; the session itself when there is nothing beside it."""
    beside: dict[str, Any] = {}
    if state.drafts:
        beside[KEY] = [{**place._asdict(), "text": text} for place, text in state.drafts.items()]
    if state.answered:
        asked = state.answered.items()
        beside[ANSWERED_KEY] = [{"case": case, "column": column, "request": one} for (case, column), one in asked]
    return replace(state.session, extra={**state.session.extra, **beside}) if beside else state.session


def state_of(session: Session) -> State:
    """Return the state of an opened session or copy; a draft without a place is dropped."""
    kept = {key: session.extra[key] for key in (KEY, ANSWERED_KEY) if isinstance(session.extra.get(key), (list, tuple))}
    if not kept:
        return State(session)
    others = {name: value for name, value in session.extra.items() if name not in kept}
    own = replace(session, extra=others)
    drafts = [_draft(one, own) for one in kept.get(KEY, ()) if isinstance(one, Mapping)]
    answered = [_answered(one) for one in kept.get(ANSWERED_KEY, ()) if isinstance(one, Mapping)]
    return State(
        own,
        drafts=MappingProxyType(dict([one for one in drafts if one is not None])),
        answered=MappingProxyType(dict([one for one in answered if one is not None])),
    )


def _answered(kept: Mapping[str, Any]) -> tuple[tuple[str, str], str] | None:
    case, column, request = (kept.get(name) for name in ("case", "column", "request"))
    if isinstance(case, str) and isinstance(column, str) and isinstance(request, str):
        return (case, column), request
    return None


def _draft(kept: Mapping[str, Any], session: Session) -> tuple[Place, str] | None:
    kind, case, row, field, text = (kept.get(name) for name in ("kind", "case", "row", "field", "text"))
    if kind not in ("input", "demo", "history", "tool", "variant") or not isinstance(row, int):
        return None
    if not (isinstance(case, str) and isinstance(field, str) and isinstance(text, str)):
        return None
    named = next((one for one in session.cases if one.name == case), None)
    if kind == "demo":
        rows = len(session.demos)
    elif kind in ("tool", "variant"):
        rows = len(session.tools if kind == "tool" else session.variants)
    elif named is None:
        return None
    else:
        rows = len(named.history) if kind == "history" else 0
    return (Place(kind, case, row, field), text) if -1 <= row < rows else None


TYPING_PAUSE = 0.8
"""Seconds without an edit at the same place after which a further edit is a step of its own to undo."""

LONGEST_PAST = 5_000


PlaceKind = Literal[
    "signature",
    "instructions",
    "input",
    "demo",
    "history",
    "tool",
    "variant",
    "reply",
    "case",
    "model",
    "column",
    "session",
]


class Place(NamedTuple):
    """A place in a session: what kind of thing, in which case, at which 0-based row, which field."""

    kind: PlaceKind
    case: str = ""
    row: int = -1
    field: str = ""


@dataclass(frozen=True)
class State:
    """A state for undo: a session, the case on screen, texts typed at a place that are not values yet, and by
    case and column the digest of the request that the reply on screen came for."""

    session: Session
    case_index: int = 0
    drafts: Mapping[Place, str] = field(default_factory=lambda: MappingProxyType({}))
    answered: Mapping[tuple[str, str], str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def case(self) -> Case:
        return self.session.cases[self.case_index]


class Change(NamedTuple):
    """One step that can be undone: the states around it, where it happened, and what it is called."""

    before: State
    after: State
    place: Place
    label: str


class Document:
    """The open session. `edit` is the only way to change it; whoever shows it looks at `state` afterwards."""

    def __init__(
        self,
        session: Session,
        path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        self._clock = clock
        self.written = WrittenParts()
        """What the last save wrote, for the next one."""
        self.open(session, path, fingerprint)

    def open(self, session: Session, path: Path | None, fingerprint: Fingerprint | None = None) -> None:
        """Another session takes the place of this one; what was done before cannot be undone any more.

        `fingerprint` is that of the file's content, by which a change on disk is noticed.
        """
        if not session.cases:
            session = replace(session, cases=(Case("case 1"),))
        self.state = State(session)
        self.path = path
        self.fingerprint = fingerprint
        self._saved = session
        self._past: list[Change] = []
        self._future: list[Change] = []
        self._last_edit = float("-inf")

    @property
    def session(self) -> Session:
        return self.state.session

    @property
    def folder(self) -> Path:
        """The folder of the session, or where it will most likely be saved."""
        return self.path.parent if self.path is not None else Path.cwd()

    @property
    def saved(self) -> Session:
        """The session as it was last opened or saved: what a save compares the file and the present with."""
        return self._saved

    @property
    def dirty(self) -> bool:
        """True if the session differs from the one last opened or saved; undoing back to that one makes it clean."""
        return self.state.session is not self._saved

    def mark_saved(self, path: Path, fingerprint: Fingerprint | None = None) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self._saved = self.state.session
        self._last_edit = float("-inf")

    def edit(self, state: State, place: Place, label: str, typing: bool = False) -> bool:
        """Makes `state` the present. Typing at one place without a pause is one step. False when nothing changed."""
        if state is self.state:
            return False
        now = self._clock()
        joins = typing and bool(self._past) and self._past[-1].place == place and now - self._last_edit < TYPING_PAUSE
        before = self._past.pop().before if joins else self.state
        self._past.append(Change(before, state, place, label))
        del self._past[:-LONGEST_PAST]
        self._future.clear()
        self._last_edit = now if typing else float("-inf")
        self.state = state
        return True

    def look_at_case(self, index: int) -> None:
        """Puts another case on screen, which changes nothing and is nothing to undo."""
        self.state = replace(self.state, case_index=index)
        self._last_edit = float("-inf")

    def undo(self) -> Change | None:
        """Back by one step; returns what was undone, None when there is nothing."""
        if not self._past:
            return None
        change = self._past.pop()
        self._future.append(change)
        self.state = change.before
        self._last_edit = float("-inf")
        return change

    def redo(self) -> Change | None:
        """Forward again by one step; returns what was redone, None when there is nothing."""
        if not self._future:
            return None
        change = self._future.pop()
        self._past.append(change)
        self.state = change.after
        self._last_edit = float("-inf")
        return change
