"""Export `program.json` as dspy's `save` writes it: a predictor's instructions, prefixes, descriptions and demos.

Data that an import kept (`sessions.imports.dspy_program`) is restored: other predictors, traces, the model's state,
demo keys that are not fields. An unchanged import gives the same file, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.values.value_text import serialize_for_json
from sessions.exports import exported
from sessions.exports.dspy_source import predictor_of
from sessions.exports.endpoints import OFFLINE
from sessions.exports.exported import Exported, ExportError, Source, View, switched_off
from sessions.imports.dspy_program import KEY_ORDER, language_model
from sessions.imports.reading import KEPT
from sessions.model.parameters import CONNECTION, OF_THE_LM
from sessions.model.session import Demo
from sessions.running import rendering
from sessions.running.recording import DSPY

NOT_SAVED = "names, types and roles of the fields: dspy does not save them; load it into a program of this signature"


def dspy_program(source: Source) -> Exported:
    """Export the program. Raises ExportError for a demo that JSON files cannot hold, and SignatureError."""
    view = source.first
    kept = view.session.extra.get(KEPT)
    known: Mapping[str, Any] = kept if isinstance(kept, Mapping) and "predictor" in kept else {}
    signature, is_thinking = predictor_of(view)
    whole = signature.chain_of_thought() if is_thinking else signature
    left = [NOT_SAVED, *switched_off(view.session)]
    if any(case.inputs or case.history for case in view.session.cases):
        left.append("the cases")
    if view.session.offered_tools:
        left.append("the tools")
    lm, said = _lm(view, known.get("lm"))
    before = {key: known.get(key, []) for key in ("traces", "train")}
    beside = ("traces", "train", "lm", "predictor", "metadata", "others", "order")
    after = {key: value for key, value in known.items() if key not in beside}
    decisions = {"fields": view.session.signature.decisions} if view.session.signature.decisions else {}
    fields = [
        {"prefix": one.shown_prefix, "description": f"${{{name}}}" if one.desc is None else one.desc}
        for name, one in whole.fields.items()
    ]
    told = {"instructions": whole.instructions, "fields": fields}
    enabled = [demo for demo in view.varied.demos if demo.enabled]
    demos = [_demo(demo, built) for demo, built in zip(enabled, rendering.demos_of(view.varied), strict=True)]
    state: dict[str, Any] = {**before, "demos": demos, "signature": told, **decisions, **after, "lm": lm}
    if path := known.get("predictor", "predict" if is_thinking else ""):  # among the states of other predictors
        states = {**known.get("others", {}), path: state}
        state = {key: states[key] for key in known.get("order", ()) if key in states} | states
    metadata = known.get("metadata") or {"dependency_versions": {"dspy": DSPY}}
    try:
        text = exported.dspy_json({**state, "metadata": metadata})
    except ValueError as error:
        raise ExportError(f"a text has an unpaired surrogate, which dspy's files cannot contain: {error}") from error
    notes = ("the file names the version of dspy alone, of no other package",) if not known.get("metadata") else ()
    return Exported(text, tuple(left + said), notes)


def _demo(demo: Demo, built: Mapping[str, object]) -> dict[str, Any]:
    """Return a demo as dspy saves it: custom types as text with markers, other keys unchanged."""
    values = {
        name: value if built[name] is value else serialize_for_json(built[name]) for name, value in demo.values.items()
    }
    others = demo.extra.get(KEPT)
    values.update(others if isinstance(others, Mapping) else {})
    order = demo.extra.get(KEY_ORDER)
    return {key: values[key] for key in order if key in values} | values if isinstance(order, list) else values


def _lm(view: View, kept: object) -> tuple[Any, list[str]]:
    """Return the imported state of the model, updated to the session's model and parameters."""
    model = view.model
    given = view.session.params_of(view.column)
    params = {name: one for name, one in given.items() if name not in CONNECTION or name in OF_THE_LM}
    if not isinstance(kept, dict):
        said = f"the model {model}: set it with `dspy.configure(lm=dspy.LM(...))`, as for every program without one"
        return None, [] if model.startswith(OFFLINE) else [said]
    was, had, _ = language_model(kept)
    if (was, had) == (model, params):
        return kept, []
    if model.startswith(OFFLINE):
        return None, [f"the model {model}, which only the workbench has"]
    return {**{name: one for name, one in kept.items() if name not in had}, "model": model, **params}, []
