"""Lints for demos (dropped, moved, filled in, not parsed back) and History turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

import pydantic

from adapters.formats.base import Adapter
from adapters.formats.profile import Profile
from adapters.formats.two_step import TwoStepAdapter
from adapters.lint.lint import Lint, Numbered, Place
from adapters.prompts.text import DemoUse, Prompt
from adapters.replies.flag import shown
from adapters.replies.flags.verdict import named
from adapters.requests.decisions import has_decisions
from adapters.signatures.signature import Signature
from adapters.types.recognition import type_adapter
from adapters.values.value_text import serialize_for_json


def demo_lints(
    signature: Signature, demos: Sequence[Mapping[str, Any]], prompt: Prompt | None, profile: Profile
) -> Iterator[Lint]:
    """Find demos that are dropped, moved or filled in."""
    if not profile.has_demos:
        return
    uses = prompt.demos if prompt is not None and len(prompt.demos) == len(demos) else _uses(signature, demos)
    history = signature.history_field
    complete: list[int] = []
    for demo, use in zip(demos, uses, strict=True):
        number = use.number
        if use.use == "complete":
            complete.append(number)
        elif use.use == "dropped":
            yield Lint("demo-dropped", _dropped(signature, demo, number), Place("demo", number))
        else:
            yield from _incomplete(signature, demo, use, history, profile)
            if complete:
                yield Lint(
                    "demo-moved",
                    f"Demo {number} lacks {named(list(use.missing))}, so it is shown before the complete "
                    f"{'demo' if len(complete) == 1 else 'demos'} {_numbers(complete)} above it.",
                    Place("demo", number),
                )
        extra = [name for name in demo if name not in signature.fields and isinstance(name, str)]
        if extra:
            yield Lint(
                "extra-demo-key",
                f"Demo {number} has {named(extra)}, which the signature does not have; it is not shown.",
                Place("demo", number),
            )


def _uses(signature: Signature, demos: Sequence[Mapping[str, Any]]) -> tuple[DemoUse, ...]:
    made: list[DemoUse] = []
    for number, demo in enumerate(demos, 1):
        missing = tuple(name for name in signature.fields if demo.get(name) is None)
        both = any(name in demo for name in signature.input_fields) and any(
            name in demo for name in signature.output_fields
        )
        made.append(DemoUse(number, "complete" if not missing else "incomplete" if both else "dropped", missing))
    return tuple(made)


def _dropped(signature: Signature, demo: Mapping[str, Any], number: int) -> str:
    lacking = "input" if not any(name in demo for name in signature.input_fields) else "output"
    return f"Demo {number} has no {lacking}, so it is not shown at all."


def _incomplete(
    signature: Signature, demo: Mapping[str, Any], use: DemoUse, history: str | None, profile: Profile
) -> Iterator[Lint]:
    number = use.number
    if use.missing == (history,):
        yield Lint(
            "history-makes-demo-incomplete",
            f"Demo {number} is complete but for `{history}`, so it is introduced as an example in which some fields "
            "are not supplied.",
            Place("demo", number, history),
        )
        return
    for name in use.missing:
        if name == history:
            continue
        reason = "is null" if name in demo else "is missing"
        if name in signature.output_fields and "marks-what-is-not-supplied" in profile.quirks:
            annotation = signature.output_fields[name].annotation
            typed = "" if annotation is str or str in get_args(annotation) else ", a text in the place of another type"
            yield Lint(
                "demo-filled-in",
                f"`{name}` {reason} in demo {number}; the model is shown 'Not supplied for this particular example.' "
                f"as its value{typed}.",
                Place("demo", number, name),
            )
        else:
            yield Lint(
                "demo-filled-in",
                f"`{name}` {reason} in demo {number}, which is introduced as an example in which some fields are not "
                "supplied.",
                Place("demo", number, name),
            )


def _numbers(numbers: list[int]) -> str:
    return ", ".join(str(number) for number in numbers[:5]) + (", …" if len(numbers) > 5 else "")


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
        yield Lint(
            "demo-does-not-read-back",
            f"The answer of demo {number} cannot be read back: {_short(reading.error.message)}",
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
    try:
        return type_adapter(annotation).validate_python(value)
    except pydantic.ValidationError:
        return value


def _short(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= SHOWN else line[:SHOWN] + "…"
