"""The documented JSON of `--json`: the one place that turns prompts, readings, runs and checks into plain data.

Strict ASCII JSON: NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity". Offsets count Unicode
code points of the reply exactly as given. More keys may be added; none of these changes its name.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.prompts.prompt import Message
from adapters.replies.reading import FieldReading, Reading
from adapters.running import events
from sessions.file.json_values import LONGEST_INT_BITS

if TYPE_CHECKING:
    from adapters.errors import RunError
    from adapters.replies.flags.flag import Flag
    from adapters.requests.request import Request
    from adapters.running.events import Event
    from adapters.running.runner import Attempt, Run
    from sessions.running.repeats import Counted, Repeats

Result = TypeVar("Result")

JSON = Any
"""None, bool, int, float (finite), str, list or dict with str keys, and nothing else."""


DEEPEST = 20_000
"""The recursion limit while a deep value is written. Python's own limit bounds how deep values can be: about 1,000."""


def dumps(data: Any, indent: int | None = 2, ascii_only: bool = True) -> str:
    """`data` as strict JSON; `ascii_only`: lone surrogates and control characters come out as escapes."""

    def written(value: Any) -> str:
        return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False, indent=indent)

    return _at_any_depth(written, plain(data))


def plain(value: Any) -> JSON:
    """Any value of a prompt, a reading or a run as plain JSON data. Never raises: what is unknown becomes its text."""
    return _at_any_depth(_plain, value)


def _at_any_depth(function: Callable[[Any], Result], value: Any) -> Result:
    """`function(value)`, with room for values as deep as a JSON parser could make them."""
    try:
        return function(value)
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEPEST))
        try:
            return function(value)
        finally:
            sys.setrecursionlimit(limit)


def _plain(value: Any) -> JSON:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= LONGEST_INT_BITS else hex(value)
    if isinstance(value, float):
        return _number(float(value))
    if isinstance(value, Mapping):
        return {_key(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, AbstractSet)):
        return [_plain(item) for item in value]
    return _plain_object(value)


def _number(value: float) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return value


def _key(key: Any) -> str:
    if isinstance(key, Enum):
        return _key(key.value)
    return key if isinstance(key, str) else json.dumps(plain(key))


def _plain_object(value: Any) -> JSON:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, type):
        return value.__name__
    fields = getattr(type(value), "model_fields", None)
    if isinstance(fields, Mapping):
        extra = getattr(value, "model_extra", None) or {}
        return {name: _plain(getattr(value, name, None)) for name in fields} | {
            str(name): _plain(item) for name, item in extra.items()
        }
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    from adapters.values.value_text import serialize_for_json

    serialized = serialize_for_json(value)
    return _plain(serialized) if isinstance(serialized, (dict, list, str, int, float, type(None))) else str(serialized)


def prompt(messages: Iterable[Message], request: Mapping[str, Any]) -> dict[str, JSON]:
    """`{"messages", "segments", "request"}`: one list of segments a message, joined the text of that message."""
    ordered = tuple(messages)
    return {
        "messages": [plain(message.as_dict()) for message in ordered],
        "segments": [
            [
                {"text": str(segment.text), "kind": segment.kind, "field": segment.field, "turn": message.turn}
                for segment in message.segments
            ]
            for message in ordered
        ],
        "request": plain(request),
    }


def rendered(request: Request) -> dict[str, JSON]:
    """One column of `render --json`: the prompt that goes out, its demos' uses, and the whole request."""
    shape = prompt(request.messages, request.as_dict())
    shape["demos"] = [
        {"number": demo.number, "use": demo.use, "missing": list(demo.missing)} for demo in request.prompt.demos
    ]
    shape["removed_fields"] = list(request.removed_fields)
    return shape


def reading(read: Reading) -> dict[str, JSON]:
    """One column of `parse --json`."""
    shape: dict[str, JSON] = {
        "ok": read.ok,
        "uncertain": list(read.uncertain),
        "values": {name: plain(value) for name, value in read.values.items()},
        "error": _error(read),
        "spans": [
            {"start": span.start, "end": span.end, "kind": span.kind, "field": span.field} for span in read.spans
        ],
        "fields": {name: _field(one, read) for name, one in read.fields.items()},
        "flags": [_flag(flag) for flag in read.flags if flag.field is None],
        "near_misses": [{"message": miss.message, "mended": miss.mended} for miss in read.near_misses],
        "salvage": {name: plain(value) for name, value in read.salvage.items()},
    }
    if read.extraction is not None:
        shape["extraction"] = reading(read.extraction)
    return shape


def no_reading(error: Exception) -> dict[str, JSON]:
    """A column whose adapter cannot be had."""
    said = {"type": type(error).__name__, "message": str(error), "field": None}
    return {"ok": False, "values": {}, "error": said, "spans": [], "fields": {}, "flags": []}


def _error(read: Reading) -> dict[str, JSON] | None:
    if read.error is None:
        return None
    error = read.error
    shape: dict[str, JSON] = {
        "type": error.type,
        "message": error.message,
        "field": error.field,
        "start": error.start,
        "end": error.end,
    }
    if error.start is not None:
        shape["line"], shape["column"] = read.line_and_column(error.start)
    return shape


def _field(field: FieldReading, read: Reading) -> dict[str, JSON]:
    return {
        "raw": field.raw,
        "value": plain(field.value),
        "steps": [
            {
                "rule": step.rule,
                "before": plain(step.before),
                "after": plain(step.after),
                "path": step.path,
                "note": step.note,
            }
            for step in field.steps
        ],
        "flags": [_flag(flag) for flag in read.flags if flag.field == field.name],
        "state": field.state,
        "error": field.error,
        "probability": read.probability(field.name),
    }


def _flag(flag: Flag) -> dict[str, JSON]:
    return {"name": flag.name, "message": flag.message}


def run(outcome: Run) -> dict[str, JSON]:
    """One column of `send --json`."""
    return {
        "ok": outcome.ok,
        "values": {name: plain(value) for name, value in outcome.values.items()},
        "events": [event(one) for one in outcome.events],
        "attempts": [_attempt(one) for one in outcome.attempts],
        "tool_turns": plain(outcome.tool_turns),
        "error": None if outcome.error is None else _run_error(outcome.error),
    }


def repeats(counted: Repeats, outcomes: Iterable[Run]) -> dict[str, JSON]:
    """One column of `send --repeat N --json`; values and errors with how often they came, the most frequent first."""

    def told(values: Iterable[Counted]) -> list[JSON]:
        return [{"value": plain(one.value), "count": one.count} for one in values]

    return {
        "ok": counted.parse_failures == 0 and counted.answered == counted.runs,
        "count": counted.runs,
        "answered": counted.answered,
        "parse_failures": counted.parse_failures,
        "parse_failure_rate": counted.parse_failure_rate,
        "values": told(counted.values),
        "fields": {name: told(values) for name, values in counted.fields.items()},
        "errors": told(counted.errors),
        "runs": [run(one) for one in outcomes],
    }


def no_run(message: str) -> dict[str, JSON]:
    """A column that could not be sent, because something must be mended first."""
    error = {"phase": "request", "message": message, "attempt": 1, "payload": None}
    return {"ok": False, "values": {}, "events": [], "attempts": [], "error": error}


def event(happened: Event) -> dict[str, JSON]:
    """An event without what its attempt says anyway: the prompt, the request and the reading."""
    return {key: plain(value) for key, value in events.as_dict(happened).items() if key not in _IN_THE_ATTEMPT}


_IN_THE_ATTEMPT = frozenset({"prompt", "request", "reading"})


def _run_error(error: RunError) -> dict[str, JSON]:
    return {
        "phase": error.phase,
        "message": error.message,
        "attempt": error.attempt,
        "payload": plain(error.payload),
    }


def _attempt(attempt: Attempt) -> dict[str, JSON]:
    return {
        "number": attempt.number,
        "purpose": attempt.purpose,
        "adapter": attempt.adapter,
        "model": attempt.model,
        "request": plain(attempt.request),
        "completions": [
            {
                "text": completion.text,
                "reading": None if completion.reading is None else reading(completion.reading),
                "reasoning": plain(completion.reasoning),
                "tool_calls": plain(completion.tool_calls),
                "finish_reason": completion.finish_reason,
                "refusal": plain(completion.refusal),
                "logprobs": plain(completion.logprobs),
            }
            for completion in attempt.completions
        ],
        "usage": plain(attempt.usage),
        "cost": plain(attempt.cost),
        "duration_ms": attempt.duration_ms,
        "error": plain(attempt.error),
    }
