"""Lints of demos (dropped, moved, filled in), and of a History and its turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args

from adapters.formats.profile import Profile
from adapters.lint.lint import Lint, Numbered, Place
from adapters.prompts.prompt import DemoUse, Prompt
from adapters.replies.flags.verdict import named
from adapters.signatures.conversation_field import history_field_name
from adapters.signatures.signature import Signature


def demo_lints(
    signature: Signature, demos: Sequence[Mapping[str, Any]], prompt: Prompt | None, profile: Profile
) -> Iterator[Lint]:
    """What becomes of each demo."""
    if not profile.has_demos:
        return
    uses = prompt.demos if prompt is not None and len(prompt.demos) == len(demos) else _uses(signature, demos)
    history = history_field_name(signature)
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
    """The turns of the History among the inputs; none when there is no such thing."""
    name = history_field_name(signature)
    value = inputs.get(name) if name is not None else None
    messages = value.get("messages") if isinstance(value, Mapping) else getattr(value, "messages", None)
    if not isinstance(messages, list | tuple):
        return ()
    return [turn for turn in messages if isinstance(turn, Mapping)]


def history_lints(signature: Signature, turns: Numbered, profile: Profile) -> Iterator[Lint]:
    """What becomes of the conversation."""
    name = history_field_name(signature)
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
