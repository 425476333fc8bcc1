"""A model that replays recorded replies to the recorded requests, without network or cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Event
from typing import Any

from adapters.late_dataclasses import replace
from adapters.lm.protocol import Chunk, ProviderError, ToolCallPart
from adapters.running.runs import Run
from sessions.file.typed_values import same
from sessions.model.replies import Measured
from sessions.model.session import Column, Recording, Session
from sessions.running import recording
from sessions.running.recording import as_json
from sessions.text_diff import line_diff


class Replay:
    """Replays a column's recording of a case; `stream` raises `ProviderError` for any other request.

    `measured` has the tokens and cost of each attempt (`Case.measured`), which are replayed, too.
    """

    def __init__(
        self, session: Session, column: Column, recorded: Recording, measured: Sequence[Measured] = ()
    ) -> None:
        self.model = session.model_of(column)
        self.capabilities = recording.capabilities_in_force(recorded, self.model)
        own = {**recorded.request, "messages": [dict(one) for one in recorded.messages]}
        known = measured if len(measured) == len(recorded.attempts) else [Measured()] * len(recorded.attempts)
        self._answers = [
            (own if one.request is None else one.request, one, took)
            for one, took in zip(recorded.attempts, known, strict=True)
        ]
        self._given: list[Measured] = []

    def stream(self, request: Mapping[str, object], cancel: Event | None = None) -> Iterator[Chunk]:
        asked = as_json(request)
        for index, (recorded, attempt, took) in enumerate(self._answers):
            # The order of the top-level keys does not matter
            if recorded.keys() == asked.keys() and all(same(recorded[key], asked[key]) for key in asked):
                del self._answers[index]  # a repeated request gets the next recorded answer
                self._given.append(took)
                for choice, completion in enumerate(attempt.completions):
                    yield Chunk(
                        text=completion.text,
                        reasoning=completion.reasoning or "",
                        tool_calls=tuple([_part(index, one) for index, one in enumerate(completion.tool_calls or ())]),
                        finish_reason=completion.finish_reason,
                        refusal=completion.refusal or "",
                        citations=tuple(completion.citations or ()),
                        logprobs=completion.logprobs,
                        choice=choice,
                    )
                yield Chunk(usage=took.usage, cost=took.cost)
                return
        raise ProviderError(f"nothing is recorded for this request{self._nearest(asked)}", "request")

    def as_measured(self, run: Run) -> Run:
        """Set the durations of a replayed run to the recorded durations."""
        times = [took.duration_ms for took in self._given]
        if len(times) != len(run.attempts):
            return run
        pairs = zip(run.attempts, times, strict=True)
        return replace(run, attempts=tuple([replace(one, duration_ms=time or 0.0) for one, time in pairs]))

    def _nearest(self, asked: Mapping[str, Any]) -> str:
        """Explain how the nearest recorded request differs from this request."""
        if not self._answers:
            return ""
        recorded = min((one[0] for one in self._answers), key=lambda one: _distance(one, asked))
        changed = [key for key in {**recorded, **asked} if not same(recorded.get(key), asked.get(key))]
        said = f"; of the recorded one differs: {', '.join(changed)}"
        if "model" in changed:
            return f"{said} (recorded with {recorded.get('model')})"
        if "messages" not in changed:
            return said
        before, after = recorded.get("messages") or [], asked.get("messages") or []
        for old, new in zip(before, after, strict=False):
            if not same(old, new):
                lines = line_diff(str(old.get("content")).split("\n"), str(new.get("content")).split("\n"))
                return said + "\n" + "\n".join(lines[:20])
        return f"{said} ({len(before)} messages then, {len(after)} now)"


def _distance(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> int:
    """Count the messages and parameters in which two requests differ."""
    before, after = recorded.get("messages") or [], asked.get("messages") or []
    others = {**recorded, **asked}.keys() - {"messages"}
    return (
        abs(len(before) - len(after))
        + sum(not same(one, other) for one, other in zip(before, after, strict=False))
        + sum(not same(recorded.get(key), asked.get(key)) for key in others)
    )


def _part(index: int, call: Mapping[str, Any]) -> ToolCallPart:
    function = call.get("function") or {}
    return ToolCallPart(
        index, str(call.get("id") or ""), str(function.get("name") or ""), str(function.get("arguments") or "")
    )
