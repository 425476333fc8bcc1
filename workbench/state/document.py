"""The open session as immutable state with undo, and the types derived from it.

Panes are views of it. `workbench.state.engine` derives the signature as data, and for each column the prompt and the
parse result; the app paints first without loading it. A `Place` is where a piece of a prompt or a lint is edited.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack

from adapters.late_dataclasses import dataclass, field, replace
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
    from sessions.model.session import Column, Demo, SignatureText, Tool, Variant

KEY = "drafts"
"""JSON key of a backup for drafts: objects `{"kind", "case", "row", "field", "text"}`."""


def session_with_drafts(state: State) -> Session:
    """Return the session with drafts, as its backup stores it."""
    if not state.drafts:
        return state.session
    drafts = [{**place._asdict(), "text": text} for place, text in state.drafts.items()]
    return replace(state.session, extra={**state.session.extra, KEY: drafts})


def state_of(session: Session) -> State:
    """Return the state of an opened session or backup; drafts without a place are dropped."""
    kept = session.extra.get(KEY)
    if not isinstance(kept, (list, tuple)):
        return State(session)
    own = replace(session, extra={name: value for name, value in session.extra.items() if name != KEY})
    drafts = [_draft(one, own) for one in kept if isinstance(one, Mapping)]
    return State(own, drafts=MappingProxyType(dict([one for one in drafts if one is not None])))


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
        rows = len(named.history)
    is_there = row == -1 if kind == "input" else 0 <= row < rows
    return (Place(kind, case, row, field), text) if is_there else None


TYPING_PAUSE = 0.8
"""Pause in seconds that ends an undo step: later typing at the same place begins a new step."""

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
    """A place in a session: its kind, case, 0-based row and field."""

    kind: PlaceKind
    case: str = ""
    row: int = -1
    field: str = ""


class SessionChanges(TypedDict, total=False):
    """New values of a session's attributes."""

    signature: SignatureText
    demos: tuple[Demo, ...]
    columns: tuple[Column, ...]
    cases: tuple[Case, ...]
    model: str
    params: Mapping[str, Any]
    fallback: bool
    tools: tuple[Tool, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class State:
    """A state for undo: the session, the index of the case on screen, and invalid texts (drafts) by place."""

    session: Session
    case_index: int = 0
    drafts: Mapping[Place, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def case(self) -> Case:
        return self.session.cases[self.case_index]

    def with_session(self, **changes: Unpack[SessionChanges]) -> State:
        return replace(self, session=replace(self.session, **changes))

    def with_case(self, case: Case) -> State:
        """Replace the case of this name."""
        return replace(self, session=self.session.replace_case(case))


class Change(NamedTuple):
    """A step that can be undone: the states around it, its place, and its name."""

    before: State
    after: State
    place: Place
    label: str


class Document:
    """The open session. Only `edit` changes it; views read `state` afterwards."""

    def __init__(
        self,
        session: Session,
        path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        fingerprint: Fingerprint | None = None,
    ) -> None:
        self._clock = clock
        self.written = WrittenParts()
        """JSON of the last save, reused by the next."""
        self.open(session, path, fingerprint)

    def open(self, session: Session, path: Path | None, fingerprint: Fingerprint | None = None) -> None:
        """Replace the session; earlier changes can no longer be undone.

        `fingerprint` describes the file's content, to detect changes on disk.
        """
        if not session.cases:
            session = replace(session, cases=(Case("case 1"),))
        self.state = State(session)
        self.path = path
        self.fingerprint = fingerprint
        self.saved = session
        """The session as opened or last saved: the common ancestor when a save merges changes on disk."""
        self._past: list[Change] = []
        self._future: list[Change] = []
        self._last_edit = float("-inf")

    @property
    def session(self) -> Session:
        return self.state.session

    @property
    def folder(self) -> Path:
        """The session's folder; before the first save, the current folder."""
        return self.path.parent if self.path is not None else Path.cwd()

    @property
    def dirty(self) -> bool:
        """Tell whether the session differs from its saved state; undoing back to that state makes it clean."""
        return self.state.session is not self.saved

    def mark_saved(self, path: Path, fingerprint: Fingerprint | None = None) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self.saved = self.state.session
        self._last_edit = float("-inf")

    def edit(self, state: State, place: Place, label: str, typing: bool = False) -> bool:
        """Make `state` the current state; return False if nothing changed.

        Typing at one place without a pause is a single undo step.
        """
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
        """Show another case, without an undo step."""
        self.state = replace(self.state, case_index=index)
        self._last_edit = float("-inf")

    def can_undo(self, label: str) -> bool:
        """Tell whether a step of this name was taken and not undone since."""
        return any(one.label == label for one in self._past)

    def undo(self) -> Change | None:
        """Undo a step and return it; None when there is nothing to undo."""
        change = self._step(self._past, self._future)
        self.state = self.state if change is None else change.before
        return change

    def redo(self) -> Change | None:
        """Redo a step and return it; None when there is nothing to redo."""
        change = self._step(self._future, self._past)
        self.state = self.state if change is None else change.after
        return change

    def _step(self, taken: list[Change], left: list[Change]) -> Change | None:
        if not taken:
            return None
        left.append(taken.pop())
        self._last_edit = float("-inf")
        return left[-1]


@dataclass(frozen=True)
class ReadSignature:
    """The last valid signature (None before the first), and the error of the current text."""

    signature: Signature | None = None
    error: SignatureError | None = None
    is_blank: bool = False
    """True if the signature's text is empty."""

    @property
    def problem(self) -> SignatureError | None:
        """The error to show: an empty session has none."""
        return None if self.is_blank and self.signature is None else self.error


@dataclass(frozen=True, eq=False)
class SlowReading:
    """A reply whose repair exceeds `adapters.json_text.repair_limits.QUICK_STEPS`, to be parsed off the UI thread."""

    adapter: Adapter
    request: Request
    signature: Signature
    reply: Reply

    def read(self) -> Reading:
        """Parse the reply, in up to two seconds. Raises whatever a user's own adapter raises."""
        from sessions.running.recording import read_completion

        return read_completion(self.adapter, self.request, self.signature, self.reply)


@dataclass(frozen=True, eq=False)
class LateColumn:
    """A column that another process must still render, and the state to render."""

    state: State
    column: Column
    request: Request | None = None
    """The previous request, shown until then."""


@dataclass(frozen=True)
class RenderedColumn:
    """A column of the case on screen: its prompt, reply and parse result.

    If `error` is set, `request` is the last that could be made, now stale.
    """

    column: Column
    request: Request | None = None
    error: str = ""
    reply: Reply | None = None
    reading: Reading | None = None
    reading_error: str = ""
    slow: SlowReading | None = None
    """The parse that is still to be run, as it takes long; until then `reading` is None."""
    late: LateColumn | None = None
    """Work for another process; until it is done, `request` and `reading` are the previous ones."""
    left_out: tuple[str, ...] = ()
    """Texts (`Variant.of`) for which the column's variant is not used, as the original changed or was removed."""

    @property
    def text(self) -> str:
        """The text of the reply; "" without a reply."""
        return self.reply.text if self.reply is not None else ""

    @property
    def why_no_prompt(self) -> str:
        """The text to show instead of a missing prompt."""
        return self.error or ("asked for" if self.late else "the signature is still to be written")

    @property
    def stale(self) -> bool:
        return (bool(self.error) or self.late is not None) and self.request is not None


def history_field(signature: Signature) -> Field | None:
    """Return the input of type `History`, whose turns are stored in the case."""
    from adapters.types.recognition import is_named

    return next((one for one in signature.input_fields.values() if is_named(one.annotation, "History")), None)


def place_of(state: State, field: str | None, turn: str | None) -> Place:
    """Return the editor of a field's value in a turn (`inputs`, `demo 2`, …) of a prompt."""
    kind, _, number = (turn or "").partition(" ")
    row = int(number) - 1 if number.isdecimal() else -1
    if kind == "demo" and number.isdecimal():
        return Place("demo", row=row if row < len(state.session.demos) else -1, field=field or "")
    if kind == "history" and number.isdecimal():
        return Place("history", state.case.name, row, field or "")
    if kind == "inputs" and field:
        return Place("input", state.case.name, field=field)
    return Place("signature", field=field or "")


def key_of(state: State, place: Place) -> tuple[str, str | None, str] | None:
    """Return the origin (kind, field, turn) of the prompt text edited at `place`, or None.

    A row without a field means its first value.
    """
    if place.kind == "instructions":
        return "instructions", None, "system"
    if place.kind == "signature":
        return ("name", place.field, "system") if place.field else None
    if place.kind == "input":
        return "value", place.field, "inputs"
    if place.kind == "demo":
        if not 0 <= place.row < len(state.session.demos) or not state.session.demos[place.row].enabled:
            return None
        turn, values = f"demo {place.row + 1}", state.session.demos[place.row].values
    elif place.kind == "history" and place.row + 1 in (turns := state.case.turns):
        turn, values = f"history {place.row + 1}", turns[place.row + 1]
    else:
        return None
    field = place.field or next(iter(values), "")
    return ("value" if values.get(field) is not None else "filler", field, turn) if field else None
