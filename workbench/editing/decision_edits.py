"""How outputs are decided: the thresholds, cuts and weights that a session sets, read and changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adapters.replies.reading import Reading
from adapters.requests.decisions import Decision, decisions_of, is_decided, is_declared
from adapters.signatures.signature import Signature
from workbench.state.document import State


def decidable(signature: Signature) -> tuple[str, ...]:
    """The outputs that are decisions, or could be one: by their type, or a plain `bool` or `Literal`."""
    return tuple([name for name, one in signature.output_fields.items() if is_decided(replace(one, decision={}))])


def is_optional(signature: Signature, name: str) -> bool:
    """Whether the output is a decision only where the session says so."""
    return not is_declared(signature.fields[name])


def decision_of(signature: Signature, name: str) -> Decision:
    """The output with its settings, complete; with the usual ones where those of the session do not fit.

    Raises ValueError for an output that dspy does not decide, such as one without a description.
    """
    own = signature.fields[name].decision or {}
    try:
        return _decided(signature, name, own)
    except ValueError:
        return _decided(signature, name, {key: one for key, one in own.items() if key in ("instructions", "criteria")})


def usual_of(signature: Signature, name: str) -> Any:
    """The threshold, the cuts or the weights that hold where nothing is set."""
    return (one := _decided(signature, name, {})).settings[one.parameter]


def refusal(signature: Signature, name: str, value: Any) -> str:
    """Why a threshold, cuts or weights will not do, in dspy's words; empty when they do."""
    try:
        with_setting(signature, name, value)
    except ValueError as error:
        return str(error)
    return ""


def with_setting(signature: Signature, name: str, value: Any) -> Decision:
    """The output decided by this threshold, these cuts or weights. Raises ValueError for such as do not fit."""
    one = decision_of(signature, name)
    return _decided(signature, name, {**(signature.fields[name].decision or {}), one.parameter: value})


def evidence_in(reading: Reading | None, decision: Decision) -> Any:
    """What a reply gave for the output to be decided on; None when it gave nothing."""
    read = reading.fields.get(decision.name) if reading is not None else None
    steps = [one for one in read.steps if one.rule == decision.parameter] if read is not None else []
    return steps[-1].before if steps else None


def set_parameter(state: State, name: str, parameter: str, value: Any) -> State:
    """The session with a threshold, cuts or weights for the output; None: the usual ones."""
    own = {key: one for key, one in state.session.signature.decisions.get(name, {}).items() if key != parameter}
    return _with(state, name, own if value is None else {**own, parameter: value})


def ask_for_itself(state: State, name: str) -> State:
    """The output is no decision of the session's any more; one by its type is decided as usual."""
    return _with(state, name, None)


def _with(state: State, name: str, settings: Mapping[str, Any] | None) -> State:
    text = state.session.signature
    kept = {output: one for output, one in text.decisions.items() if output != name}
    is_needed = settings is not None and (bool(settings) or is_optional(text.read(), name))
    decisions = {**kept, name: settings} if is_needed and settings is not None else kept
    if decisions == text.decisions:
        return state
    return replace(state, session=replace(state.session, signature=replace(text, decisions=decisions)))


def _decided(signature: Signature, name: str, settings: Mapping[str, Any]) -> Decision:
    found = decisions_of(signature.with_decisions({name: settings}))
    if found is None or name not in found.by_name:
        raise ValueError(f"{name} is no decision")
    return found.by_name[name]
