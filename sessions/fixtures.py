"""Checking a session as a fixture: is every column of every case rendered, read and judged as it was recorded?

Three verdicts, each apart. *render*: messages and request, of the first call and of every fallback, are as recorded.
*parse*: every recorded reply is read to the recorded verdict and typed values. *expect*: the recorded reply, else the
last one shown, fulfils the case's expectations. Nothing is sent and nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from adapters.base import Adapter
from adapters.lm.capabilities import capabilities_of
from adapters.prompt import Prompt
from adapters.reading import Reading
from adapters.request import Request, prepare
from adapters.signature import Signature
from adapters.two_step import extraction_signature
from sessions import comparison, differences, expectations, recording, rendering, tools, variants
from sessions.json_values import JSON
from sessions.known_prompts import KnownPrompts
from sessions.recording import as_json, read_completion, reading_as_json
from sessions.session import Case, Column, Recording, Session
from sessions.typed_values import same
from sessions.verdicts import PARTS, Drift, FixtureResult, Part, Word

_KNOWN = KnownPrompts()

NO_REPLY = "there is no reply to judge; `workbench send SESSION --save` gets one, or paste one in the app and record it"

Wanted = Callable[[str, str], bool]


def always(case: str, column: str) -> bool:
    """Every column of every case is meant."""
    return True


def check(
    session: Session,
    path: str = "",
    *,
    columns: Collection[str] | None = None,
    cases: Collection[str] | None = None,
    adapters: Mapping[str, Adapter] | None = None,
    wanted: Wanted = always,
) -> list[FixtureResult]:
    """The verdicts on every column of every case, or on those named. Never raises for what a session says.

    `adapters` replaces the adapters of columns, by id (for code that the user named on the command line). `wanted`
    says of a case's name and a column's id whether they are meant.
    """
    return list(each(session, path, columns=columns, cases=cases, adapters=adapters, wanted=wanted))


def each(
    session: Session,
    path: str = "",
    *,
    columns: Collection[str] | None = None,
    cases: Collection[str] | None = None,
    adapters: Mapping[str, Adapter] | None = None,
    wanted: Wanted = always,
) -> Iterator[FixtureResult]:
    """As `check`, one result at a time."""
    session = _KNOWN.with_known_demos(session)
    for case in session.cases:
        if cases is not None and case.name not in cases:
            continue
        for column in session.columns:
            if (columns is None or column.id in columns) and wanted(case.name, column.id):
                fixture = _Fixture(session, column, case, (adapters or {}).get(column.id))
                outcome = fixture.check()
                yield FixtureResult(path, case.name, column.id, outcome.verdicts, tuple(outcome.drift))
        yield from (one for one in _orphans(session, path, case, columns) if wanted(case.name, one.column))


def _orphans(session: Session, path: str, case: Case, columns: Collection[str] | None) -> Iterator[FixtureResult]:
    """Recordings of columns that are gone: passing them over would be a pass for what is no longer looked at."""
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
    wanted: Wanted = always,
) -> Session:
    """The session with today's rendering or reading, or both, recorded in the place of what has drifted.

    Replies stay as they were recorded, and expectations are the user's own; a recording whose prompt was sent is then
    `accepted`, as its new prompt never was. What cannot be rendered or read today
    stays as recorded. Raises ValueError for another part.
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
                session = session if updated is current else session.with_case(updated)
    return session


class _Outcome:
    """Verdicts and drift as they come up."""

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
    """One recorded attempt as it is made today: by which adapter, from which request, for which signature."""

    adapter: Adapter
    request: Request
    signature: Signature
    attempt: Mapping[str, Any]
    number: int


class _Fixture:
    """One column of one case."""

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
        if recorded is None and not self._case.expect:
            return outcome
        try:
            signature = self._session.signature.read()
            adapter = self._adapter or rendering.adapter_of(self._column)
        except Exception as error:  # a signature or adapter that cannot be read is every verdict's error
            for part in PARTS if recorded is not None else ("expect",):
                outcome.error(part, "signature", _said(error))
            return outcome
        request = self._request(signature, adapter, outcome)
        readings: list[tuple[_Today, Reading]] = []
        if recorded is not None:
            attempts = list(self._attempts(recorded, signature, adapter, request))
            if outcome.verdicts["render"] != "error":
                changed = comparison.changed_versions(recorded)
                drift = [one for today in attempts for one in self._render_drift(recorded, today)]
                outcome.set("render", [replace(one, versions=changed) for one in drift])
            drift = self._parse_drift(recorded, attempts, readings)
            if drift or any(_has_reading(today) for today in attempts):
                outcome.set("parse", drift)
        if self._case.expect:
            self._judge(outcome, readings, reply, adapter, request, signature)
        return outcome

    def _request(self, signature: Signature, adapter: Adapter, outcome: _Outcome) -> Request:
        """Today's request; where there is none, what parsing needs of it."""
        recorded = self._recording
        capabilities = None
        if recorded is not None:
            model = self._session.model_of(self._column)
            capabilities = recording.capabilities_in_force(recorded, model)
        try:
            reuse = _KNOWN.get(adapter, signature)
            request = rendering.request_of(
                self._session, self._column, self._case, reuse, capabilities=capabilities, adapter=adapter
            )
        except Exception as error:  # formatting raises whatever dspy's does for these values
            if recorded is not None:
                outcome.error("render", "inputs", f"no prompt can be made: {_said(error)}")
            return Request(Prompt(()), {}, signature)
        _KNOWN.keep(adapter, signature, request.prompt)
        return request

    def _attempts(
        self, recorded: Recording, signature: Signature, adapter: Adapter, request: Request
    ) -> Iterator[_Today]:
        """Every recorded attempt as it is made today: the first call, fallbacks, and TwoStep's extractions."""
        texts: Iterator[str] = iter(())
        text: str | None = None
        current, made, asked = adapter, request, signature
        made_first, first_messages = made, recorded.messages
        for number, attempt in enumerate(recorded.attempts or ({"adapter": adapter.name},)):
            role = "main" if number == 0 else attempt.get("role", "fallback")
            if role == "fallback":
                following = current.fallback_adapter() or recording.extraction_adapter(str(attempt["adapter"]))
                current, made = following, self._prepared(following, signature, request)
                made_first, first_messages = made, attempt["request"]["messages"]
            elif role == "tools":
                made = tools.continued(made_first, first_messages, attempt["request"])
            elif role == "extraction":
                current = recording.extraction_adapter(str(attempt["adapter"]))
                if attempt["adapter"] != "json" or text is None:
                    text = next(texts, "")
                asked = extraction_signature(signature)
                made = prepare(current, asked, [], {"text": text}, model=request.model)
            else:
                completions = attempt.get("completions") or ()
                texts = iter([str(one.get("text") or "") for one in completions])
            yield _Today(current, made, asked, attempt, number)

    def _prepared(self, adapter: Adapter, signature: Signature, request: Request) -> Request:
        recorded = self._recording
        model = self._session.model_of(self._column)
        try:
            prepared = prepare(
                adapter,
                signature,
                rendering.demos_of(self._session),
                rendering.inputs_of(signature, self._case),
                recording.capabilities_in_force(recorded, model) if recorded else capabilities_of(model),
                model=model,
                params=request.params,
                tools=tools.described_tools(self._session),
            )
            return rendering.numbered_as_in(self._session, self._case, prepared)
        except Exception:  # the first call's rendering has told the error already
            return Request(Prompt(()), {}, signature)

    def _render_drift(self, recorded: Recording, today: _Today) -> list[Drift]:
        own = today.attempt.get("request")
        if own is None and today.number > 0:
            return []
        body: Mapping[str, Any] = own if own is not None else recorded.request
        messages = own["messages"] if own is not None else recorded.messages
        prefix = "" if own is None else f"attempts[{today.number}]."
        drift: list[Drift] = []
        if not comparison.same_messages(messages, today.request):
            plain = as_json(today.request.prompt.as_dicts())
            drift = differences.of_messages(messages, today.request.messages, plain) or [
                Drift("render", "messages", "the messages have changed")
            ]
        before = {key: value for key, value in body.items() if key != "messages"}
        after = comparison.parameters(today.request)
        if not same(before, after):
            drift.extend(differences.of_values("render", "request", before, after, "parameter"))
        if not prefix:
            return drift
        said = f"attempt {today.number + 1} ({today.attempt['adapter']}): "
        return [replace(one, place=prefix + one.place, message=said + one.message) for one in drift]

    def _parse_drift(
        self, recorded: Recording, attempts: list[_Today], readings: list[tuple[_Today, Reading]]
    ) -> list[Drift]:
        drift: list[Drift] = []
        changed = comparison.changed_versions(recorded)
        for today in attempts:
            for index, completion in enumerate(today.attempt.get("completions") or ()):
                reading = read_completion(today.adapter, today.request, today.signature, completion)
                readings.append((today, reading))
                before = completion.get("reading")
                if before is not None:
                    place = f"attempts[{today.number}].completions[{index}]"
                    found = comparison.reading_drift(before, reading_as_json(reading), place, reading)
                    drift.extend(replace(one, versions=changed) for one in found)
        return drift

    def _judge(
        self,
        outcome: _Outcome,
        readings: list[tuple[_Today, Reading]],
        reply: Mapping[str, Any] | None,
        adapter: Adapter,
        request: Request,
        signature: Signature,
    ) -> None:
        """Judges the recorded reply that counted (the last attempt's first), else the last one shown."""
        try:
            expect = expectations.for_column(self._case.expect, self._column.id)
            if not expect:
                return
            counted = [(today.number, reading) for today, reading in readings if not _is_extraction(today)]
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
        """The case with what has drifted recorded anew."""
        recorded = self._recording
        outcome = _Outcome()
        try:
            signature = self._session.signature.read()
            adapter = self._adapter or rendering.adapter_of(self._column)
        except Exception:  # `check` tells it
            return self._case
        request = self._request(signature, adapter, outcome)
        if recorded is None or outcome.verdicts["render"] == "error":
            return self._case
        attempts = list(self._attempts(recorded, signature, adapter, request))
        if any(one.attempt.get("request") is not None and not one.request.messages for one in attempts):
            return self._case  # a fallback that cannot be rendered today stays as it was recorded
        made = recorded
        if "render" in parts:
            capabilities = recording.capabilities_in_force(recorded, self._session.model_of(self._column))
            made = replace(
                made,
                messages=tuple(as_json(request.prompt.as_dicts())),
                request=comparison.parameters(request),
                attempts=tuple([_with_request(today) for today in attempts]),
                capabilities=recording.capabilities_as_json(capabilities),
            )
            if recorded.source == "sent" and not comparison.same_requests(made, recorded):
                made = replace(made, source="accepted")
        if "parse" in parts:
            pairs = zip(made.attempts, attempts, strict=False)
            made = replace(made, attempts=tuple([_with_readings(attempt, today) for attempt, today in pairs]))
        if comparison.same_recording(made, recorded):
            return self._case
        case = replace(self._case, recordings={**self._case.recordings, self._column.id: made})
        left = _Fixture(self._session, self._column, case, self._adapter).check()
        if "drift" not in left.verdicts.values():
            made = replace(made, versions=dict(recording.versions()))
        return replace(case, recordings={**case.recordings, self._column.id: made})


def _with_request(today: _Today) -> dict[str, JSON]:
    attempt = dict(today.attempt)
    if attempt.get("request") is not None:
        attempt["request"] = as_json(today.request.as_dict())
    return attempt


def _with_readings(attempt: Mapping[str, Any], today: _Today) -> dict[str, JSON]:
    completions = []
    for completion in attempt.get("completions") or ():
        if completion.get("reading") is not None:  # a reply that only calls tools is not read
            reading = read_completion(today.adapter, today.request, today.signature, completion)
            completion = {**completion, "reading": reading_as_json(reading)}
        completions.append(completion)
    return {**attempt, "completions": completions}


def _varied(session: Session, column: Column) -> Session:
    """The session with the column's variants; as it is where they cannot be had, which rendering then says."""
    try:
        return variants.session_of(session, column)
    except Exception:
        return session


def _is_extraction(today: _Today) -> bool:
    return today.attempt.get("role") == "extraction"


def _has_reading(today: _Today) -> bool:
    return any(one.get("reading") is not None for one in today.attempt.get("completions") or ())


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__
