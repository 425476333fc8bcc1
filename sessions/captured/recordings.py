"""Read live calls of a program and convert them to recordings.

Chosen fields are redacted everywhere in a call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import pydantic

from adapters.formats import catalog
from adapters.late_dataclasses import dataclass, replace
from adapters.lm.capabilities import capabilities_of
from adapters.lm.litellm_answers import asking
from adapters.lm.secrets import map_texts
from adapters.requests.request import TOOL_PARAMS
from adapters.requests.strict_schema import ClassFormat
from sessions.checking import checking, differences
from sessions.checking.verdicts import Part
from sessions.errors import SessionError
from sessions.file.typed_values import same
from sessions.imports.dspy_program import parameters_in
from sessions.imports.lm_call import answer_parts
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
from sessions.running.recording import as_json, copied


@dataclass(frozen=True)
class LiveModel:
    """The called model: its name, parameters, and abilities (None if dspy does not report them)."""

    name: str
    params: Mapping[str, Any]
    abilities: Mapping[str, Any] | None


@dataclass(frozen=True)
class LiveReading:
    """dspy's parse of an output: typed values by field (`sessions.file.typed_values`), or the error's name."""

    values: Mapping[str, Any] | None = None
    error: str | None = None


@dataclass(frozen=True)
class LiveAdapter:
    """An adapter: its class as `module:Class`, followed by its bases, and its options."""

    classes: tuple[str, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class LiveAttempt:
    """A call of a model. Each output is a text, or an object with native parts."""

    adapter: LiveAdapter
    is_extraction: bool
    messages: tuple[Mapping[str, Any], ...]
    params: Mapping[str, Any]
    model: LiveModel | None
    outputs: tuple[Any, ...]
    error: str | None
    readings: tuple[LiveReading, ...]


@dataclass(frozen=True)
class LiveCall:
    """A call of a predictor."""

    signature: str
    """The key of its signature's description, which was sent before."""
    name: str
    inputs: Mapping[str, Any]
    demos: tuple[Mapping[str, Any], ...]
    config: Mapping[str, Any]
    attempts: tuple[LiveAttempt, ...]
    values: tuple[Mapping[str, Any], ...]
    """The typed values of each completion; empty if the call failed."""
    error: Mapping[str, str] | None = None
    """The `type` of the exception, and its `message`."""

    @property
    def has_failed(self) -> bool:
        """Return whether an attempt failed to parse, raised an error, or was repeated."""
        asked = [one for one in self.attempts if not one.is_extraction]
        return self.error is not None or len(asked) > 1 or any(one.error is not None for one in self.attempts)


def call_from(data: Mapping[str, Any]) -> LiveCall:
    """Read a call from JSON, without attempts that sent nothing. Raises ValueError for other data."""
    call = _CALLS.validate_python(data)
    return replace(call, attempts=tuple([one for one in call.attempts if one.messages]))


_CALLS = pydantic.TypeAdapter(LiveCall)
_READINGS: tuple[Part, ...] = ("parse",)
_OF_AN_ADAPTER = ("response_format", "tools", "tool_choice", "parallel_tool_calls", "reasoning_effort")
"""Parameters of a call that an adapter adds."""
_ADAPTERS: Mapping[str, str] = {entry.dspy: name for name, entry in catalog.OURS.items() if entry.dspy is not None}


def adapter_named(attempt: LiveAttempt) -> str | None:
    """Return the name of the adapter that made the prompt, or None for classes other than dspy's."""
    return _ADAPTERS.get(attempt.adapter.classes[0])


def options_of(attempt: LiveAttempt, name: str) -> dict[str, Any]:
    """Return the live adapter's options that differ from the defaults of our adapter."""
    ours, theirs = catalog.make(name), attempt.adapter.options
    shared = [one for one in catalog.profile(name).options if one in theirs and hasattr(ours, one)]
    return {one: theirs[one] for one in shared if theirs[one] != getattr(ours, one)}


def parameters_of(call: LiveCall) -> dict[str, Any]:
    """Return the parameters of model and predictor that a session may contain.

    They exclude tool parameters of the predictor that an adapter without tools dropped.
    """
    model, sent = call.attempts[0].model, call.attempts[0].params
    config = {name: one for name, one in call.config.items() if name not in TOOL_PARAMS or name in sent}
    return parameters_in({**(model.params if model is not None else {}), **config})


def recorded(call: LiveCall, session: Session, case: Case, column: Column, versions: Mapping[str, str]) -> Recording:
    """Make a recording of the call's own attempts, with dspy's parse of each reply.

    `session` already contains the case and the column; `versions` are those of the program's environment.
    """
    signature = session.signature.read()
    main = call.attempts[0]
    attempts: list[RecordedAttempt] = []
    final = len(call.attempts) - 1  # failed calls before it were retried
    made = [one for index, one in enumerate(call.attempts) if one.error is None or index == final]
    last = max((index for index, one in enumerate(made) if not one.is_extraction), default=0)
    for index, attempt in enumerate(made):
        role: Role = "fallback" if index else "main"
        if attempt.is_extraction:
            role = "extraction"
        name = adapter_named(attempt) or column.adapter
        extraction = made[index + 1] if index + 1 < len(made) and made[index + 1].is_extraction else None
        values = call.values if index == last and call.error is None else ()
        outputs = [] if attempt.is_extraction else list(signature.output_fields)
        readings = [_reading(attempt, number, values, outputs) for number in range(len(attempt.outputs))]
        completions = [_completion(one, read, extraction) for one, read in zip(attempt.outputs, readings, strict=True)]
        body = _body(attempt, main.model)
        request = {"model": body.pop("model"), "messages": as_json(attempt.messages), **body} if index else None
        attempts.append(RecordedAttempt(name, role, request, tuple(completions), attempt.error))
    ours = recording.versions()
    model = main.model
    if model is not None and model.abilities is not None:
        capabilities = dict(model.abilities)
    else:
        with asking():
            capabilities = capabilities_of(model.name if model is not None else "").as_json()
    live = Recording(
        messages=tuple(as_json(main.messages)),
        request=_body(main, model),
        attempts=tuple(attempts),
        versions={name: versions.get(name, own) for name, own in ours.items()},
        source="sent",
        capabilities=capabilities,
    )
    return _agreed_recording(session, case, column, live)


def reply_of(made: Recording, model: str) -> Reply | None:
    """Return the reply to show in the column: the first reply of the first attempt."""
    first = made.attempts[0].completions if made.attempts else ()
    return copied(Reply, first[0], source="sent", model=model) if first else None


def _completion(output: object, reading: RecordedReading | None, extraction: LiveAttempt | None) -> RecordedCompletion:
    second = None
    if extraction is not None and extraction.outputs:
        second = Extraction(adapter_named(extraction) or "chat", answer_parts(extraction.outputs[0])["text"] or "")
    parts = answer_parts(output)
    return RecordedCompletion(**{**parts, "text": parts["text"] or ""}, extraction=second, reading=reading)


def _reading(
    attempt: LiveAttempt, number: int, values: Sequence[Mapping[str, object]], outputs: Sequence[str]
) -> RecordedReading | None:
    """Return dspy's parse of an output: the prediction's values if available, else the parser's."""
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


def _body(attempt: LiveAttempt, model: LiveModel | None) -> dict[str, Any]:
    own = attempt.model or model
    merged = {**(own.params if own is not None else {}), **attempt.params}
    sent = {
        name: value
        for name, value in merged.items()
        if value is not None and ((name in PARAMETERS and name not in CONNECTION) or name in _OF_AN_ADAPTER)
    }
    form = sent.get("response_format")
    if isinstance(form, Mapping) and "$class" in form:
        sent["response_format"] = ClassFormat(form["$class"], form["schema"])
    return {"model": model.name if model is not None else "", **as_json(sent)}


def _agreed_recording(session: Session, case: Case, column: Column, live: Recording) -> Recording:
    """Use our own notation where it is equivalent: the order of parameters, the field of an error."""
    held = session.replace_case(replace(case, recordings={**case.recordings, column.id: live}))
    ours = checking.update(held, parts=_READINGS, columns=[column.id], cases=[case.name])
    read = ours.case(case.name).recordings[column.id].attempts
    attempts: list[RecordedAttempt] = []
    for one, other in zip(live.attempts, read, strict=True):
        agreed = list(one.completions)
        for place, completion in enumerate(other.completions):
            before, after = agreed[place].reading, completion.reading
            if before is None or after is None or before.ok is not after.ok:
                continue
            errors = [each.error and each.error.type for each in (before, after)]
            if same(dict(before.values), dict(after.values)) if before.ok else errors[0] == errors[1] is not None:
                agreed[place] = completion
        attempts.append(replace(one, completions=tuple(agreed)))
    request = live.request
    try:
        capabilities = recording.capabilities_from_json(live.capabilities, session.model_of(column))
        today = differences.parameters(rendering.request_of(session, column, case, capabilities=capabilities))
        request = {**{name: request[name] for name in today if name in request}, **request}
    except Exception:  # no prompt can be rendered from these values, which its check reports
        pass
    return replace(live, attempts=tuple(attempts), request=request)


REDACTED = "(redacted)"
SHORTEST = 4
"""The minimum length of a redactable text; shorter texts match ordinary words."""


def redacted(call: LiveCall, fields: Iterable[str]) -> LiveCall:
    """Redact these fields' texts in inputs, demos, history, prompts, replies and parse results.

    Raises `SessionError` for a value that cannot be found in a prompt reliably: a number, a very short text.
    """
    names = frozenset(fields)
    if not names:
        return call
    read = [one.values for attempt in call.attempts for one in attempt.readings]
    texts = sorted({*_leaves([call.inputs, *call.demos, *call.values, *read], names)}, key=len, reverse=True)
    if not texts:
        return call
    swaps: list[str] = []  # the forms of a text in prompts and replies: as is, stripped, and in JSON or XML
    for one in (form for text in texts for form in (text, text.strip())):
        swaps += [one, json.dumps(one)[1:-1], json.dumps(one, ensure_ascii=False)[1:-1]]
        swaps.append(one.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    swaps = list(dict.fromkeys(swaps))
    attempts = [
        replace(
            one,
            messages=tuple(_without(list(one.messages), swaps)),
            params=_without(one.params, swaps),
            outputs=tuple(_without(list(one.outputs), swaps)),
            error=_without(one.error, swaps),
            readings=tuple([replace(each, values=_without(each.values, swaps)) for each in one.readings]),
        )
        for one in call.attempts
    ]
    return replace(
        call,
        inputs=_without(call.inputs, swaps),
        demos=tuple(_without(list(call.demos), swaps)),
        attempts=tuple(attempts),
        values=tuple(_without(list(call.values), swaps)),
    )


def _leaves(value: object, names: frozenset[str], field: str = "") -> Iterator[str]:
    """Yield the texts of these fields, at any depth: the turns of a history contain fields."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, names, field or (key if key in names else ""))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, names, field)
    elif not field or value in ("", None) or isinstance(value, bool):
        return
    elif not isinstance(value, str):
        raise SessionError(None, field, "cannot be redacted, as it is not a text: the call is skipped")
    elif len(value) < SHORTEST:
        raise SessionError(None, field, "cannot be redacted, as it is too short: the call is skipped")
    else:
        yield value


def _without(value: object, swaps: list[str]) -> Any:
    return map_texts(value, lambda text: reduce(lambda done, one: done.replace(one, REDACTED), swaps, text))
