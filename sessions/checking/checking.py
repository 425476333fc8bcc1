"""Check whether each column of each case renders, parses and is judged as recorded.

There are three independent verdicts. *render*: messages and request, of the first call and of every fallback, equal the
recorded ones. *parse*: every recorded reply parses to the recorded verdict and typed values. *expect*: the recorded
reply, else the last one shown, fulfils the case's expectations. Nothing is sent or written.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.formats.base import Adapter
from adapters.formats.two_step import extraction_adapter, extraction_signature
from adapters.prompts.text import Prompt
from adapters.replies.reading import Reading
from adapters.requests.request import Request, prepare
from adapters.signatures.signature import Signature
from sessions.checking import differences, expectations
from sessions.checking.known_prompts import KnownPrompts
from sessions.checking.verdicts import PARTS, Drift, FixtureResult, Part, Word, notes_of
from sessions.model import variants
from sessions.model.replies import RecordedAttempt, Reply
from sessions.model.session import Case, Column, Recording, Session
from sessions.releases.engine import ReleaseError
from sessions.running import recording, rendering, tools
from sessions.running.recording import as_json, read_completion, recorded_reading

_KNOWN = KnownPrompts()

NO_REPLY = "no reply to judge; `workbench send SESSION --save` gets one, or paste a reply in the app and record it"

GONE = "the recording is gone, but the measures of its run remain; `workbench record SESSION` records again"

IsWanted = Callable[[str, str], bool]


def always(case: str, column: str) -> bool:
    """Select every column of every case."""
    return True


def check(
    session: Session,
    path: str = "",
    *,
    columns: Collection[str] | None = None,
    cases: Collection[str] | None = None,
    adapters: Mapping[str, Adapter] | None = None,
    wanted: IsWanted = always,
) -> list[FixtureResult]:
    """Return the verdicts on every column of every case, or on the given ones.

    Never raises for the content of a session. `adapters` replaces the adapters of columns, by id (for code that the
    user named on the command line). `wanted` selects by a case's name and a column's id.
    """
    return list(each(session, path, columns=columns, cases=cases, adapters=adapters, wanted=wanted))


def each(
    session: Session,
    path: str = "",
    *,
    columns: Collection[str] | None = None,
    cases: Collection[str] | None = None,
    adapters: Mapping[str, Adapter] | None = None,
    wanted: IsWanted = always,
) -> Iterator[FixtureResult]:
    """Like `check`, but yield one result at a time."""
    session = _KNOWN.share_demos(session)
    for case in session.cases:
        if cases is not None and case.name not in cases:
            continue
        for column in session.columns:
            if (columns is None or column.id in columns) and wanted(case.name, column.id):
                missing = _why_not_there(column.adapter)
                if missing:
                    yield FixtureResult(path, case.name, column.id, dict.fromkeys(PARTS, "empty"), (), (missing,))
                    continue
                start = time.perf_counter()
                fixture = _Fixture(session, column, case, (adapters or {}).get(column.id))
                outcome = fixture.check()
                notes = () if outcome.verdicts["render"] == "error" else notes_of(case, column.id)
                seconds, drift = time.perf_counter() - start, tuple(outcome.drift)
                yield FixtureResult(path, case.name, column.id, outcome.verdicts, drift, notes, seconds=seconds)
        yield from (one for one in _orphans(session, path, case, columns) if wanted(case.name, one.column))


def _why_not_there(adapter: str) -> str:
    """Return why an adapter of another release is unavailable; "" if it is available or ours."""
    if "@" not in adapter:
        return ""
    from sessions.releases import environments

    return environments.why_not_there(adapter)


def _orphans(session: Session, path: str, case: Case, columns: Collection[str] | None) -> Iterator[FixtureResult]:
    """Yield an error for each recording of a missing column. Skipping it would look like a pass."""
    there = {column.id for column in session.columns}
    for id in case.recordings:
        if id not in there and (columns is None or id in columns):
            drift = Drift("render", f"recordings.{id}", "recorded for a column that the session no longer has")
            yield FixtureResult(path, case.name, id, {"render": "error", "parse": "empty", "expect": "empty"}, (drift,))


def update(
    session: Session,
    *,
    parts: Collection[Part] = ("render", "parse"),
    columns: Collection[str] | None = None,
    cases: Collection[str] | None = None,
    adapters: Mapping[str, Adapter] | None = None,
    wanted: IsWanted = always,
) -> Session:
    """Replace drifted recordings with today's rendering, parse results, or both.

    Replies stay as recorded, and expectations belong to the user. The source of a recording that was sent changes to
    `accepted` if its prompt changes, as the new prompt was never sent. Recordings that cannot be rendered or parsed
    today are unchanged. Raises ValueError for another part.
    """
    for part in parts:
        if part not in ("render", "parse"):
            raise ValueError(f"only render and parse can be accepted, not {part}")
    for column in session.columns:
        for case in session.cases:
            if (columns is not None and column.id not in columns) or (cases is not None and case.name not in cases):
                continue
            if column.id in case.recordings and wanted(case.name, column.id):
                current = session.case(case.name)
                updated = _Fixture(session, column, current, (adapters or {}).get(column.id)).updated(parts)
                session = session if updated is current else session.replace_case(updated)
    return session


class _Outcome:
    """Collects verdicts and drift."""

    def __init__(self) -> None:
        self.verdicts: dict[Part, Word] = dict.fromkeys(PARTS, "empty")
        self.drift: list[Drift] = []

    def set(self, part: Part, drift: Iterable[Drift], word: Word = "drift") -> None:
        found = list(drift)
        self.verdicts[part] = word if found else "pass"
        self.drift.extend(found)

    def error(self, part: Part, place: str, message: str) -> None:
        self.verdicts[part] = "error"
        self.drift.append(Drift(part, place, message))


@dataclass
class _Today:
    """A recorded attempt with today's adapter, request and signature."""

    adapter: Adapter
    request: Request
    signature: Signature
    attempt: RecordedAttempt
    number: int


class _Fixture:
    """A column of a case."""

    def __init__(self, session: Session, column: Column, case: Case, adapter: Adapter | None) -> None:
        self._session = session if column.variant is None else _varied(session, column)
        self._column = column
        self._case = case
        self._adapter = adapter

    @property
    def _recording(self) -> Recording | None:
        return self._case.recordings.get(self._column.id)

    def check(self) -> _Outcome:
        outcome = _Outcome()
        recorded, reply = self._recording, self._case.replies.get(self._column.id)
        if recorded is None and self._case.expect and self._case.measured.get(self._column.id):
            outcome.error("render", f"recordings.{self._column.id}", GONE)
        if recorded is None and not self._case.expect:
            return outcome
        try:
            signature = self._session.signature.read()
            adapter = self._adapter or rendering.adapter_of(self._column)
            if recorded is not None and "@" in self._column.adapter:
                recording.versions_of(self._column)  # starts the release
        except Exception as error:  # an unusable signature or adapter is an error of every verdict
            for part in PARTS if recorded is not None else ("expect",):
                outcome.error(part, "signature", _said(error))
            return outcome
        request = self._request(signature, adapter, outcome)
        readings: list[tuple[_Today, Reading]] = []
        if recorded is not None:
            attempts = list(self._attempts(recorded, signature, adapter, request))
            if outcome.verdicts["render"] != "error":
                drift = [
                    one
                    for today in attempts
                    for one in differences.request_drift(recorded, today.number, today.attempt, today.request)
                ]
                outcome.set("render", self._name_versions(recorded, drift))
            drift = self._name_versions(recorded, self._parse_drift(attempts, readings))
            if drift or any(_has_reading(today) for today in attempts):
                outcome.set("parse", drift)
        if self._case.expect:
            self._judge(outcome, readings, reply, adapter, request, signature)
        return outcome

    def _request(self, signature: Signature, adapter: Adapter, outcome: _Outcome) -> Request:
        """Return today's request; if rendering fails, one with the signature only, for parsing."""
        recorded = self._recording
        capabilities = None
        if recorded is not None:
            model = self._session.model_of(self._column)
            capabilities = recording.capabilities_in_force(recorded, model)
        try:
            key = adapter, adapter.demo_key(signature)
            reuse = _KNOWN.get(key)
            request = rendering.request_of(
                self._session, self._column, self._case, reuse, capabilities=capabilities, adapter=adapter
            )
        except Exception as error:  # formatting raises the same exceptions as dspy for these values
            if recorded is not None:
                outcome.error("render", "inputs", f"no prompt can be made: {_said(error)}")
            return Request(Prompt(()), {}, signature)
        _KNOWN.keep(key, request.prompt)
        return request

    def _attempts(
        self, recorded: Recording, signature: Signature, adapter: Adapter, request: Request
    ) -> Iterator[_Today]:
        """Yield today's counterpart of every attempt: first call, fallbacks, TwoStep's extractions."""
        texts: Iterator[str] = iter(())
        text: str | None = None
        current, made, asked = adapter, request, signature
        made_first, first_messages = made, recorded.messages
        for number, attempt in enumerate(recorded.attempts or (RecordedAttempt(adapter.name),)):
            role = "main" if number == 0 else attempt.role or "fallback"
            if role == "fallback":
                following = current.fallback_adapter() or extraction_adapter(attempt.adapter)
                current, made = following, self._prepared(following, signature, request)
                made_first, first_messages = made, _request_of(attempt)["messages"]
            elif role == "tools":
                made = tools.continued(made_first, first_messages, _request_of(attempt))
            elif role == "extraction":
                current = extraction_adapter(attempt.adapter)
                if attempt.adapter != "json" or text is None:
                    text = next(texts, "")
                asked = extraction_signature(signature)
                made = prepare(current, asked, [], {"text": text}, model=request.model)
            else:
                texts = iter([one.text for one in attempt.completions])
            yield _Today(current, made, asked, attempt, number)

    def _prepared(self, adapter: Adapter, signature: Signature, request: Request) -> Request:
        recorded = self._recording
        model = self._session.model_of(self._column)
        try:
            prepared = prepare(
                adapter,
                signature,
                rendering.demos_of(self._session, self._case),
                rendering.inputs_of(signature, self._case, adapter),
                recording.capabilities_in_force(recorded, model)
                if recorded
                else rendering.capabilities_for(self._session, self._column).capabilities,
                model=model,
                params=request.params,
                held=True,
                tools=tools.described_tools(self._session),
            )
            return rendering.numbered_as_in(self._session, self._case, prepared)
        except Exception:  # rendering the first call has already reported the error
            return Request(Prompt(()), {}, signature)

    def _name_versions(self, recorded: Recording, drift: list[Drift]) -> list[Drift]:
        """Name the versions that changed since the recording; to ask for them loads the email package."""
        if not drift:
            return drift
        try:
            changed = differences.changed_versions(recorded, self._column)
        except ReleaseError:  # it has ended meanwhile, which the drift says
            return drift
        return [replace(one, versions=changed) for one in drift]

    def _parse_drift(self, attempts: list[_Today], readings: list[tuple[_Today, Reading]]) -> list[Drift]:
        drift: list[Drift] = []
        for today in attempts:
            for index, completion in enumerate(today.attempt.completions):
                reading = read_completion(today.adapter, today.request, today.signature, completion)
                readings.append((today, reading))
                before = completion.reading
                if before is not None:
                    place = f"attempts[{today.number}].completions[{index}]"
                    drift.extend(differences.reading_drift(before, recorded_reading(reading), place, reading))
        return drift

    def _judge(
        self,
        outcome: _Outcome,
        readings: list[tuple[_Today, Reading]],
        reply: Reply | None,
        adapter: Adapter,
        request: Request,
        signature: Signature,
    ) -> None:
        """Judge the recorded reply that counted (the first of the last attempt), else the last one shown."""
        try:
            expect = expectations.column_expectations(self._case.expect, self._column.id)
            if not expect:
                return
            counted = [(today.number, read) for today, read in readings if today.attempt.role != "extraction"]
            if counted:
                last = max(number for number, _ in counted)
                reading = next(reading for number, reading in counted if number == last)
            elif reply is not None:
                reading = read_completion(adapter, request, signature, reply)
            else:
                outcome.error("expect", "expect", NO_REPLY)
                return
            failures = expectations.judge(expect, reading, self._case.measured.get(self._column.id, ()))
        except expectations.ExpectationError as error:
            outcome.error("expect", f"expect.{error.place}", error.message)
            return
        drift = [Drift("expect", one.place, one.message, (), (), one.expected, one.found) for one in failures]
        outcome.set("expect", drift, "fail")

    def updated(self, parts: Collection[Part]) -> Case:
        """Return the case with its drifted parts recorded again."""
        recorded = self._recording
        outcome = _Outcome()
        try:
            signature = self._session.signature.read()
            adapter = self._adapter or rendering.adapter_of(self._column)
        except Exception:  # `check` reports it
            return self._case
        request = self._request(signature, adapter, outcome)
        if recorded is None or outcome.verdicts["render"] == "error":
            return self._case
        attempts = list(self._attempts(recorded, signature, adapter, request))
        if any(one.attempt.request is not None and not one.request.messages for one in attempts):
            return self._case  # a fallback that cannot be rendered today keeps its recording
        made = recorded
        if "render" in parts:
            capabilities = recording.capabilities_in_force(recorded, self._session.model_of(self._column))
            made = replace(
                made,
                messages=tuple(as_json(request.prompt.as_dicts())),
                request=differences.parameters(request),
                attempts=tuple([_updated_request(today) for today in attempts]),
                capabilities=recording.capabilities_as_json(capabilities),
            )
            if recorded.source == "sent" and not differences.same_requests(made, recorded):
                made = replace(made, source="accepted")
        if "parse" in parts:
            pairs = zip(made.attempts, attempts, strict=False)
            made = replace(made, attempts=tuple([_updated_readings(attempt, today) for attempt, today in pairs]))
        if differences.same_recording(made, recorded):
            return self._case
        case = replace(self._case, recordings={**self._case.recordings, self._column.id: made})
        left = _Fixture(self._session, self._column, case, self._adapter).check()
        if "drift" not in left.verdicts.values():
            made = replace(made, versions=dict(recording.versions_of(self._column)))
        return replace(case, recordings={**case.recordings, self._column.id: made})


def _request_of(attempt: RecordedAttempt) -> Mapping[str, Any]:
    """Return the request of an attempt after the first, or one without messages."""
    return attempt.request if attempt.request is not None else {"messages": []}


def _updated_request(today: _Today) -> RecordedAttempt:
    if today.attempt.request is None:
        return today.attempt
    return replace(today.attempt, request=as_json(today.request.as_dict()))


def _updated_readings(attempt: RecordedAttempt, today: _Today) -> RecordedAttempt:
    completions = []
    for completion in attempt.completions:
        if completion.reading is not None:  # a reply that only calls tools is not parsed
            reading = read_completion(today.adapter, today.request, today.signature, completion)
            completion = replace(completion, reading=recorded_reading(reading))
        completions.append(completion)
    return replace(attempt, completions=tuple(completions))


def _varied(session: Session, column: Column) -> Session:
    """Apply the column's variants. On failure return the session, as rendering reports the error."""
    try:
        return variants.session_of(session, column)
    except Exception:  # rendering reports the error
        return session


def _has_reading(today: _Today) -> bool:
    return any(one.reading is not None for one in today.attempt.completions)


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
