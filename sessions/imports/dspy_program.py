"""Import dspy's saved `program.json`: instructions, prefixes, descriptions and demos, without names, types or roles.

A field's name is certain if its description is dspy's placeholder `${name}`, if a demo has a key of its prefix, or if
the instructions are dspy's default sentence. Everything else is proposed with a question. dspy itself assigns saved
fields to a signature by order alone (`Signature.load_state`), which silently swaps them if the order changed; here
fields are matched by name, and every doubt is a question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.class_writer import is_name
from adapters.signatures.signature import Field, Signature, infer_prefix
from sessions.errors import SessionError, counted, step_into
from sessions.imports import proposing
from sessions.imports.demos import demo_of
from sessions.imports.reading import GIVE_SIGNATURE, KEPT, Imported, dict_in, listed
from sessions.model import parameters
from sessions.model.parameters import CONNECTION, OF_THE_LM, PARAMETERS, kind_of
from sessions.model.session import DEFAULT_COLUMNS, Demo, Session, SignatureText

KEY_ORDER = "imported_order"
"""The key of a demo's `extra` for the order of all its keys, which an export restores."""
LM_CLASS = "dspy.clients.lm.LM"
UNSAFE = ("api_base", "base_url", "model_list")
"""Keys that dspy's loader ignores in every file, too (`dspy.primitives.base_module`)."""
_PLACEHOLDER = re.compile(r"\$\{(\w+)\}")
_DEFAULT_SENTENCE = re.compile(r"Given the fields (`\w+`(?:, `\w+`)*), produce the fields (`\w+`(?:, `\w+`)*)\.")


@dataclass(frozen=True)
class SavedField:
    """A saved field; `name` is a guess unless `sure`."""

    prefix: str
    desc: str
    name: str
    sure: bool


def is_program(data: object) -> bool:
    """Return whether decoded JSON was written by `save` of a dspy module or predictor."""
    return isinstance(data, dict) and bool(predictors_of(data))


def from_program(
    data: Mapping[str, object], path: str, given: SignatureText | None = None, predictor: str | None = None
) -> Imported:
    """Import a predictor of a saved program; `given` is the signature with its types.

    Raises `SessionError` for another file or an unknown predictor, and `SignatureError`.
    """
    name, state = _choose(predictors_of(data), predictor, path)
    place = name if name else ""
    demos: list[Mapping[str, Any]] = state["demos"]
    for index, one in enumerate(demos):
        if not isinstance(one, dict):
            where = step_into(step_into(place, "demos"), index)
            raise SessionError(path, where, f"expected an object of values, got {kind_of(one)}")
    instructions, saved = _saved_signature(state, demos, path, place)
    notes = [f"the predictor `{name}`"] if name else []
    if given is not None:
        run_as = proposing.fitting(given, [one.name for one in saved])
        if run_as != given:
            notes.append(proposing.SAID)
        text, questions = _onto(run_as, saved, instructions)
    elif saved:
        text, questions = _proposed(saved, instructions, demos, path)
    else:
        raise SessionError(path, place, "saved by an old dspy: it has no fields", GIVE_SIGNATURE)
    decisions = state.get("fields", {})  # thresholds, cuts and weights of decided outputs
    if not isinstance(decisions, Mapping) or not all(isinstance(one, Mapping) for one in decisions.values()):
        raise SessionError(
            path, step_into(place, "fields"), "expected an object of objects, one for each decided output"
        )
    beside = ["demos", "signature", "metadata"]
    if decisions and given is None:
        questions.append("the settings of its decisions are kept; give their types with --signature")
    elif decisions:
        text, beside = replace(text, decisions=decisions), [*beside, "fields"]
    signature = text.read()
    if given is None:
        named = [(one.name, getattr(one.annotation, "__name__", one.annotation)) for one in signature.fields.values()]
        types = ", ".join(f"{field}: {kind}" for field, kind in named)
        notes.append(f"the file has no types; proposed by the demos: {types} (--signature gives the real ones)")
    unknown = [key for key in proposing.values_by_key(demos) if key not in signature.fields and key != "augmented"]
    if unknown:
        questions.append(f"demos have keys that are not fields; these are kept beside the demos: {listed(unknown)}")
    model, params, said = language_model(state.get("lm"))
    left = {key: value for key, value in state.items() if key not in beside}
    others: dict[str, Any] = {}
    if name and len(data) > 2:
        others = {"others": {key: one for key, one in data.items() if key not in (name, "metadata")}}
        others["order"] = [key for key in data if key != "metadata"]
    made: list[Demo] = []
    for row in demos:
        demo = demo_of(row, signature)
        is_mixed = [*demo.values, *demo.extra.get(KEPT, {})] != list(row)  # fields and other keys take turns
        made.append(replace(demo, extra={**demo.extra, KEY_ORDER: list(row)}) if is_mixed else demo)
    session = Session(
        signature=text,
        demos=tuple(made),
        columns=DEFAULT_COLUMNS,
        model=model or Session.model,
        params=params,
        extra={KEPT: without_secrets({**left, "predictor": name, "metadata": data.get("metadata"), **others})},
    )
    notes.append(counted(len(demos), "demo"))
    return Imported(session, tuple(notes + said), tuple(questions), has_signature=given is None)


def predictors_of(data: Mapping[str, object]) -> dict[str, Mapping[str, Any]]:
    """Return the states of predictors by path in the program; "" is a predictor saved alone."""
    if _is_state(data):
        return {"": data}
    return {key: one for key, one in data.items() if isinstance(one, dict) and _is_state(one)}


def instructions_of(state: Mapping[str, object]) -> str | None:
    """Return the instructions of a saved predictor, or None."""
    data = state.get("extended_signature") or state.get("signature") or {}
    found = data.get("instructions", state.get("signature_instructions")) if isinstance(data, Mapping) else None
    return found if isinstance(found, str) else None


def _is_state(value: Mapping[str, object]) -> bool:
    return isinstance(value.get("demos"), list) and (
        isinstance(value.get("signature", value.get("extended_signature")), dict) or "signature_instructions" in value
    )


def _choose(found: Mapping[str, Mapping[str, object]], wanted: str | None, path: str) -> tuple[str, Mapping[str, Any]]:
    if not found:
        raise SessionError(path, "", "this is not a program saved by dspy", "`program.save('program.json')` writes one")
    if wanted is None and len(found) == 1:
        return next(iter(found.items()))
    if wanted in found:
        return str(wanted), found[str(wanted)]
    what = "which of its predictors?" if wanted is None else f"it has no predictor {wanted!r}"
    raise SessionError(path, "", what, f"choose with --predictor: {', '.join(found)}")


def _saved_signature(
    state: Mapping[str, Any], demos: Sequence[Mapping[str, Any]], path: str, place: str
) -> tuple[str, list[SavedField]]:
    """Return instructions and fields, from `extended_signature` first: ChainOfThought used it up to dspy 2.5."""
    data = state.get("extended_signature") or state.get("signature") or {}
    instructions = data.get("instructions", state.get("signature_instructions", ""))
    fields = data.get("fields", [])
    where = step_into(place, "signature")
    if not isinstance(instructions, str) or not isinstance(fields, list):
        raise SessionError(path, where, "expected instructions and a list of fields")
    keys = proposing.values_by_key(demos)
    sentence = [name for half in _halves(instructions) for name in half]
    saved: list[SavedField] = []
    for index, one in enumerate(fields):
        prefix, desc = dict_in(one).get("prefix"), dict_in(one).get("description")
        if not isinstance(prefix, str) or not isinstance(desc, str):
            raise SessionError(path, f"{where}.fields[{index}]", "expected an object with prefix and description")
        in_sentence = sentence[index] if len(sentence) == len(fields) else None
        saved.append(_saved_field(prefix, desc, keys, in_sentence))
    return instructions, saved


def _halves(instructions: str) -> tuple[list[str], list[str]]:
    """Return the inputs and the outputs in dspy's default sentence."""
    match = _DEFAULT_SENTENCE.match(instructions)
    if match is None:
        return [], []
    return re.findall(r"\w+", match[1]), re.findall(r"\w+", match[2])


def _saved_field(prefix: str, desc: str, keys: Mapping[str, object], in_sentence: str | None) -> SavedField:
    placeholder = _PLACEHOLDER.fullmatch(desc)
    of_prefix = [key for key in keys if infer_prefix(key) + ":" == prefix]
    if placeholder:
        return SavedField(prefix, desc, placeholder[1], True)
    if in_sentence is not None and infer_prefix(in_sentence) + ":" == prefix:
        return SavedField(prefix, desc, in_sentence, True)
    if len(of_prefix) == 1:
        return SavedField(prefix, desc, of_prefix[0], True)
    guess = re.sub(r"\W+", "_", prefix.lower()).strip("_")
    return SavedField(prefix, desc, guess if is_name(guess) else f"field_{guess}", False)


def _proposed(
    saved: Sequence[SavedField], instructions: str, demos: Sequence[Mapping[str, object]], path: str
) -> tuple[SignatureText, list[str]]:
    guessed = [f"the prefix {one.prefix!r} is called `{one.name}`" for one in saved if not one.sure]
    questions = [f"the field of {one} by its prefix alone" for one in guessed]
    names = [one.name for one in saved]
    if len(set(names)) < len(names):
        raise SessionError(
            path, "signature", f"two fields seem to have the same name: {listed(names)}", "give --signature"
        )
    outputs, why = _outputs(instructions, names)
    if why:
        questions.append(why)
    values = proposing.values_by_key(demos)
    fields = [
        Field(
            one.name,
            "output" if one.name in outputs else "input",
            proposing.type_of(values.get(one.name, ())),
            desc=None if one.desc == f"${{{one.name}}}" else one.desc,
            prefix=None if one.prefix == infer_prefix(one.name) + ":" else one.prefix,
        )
        for one in saved
    ]
    return proposing.proposed(fields, instructions, path, "signature"), questions


def _outputs(instructions: str, names: Sequence[str]) -> tuple[Sequence[str], str]:
    """Return the outputs, which dspy saves after the inputs, and a question if uncertain."""
    inputs, outputs = _halves(instructions)
    kept = [name for name in names if name not in inputs]
    # ChainOfThought puts its `reasoning` between the two halves of a sentence that does not name it.
    if outputs and names[: len(inputs)] == inputs and [one for one in kept if one != "reasoning"] == outputs:
        return kept, ""
    first = names.index("reasoning") if "reasoning" in names[1:] else len(names) - 1
    found = names[first:]
    return found, f"the file does not say which fields are outputs: {listed(found)} is proposed"


def _onto(given: SignatureText, saved: Sequence[SavedField], instructions: str) -> tuple[SignatureText, list[str]]:
    """Apply saved descriptions and prefixes to the given signature by field name; doubts become questions."""
    signature = given.read()
    names = list(signature.fields)
    by_prefix = {one.shown_prefix: name for name, one in signature.fields.items()}
    targets: list[str | None] = []
    for one in saved:
        name = one.name if one.name in names else by_prefix.get(one.prefix)
        targets.append(name if name not in targets else None)
    questions: list[str] = []
    left = [name for name in names if name not in targets]
    for index, one in enumerate(saved):
        if targets[index] is None:
            if index < len(names) and names[index] in left:
                targets[index] = names[index]
                left.remove(names[index])
                questions.append(f"{one.prefix!r} is taken as the field `{names[index]}`, only because of its place")
            else:
                questions.append(f"the saved field {one.prefix!r} fits no field of the signature and is left out")
    if left and saved:
        questions.append(f"nothing was saved for {listed(left)}")
    found = [name for name in targets if name is not None]
    if found != [name for name in names if name in found]:
        questions.append(
            f"the saved order is {listed(found)}, the signature's {listed(names)}: they are matched by name"
        )
    changed = signature
    for one, target in zip(saved, targets, strict=True):
        if target is not None:
            field = signature.fields[target]
            saved_field = replace(field, desc=one.desc, prefix=one.prefix)
            if (field.description, field.shown_prefix) != (saved_field.description, saved_field.shown_prefix):
                changed = changed.with_updated_fields(target, desc=one.desc, prefix=one.prefix)
    if changed is signature:
        own = instructions in ("", signature.instructions)
        return (given if own else replace(given, instructions=instructions)), questions
    name = signature.name if is_name(signature.name) else "Imported"
    fields = dict(changed.fields)
    reasoning = fields.get(proposing.REASONING)
    adds_reasoning = given.predictor == proposing.COT and reasoning == signature.fields.get("reasoning")
    if adds_reasoning:
        del fields[proposing.REASONING]
    made = proposing.in_source(Signature.make(tuple(fields.values()), instructions or signature.instructions, name))
    return (replace(made, predictor=given.predictor) if adds_reasoning else made), questions


USUAL = (("model_type", "chat"), ("use_developer_role", False))
"""Defaults that `dspy.LM` saves for every model."""


def language_model(lm: object) -> tuple[str | None, dict[str, Any], list[str]]:
    """Return a saved LM's model and parameters, and notes on ignored keys."""
    if not isinstance(lm, dict) or not isinstance(lm.get("model"), str):
        return None, {}, []
    if lm.get("_dspy_lm_class", LM_CLASS) != LM_CLASS:
        return None, {}, [f"its model is of the class {lm['_dspy_lm_class']!r}, which is not imported"]
    params = parameters_in(lm)
    left = [key for key in lm if key in UNSAFE and lm[key]]
    return lm["model"], params, [f"left out, as dspy leaves it: {listed(left)}"] if left else []


def parameters_in(data: Mapping[str, object]) -> dict[str, Any]:
    """Return the parameters that a session may set, without address, timeout and invalid values."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        is_usual = value is None or (key, value) in USUAL
        if key in PARAMETERS and (key not in CONNECTION or key in OF_THE_LM) and key not in UNSAFE and not is_usual:
            with suppress(SessionError):
                parameters.check_parameters({key: value}, "params")
                found[key] = value
    return found


def without_secrets(value: object) -> Any:
    """Remove everything that looks like a credential from JSON; sessions must not hold secrets."""
    if isinstance(value, dict):
        return {key: without_secrets(one) for key, one in value.items() if not parameters.looks_like_secret_name(key)}
    if isinstance(value, list):
        return [without_secrets(one) for one in value]
    try:
        parameters.check_no_secret(value, "")
    except SessionError:
        return "(left out: it looked like a secret)"
    return value
