"""Judge whether another release of dspy renders and parses a fixture as recorded (verdict `upstream`)."""

from __future__ import annotations

from adapters.late_dataclasses import replace
from sessions.checking import differences
from sessions.checking.origins import add_origins
from sessions.checking.verdicts import Drift, Word
from sessions.file.typed_values import same
from sessions.model.replies import RecordedAttempt, RecordedReading
from sessions.model.session import Case, Column, Session
from sessions.releases.engine import Question, ReleaseError, ReleaseReading
from sessions.releases.release import Release
from sessions.running import recording, rendering


def check(dspy: Release, session: Session, case: Case, column: Column) -> tuple[Word, tuple[Drift, ...]]:
    """Return the verdict of `dspy` on a column of a case; `empty` if `why_not` gives a reason."""
    recorded = case.recordings.get(column.id)
    if recorded is None or why_not(dspy, session, case, column):
        return "empty", ()
    attempts = [one for one in recorded.attempts if one.role != "extraction"]
    capabilities = recording.capabilities_in_force(recorded, session.model_of(column))
    drift: list[Drift] = []
    for number, attempt in enumerate(attempts or [RecordedAttempt(column.adapter)]):
        adapter = attempt.adapter if attempt.role == "fallback" else ""
        try:
            call = dspy.call(Question(session, case, column, capabilities, attempt.completions, adapter))
        except ReleaseError as error:
            return "error", (Drift("upstream", "upstream", error.message),)
        request = attempt.request
        asked = recorded.request if request is None else request
        old = {name: asked[name] for name in sorted(asked) if name not in ("messages", "model")}
        new = {name: call.request[name] for name in sorted(call.request)}
        drift += differences.values_drift("upstream", "request", old, new, f"{dspy.name}: parameter")
        before = [dict(one) for one in (recorded.messages if request is None else request["messages"])]
        after = [dict(one) for one in call.messages]
        if not same(before, after):
            own = replace(column, adapter=adapter, options={}) if adapter else column
            own_messages = rendering.own_messages(session, own, case, capabilities)
            ours = add_origins(before, own_messages, "the recorded prompt")
            found = differences.messages_drift(after, ours, before, dspy.name)
            drift += found or [Drift("upstream", "messages", f"{dspy.name} makes other messages")]
        for index, (completion, read) in enumerate(zip(attempt.completions, call.readings, strict=True)):
            if completion.reading is not None:
                place = f"attempts[{number}].completions[{index}]"
                drift += _reading_drift(dspy, place, completion.reading, read)
    return ("drift" if drift else "pass"), tuple(drift)


def why_not(dspy: Release, session: Session, case: Case, column: Column) -> str:
    """Return why a dspy cannot judge this fixture, as a sentence; "" if it can."""
    why = "nothing is recorded" if column.id not in case.recordings else dspy.why_not(session, column)
    return f"{dspy.name} was not asked: {why}" if why else ""


def _reading_drift(dspy: Release, place: str, before: RecordedReading, after: ReleaseReading) -> list[Drift]:
    if before.ok is not after.ok:
        said = "reads the reply" if after.ok else f"does not parse the reply ({after.why})"
        return [Drift("upstream", place, f"{dspy.name} {said}", (), (), before.ok, after.ok)]
    if not after.ok:
        return []
    return differences.values_drift("upstream", f"{place}.values", before.values, after.values, f"{dspy.name}: value")
