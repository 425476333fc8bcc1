"""The open session as immutable state, undo over everything, and the types of what is derived from it.

Panes are views of it. `workbench.state.engine` derives the signature as data, and for each column the prompt and the
parse result; the first picture does without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sessions.file.json_values import WrittenParts
from sessions.file.store import Fingerprint
from sessions.model.session import Case, Session

if TYPE_CHECKING:
    from adapters.errors import SignatureError
    from adapters.formats.base import Adapter
    from adapters.replies.reading import Reading
    from adapters.requests.request import Request
    from adapters.signatures.signature import Field, Signature
    from sessions.model.replies import Reply
    from sessions.model.session import Column

KEY = "drafts"
"""The key of a backup for drafts: objects `{"kind", "case", "row", "field", "text"}`."""


ANSWERED_KEY = "answered"
"""The key of a backup for answered requests: objects `{"case", "column", "request"}`, each request as a digest."""


def session_with_drafts(state: State) -> Session:
    """Return the session with drafts and answered requests, as its backup stores it."""
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
    """A step that can be undone: the states around it, its place, and its name."""

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
        """Replace the session by another; earlier changes can no longer be undone.

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
        """The session as it was opened or last saved; a save compares the file and the present with it."""
        return self._saved

    @property
    def dirty(self) -> bool:
        """Whether the session differs from the opened or saved state; undoing back to that state makes it clean."""
        return self.state.session is not self._saved

    def mark_saved(self, path: Path, fingerprint: Fingerprint | None = None) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self._saved = self.state.session
        self._last_edit = float("-inf")

    def edit(self, state: State, place: Place, label: str, typing: bool = False) -> bool:
        """Make `state` the present; typing at a place without a pause is a single step. False when nothing changed."""
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
        """Show another case; that is no change, so undo ignores it."""
        self.state = replace(self.state, case_index=index)
        self._last_edit = float("-inf")

    def undo(self) -> Change | None:
        """Undo a step and return it; None when there is nothing to undo."""
        if not self._past:
            return None
        change = self._past.pop()
        self._future.append(change)
        self.state = change.before
        self._last_edit = float("-inf")
        return change

    def redo(self) -> Change | None:
        """Redo a step and return it; None when there is nothing to redo."""
        if not self._future:
            return None
        change = self._future.pop()
        self._past.append(change)
        self.state = change.after
        self._last_edit = float("-inf")
        return change


@dataclass(frozen=True)
class ReadSignature:
    """The last signature that could be read (None before the first), and what is wrong with the text of now."""

    signature: Signature | None = None
    error: SignatureError | None = None
    is_blank: bool = False
    """Whether nothing is written."""

    @property
    def problem(self) -> SignatureError | None:
        """The error to show: an empty session has none."""
        return None if self.is_blank and self.signature is None else self.error


@dataclass(frozen=True, eq=False)
class SlowReading:
    """A reply that repairing takes long (`adapters.json_text.repair_limits.QUICK_STEPS`): read away from the keys."""

    adapter: Adapter
    request: Request
    signature: Signature
    reply: Reply

    def read(self) -> Reading:
        """Takes up to a second or two. Raises what a user's own adapter raises."""
        from sessions.running.recording import read_completion

        return read_completion(self.adapter, self.request, self.signature, self.reply)


@dataclass(frozen=True, eq=False)
class LateColumn:
    """A column that another process is still to be asked for, as everything stands now."""

    state: State
    column: Column
    request: Request | None = None
    """The one before, which is shown until then."""


@dataclass(frozen=True)
class RenderedColumn:
    """A column of the case on screen: its prompt, reply and parse result.

    `request` is out of date when `error` says why it could not be made anew.
    """

    column: Column
    request: Request | None = None
    error: str = ""
    reply: Reply | None = None
    reading: Reading | None = None
    reading_error: str = ""
    slow: SlowReading | None = None
    """What is left to do for a reading that takes more than a moment; until then there is none."""
    late: LateColumn | None = None
    """What another process is still to be asked; until then `request` and `reading` are those of before."""
    left_out: tuple[str, ...] = ()
    """What the column's variant is of, where that has changed since or is gone: the original stands in the prompt."""

    @property
    def text(self) -> str:
        """The text of the reply, empty when there is none."""
        return self.reply.text if self.reply is not None else ""

    @property
    def why_no_prompt(self) -> str:
        """The text that is shown in place of a missing prompt."""
        return self.error or ("asked for" if self.late else "the signature is still to be written")

    @property
    def stale(self) -> bool:
        return (bool(self.error) or self.late is not None) and self.request is not None


def history_field(signature: Signature) -> Field | None:
    """The input that holds the conversation so far, which a case keeps as its turns."""
    from adapters.types.recognition import is_named

    return next((one for one in signature.input_fields.values() if is_named(one.annotation, "History")), None)
