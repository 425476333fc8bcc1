"""Build the documented JSON of `--json`; prompts, parse results, runs and checks become data only here.

The output is strict ASCII JSON: NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity". Offsets count
Unicode code points of the reply exactly as given. Keys may be added, but are never renamed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.prompts.text import Message
from adapters.replies.reading import Reading
from adapters.values.plain_json import JSON, plain

if TYPE_CHECKING:
    from adapters.lint import Lint
    from adapters.replies.flag import Fix
    from adapters.replies.streaming import StreamedField
    from adapters.requests.request import Request
    from adapters.running.events import Event
    from adapters.running.runner import Run
    from sessions.causes.cause import Cause
    from sessions.checking.verdicts import Drift, FixtureResult
    from sessions.running.repeats import Counted, Repeats
    from sessions.stress.grid import Grid
    from workbench.output.spending import Spent


def dumps(data: Any, indent: int | None = 2, ascii_only: bool = True) -> str:
    """Write `data` as strict JSON; with `ascii_only`, unpaired surrogates and control characters become escapes."""

    def written() -> str:
        return json.dumps(plain(data), ensure_ascii=ascii_only, allow_nan=False, indent=indent)

    try:
        return written()
    except RecursionError:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as thread:  # its stack is empty, so anything that `plain` accepts fits
            return thread.submit(written).result()


def _parts(of: object, names: str) -> dict[str, JSON]:
    """Return attributes, named with spaces between, as plain JSON."""
    return {name: plain(getattr(of, name)) for name in names.split()}


def prompt(messages: Iterable[Message], request: Mapping[str, Any]) -> dict[str, JSON]:
    """Return `{"messages", "segments", "request"}`: the segments of each message join to its text."""
    ordered = tuple(messages)
    return {
        "messages": [plain(message.as_dict()) for message in ordered],
        "segments": [
            [{**_parts(segment, "text kind field"), "turn": message.turn} for segment in message.segments]
            for message in ordered
        ],
        "request": plain(request),
    }


def rendered(request: Request) -> dict[str, JSON]:
    """Return a column of `render --json`: the prompt as sent, the use of its demos, and the whole request."""
    shape = prompt(request.messages, request.as_dict())
    shape["demos"] = [_parts(demo, "number use missing") for demo in request.prompt.demos]
    shape["removed_fields"] = list(request.removed_fields)
    return shape


def ledgers(spent: Mapping[str, Spent]) -> dict[str, JSON]:
    """Return the additions of `render --tokens --json`: the rows of each column's ledger, and their totals."""
    return {
        "ledger": {
            id: [_parts(row, "kind field turn tokens exact") for row in one.ledger.rows] for id, one in spent.items()
        },
        "tokens": {
            id: {
                "model": one.model,
                **_parts(one.ledger, "tokens exact tokenizer uncounted"),
                "cost": one.cost,
                "cost_per_thousand": None if one.cost is None else one.cost * 1000,
            }
            for id, one in spent.items()
        },
    }


def lint(one: Lint) -> dict[str, JSON]:
    """Return a lint with its fixes."""
    return {**_parts(one, "name severity message"), "place": str(one.place), "fixes": list(map(fix, one.fixes))}


def fix(one: Fix) -> dict[str, JSON]:
    """Return a fix, with the change of the session that it makes."""
    return _parts(one, "kind message change")


def reading(read: Reading) -> dict[str, JSON]:
    """Return a column of `parse --json`."""
    shape: dict[str, JSON] = {
        "ok": read.ok,
        "uncertain": list(read.uncertain),
        "values": {name: plain(value) for name, value in read.values.items()},
        "error": _error(read),
        "spans": [_parts(span, "start end kind field") for span in read.spans],
        "fields": {
            name: {
                **_parts(one, "raw value"),
                "steps": [_parts(step, "rule before after path note") for step in one.steps],
                "flags": [_parts(flag, "name message") for flag in read.flags if flag.field == one.name],
                **_parts(one, "state error"),
                "probability": read.probability(one.name),
            }
            for name, one in read.fields.items()
        },
        "flags": [_parts(flag, "name message") for flag in read.flags if flag.field is None],
        "near_misses": [_parts(miss, "message mended") for miss in read.near_misses],
        "salvage": {name: plain(value) for name, value in read.salvage.items()},
        "diagnosis": [
            {**_parts(one, "cause message"), "place": one.path or one.field, "fixes": list(map(fix, one.fixes))}
            for one in read.diagnosis
        ],
    }
    if read.bug_report:
        shape["bug_report"] = read.bug_report
    if read.extraction is not None:
        shape["extraction"] = reading(read.extraction)
    return shape


def stream(fields: Sequence[StreamedField] | None) -> list[JSON] | None:
    """List what listeners on the outputs emit, by chunk; None if dspy cannot stream this adapter."""
    if fields is None:
        return None
    emitted = [one for field in fields for one in field.emitted]
    in_order = sorted(emitted, key=lambda one: (one.at is None, one.at or 0))
    return [_parts(one, "field chunk is_last at") for one in in_order]


def _error(read: Reading) -> dict[str, JSON] | None:
    if read.error is None:
        return None
    error = read.error
    shape = _parts(error, "type message field start end")
    if error.start is not None:
        shape["line"], shape["column"] = read.line_and_column(error.start)
    return shape


def run(outcome: Run) -> dict[str, JSON]:
    """Return a column of `send --json`."""
    return {
        "ok": outcome.ok,
        "values": {name: plain(value) for name, value in outcome.values.items()},
        "events": [event(one) for one in outcome.events],
        "attempts": [
            {
                **_parts(one, "number purpose adapter model request"),
                "completions": [
                    {
                        "text": completion.text,
                        "reading": None if completion.reading is None else reading(completion.reading),
                        **_parts(completion, "reasoning tool_calls finish_reason refusal logprobs citations"),
                    }
                    for completion in one.completions
                ],
                **_parts(one, "usage cost duration_ms error"),
            }
            for one in outcome.attempts
        ],
        "tool_turns": plain(outcome.tool_turns),
        "error": None if outcome.error is None else _parts(outcome.error, "phase message attempt payload"),
    }


def repeats(counted: Repeats, outcomes: Iterable[Run]) -> dict[str, JSON]:
    """Return a column of `send --repeat N --json`: values and errors with their counts, most frequent first."""

    def told(values: Iterable[Counted]) -> list[JSON]:
        return [{"value": plain(one.value), "count": one.count} for one in values]

    return {
        "ok": counted.parse_failures == 0 and counted.answered == counted.runs,
        "count": counted.runs,
        **_parts(counted, "answered parse_failures parse_failure_rate"),
        "values": told(counted.values),
        "fields": {name: told(values) for name, values in counted.fields.items()},
        "errors": told(counted.errors),
        "runs": [run(one) for one in outcomes],
    }


def survival(grid: Grid) -> dict[str, JSON]:
    """Return `stress --json`; cells that differ have the wrong fields, the parsed values, the error and the flags."""
    broken = [one for one in grid.columns if one.good is not None]
    return {
        "case": grid.case,
        "mutations": [_parts(one, "name imitates group") for one in grid.mutations],
        "grid": {one.id: {name: cell.verdict for name, cell in one.cells.items()} for one in broken},
        "counts": {one.id: dict(one.counts) for one in broken},
        "good": {one.id: _parts(one.good, "source text values passed_over") for one in broken},
        "cells": {
            one.id: {
                name: {
                    **_parts(cell, "text wrong"),
                    "values": {field: plain(value) for field, value in cell.reading.values.items()},
                    "error": _error(cell.reading),
                    "flags": [_parts(flag, "name message field") for flag in cell.flags],
                }
                for name, cell in one.cells.items()
                if cell.verdict != "same"
            }
            for one in broken
        },
        "problems": {one.id: one.problem for one in grid.columns if one.problem},
    }


def fixture(result: FixtureResult) -> dict[str, JSON]:
    """Return the result of `check --json` for a case in a column; the `text` of a difference is for people."""
    return {
        **_parts(result, "path case column verdicts"),
        "drift": [_drift(one) for one in result.drift],
        "notes": list(result.notes),
        "verdict_changes": verdict_changes_of(result),
    }


def verdict_changes_of(result: FixtureResult) -> list[dict[str, JSON]]:
    """List the fields that parse differently, with their old and new values."""
    from sessions.checking.verdicts import verdict_changes

    return [_parts(one, "field before after") for one in verdict_changes(result)]


def _drift(drift: Drift) -> dict[str, JSON]:
    from sessions.checking import reports

    return {
        "verdict": drift.part,
        **_parts(drift, "place message diff"),
        "origins": [_parts(one, "turn kind field") for one in drift.origins],
        **_parts(drift, "before after versions"),
        "text": "\n".join(reports.lines_of(drift)),
    }


def cause(found: Cause) -> dict[str, JSON]:
    """Return a cause of drift, with the fixtures that share it."""
    return {
        "id": found.id,
        "kind": found.key.kind,
        "words": found.words,
        "before": found.key.before,
        "after": found.key.after,
        "fixtures": [one._asdict() for one in found.fixtures],
    }


def event(happened: Event) -> dict[str, JSON]:
    """Return an event without the data that its attempt contains: prompt, request and parse result."""
    from adapters.running import events

    return {key: plain(value) for key, value in events.as_dict(happened).items() if key not in _IN_THE_ATTEMPT}


_IN_THE_ATTEMPT = frozenset({"prompt", "request", "reading"})
