"""All lints of one prompt, and what each means in general; the lint itself says what is the case where."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from adapters.formats.profile import Profile
from adapters.lint.demos import demo_lints, history_lints, turns_of
from adapters.lint.fields import field_lints
from adapters.lint.lint import Lint, Numbered, Place
from adapters.lint.values import marker_lints, value_lints
from adapters.lm.capabilities import needs_user_message, split_model
from adapters.prompts.prompt import Prompt
from adapters.requests.decisions import has_decisions
from adapters.signatures.signature import Signature
from adapters.types.base import START

LINTS: Mapping[str, str] = MappingProxyType(
    {
        "demo-dropped": "A demo without any input or without any output is left out without a word.",
        "demo-moved": "Incomplete demos are shown before the complete ones.",
        "demo-filled-in": "A field that a demo lacks or has as null is shown as 'Not supplied for this …'.",
        "history-makes-demo-incomplete": "A demo has no History, so a History input makes every demo incomplete.",
        "extra-demo-key": "Keys of a demo that are no fields are left out.",
        "demo-does-not-read-back": "The adapter cannot read its own demo, so a model that copies it fails.",
        "demo-reads-back-otherwise": "The adapter reads another value from its own demo than the demo has.",
        "demo-shows-field-names": "A demo's model is printed by field names and read back by aliases.",
        "history-turn-prints-none": "A turn without an output shows the word None as the model's answer.",
        "history-described-not-sent": "A History input is described as a field and sent as turns instead.",
        "history-printed-as-text": "TwoStep knows no History: it prints the object into the message.",
        "left-out-by-the-format": "The adapter's format has no place for a part of what was given.",
        "no-user-message": "Anthropic's models and Bedrock take no prompt without a user message; Markdown sends none.",
        "missing-input": "An input without a value is left out of the prompt.",
        "default-not-applied": "Defaults of inputs are filled in by dspy.Predict, not by the adapter.",
        "no-inputs": "Without any input the user message holds only the reminder of the format.",
        "extra-input-ignored": "Values of names that are no inputs are left out.",
        "value-of-another-type": "Values in a prompt are not validated: what its type refuses is shown all the same.",
        "validated-value-differs": "Values are shown as given; validated by its type this one would print otherwise.",
        "list-in-a-text-field": "A list in a text field is shown as numbered passages in « ».",
        "list-in-a-text-field-crashes": "A list in a text field may hold only text; dspy raises TypeError.",
        "set-order": "A set has no order, so the prompt may differ from run to run.",
        "marker-in-value": "Values are not escaped: a marker inside of one looks like a field of the prompt.",
        "tag-in-value": "XML escapes outputs and not inputs: a tag inside of one looks like a field.",
        "custom-type-marker-in-value": "dspy's markers of custom types are expanded wherever they stand in a value.",
        "custom-type-stays-text": "Custom types become content parts only in user messages that are expanded.",
        "prefix-without-effect": "No adapter shows a field's prefix.",
        "constraint-not-enforced": "Constraints are told to the model and never checked.",
        "output-named-completed": "An output called `completed` has the name of Chat's end marker.",
        "decision-by-evidence": "A model gives probabilities; a threshold, cuts or weights make the value of them.",
        "decision-inside-a-type": "Only an output that is a decision itself is decided out of evidence.",
        "enum-values-do-not-parse": "The prompt lists an Enum's values; from text only names of such members are read.",
        "alias-not-shown": "BAML shows field names where the parser wants aliases.",
        "baml-asks-for-markers": "BAML's prompt shows chat markers, and its parser reads JSON.",
        "baml-model-used-twice": "BAML takes a model that occurs twice for a recursive one and raises ValueError.",
        "instructions-lines-split": "Instructions are split at every Unicode line break.",
    }
)
"""Every lint's name with its meaning."""


MOST = 500


def lint(
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
    profile: Profile,
    prompt: Prompt | None = None,
    turn_numbers: Sequence[int] = (),
    model: str | None = None,
) -> tuple[Lint, ...]:
    """The lints of what an adapter of this `profile` would be given, at most `MOST`. Never raises.

    A History stands among the inputs, as `adapters.types.History` or `{"messages": […]}`. With the `prompt` that came
    of it, demos are numbered as there, and its notes and unexpanded custom types are told too. `turn_numbers` are
    those by which it names the turns, else they are counted from 1. `model` is where it goes, as `provider/model`.
    """
    if has_decisions(signature):  # demos are examples in the instructions then, whatever they hold
        demos, prompt = (), None if prompt is None else replace(prompt, demos=())
    shown = prompt.demos if prompt is not None and len(prompt.demos) == len(demos) else ()
    numbered = list(zip([use.number for use in shown] or range(1, len(demos) + 1), demos, strict=True))

    def turns() -> Numbered:
        given = turns_of(signature, inputs)
        known = turn_numbers if len(turn_numbers) == len(given) else range(1, len(given) + 1)
        return list(zip(known, given, strict=True))

    sources: tuple[Callable[[], Iterator[Lint]], ...] = (
        lambda: demo_lints(signature, demos, prompt, profile),
        lambda: history_lints(signature, turns(), profile),
        lambda: value_lints(signature, numbered, turns(), inputs),
        lambda: marker_lints(signature, numbered, turns(), inputs, profile),
        lambda: field_lints(signature, profile),
        lambda: _prompt_lints(prompt),
        lambda: _model_lints(prompt, model),
    )
    found: dict[Lint, None] = {}
    for source in sources:
        try:
            for one in source():
                found[one] = None
                if len(found) >= MOST:
                    return tuple(found)
        except Exception:  # a user's type may raise in its own hooks; what that would tell is left out
            continue
    return tuple(found)


def _model_lints(prompt: Prompt | None, model: str | None) -> Iterator[Lint]:
    if prompt is None or model is None or not prompt.messages or not needs_user_message(model):
        return
    if all(message.role == "system" for message in prompt.messages):
        yield Lint(
            "no-user-message",
            f"{split_model(model)[0]} refuses this prompt: it takes none of a system message alone. Another adapter "
            "sends what is asked as a user message, or another model takes it as it is.",
            Place("column"),
        )


def _prompt_lints(prompt: Prompt | None) -> Iterator[Lint]:
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
                f"A custom type in the {message.role} message of {message.turn} goes out as dspy's marker text and "
                "not as a content part.",
                place,
            )
