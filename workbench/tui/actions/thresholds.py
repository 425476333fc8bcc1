"""Setting how an output is decided: its threshold, cuts or weights, kept in the session."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.requests.decisions import Decision
from workbench.editing import decision_edits
from workbench.output.display import one_line
from workbench.state.document import Place
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.dialogs.thresholds import Row, ThresholdsScreen
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host

ABOUT = {
    "noul": "Threshold: true from this probability on",
    "score": "Cuts: the score from which a level is reached",
    "choice": "Weights: times the probability of an option; the greatest wins",
}
NONE_TO_DECIDE = (
    "No output is a decision: Noul, Score and Choice of dspy.experimental are, and a bool or a Literal can be one."
)


async def decide(host: Host, name: str = "") -> None:
    """Asks how an output is decided, first which one where there are several, and keeps it in the session."""
    signature = host.main.engine.signature.signature
    names = decision_edits.decidable(signature) if signature is not None else ()
    if signature is None or not names or (name and name not in names):
        plain_notify(host.app, NONE_TO_DECIDE, title="Nothing to decide", severity="warning")
        return
    if not name and len(names) == 1:
        name = names[0]
    elif not name:
        entries = [Entry(one, one, _now(host, one)) for one in names]
        chosen = await host.app.push_screen_wait(ChooseScreen("How is it decided?", entries))
        if chosen is None:
            return
        name = chosen
    try:
        decision = decision_edits.decision_of(signature, name)
        usual = _numbers(decision, decision_edits.usual_of(signature, name))
    except ValueError as error:
        plain_notify(host.app, f"{error}", title=f"{one_line(name, 40)} cannot be decided", severity="warning")
        return
    rows = [
        Row(label, number, by_itself)
        for label, number, by_itself in zip(
            _labels(decision), _numbers(decision, decision.settings[decision.parameter]), usual, strict=True
        )
    ]

    def refuse(numbers: tuple[float, ...]) -> str:
        return decision_edits.refusal(signature, name, _value(decision, numbers))

    def outcome(numbers: tuple[float, ...]) -> list[str]:
        return _outcomes(host, decision_edits.with_setting(signature, name, _value(decision, numbers)))

    is_optional = decision_edits.is_optional(signature, name)
    is_decided = signature.fields[name].decision is not None if is_optional else None
    title = f"{name}: how it is decided"
    set_ = await host.app.push_screen_wait(
        ThresholdsScreen(title, ABOUT[decision.kind], rows, refuse, outcome, is_decided)
    )
    if set_ is None:
        return
    if not set_.is_decided:
        change = partial(decision_edits.ask_for_itself, name=name)
        host.main.edit(change, Place("signature", field=name), f"{name} is asked for itself")
        return
    value = None if set_.numbers == usual else _value(decision, set_.numbers)
    change = partial(decision_edits.set_parameter, name=name, parameter=decision.parameter, value=value)
    host.main.edit(change, Place("signature", field=name), f"{decision.parameter} of {name}")


def _now(host: Host, name: str) -> str:
    """How an output is decided as the session stands, in a few words."""
    signature = host.main.engine.signature.signature
    assert signature is not None
    if decision_edits.is_optional(signature, name) and signature.fields[name].decision is None:
        return "as the model says it"
    try:
        return decision_edits.decision_of(signature, name).shown_setting
    except ValueError as error:
        return str(error)


def _labels(decision: Decision) -> list[str]:
    """What each number is of: an option, a level above the lowest, or the value."""
    if decision.kind == "noul":
        return ["true from"]
    if decision.kind == "choice":
        return decision.labels
    described = decision.criteria()
    return [f"{level}  {_told(described[int(level)])}" for level in decision.labels[1:]]


def _told(described: Any) -> str:
    return described if isinstance(described, str) else json.dumps(described, ensure_ascii=False)


def _numbers(decision: Decision, setting: Any) -> tuple[float, ...]:
    if decision.kind == "noul":
        return (setting,)
    return tuple(setting) if decision.kind == "score" else tuple([setting.get(one, 1.0) for one in decision.labels])


def _value(decision: Decision, numbers: tuple[float, ...]) -> Any:
    """The numbers as the session has them: a number, a list, or an object by option."""
    if decision.kind == "noul":
        return numbers[0]
    return list(numbers) if decision.kind == "score" else dict(zip(decision.labels, numbers, strict=True))


def _outcomes(host: Host, decision: Decision) -> list[str]:
    """Of each column with evidence in its reply: the evidence, and what it comes to."""
    said: list[str] = []
    for one in host.main.columns.rendered:
        evidence = decision_edits.evidence_in(one.reading, decision)
        if evidence is None:
            continue
        try:
            value = decision.value_of(evidence)
        except Exception as error:  # as in dspy: evidence that decides nothing raises whatever it raises
            said.append(f"{one.column.id}: {error}")
            continue
        decided = value if decision.is_plain else value.value
        level = f", level {value.level}" if decision.kind == "score" else ""
        told = f"{decided:.3g}" if isinstance(decided, float) else decided
        said.append(f"{one.column.id}: {_shares(decision, evidence)} → {told}{level}")
    return said


def _shares(decision: Decision, evidence: Any) -> str:
    """The probabilities in a few words: `0.62`, or `billing 0.7, technical 0.3`."""
    plain = evidence.model_dump(by_alias=True) if hasattr(evidence, "model_dump") else evidence
    if decision.kind == "noul":
        return f"{plain['noul']:g}"
    return ", ".join([f"{label} {share:g}" for label, share in plain["probabilities"].items()])
