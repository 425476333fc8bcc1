"""Recordings: what one column of one case sent, got and read, frozen for `check`."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from adapters.errors import SignatureError
from adapters.formats.base import Adapter
from adapters.formats.catalog import UnknownAdapterError
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import TwoStepAdapter
from adapters.lm.capabilities import capabilities_of
from adapters.replies.reading import Reading
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Request, postprocess
from adapters.running import events
from adapters.running.runs import Attempt, Completion, Purpose, Run
from adapters.signatures.conversation_field import history_field_name
from adapters.signatures.signature import Signature
from adapters.values.custom_types import BuildError, build_inputs
from sessions.errors import SessionError
from sessions.file.json_values import JSON
from sessions.file.typed_values import typed
from sessions.model import variants
from sessions.model.session import Case, Column, Recording, Session, Source
from sessions.running import rendering

DSPY = "3.4.1"
"""The dspy that the engine stands for."""


OF_A_CALL = ("reasoning", "tool_calls", "finish_reason", "refusal", "logprobs", "extraction")
"""What a completion has beside its text when it came from a call."""


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """The versions that a prompt and a reading depend on: `engine`, `dspy`, `json_repair` and `pydantic`."""
    return {
        "engine": _installed("adapter-workbench"),
        "dspy": DSPY,
        "json_repair": _installed("json_repair"),
        "pydantic": _installed("pydantic"),
    }


def record(
    session: Session,
    case: Case,
    column: Column,
    run: Run | None = None,
    *,
    capabilities: Capabilities | None = None,
    adapter: Adapter | None = None,
) -> Session:
    """The session with this column of `case` recorded anew: from `run`, else from the reply shown under the column.

    A reply that is still the recorded one keeps what was recorded and measured of its call, whatever the prompt is now.
    `capabilities` are those the request was made with (default: the column's); `adapter` replaces the
    column's. A reply that was kept raw is recorded without a reading. Raises `SessionError` when there is no reply to
    record, or no prompt can be made.
    """
    used = rendering.capabilities_for(session, column).capabilities if capabilities is None else capabilities
    if run is not None:
        made = recording_of_run(run, case, column, used)
    else:
        made = _recording_of_reply(session, case, column, used, adapter)
    measured = dict(case.measured)
    if run is not None:
        measured[column.id] = measured_of_run(run)
    elif not _is_recorded_reply(case, column):
        measured.pop(column.id, None)
    recorded = replace(case, recordings={**case.recordings, column.id: made}, measured=measured)
    return session.with_case(recorded)


def recording_of_run(run: Run, case: Case, column: Column, capabilities: Capabilities) -> Recording:
    """What a run sent and got. Raises `SessionError` for one that broke off before it had a whole reply."""
    if not run.attempts or (run.error is not None and run.error.phase != "response") or run.cancelled:
        reason = run.error.message if run.error is not None else "the run broke off"
        raise SessionError(
            None,
            f"{case.name} · {column.id}",
            f"there is no whole reply to record: {reason}",
            "send it again; or edit the reply, which can then be recorded as it stands",
        )
    (main, _), *others = whole_attempts(run)
    body = as_json(main.request)
    messages = body.pop("messages")
    extractions = {event.attempt for event in run.events if isinstance(event, events.ExtractionStarted)}
    attempts = [_attempt(main, "main", None)]
    role = "fallback"
    for attempt, purpose in others:
        role = "extraction" if attempt.number in extractions or role == "extraction" else purpose
        attempts.append(_attempt(attempt, role, as_json(attempt.request)))
    return Recording(
        messages=tuple(messages),
        request=body,
        attempts=tuple(attempts),
        versions=dict(versions()),
        source="sent",
        capabilities=capabilities_as_json(capabilities),
    )


def whole_attempts(run: Run) -> list[tuple[Attempt, Purpose]]:
    """The attempts with what each was for, without those that failed and were made again."""
    whole: list[tuple[Attempt, Purpose]] = []
    for attempt in run.attempts:
        if attempt.purpose == "retry" and whole:
            whole[-1] = (attempt, whole[-1][1])
        else:
            whole.append((attempt, attempt.purpose))
    return whole


def read_completion(adapter: Adapter, request: Request, signature: Signature, completion: Mapping[str, Any]) -> Reading:
    """A recorded completion read by today's parser, native parts and TwoStep's extraction included. Never raises."""
    extraction = completion.get("extraction")
    output = {"text": completion.get("text") or ""}
    for ours, theirs in (("reasoning", "reasoning_content"), ("tool_calls", "tool_calls"), ("logprobs", "logprobs")):
        if completion.get(ours):
            output[theirs] = completion[ours]
    if isinstance(adapter, TwoStepAdapter) and isinstance(extraction, Mapping):

        def read(signature: Signature, text: str) -> Reading:
            asked_by = str(extraction.get("adapter") or ChatAdapter.name)
            return adapter.read(signature, text, str(extraction.get("text") or ""), asked_by)

        return postprocess(adapter, request, signature, output, read).reading
    return postprocess(adapter, request, signature, output).reading


def reading_as_json(reading: Reading) -> dict[str, JSON]:
    """What of a reading is compared: verdict, typed values, and the error's type and field."""
    error = reading.error
    return {
        "ok": reading.ok,
        "values": {name: typed(value) for name, value in reading.values.items()},
        "error": None if error is None else {"type": error.type, "field": error.field},
    }


def capabilities_as_json(capabilities: Capabilities) -> dict[str, JSON]:
    return {
        "function_calling": capabilities.function_calling,
        "reasoning": capabilities.reasoning,
        "response_schema": capabilities.response_schema,
        "params": sorted(capabilities.params),
    }


def capabilities_from_json(data: Mapping[str, Any], model: str) -> Capabilities:
    """The recorded capabilities; those of the model's name where the recording has none."""
    if not data:
        return capabilities_of(model)
    params = data.get("params")
    return Capabilities(
        function_calling=data.get("function_calling") is True,
        reasoning=data.get("reasoning") is True,
        response_schema=data.get("response_schema") is True,
        params=frozenset(one for one in params if isinstance(one, str)) if isinstance(params, list) else frozenset(),
    )


def capabilities_in_force(recorded: Recording, model: str) -> Capabilities:
    """Those that a check renders by: the recorded ones, as long as the model is the one that they were taken from."""
    same_model = recorded.request.get("model", model) == model
    return capabilities_from_json(recorded.capabilities if same_model else {}, model)


def as_json(value: Any) -> Any:
    """A request's data as plain JSON of its own: texts that know their origins become plain ones."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    return typed(value)


def _recording_of_reply(
    session: Session, case: Case, column: Column, capabilities: Capabilities, adapter: Adapter | None
) -> Recording:
    place = f"{case.name} · {column.id}"
    reply = case.replies.get(column.id)
    if reply is None:
        raise SessionError(None, place, "there is no reply to record", "send it, or paste a reply under the column")
    try:
        used = adapter or rendering.adapter_of(column)
        signature = variants.session_of(session, column).signature.read()
        request = rendering.request_of(session, column, case, capabilities=capabilities, adapter=used)
    except (SignatureError, UnknownAdapterError) as error:
        raise SessionError(None, place, str(error)) from error
    except Exception as error:  # formatting raises whatever dspy's does for these values
        said = f"no prompt can be made: {type(error).__name__}: {error}"
        raise SessionError(None, place, said, _mend(session, signature, case, error)) from error
    before = _recorded_completion(case, column) if _is_recorded_reply(case, column) else {}
    of_call = {key: reply.get(key) or before.get(key) for key in OF_A_CALL}
    completion = {"text": reply["text"], **{key: as_json(value) for key, value in of_call.items() if value}}
    reading = None if reply.get("raw") else reading_as_json(read_completion(used, request, signature, completion))
    body = as_json(request.as_dict())
    messages = body.pop("messages")
    return Recording(
        messages=tuple(messages),
        request=body,
        attempts=(
            {
                "adapter": used.name,
                "role": "main",
                "request": None,
                "completions": [{**completion, "reading": reading}],
                "error": None,
            },
        ),
        versions=dict(versions()),
        source=_source(reply),
        capabilities=capabilities_as_json(capabilities),
    )


def _recorded_completion(case: Case, column: Column) -> Mapping[str, Any]:
    """The first completion of the column's recorded main attempt; empty without one."""
    recorded = case.recordings.get(column.id)
    attempts = recorded.attempts if recorded is not None else ()
    completions = next((one.get("completions") for one in attempts if one.get("role") == "main"), None)
    return completions[0] if completions else {}


def _is_recorded_reply(case: Case, column: Column) -> bool:
    """Whether the reply under the column came from a call, and is the one that is recorded already."""
    reply, recorded = case.replies.get(column.id), _recorded_completion(case, column)
    return reply is not None and reply.get("source") == "sent" and recorded.get("text") == reply.get("text")


def _mend(session: Session, signature: Signature, case: Case, error: Exception) -> str:
    """Where that stands which no prompt can be made with, as far as the error tells; variants change no values."""
    if not isinstance(error, BuildError) or error.field is None:
        return "mend the inputs, the demos or the history that it names"
    for number, demo in enumerate(session.demos, 1):
        try:
            build_inputs(signature, demo.values if demo.enabled else {})
        except BuildError as wrong:
            return f"mend the field `{wrong.field}` of demo {number}"
    turn = rendering.TURN_PLACE.match(error.path) if error.field == history_field_name(signature) else None
    if turn is not None:
        return f"mend `{error.path[turn.end() :].lstrip('.')}` in turn {int(turn[1]) + 1} of the history"
    return f"mend the input `{error.field}`"


def _source(reply: Mapping[str, Any]) -> Source:
    source = reply.get("source")
    return "edited" if source == "edited" else "pasted" if source == "pasted" else "sent"


def _attempt(attempt: Attempt, role: str, request: JSON) -> dict[str, JSON]:
    return {
        "adapter": attempt.adapter,
        "role": role,
        "request": request,
        "completions": [_completion(one) for one in attempt.completions],
        "error": attempt.error,
    }


def _completion(completion: Completion) -> dict[str, JSON]:
    reading = completion.reading
    made: dict[str, JSON] = {"text": completion.text}
    if completion.reasoning:
        made["reasoning"] = completion.reasoning
    if completion.tool_calls:
        made["tool_calls"] = as_json(completion.tool_calls)
    if completion.finish_reason is not None:
        made["finish_reason"] = completion.finish_reason
    if completion.refusal:
        made["refusal"] = completion.refusal
    if completion.logprobs is not None:
        made["logprobs"] = as_json(completion.logprobs)
    if reading is not None and reading.extraction is not None:
        made["extraction"] = {"adapter": reading.extraction.adapter, "text": reading.extraction.completion}
    made["reading"] = None if reading is None else reading_as_json(reading)
    return made


def measured_of_run(run: Run) -> tuple[dict[str, JSON], ...]:
    """What each whole attempt of a run took, as `Case.measured` keeps it."""
    return tuple([_measured(attempt) for attempt, _ in whole_attempts(run)])


def _measured(attempt: Attempt) -> dict[str, JSON]:
    return {
        "usage": None if attempt.usage is None else as_json(attempt.usage),
        "cost": attempt.cost,
        "duration_ms": round(attempt.duration_ms, 1),
    }


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
