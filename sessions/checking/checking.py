"""Check whether each column of each case renders, parses and is judged as recorded.

There are three independent verdicts. *render*: messages and request, of the first call and of every fallback, equal the
recorded ones. *parse*: every recorded reply parses to the recorded verdict and typed values. *expect*: the recorded
reply, else the last one shown, fulfils the case's expectations. Nothing is sent or written.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import is_
from typing import Any, TypedDict, Unpack

from adapters.formats.base import Adapter
from adapters.formats.two_step import extraction_adapter, extraction_signature
from adapters.late_dataclasses import dataclass, field, replace
from adapters.prompts.text import Prompt, prompt_of_dicts
from adapters.replies.reading import Reading
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Request, prepare
from adapters.signatures.signature import Signature
from sessions.checking import differences, expectations
from sessions.checking.verdicts import PARTS, Drift, FixtureResult, Part, Word, notes_of
from sessions.model import variants
from sessions.model.replies import RecordedAttempt, RecordedCompletion
from sessions.model.session import Case, Column, Demo, Recording, Session
from sessions.releases.engine import ReleaseError
from sessions.running import recording, rendering, tools
from sessions.running.recording import as_json, read_completion, recorded_reading

NO_REPLY = "no reply to judge; `workbench send SESSION --save` gets one, or paste a reply in the app and record it"
GONE = "the recording is gone, but the measures of its run remain; `workbench record SESSION` records again"
NO_COLUMN = "recorded for a column that the session no longer has"

PromptKey = tuple[Adapter, Hashable]  # an adapter and its `demo_key` for a signature
MOST_DEMOS = 4_000
"""The limit on remembered demos, and on demos in remembered prompts; beyond it the cache is cleared."""


@dataclass(eq=False)
class KnownPrompts:
    """Prompts and demos shared between fixtures, since a team's sessions often have them in common.

    Rendered demos are reused only if they are the same objects: those of other files become the objects of the first.
    """

    _demos: dict[str, Demo] = field(default_factory=dict)
    prompts: dict[PromptKey, Prompt] = field(default_factory=dict)
    """Prompts whose rendered demos can be reused."""
    _weight: int = 0

    def share_demos(self, session: Session) -> Session:
        """Replace the session's demos with equal ones of earlier sessions."""
        if not session.demos or len(session.demos) > MOST_DEMOS // 10:
            return session
        known = tuple(map(self._known, session.demos))
        return session if all(map(is_, known, session.demos)) else replace(session, demos=known)

    def _known(self, demo: Demo) -> Demo:
        if demo.extra:
            return demo
        content = json.dumps([demo.enabled, demo.values])
        if len(self._demos) >= MOST_DEMOS:
            self._demos.clear()
        return self._demos.setdefault(content, demo)

    def keep(self, key: PromptKey, prompt: Prompt) -> None:
        if self._weight + len(prompt.demos) >= MOST_DEMOS:
            self.prompts.clear()
            self._weight = 0
        self._weight += 1 + len(prompt.demos)
        self.prompts[key] = prompt


_KNOWN = KnownPrompts()


class Choice(TypedDict, total=False):
    """A choice of fixtures; all, if nothing is given."""

    columns: Collection[str]
    """The ids of columns."""
    cases: Collection[str]
    """The names of cases."""
    wanted: IsWanted
    """Selects by a case's name and a column's id."""
    adapters: Mapping[str, Adapter] | None
    """Adapters that replace those of columns, by id (code that the user named on the command line)."""


IsWanted = Callable[[str, str], bool]


def always(case: str, column: str) -> bool:
    """Select every column of every case."""
    return True


def _is_chosen(choice: Choice, case: str, column: str) -> bool:
    is_named = case in choice.get("cases", (case,)) and column in choice.get("columns", (column,))
    return is_named and choice.get("wanted", always)(case, column)


def check(session: Session, path: str = "", **choice: Unpack[Choice]) -> list[FixtureResult]:
    """Return the verdicts on every column of every case, or on the chosen ones.

    Never raises for the content of a session.
    """
    return list(each(session, path, **choice))


def each(session: Session, path: str = "", **choice: Unpack[Choice]) -> Iterator[FixtureResult]:
    """Like `check`, but yield one result at a time.

    A recording of a missing column is an error, because skipping it would look like a pass.
    """
    session = _KNOWN.share_demos(session)
    there = {column.id: column for column in session.columns}
    for case in session.cases:
        for id in dict.fromkeys([*there, *case.recordings]):
            if not _is_chosen(choice, case.name, id):
                continue
            column = there.get(id)
            if column is None:
                drift = Drift("render", f"recordings.{id}", NO_COLUMN)
                gone: dict[Part, Word] = {"render": "error", "parse": "empty", "expect": "empty"}
                yield FixtureResult(path, case.name, id, gone, (drift,))
                continue
            start = time.perf_counter()
            fixture = _Fixture(session, column, case, (choice.get("adapters") or {}).get(id))
            fixture.check()
            notes = notes_of(case, id, fixture.verdicts, fixture.is_of_old_reply)
            seconds = time.perf_counter() - start
            yield FixtureResult(path, case.name, id, fixture.verdicts, tuple(fixture.drift), notes, seconds=seconds)


def update(session: Session, *, parts: Collection[Part] = ("render", "parse"), **choice: Unpack[Choice]) -> Session:
    """Replace drifted recordings with today's rendering, parse results, or both.

    Replies stay as recorded, and expectations belong to the user. The source of a recording that was sent changes to
    `accepted` if its prompt changes, as the new prompt was never sent. Recordings that cannot be rendered or parsed
    today are unchanged. Raises ValueError for another part.
    """
    for part in parts:
        if part not in ("render", "parse"):
            raise ValueError(f"only render and parse can be accepted, not {part}")
    for column in session.columns:
        adapter = (choice.get("adapters") or {}).get(column.id)
        for case in session.cases:
            if column.id in case.recordings and _is_chosen(choice, case.name, column.id):
                current = session.case(case.name)
                updated = _Fixture(session, column, current, adapter).updated(parts)
                session = session if updated is current else session.replace_case(updated)
    return session


@dataclass
class _Today:
    """A recorded attempt with today's adapter, request and signature."""

    adapter: Adapter
    request: Request
    signature: Signature
    attempt: RecordedAttempt
    number: int

    def read(self, completion: RecordedCompletion) -> Reading:
        return read_completion(self.adapter, self.request, self.signature, completion)


class _Fixture:
    """A column of a case, with its verdicts and drift once it is checked."""

    _signature: Signature
    _adapter: Adapter
    _request: Request

    def __init__(self, session: Session, column: Column, case: Case, adapter: Adapter | None) -> None:
        self._session = session
        if column.variant is not None:
            with suppress(Exception):  # rendering reports a variant that cannot be applied
                self._session = variants.session_of(session, column)
        self._column = column
        self._case = case
        self._given_adapter = adapter
        self._recording = case.recordings.get(column.id)
        self.verdicts: dict[Part, Word] = dict.fromkeys(PARTS, "empty")
        self.drift: list[Drift] = []
        self.is_of_old_reply = False
        """Set if the expectations were judged by a reply to another prompt or model."""

    def _set(self, part: Part, drift: Sequence[Drift], word: Word = "drift") -> None:
        self.verdicts[part] = word if drift else "pass"
        self.drift.extend(drift)

    def check(self) -> None:
        recorded, id = self._recording, self._column.id
        if recorded is None and self._case.expect and self._case.measured.get(id):
            self._set("render", [Drift("render", f"recordings.{id}", GONE)], "error")
        if recorded is None and not self._case.expect:
            return
        try:
            self._open()
            if "@" in self._column.adapter:
                recording.versions_of(self._column)  # starts the release
        except Exception as error:  # an unusable signature, adapter or release is an error of every verdict
            for part in PARTS if recorded is not None else ("expect",):
                self._set(part, [Drift(part, "signature", _said(error))], "error")
            return
        self._render()
        readings: list[tuple[_Today, Reading]] = []
        if recorded is not None:
            attempts = list(self._attempts(recorded))
            if self.verdicts["render"] != "error":
                found = [
                    one
                    for today in attempts
                    for one in differences.request_drift(recorded, today.number, today.attempt, today.request)
                ]
                self._set("render", self._name_versions(recorded, found))
            drift: list[Drift] = []
            for today in attempts:
                for index, completion in enumerate(today.attempt.completions):
                    reading = today.read(completion)
                    readings.append((today, reading))
                    if completion.reading is not None:
                        place = f"attempts[{today.number}].completions[{index}]"
                        now = recorded_reading(reading)
                        drift += differences.reading_drift(completion.reading, now, place, reading)
            drift = self._name_versions(recorded, drift)
            if drift or any(one.reading is not None for today in attempts for one in today.attempt.completions):
                self._set("parse", drift)
        if self._case.expect:
            self._judge(readings)

    def _open(self) -> None:
        """Read the signature and make the adapter. Raises whatever prevents that."""
        self._signature = self._session.signature.read()
        self._adapter = self._given_adapter or rendering.adapter_of(self._column)

    def _capabilities(self, recorded: Recording) -> Capabilities:
        return recording.capabilities_in_force(recorded, self._session.model_of(self._column))

    def _render(self) -> None:
        """Make today's request; if that fails, one with the signature only, for parsing."""
        try:
            key = self._adapter, self._adapter.demo_key(self._signature)
            self._request = rendering.request_of(
                self._session,
                self._column,
                self._case,
                _KNOWN.prompts.get(key),
                capabilities=None if self._recording is None else self._capabilities(self._recording),
                adapter=self._adapter,
            )
            _KNOWN.keep(key, self._request.prompt)
        except Exception as error:  # formatting raises the same exceptions as dspy for these values
            self._request = Request(Prompt(()), {}, self._signature)
            if self._recording is not None:
                said = f"no prompt can be made: {_said(error)}"
                self._set("render", [Drift("render", "inputs", said)], "error")

    def _attempts(self, recorded: Recording) -> Iterator[_Today]:
        """Yield today's counterpart of every attempt: first call, fallbacks, TwoStep's extractions."""
        texts: Iterator[str] = iter(())
        text: str | None = None
        current, made, asked = self._adapter, self._request, self._signature
        made_first, first_messages = made, recorded.messages
        for number, attempt in enumerate(recorded.attempts or (RecordedAttempt(self._adapter.name),)):
            role = "main" if number == 0 else attempt.role or "fallback"
            body: Mapping[str, Any] = attempt.request if attempt.request is not None else {"messages": []}
            if role == "fallback":
                current = current.fallback_adapter() or extraction_adapter(attempt.adapter)
                made = made_first = self._prepared(current, self._capabilities(recorded))
                first_messages = body["messages"]
            elif role == "tools":
                turns = prompt_of_dicts(body["messages"][len(first_messages) :], "tools").messages
                made = made_first.with_turns(turns)
            elif role == "extraction":
                current = extraction_adapter(attempt.adapter)
                if attempt.adapter != "json" or text is None:
                    text = next(texts, "")
                asked = extraction_signature(self._signature)
                made = prepare(current, asked, [], {"text": text}, model=self._request.model)
            else:
                texts = iter([one.text for one in attempt.completions])
            yield _Today(current, made, asked, attempt, number)

    def _prepared(self, adapter: Adapter, capabilities: Capabilities) -> Request:
        """Make the request of a fallback; a case that cannot be rendered was reported with the first call."""
        try:
            prepared = prepare(
                adapter,
                self._signature,
                rendering.demos_of(self._session, self._case),
                rendering.inputs_of(self._signature, self._case, adapter),
                capabilities,
                model=self._session.model_of(self._column),
                params=self._request.params,
                held=True,
                tools=tools.described_tools(self._session),
            )
            return rendering.numbered_as_in(self._session, self._case, prepared)
        except Exception:  # formatting raises the same exceptions as dspy for these values
            return Request(Prompt(()), {}, self._signature)

    def _name_versions(self, recorded: Recording, drift: list[Drift]) -> list[Drift]:
        """Name the versions that changed, as `dspy 3.3.0 then, 3.4.1 now`; to ask for them loads the email package."""
        if not drift:
            return drift
        try:
            now = recording.versions_of(self._column)
        except ReleaseError:  # it has ended meanwhile, which the drift says
            return drift
        both = [(name, recorded.versions[name], now[name]) for name in now if name in recorded.versions]
        changed = "; ".join([f"{name} {old} then, {new} now" for name, old, new in both if old != new])
        return [replace(one, versions=changed) for one in drift]

    def _judge(self, readings: list[tuple[_Today, Reading]]) -> None:
        """Judge the recorded reply that counted (the first of the last attempt), else the last one shown."""
        id = self._column.id
        try:
            expect = expectations.column_expectations(self._case.expect, id)
            if not expect:
                return
            counted = [(today.number, read) for today, read in readings if today.attempt.role != "extraction"]
            if counted:
                last = max(number for number, _ in counted)
                reading = next(reading for number, reading in counted if number == last)
            elif id in self._case.replies:
                reply, model = self._case.replies[id], self._session.model_of(self._column)
                reading = read_completion(self._adapter, self._request, self._signature, reply)
                self.is_of_old_reply = recording.is_outdated(reply, self._request, model)
            else:
                self._set("expect", [Drift("expect", "expect", NO_REPLY)], "error")
                return
            failures = expectations.judge(expect, reading, self._case.measured.get(id, ()))
        except expectations.ExpectationError as error:
            self._set("expect", [Drift("expect", f"expect.{error.place}", error.message)], "error")
            return
        drift = [Drift("expect", one.place, one.message, (), (), one.expected, one.found) for one in failures]
        self._set("expect", drift, "fail")

    def updated(self, parts: Collection[Part]) -> Case:
        """Return the case with its drifted parts recorded again."""
        recorded = self._recording
        try:
            self._open()
        except Exception:  # `check` reports it
            return self._case
        self._render()
        if recorded is None or self.verdicts["render"] == "error":
            return self._case
        attempts = list(self._attempts(recorded))
        if any(one.attempt.request is not None and not one.request.messages for one in attempts):
            return self._case  # a fallback that cannot be rendered today keeps its recording
        made = recorded
        if "render" in parts:
            made = replace(
                made,
                messages=tuple(as_json(self._request.prompt.as_dicts())),
                request=differences.parameters(self._request),
                attempts=tuple(
                    today.attempt
                    if today.attempt.request is None
                    else replace(today.attempt, request=as_json(today.request.as_dict()))
                    for today in attempts
                ),
                capabilities=self._capabilities(recorded).as_json(),
            )
            if recorded.source == "sent" and not differences.same_requests(made, recorded):
                made = replace(made, source="accepted")
        if "parse" in parts:
            read: list[RecordedAttempt] = []
            for attempt, today in zip(made.attempts, attempts, strict=False):
                completions = [
                    one if one.reading is None else replace(one, reading=recorded_reading(today.read(one)))
                    for one in attempt.completions  # a reply that only calls tools is not parsed
                ]
                read.append(replace(attempt, completions=tuple(completions)))
            made = replace(made, attempts=tuple(read))
        if differences.same_recording(made, recorded):
            return self._case
        case = replace(self._case, recordings={**self._case.recordings, self._column.id: made})
        left = _Fixture(self._session, self._column, case, self._given_adapter)
        left.check()
        if "drift" not in left.verdicts.values():
            made = replace(made, versions=dict(recording.versions_of(self._column)))
        return replace(case, recordings={**case.recordings, self._column.id: made})


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
