"""Export prompts with unique placeholders for the inputs.

Filling in all placeholders at once (never in turn: a value may contain a placeholder) gives the original messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from adapters.late_dataclasses import dataclass, replace
from adapters.prompts.text import Message, Text
from adapters.signatures.type_names import name_of
from sessions.exports import exported
from sessions.exports.exported import Exported, ExportError, Source, View, beside
from sessions.running.recording import as_json

STAND_IN = "x"
"""A stand-in for empty texts, which leave no trace in a prompt, to locate their fields."""

INPUTS = ("inputs", "system")
"""The turns that may contain inputs; the Markdown adapter puts everything in a single message."""

FORMS = ("{{{{{name}}}}}", "<<{name}>>", "[[[{name}]]]", "%%{name}%%", "⟪{name}⟫")


@dataclass(frozen=True)
class Slot:
    """The place of an input's value; `text` is this case's value as the adapter wrote it."""

    field: str
    text: str


Piece = str | Slot


@dataclass(frozen=True)
class Part:
    """A message: `content` is pieces, or a list of parts that are pieces or objects of a provider."""

    role: str
    content: Any
    extra: Mapping[str, Any]


def parts_of(view: View) -> tuple[Part, ...]:
    """Return the messages of a view with slots for the inputs' values. Raises ExportError.

    An empty text has no slot if the adapter writes it differently from others: Markdown omits the line before it, and
    TwoStep the space before the last one.
    """
    fields = view.signature.input_fields
    parts = _parts(view.request.messages, fields, ())
    messages = written(parts, _text_of)
    empty = [name for name in fields if fields[name].annotation is str and view.case.inputs.get(name) == ""]
    shown: list[str] = []
    for name in empty:
        inputs = {**view.case.inputs, **dict.fromkeys([*shown, name], STAND_IN)}
        stood_in = replace(view, case=replace(view.case, inputs=inputs))
        with_slots = _parts(stood_in.request.messages, fields, empty)
        if written(with_slots, _text_of) == messages:
            shown.append(name)
            parts = with_slots
    return parts


def _parts(messages: Sequence[Message], fields: Collection[str], empty: Sequence[str]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for message in messages:
        inputs = fields if message.turn in INPUTS else ()
        content: Any
        if message.is_list or any(not isinstance(one, Text) for one in message.parts):
            content = [
                tuple(_pieces(one, inputs, empty)) if isinstance(one, Text) else as_json(one.payload)
                for one in message.parts
            ]
        else:
            content = tuple(_pieces(message.text, inputs, empty))
        parts.append(Part(message.role, content, as_json(message.extra)))
    return tuple(parts)


def _text_of(pieces: tuple[Piece, ...]) -> str:
    return "".join(one.text if isinstance(one, Slot) else one for one in pieces)


def _pieces(text: Text, inputs: Collection[str], empty: Sequence[str]) -> Iterator[Piece]:
    """Split a text into pieces with slots for the signature's inputs; tool descriptions, equal in all cases, stay."""
    said = ""
    for segment in text.segments:
        if segment.kind == "value" and segment.field is not None and segment.field in inputs:
            if said:
                yield said
            said = ""
            yield Slot(segment.field, "" if segment.field in empty else segment.text)
        else:
            said += segment.text
    if said:
        yield said


def written(parts: Sequence[Part], text: Callable[[tuple[Piece, ...]], str]) -> list[dict[str, Any]]:
    """Build the messages; `text` joins the pieces of each text."""
    messages: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part.content, list):
            content: Any = [
                {"type": "text", "text": text(one)} if isinstance(one, tuple) else one for one in part.content
            ]
        else:
            content = text(part.content)
        messages.append({"role": part.role, "content": content, **part.extra})
    return messages


def slots_of(parts: Sequence[Part]) -> dict[str, str]:
    """Return the value of each field that has a slot."""
    return {one.field: one.text for pieces in texts_of(parts) for one in pieces if isinstance(one, Slot)}


def texts_of(parts: Sequence[Part]) -> list[tuple[Piece, ...]]:
    contents = [part.content if isinstance(part.content, list) else [part.content] for part in parts]
    return [one for content in contents for one in content if isinstance(one, tuple)]


def placeholders(parts: Sequence[Part]) -> dict[str, str]:
    """Choose a placeholder for each field with a slot; the text contains them nowhere else."""
    names = list(slots_of(parts))
    for suffix in ("", *(f"-{number}" for number in range(1, 1000))):
        for form in FORMS:
            chosen = {name: form.format(name=f"{name}{suffix}") for name in names}
            if all(_is_plain(pieces, chosen) for pieces in texts_of(parts)):
                return chosen
    raise ExportError("every possible placeholder already occurs in the text")


def _is_plain(pieces: tuple[Piece, ...], chosen: Mapping[str, str]) -> bool:
    """Check that a search finds the placeholders exactly where they were put."""
    if not chosen:
        return True
    text, places = "", []
    for piece in pieces:
        if isinstance(piece, Slot):
            places.append((len(text), piece.field))
            text += chosen[piece.field]
        else:
            text += piece
    search = re.compile("|".join(f"({re.escape(one)})" for one in chosen.values()))
    names = list(chosen)
    return places == [(found.start(), names[(found.lastindex or 1) - 1]) for found in search.finditer(text)]


def filled(messages: object, values: Mapping[str, str]) -> Any:
    """Replace all placeholders in a template's messages at once; `values` maps placeholders to texts."""
    if isinstance(messages, str):
        if not values:
            return messages
        return re.sub("|".join(re.escape(one) for one in values), lambda found: values[found[0]], messages)
    if isinstance(messages, Mapping):
        return {key: filled(one, values) if key in ("content", "text") else one for key, one in messages.items()}
    return [filled(one, values) for one in messages] if isinstance(messages, list) else messages


def template(source: Source) -> Exported:
    """Export `{"messages", "placeholders": {FIELD: {"text", "type", "written", "value"}}}`.

    `written` is the form that replaces the placeholder `text`: `as it stands`, or `as in value` for types that the
    adapter formats. `value` is this case's; with it, the messages equal the request's.
    """
    view = source.first
    parts = parts_of(view)
    chosen, values = placeholders(parts), slots_of(parts)
    fields = view.signature.input_fields
    described = {
        name: {
            "text": chosen[name],
            "type": name_of(fields[name].annotation),
            "written": "as it stands" if values[name] == view.case.inputs.get(name) else "as in value",
            "value": values[name],
        }
        for name in chosen
    }
    messages = written(
        parts, lambda pieces: "".join(chosen[one.field] if isinstance(one, Slot) else one for one in pieces)
    )
    text = exported.readable({"messages": messages, "placeholders": described})
    left = [*beside(view)]
    fixed = [name for name in fields if name not in chosen]
    if fixed:
        left.append(f"a place for {', '.join(fixed)}: no text of this case's prompt is the value of it")
    if view.request.params:
        left.append(
            f"the parameters beside the messages: {', '.join(view.request.params)} (the export `request` has them)"
        )
    return Exported(text + "\n", tuple(left))
