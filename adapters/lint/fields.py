"""Lints for a signature's own fields under an adapter."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from pydantic import BaseModel

from adapters.formats.baml import type_text
from adapters.formats.profile import Profile
from adapters.lint.lint import Lint, Place
from adapters.replies.flag import named, shown
from adapters.replies.flags.wrong_places import known_keys
from adapters.requests.calls import TAKEN
from adapters.requests.decisions import is_decided
from adapters.signatures.signature import Field, Signature, infer_prefix
from adapters.signatures.type_names import walk
from adapters.types.recognition import is_custom_type, is_decision_type

MOST_MODELS = 50


def field_lints(signature: Signature, profile: Profile) -> Iterator[Lint]:
    """Find problems of instructions, fields and the adapter itself."""
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
            yield from _output(field, place, profile)
        elif name in TAKEN and (name != "prediction" or field.annotation is not str):  # taken as an object alone
            yield Lint(
                "input-taken-by-predict",
                f"dspy.Predict takes an input called `{name}` {TAKEN[name]}, so the prompt does not show it. Rename "
                "the field.",
                place,
            )


def _output(field: Field, place: Place, profile: Profile) -> Iterator[Lint]:
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
            f"The decision inside of `{field.name}` is the model's own, value and confidence: thresholds, cuts and "
            "weights do not apply.",
            place,
        )
    yield from _aliases(field, place, profile)
    if "types-in-short-form" in profile.quirks:
        try:
            type_text(annotation)
        except ValueError as error:
            yield Lint("baml-model-used-twice", f"`{name}`: {error} The prompt cannot be made.", place)


def _aliases(field: Field, place: Place, profile: Profile) -> Iterator[Lint]:
    if not profile.quirks & {"demos-show-field-names", "types-in-short-form"}:
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
        if "types-in-short-form" in profile.quirks:
            yield Lint("alias-not-shown", f"BAML shows {said}.", place)
        else:
            yield Lint("demo-shows-field-names", f"Demos print {said}: a model that copies a demo fails.", place)
