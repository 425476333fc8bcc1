"""Convert live calls of a predictor to the parts of its session, and join two sessions of one predictor."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from adapters.late_dataclasses import replace
from sessions.captured import recordings
from sessions.captured.recordings import LiveCall
from sessions.captured.signatures import CapturedSignature
from sessions.imports.demos import demo_of
from sessions.imports.dspy_program import without_secrets
from sessions.imports.merging import unused
from sessions.model.session import Case, Column, Session

LONGEST_NAME = 48


def new_session(call: LiveCall, known: CapturedSignature) -> Session:
    """Make a predictor's session without columns and cases."""
    made = [demo_of(one, known.signature) for one in call.demos]
    return Session(
        known.text,
        tuple([replace(one, extra=without_secrets(dict(one.extra))) for one in made]),
        (),
        cases=(),
        model=_model_of(call),
        params=recordings.parameters_of(call),
        fallback=call.attempts[0].adapter.options.get("use_json_adapter_fallback", True) is True,
        name=call.name,
    )


def is_alike(one: Session, other: Session) -> bool:
    """Return whether two sessions have the same signature and the same enabled demos."""
    faces = []
    for session in (one, other):
        text = session.signature
        demos = [dict(demo.values) for demo in session.demos if demo.enabled]
        faces.append((text.text, text.class_name, text.predictor, text.instructions, json.dumps(demos)))
    return faces[0] == faces[1]


def _model_of(call: LiveCall) -> str:
    model = call.attempts[0].model
    return model.name if model is not None and model.name else Session.model


def column_added(session: Session, call: LiveCall) -> tuple[Session, Column | None]:
    """Add and return the column of a call, or None for an adapter of the program's own."""
    first = call.attempts[0]
    name = recordings.adapter_named(first)
    if name is None:
        return session, None
    options = recordings.options_of(first, name)
    options.pop("use_json_adapter_fallback", None)  # the session has this setting
    return _with_column(session, Column(name, name, options, _model_of(call), recordings.parameters_of(call)))


def _with_column(session: Session, wanted: Column) -> tuple[Session, Column]:
    """Find the session's column with the adapter, model and parameters of `wanted`, or add it."""

    for column in session.columns:
        params, model = session.params_of(column), session.model_of(column)
        full = replace(column, id=wanted.id, options=dict(column.options), model=model, params=dict(params), extra={})
        if full == wanted:
            return session, column
    column = replace(
        wanted,
        id=unused(wanted.adapter, {one.id for one in session.columns}),
        model=None if session.model == wanted.model else wanted.model,
        params={} if dict(session.params) == dict(wanted.params) else wanted.params,
    )
    return replace(session, columns=(*session.columns, column)), column


def case_of(call: LiveCall, known: CapturedSignature) -> Case:
    """Make a case of a call's inputs and history, without recordings."""
    inputs = {name: value for name, value in call.inputs.items() if name in known.signature.input_fields}
    history: tuple[Mapping[str, Any], ...] = ()
    name = known.signature.history_field
    held = inputs.get(name) if name is not None else None
    if name is not None and isinstance(held, Mapping) and set(held) == {"messages"}:
        del inputs[name]
        history = tuple(held["messages"])
    # Its name is the beginning of its first text input.
    texts = [one[:400] for one in inputs.values() if isinstance(one, str)]
    texts = [re.sub(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+", " ", one) for one in texts]
    words = next((" ".join(text.split()) for text in texts if text.strip()), "case 1")
    named = words if len(words) <= LONGEST_NAME else words[:LONGEST_NAME].rstrip() + "…"
    return Case(named, inputs=inputs, history=history)


def inputs_key(case: Case) -> str:
    """Return a text that is the same for the same inputs and history."""
    return json.dumps([dict(case.inputs), [dict(one) for one in case.history]])


def joined(there: Session, ours: Session) -> Session:
    """Add the cases and columns of `ours` to a session with the same signature and demos; its own results stay."""
    made, ids = there, {}
    for column in ours.columns:
        wanted = Column(column.adapter, column.adapter, column.options, ours.model_of(column), ours.params_of(column))
        made, same = _with_column(made, wanted)
        ids[column.id] = same.id
    known = names_by_inputs(made)
    for case in ours.cases:
        recorded = {ids[id]: one for id, one in case.recordings.items()}
        replies = {ids[id]: one for id, one in case.replies.items()}
        name = known.get(inputs_key(case))
        if name is None:
            name = unused(case.name, set(known.values()))
            known[inputs_key(case)] = name
            made = replace(made, cases=(*made.cases, replace(case, name=name, recordings={}, replies={})))
        mine = made.case(name)
        recorded = made.sort_by_column({**recorded, **mine.recordings})
        replies = made.sort_by_column({**replies, **mine.replies})
        made = made.replace_case(replace(mine, recordings=recorded, replies=replies))
    return made


def names_by_inputs(session: Session) -> dict[str, str]:
    """Map the inputs of each case, as `inputs_key` writes them, to its name."""
    return {inputs_key(one): one.name for one in session.cases}
