"""Judge whether another release of dspy renders and parses a fixture as recorded (verdict `upstream`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adapters.prompts.text import Message
from sessions.checking import differences
from sessions.checking.verdicts import Drift, Word
from sessions.file.typed_values import same
from sessions.model.replies import RecordedAttempt
from sessions.model.session import Case, Column, Recording, Session
from sessions.releases.engine import Call, Question, ReleaseError
from sessions.releases.release import Release
from sessions.running import recording, rendering
from sessions.running.recording import as_json


def check(dspy: Release, session: Session, case: Case, column: Column) -> tuple[Word, tuple[Drift, ...]]:
    """Return the verdict of `dspy` on a column of a case; `empty` if `why_not` gives a reason."""
    recorded = case.recordings.get(column.id)
    if recorded is None or why_not(dspy, session, case, column):
        return "empty", ()
    attempts = _attempts(recorded)
    capabilities = recording.capabilities_in_force(recorded, session.model_of(column))
    try:
        calls = [
            dspy.call(
                Question(
                    session, case, column, capabilities, one.completions, one.adapter if one.role == "fallback" else ""
                )
            )
            for one in attempts or [RecordedAttempt(column.adapter)]
        ]
    except ReleaseError as error:
        return "error", (Drift("upstream", "upstream", error.message),)
    drift = [*_prompts(dspy, session, case, column, recorded, calls), *_readings(dspy, attempts, calls)]
    return ("drift" if drift else "pass"), tuple(drift)


def why_not(dspy: Release, session: Session, case: Case, column: Column) -> str:
    """Return why a dspy cannot judge this fixture, as a sentence; "" if it can."""
    why = "nothing is recorded" if column.id not in case.recordings else dspy.why_not(session, column)
    return f"{dspy.name} was not asked: {why}" if why else ""


def _prompts(
    dspy: Release, session: Session, case: Case, column: Column, recorded: Recording, calls: Sequence[Call]
) -> list[Drift]:
    drift: list[Drift] = []
    for index, call in enumerate(calls):
        own = _attempts(recorded)[index].request if recorded.attempts else None
        before = [dict(one) for one in (recorded.messages if own is None else own["messages"])]
        params = recorded.request if own is None else own
        old = {name: params[name] for name in sorted(params) if name not in ("messages", "model")}
        new = {name: call.request[name] for name in sorted(call.request)}
        drift.extend(differences.values_drift("upstream", "request", old, new, f"{dspy.name}: parameter"))
        after = [dict(one) for one in call.messages]
        if same(before, after):
            continue
        can = recording.capabilities_in_force(recorded, session.model_of(column))
        ours = rendering.own_messages(session, column, case, can) if index == 0 else ()
        if not same(before, as_json([one.as_dict() for one in ours])):
            ours = tuple([_unknown_message(one) for one in before])
        found = differences.messages_drift(after, ours, before, dspy.name)
        drift.extend(found or [Drift("upstream", "messages", f"{dspy.name} makes other messages")])
    return drift


def _readings(dspy: Release, attempts: Sequence[RecordedAttempt], calls: Sequence[Call]) -> list[Drift]:
    drift: list[Drift] = []
    for number, (attempt, call) in enumerate(zip(attempts, calls, strict=False)):
        for index, (completion, after) in enumerate(zip(attempt.completions, call.readings, strict=True)):
            before = completion.reading
            if before is None:
                continue
            place = f"attempts[{number}].completions[{index}]"
            if before.ok is not after.ok:
                said = "reads the reply" if after.ok else f"does not parse the reply ({after.why})"
                drift.append(Drift("upstream", place, f"{dspy.name} {said}", (), (), before.ok, after.ok))
            elif after.ok:
                what = f"{dspy.name}: value"
                drift += differences.values_drift("upstream", f"{place}.values", before.values, after.values, what)
    return drift


def _attempts(recorded: Recording) -> Sequence[RecordedAttempt]:
    return [one for one in recorded.attempts if one.role != "extraction"]


def _unknown_message(message: Mapping[str, object]) -> Message:
    """Convert a recorded message that we no longer render. The origins of its text are unknown."""
    from adapters.prompts.text import Segment, Text

    content = message.get("content")
    parts = (Text((Segment(content, "custom"),)),) if isinstance(content, str) else ()
    return Message(str(message.get("role")), "the recorded prompt", parts)
