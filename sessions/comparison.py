"""What is recorded beside what is made today: are they the same, and if not, how do they differ?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adapters.reading import Reading
from adapters.request import Request
from sessions import differences, recording
from sessions.json_values import JSON
from sessions.recording import as_json
from sessions.session import Recording
from sessions.typed_values import same
from sessions.verdicts import Drift


def reading_drift(before: Mapping[str, Any], after: dict[str, JSON], place: str, reading: Reading) -> list[Drift]:
    """How a recorded reading (see `Recording`) differs from today's; `place` is its place in the recording."""
    if same(before, after):
        return []
    drift: list[Drift] = []
    if before.get("ok") is not after["ok"]:
        why = f": {reading.error.type}" if reading.error is not None else ""
        said = "the reply no longer parses" if before.get("ok") else "the reply parses now"
        drift.append(Drift("parse", f"{place}.ok", said + why, before=before.get("ok"), after=after["ok"]))
    old = before.get("values")
    values = old if isinstance(old, Mapping) else {}
    drift.extend(differences.of_values("parse", f"{place}.values", values, after["values"], "value"))
    if not same(before.get("error"), after["error"]):
        said = "the error has changed" if before.get("error") and after["error"] else "the error is another"
        drift.append(Drift("parse", f"{place}.error", said, before=before.get("error"), after=after["error"]))
    return drift or [Drift("parse", place, "the reading has changed", before=dict(before), after=after)]


def same_messages(recorded: Iterable[Mapping[str, Any]], request: Request) -> bool:
    """Whether the recorded messages are those of `request`, without a copy of the texts."""
    messages = request.messages
    before = tuple(recorded)
    if len(before) != len(messages):
        return False
    for old, message in zip(before, messages, strict=True):
        content = message.content
        if isinstance(content, str) and not message.extra:
            if len(old) != 2 or old.get("role") != message.role or old.get("content") != content:
                return False
        elif not same(dict(old), as_json(message.as_dict())):
            return False
    return True


def parameters(request: Request) -> dict[str, JSON]:
    """The request without its messages, as it is recorded."""
    head = {"model": request.model} if request.model is not None else {}
    found: dict[str, JSON] = as_json({**head, **request.params})
    return found


def same_recording(one: Recording, other: Recording) -> bool:
    """Whether two recordings hold the same messages, request and attempts."""
    return same_requests(one, other) and same(
        [dict(attempt) for attempt in one.attempts], [dict(attempt) for attempt in other.attempts]
    )


def same_requests(one: Recording, other: Recording) -> bool:
    """Whether two recordings asked the same: the same messages and parameters, those of later attempts included."""
    return (
        same(list(one.messages), [dict(message) for message in other.messages])
        and same(dict(one.request), dict(other.request))
        and same([attempt.get("request") for attempt in one.attempts], [a.get("request") for a in other.attempts])
    )


def changed_versions(recorded: Recording) -> str:
    """Which versions the recording was made with and which there are now, where they differ."""
    now = recording.versions()
    changed = [
        f"{name} {recorded.versions[name]} then, {now[name]} now"
        for name in now
        if name in recorded.versions and recorded.versions[name] != now[name]
    ]
    return "; ".join(changed)
