"""Lints of a History input and its turns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from adapters.formats.profile import Profile
from adapters.lint.lint import Lint, Numbered, Place
from adapters.replies.flags.verdict import named
from adapters.signatures.conversation_field import history_field_name
from adapters.signatures.signature import Signature


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
