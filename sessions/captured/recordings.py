"""One live call as a recording: what was sent and answered, and what dspy made of it, as `check` reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.formats import catalog
from adapters.lm.capabilities import capabilities_of
from adapters.requests.request import TOOL_PARAMS
from adapters.requests.strict_schema import strict_schema
from adapters.signatures.signature import Signature
from sessions.captured.calls import LiveAttempt, LiveCall, LiveModel, LiveReading
from sessions.file.typed_values import same
from sessions.fixtures import checking, comparison
from sessions.fixtures.verdicts import Part
from sessions.imports.dspy_program import parameters_in
from sessions.model.parameters import CONNECTION, PARAMETERS
from sessions.model.replies import (
    Extraction,
    RecordedAttempt,
    RecordedCompletion,
    RecordedError,
    RecordedReading,
    Reply,
    Role,
)
from sessions.model.session import Case, Column, Recording, Session
from sessions.running import recording, rendering
from sessions.running.recording import as_json

_READINGS: tuple[Part, ...] = ("parse",)
_OF_AN_ADAPTER = ("response_format", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort")
"""What an adapter adds to the parameters of a call."""
_ADAPTERS: Mapping[str, str] = {entry.dspy: name for name, entry in catalog.OURS.items() if entry.dspy is not None}


def adapter_named(attempt: LiveAttempt) -> str | None:
    """The name of the adapter that made the prompt; None for a class that is none of dspy's."""
    return _ADAPTERS.get(attempt.adapter_classes[0])


def options_of(attempt: LiveAttempt, name: str) -> dict[str, Any]:
    """What the live adapter was made with, as far as it is not what ours is made with anyway."""
    ours = catalog.make(name)
    wanted = {}
    for option in catalog.profile(name).options:
        if option in attempt.options and hasattr(ours, option) and attempt.options[option] != getattr(ours, option):
            wanted[option] = attempt.options[option]
    return wanted


def parameters_of(call: LiveCall) -> dict[str, Any]:
    """What the model and the predictor were set to, as far as a session may say it.

    A session's are the model's own: what an adapter without tools dropped of the predictor's is left out.
    """
    model, sent = call.attempts[0].model, call.attempts[0].params
    config = {name: one for name, one in call.config.items() if name not in TOOL_PARAMS or name in sent}
    return parameters_in({**(model.params if model is not None else {}), **config})


def recorded(call: LiveCall, session: Session, case: Case, column: Column, versions: Mapping[str, str]) -> Recording:
    """The recording of the call's own attempts, with what dspy read of each reply.

    `session` holds the case and the column already; `versions` are those of the program's environment.
    """
    signature = session.signature.read()
    main = call.attempts[0]
    attempts: list[RecordedAttempt] = []
    made = _whole(call.attempts)
    last = max((index for index, one in enumerate(made) if not one.is_extraction), default=0)
    for index, attempt in enumerate(made):
        role = _role(attempt, index)
        name = adapter_named(attempt) or column.adapter
        extraction = made[index + 1] if index + 1 < len(made) and made[index + 1].is_extraction else None
        values = call.values if index == last and call.error is None else ()
        outputs = [] if attempt.is_extraction else list(signature.output_fields)
        completions = tuple(
            [
                _completion(output, _reading(attempt, number, values, outputs), extraction)
                for number, output in enumerate(attempt.outputs)
            ]
        )
        body = _body(attempt, call, main.model)
        request = {"model": body.pop("model"), "messages": as_json(attempt.messages), **body} if index else None
        attempts.append(RecordedAttempt(name, role, request, completions, attempt.error))
    ours = recording.versions()
    live = Recording(
        messages=tuple(as_json(main.messages)),
        request=_body(main, call, main.model),
        attempts=tuple(attempts),
        versions={name: versions.get(name, own) for name, own in ours.items()},
        source="sent",
        capabilities=_capabilities(main.model),
    )
    return _as_read_here(session, case, column, live)


def reply_of(made: Recording, model: str) -> Reply | None:
    """The reply to show under the column: the first of the first attempt."""
    first = made.attempts[0].completions if made.attempts else ()
    if not first:
        return None
    names = ("text", "reasoning", "tool_calls", "finish_reason", "refusal", "logprobs", "extraction")
    return Reply(**{name: getattr(first[0], name) for name in names}, source="sent", model=model)


def _whole(attempts: Sequence[LiveAttempt]) -> list[LiveAttempt]:
    """Without calls that failed and were made again."""
    return [one for index, one in enumerate(attempts) if one.error is None or index == len(attempts) - 1]


def _role(attempt: LiveAttempt, index: int) -> Role:
    if attempt.is_extraction:
        return "extraction"
    return "main" if index == 0 else "fallback"


def _completion(output: Any, reading: RecordedReading | None, extraction: LiveAttempt | None) -> RecordedCompletion:
    given = output if isinstance(output, Mapping) else {"text": output}
    calls = given.get("tool_calls")
    second = None
    if extraction is not None and extraction.outputs:
        said = extraction.outputs[0]
        text = said.get("text") if isinstance(said, Mapping) else said
        second = Extraction(adapter=adapter_named(extraction) or "chat", text=str(text or ""))
    return RecordedCompletion(
        text=str(given.get("text") or ""),
        reasoning=given.get("reasoning_content") or None,
        tool_calls=tuple(as_json(calls)) if calls else None,
        logprobs=as_json(given["logprobs"]) if given.get("logprobs") else None,
        extraction=second,
        reading=reading,
    )


def _reading(
    attempt: LiveAttempt, number: int, values: Sequence[Mapping[str, Any]], outputs: Sequence[str]
) -> RecordedReading | None:
    """What dspy made of an output: the values of the prediction where there is one, else what its parser said."""
    if number < len(values):
        return RecordedReading(
            ok=True, values={name: values[number][name] for name in outputs if name in values[number]}
        )
    said: LiveReading | None = attempt.readings[number] if number < len(attempt.readings) else None
    if said is None:
        return None
    if said.error is not None:
        return RecordedReading(ok=False, error=RecordedError(said.error))
    return RecordedReading(ok=True, values=said.values or {})


def _body(attempt: LiveAttempt, call: LiveCall, model: LiveModel | None) -> dict[str, Any]:
    """What went out beside the messages."""
    own = attempt.model or model
    merged = {**(own.params if own is not None else {}), **attempt.params}
    sent = {
        name: value
        for name, value in merged.items()
        if value is not None and ((name in PARAMETERS and name not in CONNECTION) or name in _OF_AN_ADAPTER)
    }
    form = sent.get("response_format")
    if isinstance(form, Mapping) and "$class" in form:
        # As `sessions.releases.dspy_worker.plain_params` has it: dspy's client makes a strict schema of a class.
        schema = {"name": form["$class"], "strict": True, "schema": strict_schema(form["schema"])}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {"model": model.name if model is not None else "", **as_json(sent)}


def _capabilities(model: LiveModel | None) -> dict[str, Any]:
    if model is None or model.abilities is None:
        return recording.capabilities_as_json(capabilities_of(model.name if model is not None else ""))
    return dict(model.abilities)


def _as_read_here(session: Session, case: Case, column: Column, live: Recording) -> Recording:
    """The recording in our words wherever these say the same: the order of parameters, the field of an error."""
    held = session.with_case(replace(case, recordings={**case.recordings, column.id: live}))
    ours = checking.update(held, parts=_READINGS, columns=[column.id], cases=[case.name])
    read = ours.case(case.name).recordings[column.id].attempts
    attempts = [
        replace(
            one,
            completions=tuple([_agreed(a, b) for a, b in zip(one.completions, other.completions, strict=True)]),
        )
        for one, other in zip(live.attempts, read, strict=True)
    ]
    request = live.request
    try:
        capabilities = recording.capabilities_from_json(live.capabilities, session.model_of(column))
        today = comparison.parameters(rendering.request_of(session, column, case, capabilities=capabilities))
        request = _in_the_order_of(request, today)
    except Exception:  # no prompt can be made of these values here, which the check of it says
        pass
    return replace(live, attempts=tuple(attempts), request=request)


def _agreed(live: RecordedCompletion, ours: RecordedCompletion) -> RecordedCompletion:
    before, after = live.reading, ours.reading
    if before is None or after is None or before.ok is not after.ok:
        return live
    if before.ok:
        return ours if same(dict(before.values), dict(after.values)) else live
    if before.error is not None and after.error is not None and before.error.type == after.error.type:
        return ours
    return live


def _in_the_order_of(live: Mapping[str, Any], today: Mapping[str, Any]) -> dict[str, Any]:
    ordered = {name: live[name] for name in today if name in live}
    return {**ordered, **{name: value for name, value in live.items() if name not in ordered}}


def plain_signature_inputs(signature: Signature, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs that are fields of the signature, in the program's order."""
    return {name: value for name, value in inputs.items() if name in signature.input_fields}
