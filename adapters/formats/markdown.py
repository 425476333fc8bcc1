"""MarkdownAdapter: a message of numbered markdown sections, answered by a fenced block of JSON.

After the prompts of weakincentives; the wording is ours, and unlike theirs it names the output fields. It has no place
for demos and history: the prompt's notes and the demos' uses say what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, get_origin

from adapters.formats.base import Adapter
from adapters.formats.markdown_reading import read_markdown
from adapters.formats.profile import SHARED_OPTIONS, Card, Opening, Profile
from adapters.prompts import content_markers as markers
from adapters.prompts.field_descriptions import placeholder_segments
from adapters.prompts.prompt import DemoUse, Message, Prompt
from adapters.prompts.text import Segment, Text
from adapters.replies.reading import Reading
from adapters.requests.capabilities import Capabilities
from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import name_of
from adapters.types import is_custom_type
from adapters.types.pydantic_schema import schema_by_name
from adapters.values.value_text import write_value

if TYPE_CHECKING:
    from adapters.formats.callbacks import Callback

FORMAT_TITLE = "Response Format"


PROFILE = Profile(
    about="numbered sections, and one fenced JSON block for a reply",
    card=Card(
        "One message of numbered sections; the reply one fenced block of JSON. Ours, not dspy's.",
        "Sections for the task, each input and the response format; no place for demos and history.",
        "The fenced block, strictly: no other keys, unless the adapter is told to let them through.",
        ("for prompts that people read and edit as documents", "where a reply must be exact or refused"),
        ("with demos or history: they are left out, which is said beside the prompt",),
    ),
    inputs="sections",
    reply="fenced json",
    options=(*SHARED_OPTIONS, "allow_extra_keys", "native_schema"),
    has_demos=False,
    history="left out",
    quirks=frozenset(("instructions-split-at-any-line-break", "marks-what-is-not-supplied")),
    openings=(
        Opening(
            re.compile(r"## \d+\. Response Format"),
            False,
            "The response format",
            "The form of the reply, asked for at the very end where it counts most: one fenced block of JSON, with "
            "every output by name, type and description.",
        ),
        Opening(
            re.compile(r"## \d+\. "),
            False,
            "The task",
            "This adapter writes one message of numbered sections. First the task: the docstring of the signature.",
        ),
        Opening(
            re.compile(r"## \d+\. "),
            True,
            "The input {field}",
            "A section for this input, with its value for the case on screen. Examples and history have no place in "
            "this format; what is left out is said beside the prompt.",
        ),
    ),
)


class MarkdownAdapter(Adapter):
    """Sections for the task, each input and the response format.

    `allow_extra_keys` accepts and ignores keys that are not output fields; `native_schema` also sends the outputs'
    JSON schema as `response_format` to models that support it. A single list output is requested as a JSON array.
    """

    name: ClassVar[str] = "markdown"
    profile: ClassVar[Profile] = PROFILE

    def __init__(
        self,
        allow_extra_keys: bool = False,
        native_schema: bool = False,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = False,
        native_response_types: Sequence[type] | None = None,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(callbacks, use_native_function_calling, native_response_types, parallel_tool_calls)
        self.allow_extra_keys = allow_extra_keys
        self.native_schema = native_schema

    def response_format(self, signature: Signature, capabilities: Capabilities) -> dict[str, object] | None:
        if not self.native_schema or not capabilities.response_schema or "response_format" not in capabilities.params:
            return None
        properties = {name: schema_by_name(field.annotation) for name, field in signature.output_fields.items()}
        schema = {
            "type": "object",
            "properties": properties,
            "required": [name for name, field in signature.output_fields.items() if field.is_required],
            "additionalProperties": self.allow_extra_keys,
        }
        return {"type": "json_schema", "json_schema": {"name": f"{signature.name}_schema", "schema": schema}}

    def _render(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, object]],
        inputs: Mapping[str, object],
        reuse: Prompt | None,
    ) -> Prompt:
        history_field = signature.history_field
        segments: list[Segment] = []
        number = 1
        _section(segments, number, "Task", None, [Segment(signature.instructions, "instructions")])
        for name, field in signature.input_fields.items():
            if name in inputs and name != history_field:
                number += 1
                value = write_value(field.annotation, inputs[name])
                _section(segments, number, _title(name), name, [Segment(value.strip(), "value", name)])
        segments.extend(_response_format(signature, number + 1, self.allow_extra_keys).segments)
        text = Text(segments)
        if markers.START in text:
            parts, is_list = markers.expand(text)
            message = Message("user", "inputs", parts, is_list)
        else:
            message = Message("system", "system", (text,))
        uses = tuple([DemoUse(index, "dropped", ()) for index, _ in enumerate(demos, 1)])
        return Prompt((message,), uses, notes=_notes(len(uses), history_field, inputs))

    def _read(self, signature: Signature, completion: str) -> Reading:
        return read_markdown(self._findings(signature, completion), self.allow_extra_keys, asks_for_array(signature))

    def format_field_description(self, signature: Signature) -> str:
        return _fields(signature.fields_only)

    def format_field_structure(self, signature: Signature) -> str:
        return _response_format(signature, 1, self.allow_extra_keys).strip()

    def format_task_description(self, signature: Signature) -> str:
        return Text.of(signature.instructions, "instructions")

    def format_user_message_content(
        self,
        signature: Signature,
        inputs: Mapping[str, object],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str:
        """A later message of the conversation (the results of tools): a numbered section for each input."""
        segments: list[Segment] = list(Text.of(prefix).segments)
        number = 0
        for name, field in signature.input_fields.items():
            if name in inputs:
                number += 1
                value = write_value(field.annotation, inputs[name])
                _section(segments, number, _title(name), name, [Segment(value.strip(), "value", name)])
        reminder = self.user_message_output_requirements(signature) if main_request else ""
        for text in (Text.of(reminder, "reminder"), Text.of(suffix)):
            if text:
                segments.extend((Segment("\n\n" if segments else "", "boilerplate"), *text.segments))
        return Text(segments)

    def user_message_output_requirements(self, signature: Signature) -> str:
        """The reminder under such a message."""
        names = ", ".join([f"`{name}`" for name in signature.output_fields])
        shape = "an array" if asks_for_array(signature) else f"an object with the keys {names}"
        said = f"Reply with one fenced block of JSON, opened by ```json, and nothing before or after it: {shape}."
        return Text((Segment(said, "reminder"),))

    def format_assistant_message_content(
        self, signature: Signature, outputs: Mapping[str, object], missing_field_message: str | None = None
    ) -> str:
        from adapters.formats.json import JSONAdapter

        inner = Text.of(JSONAdapter().format_assistant_message_content(signature, outputs, missing_field_message))
        return Text((Segment("```json\n", "marker"), *inner.segments, Segment("\n```", "marker")))


def asks_for_array(signature: Signature) -> bool:
    """Test whether the reply should be a JSON array: for a single output that is a list."""
    outputs = list(signature.output_fields.values())
    return len(outputs) == 1 and get_origin(outputs[0].annotation) is list and not is_custom_type(outputs[0].annotation)


def _section(segments: list[Segment], number: int, title: str, field: str | None, body: list[Segment]) -> None:
    segments.append(Segment(f"{chr(10) * 2 if segments else ''}## {number}. ", "marker", field))
    segments.append(Segment(title, "name" if field else "marker", field))
    if any(segment.text for segment in body):
        segments.append(Segment("\n\n", "boilerplate", field))
        segments.extend(body)


def _title(name: str) -> str:
    return name.replace("_", " ").title()


@lru_cache(maxsize=512)
def _fields(signature: Signature) -> Text:
    """A list item for each output: its name, type, description, constraints and note on the type."""
    segments: list[Segment] = []
    for index, (name, field) in enumerate(signature.output_fields.items()):
        segments.append(Segment(f"{chr(10) if index else ''}- `", "boilerplate", name))
        segments.append(Segment(name, "name", name))
        segments.append(Segment("` (", "boilerplate", name))
        segments.append(Segment(name_of(field.annotation), "type", name))
        segments.append(Segment(")", "boilerplate", name))
        segments.extend(_details(name, field))
    return Text(segments)


def _details(name: str, field: Field) -> list[Segment]:
    details: list[Segment] = []
    if field.description:
        details += [Segment(": ", "boilerplate", name), Segment(field.description, "description", name)]
    if field.constraints:
        details += [Segment("; ", "boilerplate", name), Segment(field.constraints, "constraint", name)]
    note = placeholder_segments(name, field)[2:]
    if note:
        details += [Segment("; ", "boilerplate", name), *note]
    if not field.is_required:
        details.append(Segment("; may be left out", "boilerplate", name))
    return details


@lru_cache(maxsize=512)
def _response_format(signature: Signature, number: int, allow_extra_keys: bool) -> Text:
    opening = Segment(
        "Reply with one fenced block of JSON, opened by ```json, and nothing before or after it.\n\n", "reminder"
    )
    if asks_for_array(signature):
        shape = Segment("The JSON is an array: the value of this field.\n\n", "reminder")
    else:
        shape = Segment("The JSON is an object with these keys:\n\n", "reminder")
    segments = [Segment("\n\n", "boilerplate"), Segment(f"## {number}. {FORMAT_TITLE}\n\n", "marker"), opening, shape]
    segments.extend(_fields(signature.fields_only).segments)
    if not allow_extra_keys and not asks_for_array(signature):
        segments.append(Segment("\n\nAdd no other keys.", "reminder"))
    return Text(segments)


def _notes(demos: int, history_field: str | None, inputs: Mapping[str, Any]) -> tuple[str, ...]:
    notes: list[str] = []
    if demos:
        notes.append(f"{demos} demo{'' if demos == 1 else 's'} left out: this format has no place for them")
    turns = len(inputs[history_field].messages) if history_field is not None and history_field in inputs else 0
    if turns:
        notes.append(f"{turns} turn{'' if turns == 1 else 's'} of history left out: this format has no place for them")
    return tuple(notes)
