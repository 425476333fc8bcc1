"""All lints of one prompt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.formats.profile import Profile
from adapters.lint.conversations import history_lints, turns_of
from adapters.lint.demos import demo_lints
from adapters.lint.fields import field_lints
from adapters.lint.lint import Lint, Numbered, Place
from adapters.lint.markers import marker_lints
from adapters.lint.values import value_lints
from adapters.lm.capabilities import needs_user_message, split_model
from adapters.prompts.prompt import Prompt
from adapters.requests.decisions import has_decisions
from adapters.signatures.signature import Signature
from adapters.types.base import START

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
