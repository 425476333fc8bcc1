"""Record the prompt, request, reply and parse result of a case and column for `check`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.formats.catalog import UnknownAdapterError
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import TwoStepAdapter
from adapters.late_dataclasses import replace
from adapters.lm.capabilities import capabilities_of
from adapters.replies.reading import Reading
from adapters.requests.calls import digest_of
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Request, postprocess
from adapters.signatures.signature import Signature
from adapters.values.custom_types import BuildError, build_inputs
from sessions.errors import SessionError
from sessions.file.typed_values import typed
from sessions.model import variants
from sessions.model.replies import (
    Answer,
    Extraction,
    Measured,
    RecordedAttempt,
    RecordedCompletion,
    RecordedError,
    RecordedReading,
    Reply,
    Role,
)
from sessions.model.session import Case, Column, RecordedSource, Recording, Session
from sessions.running import rendering

if TYPE_CHECKING:
    from adapters.lm.protocol import Completion
    from adapters.running.runs import Attempt, Purpose, Run

DSPY = "3.4.1"
"""The release of dspy that the engine implements."""


MOST_CHUNKS = 5_000
"""The largest number of chunks whose lengths a reply keeps."""
OF_A_CALL = ("reasoning", "tool_calls", "finish_reason", "refusal", "logprobs", "citations", "extraction")
"""The attributes, besides the text, of a completion that came from a call."""


@lru_cache(maxsize=1)
def versions() -> Mapping[str, str]:
    """Return the versions that affect prompts and parse results: `engine`, `dspy`, `json_repair`, `pydantic`."""
    return {
        "engine": _installed("adapter-workbench"),
        "dspy": DSPY,
        "json_repair": _installed("json_repair"),
        "pydantic": _installed("pydantic"),
    }


def versions_of(column: Column) -> Mapping[str, str]:
    """Return the versions that affect a column's prompts and parse results, including another dspy release's."""
    named = catalog.parse_release(column.adapter)
    if named is None:
        return versions()
    from sessions.releases import environments

    return {**versions(), **environments.release_of(named.version).versions}


def record(
    session: Session,
    case: Case,
    column: Column,
    run: Run | None = None,
    *,
    capabilities: Capabilities | None = None,
    adapter: Adapter | None = None,
) -> Session:
    """Record this column of `case` from `run`, or else from the column's reply.

    A reply that is already recorded keeps the recorded and measured data of its call, even if the prompt changed.
    `capabilities` are those of the request (default: the column's); `adapter` replaces the column's. A raw reply is
    recorded without a parse result. Raises `SessionError` without a reply, or if no prompt can be rendered.
    """
    used = rendering.capabilities_for(session, column).capabilities if capabilities is None else capabilities
    if run is not None:
        made = recording_of_run(run, case, column, used)
    else:
        made = _recording_of_reply(session, case, column, used, adapter)
    measured = dict(case.measured)
    if run is not None:
        measured[column.id] = measured_of_run(run)[: len(made.attempts)]
    elif not _is_recorded_reply(case, column):
        measured.pop(column.id, None)
    recordings = session.sort_by_column({**case.recordings, column.id: made})
    return session.replace_case(replace(case, recordings=recordings, measured=session.sort_by_column(measured)))


def answers_another(session: Session, case: Case, column: Column) -> bool:
    """Return whether the recorded reply belongs to another prompt or model than the recording's request.

    A pasted reply names no prompt, so it belongs to any.
    """
    reply, recorded = case.replies.get(column.id), case.recordings.get(column.id)
    if reply is None or recorded is None:
        return False
    if reply.is_of_another_model(session.model_of(column)):
        return True
    return reply.request_digest not in (None, digest_of({**recorded.request, "messages": recorded.messages}))


def is_outdated(reply: Reply | None, request: Request, model: str | None) -> bool:
    """Return whether a reply belongs to another prompt than `request` or to another model.

    A pasted reply names neither, so it belongs to any.
    """
    if reply is None or reply.is_of_another_model(model):
        return reply is not None
    return reply.request_digest is not None and reply.request_digest != request.digest()


def recording_of_run(run: Run, case: Case, column: Column, capabilities: Capabilities) -> Recording:
    """Record the requests and replies of a run. Raises `SessionError` for a run without a complete reply."""
    if not run.attempts or (run.error is not None and run.error.phase != "response") or run.cancelled:
        reason = run.error.message if run.error is not None else "the run broke off"
        raise SessionError(
            None,
            f"{case.name} · {column.id}",
            f"there is no complete reply to record: {reason}",
            "send it again; or edit the reply, which can then be recorded as it is",
        )
    (main, _), *others = [one for one in whole_attempts(run) if one[1] != "again"]  # dspy's own calls are compared
    from adapters.running import events

    extractions = {event.attempt for event in run.events if isinstance(event, events.ExtractionStarted)}
    attempts = [_attempt(main, "main", None)]
    role: Role = "fallback"
    for attempt, purpose in others:
        if attempt.number in extractions or role == "extraction":
            role = "extraction"
        else:
            role = "tools" if purpose == "tools" else "fallback"
        attempts.append(_attempt(attempt, role, as_json(attempt.request)))
    return _recording(main.request, attempts, column, "sent", capabilities)


def _recording(
    request: Mapping[str, object],
    attempts: Sequence[RecordedAttempt],
    column: Column,
    source: RecordedSource,
    capabilities: Capabilities,
) -> Recording:
    body = as_json(request)
    messages = tuple(body.pop("messages"))
    return Recording(messages, body, tuple(attempts), dict(versions_of(column)), source, capabilities.as_json())


def whole_attempts(run: Run) -> list[tuple[Attempt, Purpose]]:
    """Return the attempts with their purposes, without failed attempts that were retried."""
    whole: list[tuple[Attempt, Purpose]] = []
    for attempt in run.attempts:
        if attempt.purpose == "retry" and whole:
            whole[-1] = (attempt, whole[-1][1])
        else:
            whole.append((attempt, attempt.purpose))
    return whole


def answering(run: Run) -> Attempt | None:
    """Return the attempt with the column's own reply, or None.

    It is the last before a fallback or an extraction; earlier attempts only called tools, or failed and were retried.
    """
    own = [one for one in run.attempts if one.purpose in ("first", "retry", "tools")]
    before = run.attempts[: next((i for i, one in enumerate(run.attempts) if one not in own), len(run.attempts))]
    return before[-1] if before and before[-1].completions else None


def last_reading(run: Run) -> Reading | None:
    """Return the decisive parse result of a run, which expectations check; None without a reply.

    It is the fallback's or the extraction's, if there was one.
    """
    if run.error is not None and run.error.phase != "response":
        return None
    readings = [one.reading for attempt in run.attempts for one in attempt.completions if one.reading is not None]
    return readings[-1] if readings else None


def reply_of_run(run: Run, model: str, raw: bool = False) -> Reply | None:
    """Return the reply to show in the run's column: the answering attempt's first completion, or None.

    A fallback uses another adapter, so its reply is not this column's; only the recording has it. `raw` marks a reply
    that stays unparsed.
    """
    attempt = answering(run)
    if attempt is None:
        return None
    asked = run.attempts[0].request
    digest = digest_of(asked) if "messages" in asked else None
    answer = _answer(attempt.completions[0])
    made = {"source": "sent", "model": model, "raw": raw, "request_digest": digest}
    # The lengths of the chunks of a streamed text; None if they do not make it up, or for one chunk.
    from adapters.running.events import ChunkReceived

    chunks = [
        one.text
        for one in run.events
        if isinstance(one, ChunkReceived) and (one.attempt, one.choice) == (attempt.number, 0) and one.text
    ]
    is_streamed = 1 < len(chunks) <= MOST_CHUNKS and "".join(chunks) == answer.text
    return copied(Reply, answer, **made, chunks=(tuple(map(len, chunks)) if is_streamed else None))


def read_completion(adapter: Adapter, request: Request, signature: Signature, answer: Answer) -> Reading:
    """Parse a stored answer with the current parser, including native parts and TwoStep's extraction. Never raises."""
    extraction = answer.extraction
    output = answer.as_output()
    read = None
    if extraction is not None:
        if request.whole_call is not None:
            output["extraction"] = extraction.text
        elif isinstance(adapter, TwoStepAdapter):
            read = partial(_extracted, adapter, extraction)
    made = postprocess(adapter, request, signature, output, read)
    return made.reading.ending(answer.finish_reason, answer.refusal, request.params, request.prompt)


def _extracted(adapter: TwoStepAdapter, extraction: Extraction, signature: Signature, text: str) -> Reading:
    return adapter.read(signature, text, extraction.text, extraction.adapter or ChatAdapter.name)


def recorded_reading(reading: Reading) -> RecordedReading:
    """Return the part of a parse result that checks compare: verdict, typed values, the error's type and field."""
    error = reading.error
    return RecordedReading(
        ok=reading.ok,
        values={name: typed(value) for name, value in reading.values.items()},
        error=None if error is None else RecordedError(error.type, error.field),
    )


def capabilities_from_json(data: Mapping[str, object], model: str) -> Capabilities:
    """Return the recorded capabilities, or the model's if the recording has none."""
    if not data:
        return capabilities_of(model)
    params = data.get("params")
    return Capabilities(
        data.get("function_calling") is True,
        data.get("reasoning") is True,
        data.get("response_schema") is True,
        frozenset([one for one in params if isinstance(one, str)]) if isinstance(params, list) else frozenset(),
    )


def capabilities_in_force(recorded: Recording, model: str) -> Capabilities:
    """Return the capabilities for a check: the recorded ones, unless the model changed."""
    same_model = recorded.request.get("model", model) == model
    return capabilities_from_json(recorded.capabilities if same_model else {}, model)


def as_json(value: object) -> Any:
    """Copy a request's data as plain JSON; texts with origins become plain strings."""
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
        signature = variants.session_of(session, column).signature.read()
    except SignatureError as error:
        raise SessionError(None, place, str(error)) from error
    try:
        used = adapter or rendering.adapter_of(column)
        request = rendering.request_of(session, column, case, capabilities=capabilities, adapter=used)
    except (SignatureError, UnknownAdapterError) as error:
        raise SessionError(None, place, str(error)) from error
    except Exception as error:  # whatever dspy's format raises for these values
        said = f"no prompt can be made: {type(error).__name__}: {error}"
        raise SessionError(None, place, said, _mend(session, signature, error)) from error
    before = case.recorded_reply(column.id) if _is_recorded_reply(case, column) else None
    # Convert a reply to a recorded completion, adding attributes that only `before` has
    found: dict[str, Any] = {}
    for name in OF_A_CALL:
        value = getattr(reply, name) or getattr(before, name, None)
        if value:
            found[name] = tuple(as_json(value)) if isinstance(value, tuple) else value
    if found.get("logprobs"):
        found["logprobs"] = as_json(found["logprobs"])
    completion = RecordedCompletion(reply.text, **found)
    if not reply.raw:
        reading = read_completion(used, request, signature, completion)
        completion = replace(completion, reading=recorded_reading(reading))
    attempt = RecordedAttempt(used.name, "main", completions=(completion,))
    return _recording(request.as_dict(), [attempt], column, reply.source, capabilities)


def _is_recorded_reply(case: Case, column: Column) -> bool:
    """Return whether the column's reply came from a call and is already recorded."""
    reply, recorded = case.replies.get(column.id), case.recorded_reply(column.id)
    return reply is not None and recorded is not None and reply.source == "sent" and recorded.text == reply.text


def _mend(session: Session, signature: Signature, error: Exception) -> str:
    """Locate the value that prevents rendering, if the error names it."""
    if not isinstance(error, BuildError) or error.field is None:
        return "fix the inputs, the demos or the history that it names"
    for number, demo in enumerate(session.demos, 1):
        try:
            build_inputs(signature, demo.values if demo.enabled else {})
        except BuildError as wrong:
            return f"fix the field `{wrong.field}` of demo {number}"
    turn = rendering.TURN_PLACE.match(error.path) if error.field == signature.history_field else None
    if turn is not None:
        return f"fix `{error.path[turn.end() :].lstrip('.')}` in turn {int(turn[1]) + 1} of the history"
    return f"fix the input `{error.field}`"


def _attempt(attempt: Attempt, role: Role, request: Mapping[str, object] | None) -> RecordedAttempt:
    readings = [None if one.reading is None else recorded_reading(one.reading) for one in attempt.completions]
    pairs = zip(attempt.completions, readings, strict=True)
    completions = tuple([copied(RecordedCompletion, _answer(one), reading=reading) for one, reading in pairs])
    return RecordedAttempt(attempt.adapter, role, request, completions, attempt.error)


def _answer(completion: Completion) -> Answer:
    reading = completion.reading
    extraction = reading.extraction if reading is not None else None
    return Answer(
        text=completion.text,
        reasoning=completion.reasoning or None,
        tool_calls=tuple(as_json(completion.tool_calls)) or None,
        finish_reason=completion.finish_reason,
        refusal=completion.refusal or None,
        logprobs=None if completion.logprobs is None else as_json(completion.logprobs),
        citations=tuple(as_json(completion.citations)) or None,
        extraction=None if extraction is None else Extraction(extraction.adapter, extraction.completion),
    )


def copied(kind: type[AnyAnswer], answer: Answer, **more: Any) -> AnyAnswer:
    """Convert an answer to this kind, without the attributes of its own kind, and with more attributes."""
    return kind(**{name: getattr(answer, name) for name in ("text", *OF_A_CALL)}, **more)


AnyAnswer = TypeVar("AnyAnswer", Answer, Reply, RecordedCompletion)


def measured_of_run(run: Run) -> tuple[Measured, ...]:
    """Return the measurements of each whole attempt for `Case.measured`."""
    attempts = [attempt for attempt, _ in whole_attempts(run)]
    usages = [None if one.usage is None else as_json(one.usage) for one in attempts]
    pairs = zip(usages, attempts, strict=True)
    return tuple([Measured(usage, one.cost, round(one.duration_ms, 1)) for usage, one in pairs])


def _installed(package: str) -> str:
    import importlib.metadata  # loads the email package

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"
