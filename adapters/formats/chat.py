"""ChatAdapter as in dspy 3.4.1: `[[ ## field ## ]]` markers in the prompt and in the reply.

A reply is split into sections at its markers; the first section of each field counts (`ChatAdapter.parse`).
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import pydantic

from adapters.errors import Pieces
from adapters.formats import catalog
from adapters.formats.base import Adapter, Callback, is_own
from adapters.formats.profile import FALLBACK_OPTION, OF_THE_BASE, SHARED_OPTIONS, Card, Profile
from adapters.late_dataclasses import replace
from adapters.prompts.field_descriptions import (
    chat_field_description,
    joined,
    outputs_in_order,
    placeholder_segments,
    task_description,
    translate_field_type,
)
from adapters.prompts.text import Segment, Text, Values, value_segment
from adapters.replies.reading import Extract, Reading, Span
from adapters.replies.sections import MARKER, sections
from adapters.signatures.signature import CONSTRAINT_WORDS, Field, Signature
from adapters.values.value_text import write_value

INTRODUCTION = Segment(
    "All interactions will be structured in the following way, with the appropriate values filled in.", "boilerplate"
)
PARAGRAPH = Segment("\n\n", "boilerplate")
COMPLETED = Segment("\n\n[[ ## completed ## ]]\n", "marker")
END_LINE = Segment("[[ ## completed ## ]]\n", "marker")


PROFILE = Profile(
    about="[[ ## field ## ]] markers: what dspy uses unless told otherwise",
    card=Card(
        "The default of DSPy: every field under a marker of its own, in the prompt and in the reply.",
        "Inputs and outputs as text under [[ ## field ## ]] markers; the system message lists fields, form and task.",
        "The text under each marker, up to the next; the first of a field counts. Then a value of the field's type.",
        (
            "for most models, small ones too: the form is easy to follow",
            "for long texts and code: nothing has to be quoted or escaped",
            "where text in front of the answer should do no harm: it is ignored",
        ),
        (
            "for deeply nested outputs: their JSON is below a marker and may still be broken",
            "where values may contain lines that look like markers",
        ),
    ),
    inputs="markers",
    reply="markers",
    options=(*SHARED_OPTIONS, FALLBACK_OPTION),
    quirks=OF_THE_BASE | {"prompt-ends-with-completed-marker", "demos-show-field-names"},
    has_finetuning_in_dspy=True,
    structure=(
        "Then the form of every message: each field is below a marker such as [[ ## name ## ]] on a line of its "
        "own. The parser later looks for exactly these markers in the reply. Text in braces is a placeholder, "
        "and the notes beside the outputs say which values their types allow."
    ),
)


class ChatAdapter(Adapter):
    """The default adapter. `use_json_adapter_fallback` makes a second call through JSONAdapter after a parse error."""

    name: ClassVar[str] = "chat"
    profile: ClassVar[Profile] = PROFILE
    demo_forms: ClassVar[tuple[str, str] | None] = ("markers", "markers")

    def __init__(
        self,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = False,
        native_response_types: Sequence[type] | None = None,
        use_json_adapter_fallback: bool = True,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(callbacks, use_native_function_calling, native_response_types, parallel_tool_calls)
        self.use_json_adapter_fallback = use_json_adapter_fallback

    def fallback_adapter(self) -> Adapter | None:
        if not self.use_json_adapter_fallback:
            return None
        return catalog.OURS["json"].adapter(
            use_native_function_calling=self.use_native_function_calling, parallel_tool_calls=self.parallel_tool_calls
        )

    def format_field_description(self, signature: Signature) -> str:
        return chat_field_description(signature.fields_only)

    def format_field_structure(self, signature: Signature) -> str:
        if is_own(self.format_field_with_value, ChatAdapter.format_field_with_value):
            return _structure(signature.fields_only)
        inputs = self.format_field_with_value(fields_with_values=placeholders(signature.input_fields))
        outputs = self.format_field_with_value(fields_with_values=placeholders(signature.output_fields))
        return joined((Text((INTRODUCTION,)), inputs, outputs, Text((END_LINE,))))

    def format_task_description(self, signature: Signature) -> str:
        return task_description(signature.instructions)

    def format_user_message_content(
        self, signature: Signature, inputs: Values, prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        segments: list[Segment] = list(Text.of(prefix).segments) if prefix else []
        add = segments.append
        for name, annotation, first, following in markers_of(signature.inputs_only):
            if name in inputs:
                add(following if segments else first)
                add(value_segment(self.input_text(annotation, inputs[name]), name))
        if main_request:
            reminder = self.user_message_output_requirements(signature)
            if reminder is not None:
                add(PARAGRAPH)
                segments.extend(Text.of(reminder, "reminder").segments)
        if suffix:
            add(PARAGRAPH)
            segments.extend(Text.of(suffix).segments)
        return Text(segments).strip()

    def input_text(self, annotation: object, value: object) -> str:
        """Write the value of an input field."""
        return write_value(annotation, value)

    def user_message_output_requirements(self, signature: Signature) -> str | None:
        """Return the reminder at the end of a user message, or None."""
        return _reminder(signature.outputs_only)

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        if not is_own(self.format_field_with_value, ChatAdapter.format_field_with_value):
            return self.format_field_with_value(outputs_with_values(signature, outputs, missing_field_message)) + Text(
                (COMPLETED,)
            )
        segments: list[Segment] = []
        add = segments.append
        for name, annotation, first, following in markers_of(signature.outputs_only):
            add(following if segments else first)
            if name in outputs:
                add(value_segment(write_value(annotation, outputs[name]), name))
            elif isinstance(missing_field_message, Text):
                segments.extend([one._replace(field=name) for one in missing_field_message.segments])
            else:
                add(Segment(write_value(annotation, missing_field_message), "filler", name))
        last = segments[-1].text if segments else "none"
        if not last or last[-1].isspace():
            segments = list(Text(segments).strip().segments)
        return Text((*segments, COMPLETED))

    def format_field_with_value(self, fields_with_values: Mapping[Field, object]) -> str:
        """Write fields with values under markers, separated by empty lines."""
        segments: list[Segment] = []
        for field, value in fields_with_values.items():
            segments.append(_marker(field.name))
            segments.extend(value_segments(field, value))
        return Text(segments).strip()

    def _parse_other(self, signature: Signature, completion: Any) -> dict[str, object]:
        for line in completion.splitlines():
            MARKER.match(line.strip())
        return super()._parse_other(signature, completion)

    def _read(self, signature: Signature, completion: str) -> Reading:
        found, outputs = self._findings(signature, completion), signature.output_fields
        spans: list[Span] = []
        found.sections = sections(completion)
        for section in found.sections:
            name = section.name
            is_known = name in outputs
            if not is_known and name == "completed":
                spans.append(Span(section.marker_start, section.marker_end, "marker"))
                continue
            if not is_known or name in found.fields:
                end = max(section.marker_end, section.end)
                spans.append(
                    Span(section.marker_start, end, "duplicate" if is_known else "unknown", name if is_known else None)
                )
                continue
            spans.append(Span(section.marker_start, min(section.marker_end, section.start), "marker", name))
            spans.append(Span(section.start, section.end, "value", name))
            place = (section.start, section.end)
            joined = None
            if not section.is_plain and completion[section.start : section.end] != section.text:
                rule = "join_marker_line" if section.on_marker_line else "join_lines"
                joined = Extract(rule, *place, section.text)
            error = found.coerce(name, section.text, place, [], joined)
            if isinstance(error, ValueError):
                said = f"Failed to parse field {name} with value {section.text} from the LM response. Error message: "
                message = Pieces((said, found.told(name, error)))
                failure = found.parse_error("ChatAdapter", message)
                failure.__cause__ = error
                found.fail(failure, name, place, found.why(name, error))
            elif error is not None:
                found.fail(error, name, place)
        return found.reading("ChatAdapter", spans)


def _marker(name: str) -> Segment:
    return Segment(f"\n\n[[ ## {name} ## ]]\n", "marker", name)


Markers = tuple[tuple[str, Any, Segment, Segment], ...]


@lru_cache(maxsize=1024)
def markers_of(half: Signature) -> Markers:
    """Return each field's name, annotation, and marker: at the start of a message, and after an empty line."""
    return tuple(
        (name, field.annotation, Segment(f"[[ ## {name} ## ]]\n", "marker", name), _marker(name))
        for name, field in half.fields.items()
    )


def field_with_info(field: Field) -> Field:
    """Add the `info` of dspy's fields to a field, for methods written for dspy."""
    info = info_of(field)
    return field if field.info is info else replace(field, given_info=info)


def info_of(field: Field) -> object:
    """Return the field's `FieldInfo` as in dspy: the original if it still applies, else a new one."""
    given = field.info
    desc = f"${{{field.name}}}" if field.desc is None else field.desc
    if given is not None and given.annotation is field.annotation and f"{given.json_schema_extra.get('desc')}" == desc:
        return given
    extra: dict[str, Any] = {}
    for name, value in (("desc", field.desc), ("prefix", field.prefix)):
        if value is not None:
            extra[name] = value
    extra["__dspy_field_type"] = field.role
    if field.constraints:
        extra["constraints"] = field.constraints
    extra.setdefault("prefix", field.shown_prefix)
    extra.setdefault("desc", f"${{{field.name}}}")
    arguments: dict[str, Any] = {}  # of dspy's text of constraints; values that are not literals are skipped
    for piece in (field.constraints or "").split(", "):
        for name, words in CONSTRAINT_WORDS.items():
            if piece.startswith(words):
                try:
                    arguments[name] = literal_eval(piece.removeprefix(words))
                except (ValueError, SyntaxError):
                    continue
    if field.default_factory is not None:
        arguments["default_factory"] = field.default_factory
    elif not field.is_required:
        arguments["default"] = field.default
    made: Any = pydantic.Field(json_schema_extra=extra, **arguments)
    made.annotation = field.annotation
    return made


def placeholders(fields: Mapping[str, Field]) -> dict[Field, str]:
    """Map fields to placeholders, for a user's own `format_field_with_value`."""
    return {field_with_info(field): translate_field_type(name, field) for name, field in fields.items()}


def outputs_with_values(signature: Signature, outputs: Values, missing: str | None) -> dict[Field, object]:
    """Map output fields to their values or `missing`, for a user's own `format_field_with_value`."""
    return {field_with_info(field): outputs.get(name, missing) for name, field in signature.output_fields.items()}


def value_segments(field: Field, value: object) -> Sequence[Segment]:
    """Write a field's value as segments; a `Text` keeps its origins."""
    if isinstance(value, Text):
        return [one if one.field else one._replace(field=field.name) for one in value.segments]
    return (value_segment(write_value(field.annotation, value), field.name),)


@lru_cache(maxsize=512)
def structure_of(half: Signature) -> Text:
    """Write each field's marker above its placeholder and type note."""
    segments: list[Segment] = []
    for name, field in half.fields.items():
        segments.append(_marker(name))
        segments.extend(placeholder_segments(name, field))
    return Text(segments).strip()


@lru_cache(maxsize=512)
def _structure(signature: Signature) -> Text:
    halves = (structure_of(signature.inputs_only), structure_of(signature.outputs_only))
    return joined((Text((INTRODUCTION,)), *halves, Text((END_LINE,))))


@lru_cache(maxsize=512)
def _reminder(signature: Signature) -> Text:
    segments = [Segment("Respond with the corresponding output fields, starting with the field ", "reminder")]
    segments.extend(outputs_in_order(signature, "`[[ ## {} ## ]]`"))
    segments.append(Segment(", and then ending with the marker for ", "reminder"))
    segments.append(Segment("`[[ ## completed ## ]]`", "marker"))
    segments.append(Segment(".", "reminder"))
    return Text(segments)
