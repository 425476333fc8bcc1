"""Collect all flags of a parse result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from adapters.replies.flag import Flag
from adapters.replies.flags.chat_structure import chat_structure
from adapters.replies.flags.json_structure import fenced_json_structure, json_structure
from adapters.replies.flags.repaired_json import repaired_json
from adapters.replies.flags.strange_replies import strange_reply
from adapters.replies.flags.values_read import values_read
from adapters.replies.flags.values_refused import values_refused
from adapters.replies.flags.verdict import verdict
from adapters.replies.flags.xml_structure import xml_structure
from adapters.replies.reading import Reading, ReplyForm

MOST_NAMES = 3
MOST_ECHOED = 500


def unchecked(reading: Reading) -> Iterator[Flag]:
    """Flag each output in the reply whose type has its own validators."""
    for name, field in reading.signature.output_fields.items():
        found = reading.fields.get(name)
        if field.unchecked and found is not None and found.state in ("read", "failed"):
            code = ", ".join(field.unchecked[:MOST_NAMES]) + (", …" if len(field.unchecked) > MOST_NAMES else "")
            yield Flag(
                "unchecked-by-its-code",
                f"Uncertain: dspy also runs {code} on `{name}`, which may refuse or change it; a source is read here "
                "and never run.",
                name,
            )


ECHOED_NOTE = "# note: the value you produce"
FILLERS = ("Not supplied for this particular example.", "Not supplied for this conversation history message.")


def echoed(reading: Reading) -> Iterator[Flag]:
    """Flag fields that repeat the prompt's placeholder `{name}` or text for missing values."""
    for name in reading.signature.output_fields:
        found = reading.fields.get(name)
        if found is None or found.state not in ("read", "failed") or found.raw is None:
            continue
        text = (found.value if type(found.value) is str else found.raw)[:MOST_ECHOED].strip().strip('"')
        rest = text.removeprefix(f"{{{name}}}")
        if rest != text and (not rest or rest.lstrip().startswith(ECHOED_NOTE)):
            message = (
                f"`{name}` is the placeholder {{{name}}} of the prompt: the model repeated the format, not a value."
            )
            yield Flag("placeholder-echoed", message, name)
        elif found.state == "failed" and ECHOED_NOTE in text:
            message = f"`{name}` has the prompt's own note behind the value ({ECHOED_NOTE} …), copied by the model."
            yield Flag("placeholder-echoed", message, name)
        elif text in FILLERS:
            message = f"`{name}` is dspy's text for a value that a demo or turn lacks ({text}), copied by the model."
            yield Flag("filler-echoed", message, name)


Detector = Callable[[Reading], Iterator[Flag]]
STRUCTURE: Mapping[ReplyForm, Detector] = {
    "markers": chat_structure,
    "json": json_structure,
    "fenced json": fenced_json_structure,
    "xml": xml_structure,
}
"""Detectors of structural flags, by form of reply."""
OF_EVERY_REPLY: tuple[Detector, ...] = (
    strange_reply,
    repaired_json,
    values_read,
    values_refused,
    echoed,
    unchecked,
)


def detectors_of(reading: Reading) -> tuple[Detector, ...]:
    """Return the detectors for a parse result: verdict, structure, then text and values."""
    structure = STRUCTURE.get(reading.form)
    return (verdict, *OF_EVERY_REPLY) if structure is None else (verdict, structure, *OF_EVERY_REPLY)


def explain(reading: Reading) -> tuple[Flag, ...]:
    """Return the flags of a parse result, each name once per place; never raises.

    For TwoStep: the flags of the extraction's reply, which provides the fields.
    """
    if reading.extraction is not None:
        return explain(reading.extraction)
    found: dict[tuple[str, str | None, str], Flag] = {}
    for detect in detectors_of(reading):
        try:
            for flag in detect(reading):
                found.setdefault((flag.name, flag.field, flag.path), flag)
        except (
            Exception
        ):  # a user's type may raise in its own __eq__, __repr__ or hooks; skip the rest of this detector
            continue
    return tuple(found.values())
