"""Describe fields in the system message: their list, and notes on output types (`dspy.adapters.utils`)."""

from __future__ import annotations

import enum
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeGuard

import pydantic

from adapters.prompts.text import Segment, Text, join
from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import name_of
from adapters.types.recognition import custom_types_in, is_custom_type, is_named, json_schema
from adapters.values.value_text import to_json

NOTE = " " * 8 + "# note: the value you produce "


def is_model(annotation: object) -> TypeGuard[type[pydantic.BaseModel]]:
    """Test whether `annotation` is a pydantic model."""
    return isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel)


def get_field_description_string(fields: Mapping[str, Field]) -> Text:
    """Write a numbered list of fields: name, type, description, custom types' descriptions, constraints.

    Rule: `dspy.adapters.utils.get_field_description_string`.
    """
    segments: list[Segment] = []
    for index, (name, field) in enumerate(fields.items()):
        segments.append(Segment(f"{chr(10) if index else ''}{index + 1}. `", "boilerplate", name))
        segments.append(Segment(name, "name", name))
        segments.append(Segment("` (", "boilerplate", name))
        segments.append(Segment(name_of(field.annotation), "type", name))
        segments.append(Segment("): ", "boilerplate", name))
        segments.append(Segment(field.description, "description", name))
        # Include the metadata of `Annotated`, which may be a custom type.
        is_annotated = field.metadata and field.info.annotation is field.annotation
        for custom in custom_types_in(field.info.rebuild_annotation() if is_annotated else field.annotation):
            description = custom.description()
            if description:
                segments.append(Segment(f"\n    Type description of {name_of(custom)}: ", "boilerplate", name))
                segments.append(Segment(description, "description", name))
        if field.constraints:
            segments.append(Segment("\nConstraints: ", "boilerplate", name))
            segments.append(Segment(field.constraints, "constraint", name))
    return Text(segments).strip()


def translate_field_type(field_name: str, field: Field) -> Text:
    """Write a field's placeholder for the structure section, with a note on the type of some outputs.

    Rule: `dspy.adapters.utils.translate_field_type`.
    """
    return Text(placeholder_segments(field_name, field))


def placeholder_segments(name: str, field: Field) -> tuple[Segment, ...]:
    """Return the segments of `translate_field_type`."""
    placeholder = Segment(f"{{{name}}}", "name", name)
    note = _type_note(field)
    return (placeholder, Segment(NOTE, "boilerplate", name), *note) if note else (placeholder,)


def _type_note(field: Field) -> tuple[Segment, ...]:
    annotation, name = field.annotation, field.name
    if field.role == "input" or annotation is str or is_named(annotation, "Reasoning"):
        return ()
    if annotation is bool:
        return (Segment("must be True or False", "type", name),)
    if annotation is int or annotation is float:
        return (Segment(f"must be a single {annotation.__name__} value", "type", name),)
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        values = "; ".join(str(member.value) for member in annotation)
        return (Segment("must be one of: ", "boilerplate", name), Segment(values, "type", name))
    if getattr(annotation, "__origin__", None) is Literal:
        values = "; ".join([str(value) for value in annotation.__args__])
        return (
            Segment("must exactly match (no extra characters) one of: ", "boilerplate", name),
            Segment(values, "type", name),
        )
    if is_custom_type(annotation) and is_named(annotation, "Code") and annotation.description():
        return ()
    return (
        Segment("must adhere to the JSON schema: ", "boilerplate", name),
        Segment(to_json(json_schema(annotation)), "schema", name),
    )


def outputs_in_order(signature: Signature, marker: str) -> list[Segment]:
    """Write the outputs for a reminder: each name in `marker` with its type, separated by `then`."""
    segments: list[Segment] = []
    for index, (name, field) in enumerate(signature.output_fields.items()):
        if index:
            segments.append(Segment(", then ", "reminder"))
        segments.append(Segment(marker.format(name), "marker", name))
        if is_named(field.annotation, "ToolCalls"):
            text = ' (must be a JSON object like {"tool_calls": [{"name": "...", "args": {...}}]})'
            segments.append(Segment(text, "reminder", name))
        elif field.annotation is not str:
            segments.append(Segment(" (must be formatted as a valid Python ", "reminder", name))
            segments.append(Segment(name_of(field.annotation), "type", name))
            segments.append(Segment(")", "reminder", name))
    return segments


@lru_cache(maxsize=512)
def described(half: Signature) -> Text:
    """Return `get_field_description_string` of the fields of `Signature.inputs_only` or `outputs_only`."""
    return get_field_description_string(half.fields)


@lru_cache(maxsize=512)
def chat_field_description(signature: Signature) -> Text:
    """Write the lists of inputs and outputs, as in Chat, JSON, XML and BAML."""
    return Text(
        (
            Segment("Your input fields are:\n", "boilerplate"),
            *described(signature.inputs_only).segments,
            Segment("\nYour output fields are:\n", "boilerplate"),
            *described(signature.outputs_only).segments,
        )
    )


@lru_cache(maxsize=512)
def task_description(instructions: str) -> Text:
    """Write the objective: the instructions with every line indented."""
    segments = [Segment("In adhering to this structure, your objective is: ", "boilerplate")]
    for line in textwrap.dedent(instructions).splitlines():
        segments.append(Segment("\n" + " " * 8, "boilerplate"))
        segments.append(Segment(line, "instructions"))
    return Text(segments)


def joined(parts: Iterable[str], separator: str = "\n\n") -> Text:
    """Join parts with an empty line and strip the result, as for most of dspy's messages."""
    return join(separator, tuple(parts)).strip()


INPUTS = "Your input fields are:\n"
OUTPUTS = "Your output fields are:\n"
OBJECTIVE = "In adhering to this structure, your objective is: "
_ENDS = ("Your output fields are:", "Your outputs must contain:", "All interactions will be")


class ListedField(NamedTuple):
    """An item of the numbered list of fields; the last lines of `description` may be constraints."""

    name: str
    type_text: str
    description: str


def listed_fields(system: str, heading: str) -> list[ListedField]:
    """Find the fields in the numbered list under `heading`.

    Some releases before 2.6.27 write a blank line after it.
    """
    start = system.find(heading)
    if start < 0:
        return []
    found: list[ListedField] = []
    for line in system[start + len(heading) :].split("\n"):
        item = re.match(rf"{len(found) + 1}\. `(\w+)` \(", line)
        if item:
            type_text, rest = _closed(line[item.end() :])
            found.append(ListedField(item.group(1), type_text, rest.removeprefix(":").removeprefix(" ")))
        elif line.startswith(_ENDS):
            break
        elif found and not line.startswith("You should lay out your outputs"):
            found[-1] = found[-1]._replace(description=f"{found[-1].description}\n{line}")
        elif found:
            break
    if found:
        found[-1] = found[-1]._replace(description=found[-1].description.rstrip("\n"))
    return found


def requested_type(name: str, request: str) -> str | None:
    """Return the type that the last user message requests for an output, if it names one."""
    found = re.search(rf"`{re.escape(name)}` \(must be formatted as a valid Python ", request)
    return None if found is None else _closed(request[found.end() :])[0]


def _closed(text: str) -> tuple[str, str]:
    """Split text at the bracket that closes an already open bracket, outside quotes."""
    depth, quote = 1, ""
    for place, char in enumerate(text):
        if quote:
            quote = "" if char == quote and text[place - 1] != "\\" else quote
        elif char in "'\"":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
            if depth == 0:
                return text[:place], text[place + 1 :]
    return text.partition(")")[0], text.partition(")")[2]


def type_note(name: str, system: str) -> str | None:
    """Find the note on an output's type in the structure section, also inside a JSON object."""
    mark = f"{{{name}}}{NOTE}"
    start = system.rfind(mark)
    if start < 0:
        return None
    line = system[start:].split("\n", 1)[0]
    if system[start - 1 : start] == '"':
        try:
            line = json.JSONDecoder().raw_decode(system[start - 1 :])[0]
        except ValueError:
            return None
    return line[len(mark) :]


def simplified_type(name: str, system: str) -> str | None:
    """Find an output's type as written by the BAML adapter."""
    end = r"(?=\n\n\[\[ ## \w+ ## \]\]|\nIn adhering to this|\Z)"
    found = re.search(rf"Output field `{re.escape(name)}` should be of type: (.*?){end}", system, re.DOTALL)
    return found.group(1) if found else None
