"""Lints for values: of inputs, of demos (dropped, moved, filled in, not parsed back), of History turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import pydantic

from adapters.formats.base import Adapter
from adapters.formats.conversation import demo_use
from adapters.formats.profile import Profile
from adapters.formats.two_step import TwoStepAdapter
from adapters.lint.lint import Lint, Numbered, Part, Place
from adapters.prompts.text import DemoUse, Prompt
from adapters.replies.flag import named, shown
from adapters.replies.reading_builder import reason
from adapters.requests.decisions import has_decisions
from adapters.signatures.signature import MISSING, Field, Signature
from adapters.types.recognition import START, asks_for_types, type_adapter
from adapters.values.plain_json import parts_of
from adapters.values.value_text import serialize_for_json, write_value

SEEN_BEFORE = 16
"""Characters shown before the first difference of two long values."""


class Given(NamedTuple):
    """A value of a field in an input, demo or turn, with its place and its name in a sentence."""

    field: Field
    value: Any
    place: Place
    what: str


def _given(signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any]) -> Iterator[Given]:
    """Yield every value that the prompt shows, except the History itself."""
    history = signature.history_field
    for name, value in inputs.items():
        if name in signature.input_fields and name != history:
            yield Given(signature.fields[name], value, Place("input", None, name), f"The input `{name}`")
    groups: tuple[tuple[Part, str, Numbered], ...] = (("demo", "demo", demos), ("history", "turn", turns))
    for part, word, numbered in groups:
        for number, values in numbered:
            for name, value in values.items():
                if name in signature.fields:
                    what = f"`{name}` of {word} {number}"
                    yield Given(signature.fields[name], value, Place(part, number, name), what)


def value_lints(signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any]) -> Iterator[Lint]:
    """Find inputs without a value, and problems of values in inputs, demos and turns."""
    wanted = signature.input_fields
    if wanted and not any(name in inputs for name in wanted):
        yield Lint("no-inputs", "No input has a value: the user message only repeats the format.", Place("prompt"))
    for name, field in wanted.items():
        if name in inputs:
            continue
        if field.default is not MISSING or field.default_factory is not None:
            yield Lint(
                "default-not-applied",
                f"The input `{name}` has no value; dspy.Predict fills in its default, an adapter does not.",
                Place("input", None, name),
            )
        else:
            yield Lint(
                "missing-input",
                f"The input `{name}` has no value; the prompt leaves it out.",
                Place("input", None, name),
            )
    extra = [name for name in inputs if name not in wanted and isinstance(name, str)]
    if extra:
        yield Lint(
            "extra-input-ignored",
            f"{named(extra)}: not in the signature's inputs, so not in the prompt.",
            Place("input", None, extra[0]),
        )
    for one in _given(signature, demos, turns, inputs):
        is_shown = one.place.part == "input" or (one.value is not None and one.field.name != signature.history_field)
        if is_shown:
            yield from _value(one.field, one.value, one.place, one.what)


def _value(field: Field, value: object, place: Place, what: str) -> Iterator[Lint]:
    annotation = field.annotation
    if any(isinstance(one, set | frozenset) for one in parts_of(value)):
        yield Lint("set-order", f"{what} contains a set, which has no order: its items may appear in any order.", place)
    if annotation is str and isinstance(value, list):
        other = next((one for one in value if not isinstance(one, str)), None)
        how = "in « »" if len(value) == 1 else "as numbered passages in « »"
        if other is not None or None in value:
            said = f"{what} is a list in a text field and contains {shown(other)}, not a text: no prompt can be made."
            yield Lint("list-in-a-text-field-crashes", said, place)
        elif not value:
            yield Lint("list-in-a-text-field", f"{what} is a list in a text field; it is shown as the text N/A.", place)
        else:
            yield Lint("list-in-a-text-field", f"{what} is a list in a text field; it is shown {how}.", place)
        return
    if annotation is str or asks_for_types(annotation):
        if annotation is str and value is not None and not isinstance(value, str):
            yield _other_type(value, place, what, "not a text")
        return
    try:
        validated = type_adapter(annotation).validate_python(value)
    except pydantic.ValidationError as error:
        yield _other_type(value, place, what, reason(error))
        return
    if isinstance(validated, Iterator):  # pydantic's own, of an Iterable that it has not walked through
        return
    given, printed = write_value(annotation, value), write_value(annotation, validated)
    if given != printed:
        # Shorten two texts to start just before their first difference.
        part = next((at for at, (left, right) in enumerate(zip(given, printed, strict=False)) if left != right), 0)
        start = max(0, part - SEEN_BEFORE)
        before, after = (f"…{given[start:]}", f"…{printed[start:]}") if start else (given, printed)
        yield Lint(
            "validated-value-differs",
            f"{what} is shown as given, {shown(before)}; validated by its type it would be {shown(after)}.",
            place,
        )


def _other_type(value: object, place: Place, what: str, why: str) -> Lint:
    return Lint(
        "value-of-another-type",
        f"{what} is {shown(value)}, which its type rejects ({why}); the prompt shows it anyway.",
        place,
    )


MARKER = re.compile(r"\[\[ ## (\w{1,200}) ## \]\]")
TAG = re.compile(r"</?([A-Za-z_][\w.\-]{0,200})[\s/>]")


def marker_lints(
    signature: Signature, demos: Numbered, turns: Numbered, inputs: Mapping[str, Any], profile: Profile
) -> Iterator[Lint]:
    """Find markers, tags and custom types' markers in inputs, demos and turns."""
    for given in _given(signature, demos, turns, inputs):
        is_input, place, what = given.field.name in signature.input_fields, given.place, given.what
        for text in parts_of(given.value):
            if not isinstance(text, str):
                continue
            if profile.inputs == "markers" and (match := _first(MARKER, text, {*signature.fields, "completed"})):
                yield Lint(
                    "marker-in-value",
                    f"{what} contains {match}, which is not escaped: to the model it looks like a field of the prompt.",
                    place,
                )
            if profile.inputs == "tags" and is_input and (match := _first(TAG, text, set(signature.fields))):
                yield Lint(
                    "tag-in-value",
                    f"{what} contains the tag {match.strip()}; inputs are not escaped, so it looks like a field.",
                    place,
                )
            if is_input and START in text and "custom-types-expand-in-values" in profile.quirks:
                yield Lint(
                    "custom-type-marker-in-value",
                    f"{what} contains dspy's marker of a custom type as text; its content becomes a content part of "
                    "the message.",
                    place,
                )


def _first(pattern: re.Pattern[str], text: str, names: set[str]) -> str | None:
    return next((match.group() for match in pattern.finditer(text) if match.group(1) in names), None)


def demo_lints(
    signature: Signature, demos: Sequence[Mapping[str, Any]], prompt: Prompt | None, profile: Profile
) -> Iterator[Lint]:
    """Find demos that are dropped, moved or filled in."""
    if not profile.has_demos:
        return
    if prompt is not None and len(prompt.demos) == len(demos):
        uses = prompt.demos
    else:
        uses = tuple([demo_use(signature, demo, number) for number, demo in enumerate(demos, 1)])
    history = signature.history_field
    complete: list[int] = []
    for demo, use in zip(demos, uses, strict=True):
        number = use.number
        if use.use == "complete":
            complete.append(number)
        elif use.use == "dropped":
            lacking = "output" if any(name in demo for name in signature.input_fields) else "input"
            said = f"Demo {number} has no {lacking}, so it is not shown at all."
            yield Lint("demo-dropped", said, Place("demo", number))
        else:
            yield from _incomplete(signature, demo, use, history, profile)
            if complete:
                above = ", ".join(map(str, complete[:5])) + (", …" if len(complete) > 5 else "")
                yield Lint(
                    "demo-moved",
                    f"Demo {number} lacks {named(list(use.missing))}, so it is shown before the complete "
                    f"{'demo' if len(complete) == 1 else 'demos'} {above} above it.",
                    Place("demo", number),
                )
        extra = [name for name in demo if name not in signature.fields and isinstance(name, str)]
        if extra:
            yield Lint(
                "extra-demo-key",
                f"Demo {number} has {named(extra)}, which the signature does not have; it is not shown.",
                Place("demo", number),
            )


def _incomplete(
    signature: Signature, demo: Mapping[str, Any], use: DemoUse, history: str | None, profile: Profile
) -> Iterator[Lint]:
    number = use.number
    if use.missing == (history,):
        yield Lint(
            "history-makes-demo-incomplete",
            f"Demo {number} lacks only `{history}`, so it is introduced as an example in which some fields "
            "are not supplied.",
            Place("demo", number, history),
        )
        return
    for name in use.missing:
        if name == history:
            continue
        state = "is null" if name in demo else "is missing"
        if name in signature.output_fields and "marks-what-is-not-supplied" in profile.quirks:
            annotation = signature.output_fields[name].annotation
            typed = "" if annotation is str or str in get_args(annotation) else ", a text instead of another type"
            said = f"; the model is shown 'Not supplied for this particular example.' as its value{typed}."
        else:
            said = ", which is introduced as an example in which some fields are not supplied."
        yield Lint("demo-filled-in", f"`{name}` {state} in demo {number}{said}", Place("demo", number, name))


def turns_of(signature: Signature, inputs: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the turns of the History among the inputs, if any."""
    name = signature.history_field
    value = inputs.get(name) if name is not None else None
    messages = value.get("messages") if isinstance(value, Mapping) else getattr(value, "messages", None)
    if not isinstance(messages, list | tuple):
        return ()
    return [turn for turn in messages if isinstance(turn, Mapping)]


def history_lints(signature: Signature, turns: Numbered, profile: Profile) -> Iterator[Lint]:
    """Find a History that is not sent as fields, and turns that lack outputs."""
    name = signature.history_field
    if name is None:
        return
    if profile.history == "printed":
        yield Lint(
            "history-printed-as-text",
            f"This adapter does not send `{name}` as turns: it prints the whole object into the user message.",
            Place("input", None, name),
        )
    elif profile.history == "turns":
        yield Lint(
            "history-described-not-sent",
            f"The system message describes `{name}` as an input field, and no message has a field of that name: it "
            "is sent as earlier turns.",
            Place("field", None, name),
        )
    if profile.history != "turns":
        return
    for number, turn in turns:
        lacking = [one for one in signature.output_fields if turn.get(one) is None]
        if lacking:
            word = profile.word_for_none
            shown = "every answer" if len(lacking) == len(signature.output_fields) else named(lacking)
            yield Lint(
                "history-turn-prints-none",
                f"Turn {number} of the history lacks {named(lacking)}; the model is shown {word} as {shown} it gave.",
                Place("history", number, lacking[0]),
            )


SHOWN = 160


def round_trip(
    adapter: Adapter, signature: Signature, demos: Sequence[Mapping[str, Any]], numbers: Sequence[int] = ()
) -> tuple[Lint, ...]:
    """Return lints for demos whose answer does not parse back to the demo's values.

    Demos without all outputs are skipped. `numbers` are the demos' numbers in the prompt, by default from 1.

    Formats and parses every demo once, so it costs as much as parsing that many replies. Skips TwoStep, whose prose is
    parsed by a model, and decisions, whose demos are examples in the instructions. Never raises.
    """
    if isinstance(adapter, TwoStepAdapter) or has_decisions(signature):
        return ()
    found: list[Lint] = []
    for number, demo in zip(numbers or range(1, len(demos) + 1), demos, strict=True):
        outputs = {name: demo[name] for name in signature.output_fields if demo.get(name) is not None}
        if len(outputs) < len(signature.output_fields):
            continue
        try:
            found.extend(_lints(adapter, signature, outputs, number))
        except Exception:  # user-defined types may raise in their own hooks; skip the demo
            continue
    return tuple(found)


def _lints(adapter: Adapter, signature: Signature, outputs: Mapping[str, Any], number: int) -> Iterator[Lint]:
    text = str(adapter.format_assistant_message_content(signature, outputs))
    reading = adapter.read(signature, text)
    if reading.error is not None:
        line = reading.error.message.strip().partition("\n")[0]
        yield Lint(
            "demo-does-not-read-back",
            f"The answer of demo {number} cannot be read back: {line if len(line) <= SHOWN else line[:SHOWN] + '…'}",
            Place("demo", number, reading.error.field),
        )
        return
    for name, given in outputs.items():
        read = reading.values.get(name)
        if serialize_for_json(read) != serialize_for_json(_validated(signature.output_fields[name].annotation, given)):
            yield Lint(
                "demo-reads-back-otherwise",
                f"`{name}` of demo {number} is {shown(given)}, and its answer reads back as {shown(read)}.",
                Place("demo", number, name),
            )


def _validated(annotation: object, value: object) -> Any:
    if annotation is str and type(value) is str:  # without a schema, whose first loads importlib.metadata
        return value
    try:
        return type_adapter(annotation).validate_python(value)
    except pydantic.ValidationError:
        return value
