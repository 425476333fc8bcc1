"""Compare how both sides of a change render the calls of a fixture and parse its replies.

A side is a release of dspy, or our adapters with the interface of a release.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.late_dataclasses import dataclass, replace
from adapters.requests.request import Request
from adapters.requests.token_estimates import Estimates
from adapters.signatures.signature import Signature
from sessions.causes import writing
from sessions.causes.cause import CauseKind, Key
from sessions.checking.upstream import add_origins
from sessions.model import variants
from sessions.model.replies import Answer
from sessions.model.session import Case, Column, Session
from sessions.releases import environments
from sessions.releases.engine import Call, Engine, Question, ReleaseError, ReleaseReading
from sessions.releases.release import Release
from sessions.running import recording, rendering
from sessions.upgrades import comparing
from sessions.upgrades.comparing import Difference, Made


@dataclass(frozen=True)
class Side:
    """A side of the change, before or after.

    `model` and `adapter`, if given, replace the session's.
    """

    name: str
    """The displayed name: `dspy 3.0.4`, `openai/gpt-6-sol`, `xml`."""
    engine: Engine
    model: str | None = None
    adapter: str | None = None
    as_written: bool = False
    """True to compare requests as the provider receives them, with parameters renamed and dropped."""

    def column_of(self, column: Column) -> Column:
        """Return the column with this side's model and adapter.

        The side's engine replaces a release named in the column: `chat@3.0.4` becomes `chat`.
        """
        release = catalog.parse_release(column.adapter)
        used = column if release is None else replace(column, adapter=release.adapter)
        if self.adapter is not None and self.adapter != used.adapter:
            used = replace(used, adapter=self.adapter, options={})
        return used if self.model is None else replace(used, model=self.model)


@dataclass(frozen=True)
class Change:
    """A change from `before` to `after`; `by` is the kind of its causes."""

    before: Side
    after: Side
    by: CauseKind


COUNTED = {"no_longer_read": writing.REFUSED, "read_now": writing.READ, "read_otherwise": writing.READ_AS}
"""The names of the counts of replies in JSON, with the change that each counts."""


@dataclass(frozen=True)
class Compared:
    """A case in a column, before and after."""

    path: str
    case: str
    column: str
    adapter: str
    differences: tuple[Difference, ...] = ()
    tokens: tuple[int, int] = (0, 0)
    """Estimated tokens of the first call's request, before and after."""
    replies: int = 0
    """The number of recorded and displayed replies that both sides parsed."""
    changed_replies: tuple[str, ...] = ()
    """The name of the change of each reply that parses differently."""
    why_not: str = ""
    """Why it could not be compared, in a sentence."""
    is_broken: bool = False
    """True if it was not compared because an engine failed or did not answer."""

    @property
    def is_compared(self) -> bool:
        return not self.why_not

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of replies, and of those that parse differently, as in JSON."""
        counts = {count: self.changed_replies.count(name) for count, name in COUNTED.items()}
        return {"replies": self.replies, **counts}


def compare(change: Change, session: Session, path: str, case: Case, column: Column) -> Compared:
    """Compare a case in a column before and after the change.

    Sends nothing, writes nothing, and never raises for a session's content.
    """
    found = Compared(path, case.name, column.id, change.after.column_of(column).adapter)
    try:
        signature = variants.session_of(session, column).signature.read()
    except Exception as error:  # an invalid signature
        return replace(found, why_not=f"the signature: {error}")
    for number, (role, answers) in enumerate(_calls(change, case, column)):
        ends: list[Made | ReleaseError] = []
        for side in (change.before, change.after):
            try:
                ends.append(_made(side, session, case, column, role, answers))
            except ReleaseError as error:
                ends.append(error)
        before, after = ends
        if isinstance(before, ReleaseError) or isinstance(after, ReleaseError):
            missing = _missing_prompt(found, change, f"{role}: prompt" if role else "prompt", before, after)
            if number == 0 or missing.is_broken:
                return missing
            found = missing if missing.is_compared else found
            continue
        replies = [one.text for one in answers]
        differences = comparing.differences(before, after, signature, replies, change.by)
        if number:
            differences = [replace(one, place=f"{role}: {one.place}") for one in differences]
        else:
            found = replace(found, tokens=(_tokens(before), _tokens(after)))
        # A reply has a difference for each of its values; two fallbacks may have the same places
        changed = {(one.place, one.key.name) for one in differences if one.part == "parse"}
        found = replace(
            found,
            differences=(*found.differences, *differences),
            replies=found.replies + len(before.readings),
            changed_replies=(*found.changed_replies, *[name for _, name in changed]),
        )
    return found


def _calls(change: Change, case: Case, column: Column) -> Iterator[tuple[str, tuple[Answer, ...]]]:
    """Yield the adapter of each call of a fixture, "" for the column's own, with the replies to parse.

    If the model or the adapter changes, no replies are parsed, because they answer another prompt.
    """
    recorded = case.recordings.get(column.id)
    attempts = recorded.attempts if recorded is not None else ()
    own: list[Answer] = [one for part in attempts if part.role in (None, "main", "tools") for one in part.completions]
    shown = case.replies.get(column.id)
    if shown is not None and not shown.raw and all(one.text != shown.text for one in own):
        own.append(shown)
    is_of_engine = change.by == "dspy release"
    yield "", tuple(own) if is_of_engine else ()
    for part in attempts:
        if part.role == "fallback" and is_of_engine:
            yield part.adapter, tuple(part.completions)


def _made(side: Side, session: Session, case: Case, column: Column, adapter: str, answers: tuple[Answer, ...]) -> Made:
    used = side.column_of(column)
    # Recorded capabilities are those of the model used for the recording.
    recorded = case.recordings.get(used.id) if side.model is None else None
    capabilities = None if recorded is None else recording.capabilities_in_force(recorded, session.model_of(used))
    session = replace(session, columns=tuple([used if one.id == column.id else one for one in session.columns]))
    call = side.engine.call(Question(session, case, used, capabilities, answers, adapter))
    own = replace(used, adapter=adapter, options={}) if adapter else used
    ours = rendering.own_messages(session, own, case, capabilities)
    request = call.request
    if side.as_written:
        asked = rendering.request_of(session, used, case, capabilities=capabilities)
        body = rendering.body_of(session, used, asked)
        request = {name: recording.as_json(one) for name, one in body.items() if name not in ("model", "messages")}
    return Made(add_origins(call.messages, ours), request, call.readings, call.removed_fields)


def _tokens(made: Made) -> int:
    return Estimates().total(made.messages, made.request)


def _missing_prompt(found: Compared, change: Change, place: str, before: object, after: object) -> Compared:
    """Return the result if a side made no prompt at `place`.

    It is a change if the other side made a prompt, and no engine failed or lacks support.
    """
    errors = [one for one in (before, after) if isinstance(one, ReleaseError)]
    broken = next((one for one in errors if one.kind in ("ended", "too slow", "missing")), None)
    if broken is not None:
        return replace(found, why_not=str(broken), is_broken=True)
    if len(errors) == 2:
        return replace(found, why_not=f"neither side makes a prompt: {errors[1]}")
    if errors[0].kind == "unsupported":
        return replace(found, why_not=str(errors[0]))
    is_gone = isinstance(after, ReleaseError)
    said = ("a prompt", "none") if is_gone else ("none", "a prompt")
    lines = (("-" if not is_gone else "+") + str(errors[0]),)
    key = Key(change.by, writing.NO_PROMPT, *said)
    return replace(found, differences=(*found.differences, Difference("render", place, key, lines)))


class Ours:
    """The adapters of this project, which reproduce `sessions.running.recording.DSPY`. Keeps nothing open."""

    name = f"ours, as dspy {recording.DSPY}"
    version = recording.DSPY

    def call(self, question: Question) -> Call:
        """Make a whole call, as `Engine.call`; formatting errors become a `ReleaseError` of kind `raised`."""
        session, case, column = question.session, question.case, question.column
        if question.adapter:
            column = replace(column, adapter=question.adapter, options={})
        try:
            adapter = rendering.adapter_of(column)
            signature = variants.session_of(session, column).signature.read()
            made = rendering.request_of(session, column, case, capabilities=question.capabilities, adapter=adapter)
            readings = tuple([_reading(adapter, made, signature, answer) for answer in question.answers])
        except Exception as error:  # whatever dspy's format raises for this signature and these values
            message = f"{self.name}: it makes no prompt: {type(error).__name__}: {error}"
            raise ReleaseError("raised", question.column.id, message) from error
        body = {name: value for name, value in made.as_dict().items() if name not in ("messages", "model")}
        return Call(
            tuple(recording.as_json(made.prompt.as_dicts())),
            recording.as_json(body),
            readings,
            made.removed_fields,
        )

    def close(self) -> None:
        """Do nothing: nothing is open."""


def _reading(adapter: Adapter, request: Request, signature: Signature, answer: Answer) -> ReleaseReading:
    reading = recording.read_completion(adapter, request, signature, answer)
    made, error = recording.recorded_reading(reading), reading.error
    return ReleaseReading(made.ok, made.values, *(("", "") if error is None else (error.type, error.message)))


def open_engine(name: str) -> Engine:
    """Start the engine of a name. `installed` is the dspy in the workbench's own environment.

    Raises `ReleaseError`; if a release was not added, with how to add it.
    """
    if name == "ours":
        return Ours()
    if name == "installed":
        return Release(sys.executable, hint="install dspy beside the workbench, or name a release as `3.0.4`")
    if environments.VERSION.fullmatch(name):
        return environments.open_release(name)
    if os.sep in name or name.startswith("python"):
        return Release(name, hint="install dspy there, or name another Python")
    message = f"`{name[:80]}` names no engine"
    raise ReleaseError("missing", "", message, "there are `ours`, `installed`, a release as `3.0.4`, a Python's path")
