"""Run all lints on a prompt, also those for the signature's own fields; `LINTS` explains each."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from adapters.formats.baml import type_text
from adapters.formats.profile import Profile
from adapters.late_dataclasses import replace
from adapters.lint.lint import Lint, Numbered, Place
from adapters.lint.outputs import limit_lints, output_lints, request_lints
from adapters.lint.values import demo_lints, history_lints, marker_lints, turns_of, value_lints
from adapters.lm.capabilities import needs_user_message, split_model
from adapters.lm.litellm_answers import Limits
from adapters.prompts.text import Prompt
from adapters.replies.flag import named, shown
from adapters.replies.flags.wrong_places import known_keys
from adapters.requests.calls import TAKEN
from adapters.requests.capabilities import NONE, Capabilities
from adapters.requests.decisions import has_decisions, is_decided
from adapters.signatures.signature import Field, Signature, infer_prefix
from adapters.signatures.type_names import walk
from adapters.types.recognition import START, is_custom_type, is_decision_type

LINTS: Mapping[str, str] = MappingProxyType(
    {
        "demo-dropped": "A demo without inputs or without outputs is silently dropped.",
        "demo-moved": "Incomplete demos are shown before the complete ones.",
        "demo-filled-in": "A demo's missing or null field is shown as 'Not supplied for this …'.",
        "history-makes-demo-incomplete": "A demo has no History, so a History input makes every demo incomplete.",
        "extra-demo-key": "Keys of a demo other than the fields are left out.",
        "demo-does-not-read-back": "The adapter cannot parse its own demo, so a model that copies it fails.",
        "demo-reads-back-otherwise": "The adapter parses its own demo to a different value.",
        "demo-shows-field-names": "A demo's model is printed by field names and parsed by aliases.",
        "history-turn-prints-none": "A turn without an output shows the word None as the model's answer.",
        "history-described-not-sent": "A History input is described as a field, but sent as turns.",
        "history-printed-as-text": "TwoStep has no History: it prints the object into the message.",
        "left-out-by-the-format": "The adapter's format has no place for part of the input.",
        "no-user-message": "Anthropic's models and Bedrock require a user message; Markdown sends none.",
        "gateway-passed-over": "dspy does not call the address in OPENAI_API_BASE for a model's name without provider.",
        "missing-input": "An input without a value is left out of the prompt.",
        "default-not-applied": "Defaults of inputs are filled in by dspy.Predict, not by the adapter.",
        "no-inputs": "Without inputs the user message only repeats the format.",
        "extra-input-ignored": "Values whose names are not inputs are left out.",
        "input-taken-by-predict": "dspy.Predict uses inputs of some names itself; the prompt does not show them.",
        "value-of-another-type": "Values in a prompt are not validated: invalid values are shown, too.",
        "validated-value-differs": "Values are shown as given; after validation this value would print differently.",
        "list-in-a-text-field": "A list in a text field is shown as numbered passages in « ».",
        "list-in-a-text-field-crashes": "A list in a text field may contain only text; dspy raises TypeError.",
        "set-order": "A set has no order, so the prompt may differ from run to run.",
        "marker-in-value": "Values are not escaped: a marker in a value looks like a field of the prompt.",
        "tag-in-value": "XML escapes outputs, not inputs: a tag in an input looks like a field.",
        "custom-type-marker-in-value": "dspy expands its markers of custom types anywhere in a value.",
        "custom-type-stays-text": "Custom types become content parts only in user messages that are expanded.",
        "prefix-without-effect": "No adapter shows a field's prefix.",
        "constraint-not-enforced": "The model is told the constraints, but they are never checked.",
        "output-named-completed": "An output called `completed` has the name of Chat's end marker.",
        "decision-by-evidence": "The model gives probabilities; a threshold, cuts or weights compute the value.",
        "decision-inside-a-type": "Only an output that is itself a decision is computed from evidence.",
        "enum-values-do-not-parse": "The prompt lists an Enum's values, but only its names parse from text.",
        "alias-not-shown": "BAML shows field names where the parser expects aliases.",
        "baml-asks-for-markers": "BAML's prompt shows Chat markers, but its parser expects JSON.",
        "baml-model-used-twice": "BAML treats a model used twice as recursive and raises ValueError.",
        "instructions-lines-split": "Instructions are split at every Unicode line break.",
        "no-prompt": "The column cannot be rendered, so nothing can be sent.",
        "code-as-xml": "Code, HTML or SQL in an XML reply needs every < and & escaped; models forget it.",
        "code-as-json": "JSON needs quotes and line breaks of code escaped, and nothing forces this model to do so.",
        "formula-as-json": "Formulas have backslashes, and JSON takes \\f, \\t and \\b for control characters.",
        "all-keys-optional": "A model without required keys parses from any object, and other JSON keys are dropped.",
        "media-as-output": "A model that writes text cannot return an image, audio or a file.",
        "python-dict-asked": "dspy's prompts ask for a Python dict, and its parsers read JSON first.",
        "literal-of-booleans": "Literal[True, False] has the values of bool and a longer prompt.",
        "literal-in-a-list": "A value outside a Literal rejects the whole list or dict around it.",
        "none-stays-text-here": "Chat and XML read text as it is: for Optional[str] null stays a word.",
        "code-of-type-not-run": "Validators of a type read from source are never run here; dspy runs them.",
        "open-dict-closed-by-schema": "dspy closes every object of a strict schema, a dict inside a model too.",
        "schema-rejected": "Strict schemas do not permit all of JSON Schema; Anthropic permits no recursive types.",
        "no-response-format": "Without response_format only the prompt asks for JSON.",
        "reasoning-asked-twice": "A model that reasons by itself is asked for `reasoning` as text, too.",
        "max-tokens-too-low": "A reply that reaches max_tokens is cut off.",
        "max-tokens-too-high": "Providers reject a max_tokens above what the model can write.",
        "image-without-vision": "A model without vision rejects images, or never sees them.",
        "context-too-small": "A request longer than the model's context window is rejected.",
    }
)
"""The meaning of each lint, by name."""


MOST = 500
MOST_MODELS = 50


def lint(
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
    profile: Profile,
    prompt: Prompt | None = None,
    turn_numbers: Sequence[int] = (),
    model: str | None = None,
    params: Mapping[str, Any] = MappingProxyType({}),
    capabilities: Capabilities = NONE,
    limits_of: Callable[[str], Limits] | None = None,
) -> tuple[Lint, ...]:
    """Find at most `MOST` lints for an adapter of this `profile`; never raises.

    A History is among the inputs, as `adapters.types.History` or `{"messages": […]}`. With the `prompt` made of them,
    demos keep its numbers, and its notes and unexpanded custom types are reported, too. `turn_numbers` are its turns'
    numbers, by default from 1. `model` is the recipient, as `provider/model`, with its `capabilities` and the `params`
    of the request; `limits_of` looks up the limits of a model and is called only where they matter.
    """
    if has_decisions(signature):  # then demos are examples in the instructions, complete or not
        demos, prompt = (), None if prompt is None else replace(prompt, demos=())
    uses = prompt.demos if prompt is not None and len(prompt.demos) == len(demos) else ()
    numbered = list(zip([use.number for use in uses] or range(1, len(demos) + 1), demos, strict=True))

    def turns() -> Numbered:
        given = turns_of(signature, inputs)
        known = turn_numbers if len(turn_numbers) == len(given) else range(1, len(given) + 1)
        return list(zip(known, given, strict=True))

    sources: tuple[Callable[[], Iterator[Lint]], ...] = (
        lambda: demo_lints(signature, demos, prompt, profile),
        lambda: history_lints(signature, turns(), profile),
        lambda: value_lints(signature, numbered, turns(), inputs),
        lambda: marker_lints(signature, numbered, turns(), inputs, profile),
        lambda: field_lints(signature, profile, bool(demos) or bool(turns())),
        lambda: output_lints(signature, profile),
        lambda: _prompt_lints(prompt, model),
        lambda: request_lints(signature, profile, prompt, params, model, capabilities),
        lambda: limit_lints(signature, prompt, params, model, inputs, limits_of),
    )
    found: dict[Lint, None] = {}
    for source in sources:
        try:
            for one in source():
                found[one] = None
                if len(found) >= MOST:
                    return tuple(found)
        except Exception:  # a user's type may raise in its own hooks; skip the rest of this source
            continue
    return tuple(found)


def field_lints(signature: Signature, profile: Profile, has_answers: bool) -> Iterator[Lint]:
    """Find problems of instructions, fields and the adapter itself; `has_answers` of demos or earlier turns."""
    lines = signature.instructions.splitlines()
    is_split = len(lines) > len(signature.instructions.split("\n"))
    if is_split and "instructions-split-at-any-line-break" in profile.quirks:
        yield Lint(
            "instructions-lines-split",
            "The instructions contain a line break other than \\n (U+2028, \\x0b, …); it becomes a new, indented line.",
            Place("instructions"),
        )
    if "asks-for-markers-and-reads-json" in profile.quirks and signature.output_fields:
        yield Lint(
            "baml-asks-for-markers",
            "BAML describes the reply with [[ ## field ## ]] markers and then reads JSON: a model that follows the "
            "first part of the prompt fails.",
            Place("prompt"),
        )
    for name, field in signature.fields.items():
        place = Place("field", None, name)
        if field.prefix is not None and field.prefix != f"{infer_prefix(name)}:":
            yield Lint("prefix-without-effect", f"The prefix {shown(field.prefix)} of `{name}` is never shown.", place)
        if field.role == "output":
            yield from _output(field, place, profile, has_answers)
        elif name in TAKEN and (name != "prediction" or field.annotation is not str):  # taken as an object alone
            yield Lint(
                "input-taken-by-predict",
                f"dspy.Predict takes an input called `{name}` {TAKEN[name]}, so the prompt does not show it. Rename "
                "the field.",
                place,
            )


def _output(field: Field, place: Place, profile: Profile, has_answers: bool) -> Iterator[Lint]:
    name, annotation = field.name, field.annotation
    if field.constraints:
        yield Lint(
            "constraint-not-enforced",
            f"`{name}` has constraints ({field.constraints}): the model is told, and its reply is not checked.",
            place,
        )
    if name == "completed" and "prompt-ends-with-completed-marker" in profile.quirks:
        yield Lint(
            "output-named-completed",
            "The output `completed` has the name of the end marker [[ ## completed ## ]]: the prompt has it twice.",
            place,
        )
    if profile.reads_values_as_text and isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        numbers = [member for member in annotation if not isinstance(member.value, str)]
        if numbers:
            yield Lint(
                "enum-values-do-not-parse",
                f"The prompt offers {', '.join(shown(member.value) for member in numbers[:5])} for `{name}`, but "
                f"as text only the names parse: {', '.join(member.name for member in numbers[:5])}.",
                place,
            )
    if is_decided(field):
        yield Lint(
            "decision-by-evidence",
            f"`{field.name}` is computed from evidence: the model is asked for probabilities, and demos go into the "
            "instructions. Decisions are experimental in dspy 3.4.1.",
            place,
        )
    elif any(is_decision_type(one) for one in walk(field.annotation)):
        yield Lint(
            "decision-inside-a-type",
            f"The model itself gives the value and confidence of the decision in `{field.name}`: thresholds, cuts "
            "and weights do not apply.",
            place,
        )
    yield from _aliases(field, place, profile, has_answers)
    if "types-in-short-form" in profile.quirks:
        try:
            type_text(annotation)
        except ValueError as error:
            yield Lint("baml-model-used-twice", f"`{name}`: {error} The prompt cannot be made.", place)


def _aliases(field: Field, place: Place, profile: Profile, has_answers: bool) -> Iterator[Lint]:
    is_short = "types-in-short-form" in profile.quirks
    if not is_short and not (has_answers and "demos-show-field-names" in profile.quirks):
        return
    found: list[type[BaseModel]] = []
    for one in walk(field.annotation):
        if isinstance(one, type) and issubclass(one, BaseModel) and one is not BaseModel and not is_custom_type(one):
            found.append(one)
            if len(found) >= MOST_MODELS:
                break
    for model in found:
        read = known_keys(model) or {}
        unread = [name for name in model.model_fields if name not in read]
        if not unread or not read:
            continue
        aliases = named([key for key in read if key not in model.model_fields])
        said = f"{named(unread)} of {model.__name__} by field name, and `{field.name}` is read by aliases ({aliases})"
        if is_short:
            yield Lint("alias-not-shown", f"BAML shows {said}.", place)
        else:
            yield Lint("demo-shows-field-names", f"Demos print {said}: a model that copies a demo fails.", place)


def _prompt_lints(prompt: Prompt | None, model: str | None) -> Iterator[Lint]:
    if prompt is None:
        return
    for note in prompt.notes:
        yield Lint("left-out-by-the-format", f"{note[:1].upper()}{note[1:]}.", Place("prompt"))
    for message in prompt.messages:
        if START in message.text:
            part, _, number = message.turn.partition(" ")
            place = Place(part, int(number)) if part in ("demo", "history") and number.isdigit() else Place("prompt")  # type: ignore[arg-type]
            yield Lint(
                "custom-type-stays-text",
                f"A custom type in the {message.role} message of {message.turn} is sent as dspy's marker text, "
                "not as a content part.",
                place,
            )
    if model is not None and prompt.messages and needs_user_message(model):
        if all(message.role == "system" for message in prompt.messages):
            yield Lint(
                "no-user-message",
                f"{split_model(model)[0]} requires a user message; this prompt has only a system message. Choose "
                "another adapter, or another model.",
                Place("column"),
            )
