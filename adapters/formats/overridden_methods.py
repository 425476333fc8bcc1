"""Prompts and readings of adapters that override `format` or `parse` themselves and say nothing of origins or spans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.prompts.prompt import DataPart, Message, Prompt
from adapters.prompts.text import Text
from adapters.replies.reading import FieldReading, Reading, ReadingError, Span
from adapters.signatures.signature import Signature


def is_own(method: Callable[..., Any], own: Callable[..., Any]) -> bool:
    """Whether an adapter's `method` is `own` of this package, and not one of a user's class or set on the object."""
    return getattr(method, "__func__", None) is own


def content_parts(content: Any) -> tuple[tuple[Text | DataPart, ...], bool]:
    """A message's `parts` and `is_list` for content as an adapter's method gave it: text, a list, or nothing."""
    if isinstance(content, str):
        return (Text.of(content),), False
    if isinstance(content, list):
        return tuple([_part(one) for one in content]), True
    return (), False


def message_of(role: str, turn: str, content: Any) -> Message:
    """The message of what an adapter's method gave as its content."""
    if isinstance(content, str):
        return Message(role, turn, (Text.of(content),))
    return Message(role, turn, *content_parts(content))


def prompt_of_dicts(messages: Sequence[Mapping[str, Any]], turn: str | None = None) -> Prompt:
    """Messages given as plain dicts, as a `Prompt` whose text is all of kind `custom`: nobody said where it comes from.

    `turn` is what the messages are of; without it that is guessed from their roles.
    """
    made: list[Message] = []
    last_user = max((index for index, one in enumerate(messages) if one.get("role") == "user"), default=-1)
    for index, message in enumerate(messages):
        role = str(message.get("role", "user"))
        where = f"{turn} {index // 2 + 1}" if turn else _guess_turn(role, index, last_user)
        extra = {key: value for key, value in message.items() if key not in ("role", "content")}
        made.append(Message(role, where, *content_parts(message.get("content")), extra))
    return Prompt(tuple(made))


def reading_of_parse(
    adapter: str, signature: Signature, completion: str, parse: Callable[[Signature, str], Mapping[str, Any]]
) -> Reading:
    """What a `parse` of a user's adapter made of a reply: its values or its error, the reply one `ignored` span.

    A reply that is no text has no characters to tell of.
    """
    reply, completion = completion, completion if isinstance(completion, str) else ""
    spans = (Span(0, len(completion), "ignored"),) if completion else ()
    try:
        values = dict(parse(signature, reply))
    except Exception as error:  # any error of a user's parser is its verdict
        fields = {name: FieldReading(name, "unread") for name in signature.output_fields}
        verdict = ReadingError(type(error).__name__, str(error))
        return Reading(adapter, signature, completion, {}, spans, fields, verdict, error)
    read = {
        name: FieldReading(name, "read" if name in values else "missing", value=values.get(name))
        for name in signature.output_fields
    }
    return Reading(adapter, signature, completion, values, spans, read)


def _guess_turn(role: str, index: int, last_user: int) -> str:
    if role == "system":
        return "system"
    return "inputs" if index >= last_user else f"demo {(index + 1) // 2}"


def _part(part: Any) -> Text | DataPart:
    if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return Text.of(part["text"])
    return DataPart(part if isinstance(part, Mapping) else {"type": "text", "text": str(part)})
