"""MarkdownAdapter: a message of numbered markdown sections, answered by a fenced block of JSON.

The format follows the prompts of weakincentives; the text is ours, and unlike theirs it names the output fields. Demos
and history are left out, as the prompt's notes and the demos' uses report.

A reply is parsed from a labelled fence, else as a whole, else from the first JSON value in it. The order and the errors
are those of weakincentives' structured output, except that a ``` inside a text does not end the fence; the values are
then coerced as in all adapters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, get_origin

from adapters.formats.base import Adapter, Callback
from adapters.formats.json import JSONAdapter, Places, member_spans
from adapters.formats.profile import SHARED_OPTIONS, Card, Opening, Profile
from adapters.json_text.json_document import Member, members
from adapters.json_text.json_loading import NOT_JSON, load_valid_json
from adapters.json_text.repair_limits import TooLargeError
from adapters.prompts import content_markers as markers
from adapters.prompts.field_descriptions import placeholder_segments
from adapters.prompts.text import Demos, DemoUse, Message, Prompt, Segment, Text, Values
from adapters.replies.reading import Reading, Span
from adapters.replies.reading_builder import reason
from adapters.requests.capabilities import Capabilities
from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import name_of
from adapters.types.recognition import is_custom_type, schema_by_name
from adapters.values.coercion import RULES
from adapters.values.plain_json import Step
from adapters.values.value_text import write_value

PROFILE = Profile(
    about="numbered sections, and one fenced JSON block for a reply",
    card=Card(
        "One message of numbered sections; the reply one fenced block of JSON. Ours, not dspy's.",
        "Sections for the task, each input and the response format; no place for demos and history.",
        "The fenced block, strictly: no other keys, unless the adapter is told to let them through.",
        ("for prompts that people read and edit as documents", "where a reply must be exact or refused"),
        ("with demos or history: they are left out, as a note beside the prompt says",),
    ),
    inputs="sections",
    reply="fenced json",
    options=(*SHARED_OPTIONS, "allow_extra_keys", "native_schema"),
    has_demos=False,
    history="left out",
    quirks=frozenset(("instructions-split-at-any-line-break", "marks-what-is-not-supplied")),
    openings=(
        Opening(
            r"## \d+\. Response Format",
            "The response format",
            "The form of the reply, asked for at the very end where it counts most: one fenced block of JSON, with "
            "every output by name, type and description.",
        ),
        Opening(
            r"## \d+\. ",
            "The task",
            "This adapter writes one message of numbered sections. First the task: the docstring of the signature.",
        ),
        Opening(
            r"## \d+\. ",
            "The input {field}",
            "A section for this input, with its value for the case on screen. Examples and history have no place in "
            "this format; what is left out is said beside the prompt.",
            is_field=True,
        ),
    ),
)


class MarkdownAdapter(Adapter):
    """An adapter with sections for the task, each input and the response format.

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

    def _render(self, signature: Signature, demos: Demos, inputs: Values, reuse: Prompt | None) -> Prompt:
        history_field = signature.history_field
        segments: list[Segment] = []
        _section(segments, 1, "Task", None, Segment(signature.instructions, "instructions"))
        shown = [one for one in signature.input_fields.values() if one.name in inputs and one.name != history_field]
        for number, field in enumerate(shown, 2):
            _input_section(segments, number, field, inputs[field.name])
        segments.extend(_response_format(signature, len(shown) + 2, self.allow_extra_keys).segments)
        text = Text(segments)
        if markers.START in text:
            parts, is_list = markers.expand(text)
            message = Message("user", "inputs", parts, is_list)
        else:
            message = Message("system", "system", (text,))
        uses = tuple([DemoUse(index, "dropped", ()) for index, _ in enumerate(demos, 1)])
        turns: Any = inputs[history_field] if history_field is not None and history_field in inputs else None
        notes: list[str] = []
        for count, one, many in (
            (len(uses), "demo", "demos"),
            (0 if turns is None else len(turns.messages), "turn of history", "turns of history"),
        ):
            if count:
                notes.append(f"{count} {one if count == 1 else many} left out: this format has no place for them")
        return Prompt((message,), uses, notes=tuple(notes))

    def _read(self, signature: Signature, completion: str) -> Reading:
        found, array = self._findings(signature, completion), asks_for_array(signature)
        try:
            located = locate(completion)
            values = _json_fields(signature, located, array)
        except (ValueError, RecursionError) as error:
            found.fail(found.parse_error(ADAPTER, reason(error)), None, None, reason(error))
            return found.reading(ADAPTER)
        unknown = [name for name in values if name not in signature.output_fields]
        if unknown and not self.allow_extra_keys:
            message = f"Extra keys not permitted: {unknown}"
            found.fail(found.parse_error(ADAPTER, message), message=message)
        text = completion[located.start : located.end]
        given = members(text, tuple(signature.output_fields)) if not array or isinstance(located.value, dict) else None
        spans, places = _spans(signature, located, given, array)
        first = Step(located.rule, completion, text)
        for name, value in values.items():
            if name not in signature.output_fields:
                continue
            place = places.get(name)
            steps = [first, Step("json", text, value, path="" if value is located.value else name)]
            refused = found.coerce(name, value, place, steps)
            if refused is not None:
                message = found.why(name, refused)
                failure = found.parse_error(ADAPTER, message)
                failure.__cause__ = refused
                found.fail(failure, name, place, message)
        return found.reading(ADAPTER, spans)

    def format_field_description(self, signature: Signature) -> str:
        return _fields(signature.outputs_only)

    def format_field_structure(self, signature: Signature) -> str:
        return _response_format(signature, 1, self.allow_extra_keys).strip()

    def format_task_description(self, signature: Signature) -> str:
        return Text.of(signature.instructions, "instructions")

    def format_user_message_content(
        self, signature: Signature, inputs: Values, prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        """Write a later message (tool results), with a numbered section for each input."""
        segments: list[Segment] = list(Text.of(prefix).segments)
        shown = [one for one in signature.input_fields.values() if one.name in inputs]
        for number, field in enumerate(shown, 1):
            _input_section(segments, number, field, inputs[field.name])
        reminder = self.user_message_output_requirements(signature) if main_request else ""
        for text in (Text.of(reminder, "reminder"), Text.of(suffix)):
            if text:
                segments.extend((Segment("\n\n" if segments else "", "boilerplate"), *text.segments))
        return Text(segments)

    def user_message_output_requirements(self, signature: Signature) -> str:
        """Write the reminder at the end of a later message."""
        names = ", ".join([f"`{name}`" for name in signature.output_fields])
        shape = "an array" if asks_for_array(signature) else f"an object with the keys {names}"
        said = f"Reply with one fenced block of JSON, opened by ```json, and nothing before or after it: {shape}."
        return Text((Segment(said, "reminder"),))

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        inner = Text.of(JSONAdapter().format_assistant_message_content(signature, outputs, missing_field_message))
        return Text((Segment("```json\n", "marker"), *inner.segments, Segment("\n```", "marker")))


def asks_for_array(signature: Signature) -> bool:
    """Test whether the reply should be a JSON array, as for a single list output."""
    outputs = list(signature.output_fields.values())
    return len(outputs) == 1 and get_origin(outputs[0].annotation) is list and not is_custom_type(outputs[0].annotation)


def _input_section(segments: list[Segment], number: int, field: Field, value: object) -> None:
    title = field.name.replace("_", " ").title()
    text = write_value(field.annotation, value).strip()
    _section(segments, number, title, field.name, Segment(text, "value", field.name))


def _section(segments: list[Segment], number: int, title: str, field: str | None, body: Segment) -> None:
    segments.append(Segment(f"{chr(10) * 2 if segments else ''}## {number}. ", "marker", field))
    segments.append(Segment(title, "name" if field else "marker", field))
    if body.text:
        segments += [Segment("\n\n", "boilerplate", field), body]


@lru_cache(maxsize=512)
def _fields(signature: Signature) -> Text:
    """Write a list item for each output: name, type, description, constraints and note on the type."""
    segments: list[Segment] = []
    for index, (name, field) in enumerate(signature.output_fields.items()):
        segments.append(Segment(f"{chr(10) if index else ''}- `", "boilerplate", name))
        segments.append(Segment(name, "name", name))
        segments.append(Segment("` (", "boilerplate", name))
        segments.append(Segment(name_of(field.annotation), "type", name))
        segments.append(Segment(")", "boilerplate", name))
        if field.description:
            segments += [Segment(": ", "boilerplate", name), Segment(field.description, "description", name)]
        notes: list[Sequence[Segment]] = []
        if field.constraints:
            notes.append([Segment(field.constraints, "constraint", name)])
        notes.append(placeholder_segments(name, field)[2:])
        if not field.is_required:
            notes.append([Segment("may be left out", "boilerplate", name)])
        is_sentence = field.description.endswith((".", "!", "?", "…"))
        for first, *rest in filter(None, notes):
            if is_sentence:  # the notes are the next one
                first = first._replace(text=first.text[0].upper() + first.text[1:])
            segments += [Segment(" " if is_sentence else "; ", "boilerplate", name), first, *rest]
            is_sentence = False
    return Text(segments)


@lru_cache(maxsize=512)
def _response_format(signature: Signature, number: int, allow_extra_keys: bool) -> Text:
    opening = Segment(
        "Reply with one fenced block of JSON, opened by ```json, and nothing before or after it.\n\n", "reminder"
    )
    is_array = asks_for_array(signature)
    shape = "an array: the value of this field" if is_array else "an object with these keys"
    segments = [
        Segment("\n\n", "boilerplate"),
        Segment(f"## {number}. Response Format\n\n", "marker"),
        opening,
        Segment(f"The JSON is {shape}{'.' if is_array else ':'}\n\n", "reminder"),
    ]
    segments.extend(_fields(signature.outputs_only).segments)
    if not allow_extra_keys and not is_array:
        segments.append(Segment("\n\nAdd no other keys.", "reminder"))
    return Text(segments)


ADAPTER = "MarkdownAdapter"
FENCE = re.compile(r"```json\s*\n(.*?)```", re.IGNORECASE | re.DOTALL)
CLOSING = re.compile(r"\s*```")
OPENING = re.compile(r"[{\[]")
WORK_FACTOR = 16
"""Limit on the characters searched for a JSON value, as a multiple of the reply's length."""
MOST_OPENINGS = 1_000
"""Limit on brackets that do not open a JSON value, each of which costs a scan of all lines before it."""


class Located(NamedTuple):
    """A JSON value in the reply: the rule that found it, and its range."""

    rule: str
    value: object
    start: int
    end: int


class NothingFound(ValueError):  # noqa: N818
    """No usable JSON value in the reply."""


def locate(completion: str) -> Located:
    """Find the JSON value of a reply. Raises NothingFound, TooLargeError, and RecursionError for deep nesting."""
    fence = FENCE.search(completion)
    if fence is not None:
        start, end = _stripped(completion, *fence.span(1))
        value = load_valid_json(completion[start:end])
        if value is NOT_JSON:  # a ``` inside a text is no end of the block
            value, end = _before_a_fence(completion, start)
        if value is NOT_JSON:
            raise NothingFound("the fenced block is not valid JSON")
        return Located("json_fence", value, start, end)
    value = load_valid_json(completion.strip())
    if value is not NOT_JSON:
        return Located("strip", value, *_stripped(completion, 0, len(completion)))
    decode = json.JSONDecoder().raw_decode
    budget = WORK_FACTOR * len(completion) + 1000
    for number, match in enumerate(OPENING.finditer(completion)):
        try:
            value, end = decode(completion, match.start())
        except json.JSONDecodeError as error:
            budget -= error.pos - match.start()
            if budget < 0 or number >= MOST_OPENINGS:
                raise TooLargeError("too many openings of JSON values that never end") from error
            continue
        return Located("first_json", value, match.start(), end)
    raise NothingFound("no JSON object or array in the reply")


def _before_a_fence(text: str, start: int) -> tuple[Any, int]:
    """Return the JSON value at `start` and its end; `NOT_JSON` unless a closing fence follows it."""
    try:
        value, end = json.JSONDecoder().raw_decode(text, start)
    except ValueError:
        return NOT_JSON, start
    return (value, end) if CLOSING.match(text, end) else (NOT_JSON, start)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    stripped = inner.strip()
    lead = start + len(inner) - len(inner.lstrip()) if stripped else start
    return lead, lead + len(stripped)


def _json_fields(signature: Signature, located: Located, array: bool) -> Mapping[str, object]:
    value = located.value
    if array:
        (name,) = signature.output_fields
        if isinstance(value, list):
            return {name: value}
        if isinstance(value, dict) and name not in value and isinstance(value.get("items"), list):
            return {name: value["items"]}
    if not isinstance(value, dict):
        names = {type(None): "null", list: "an array", str: "a string", bool: "true or false"}
        wanted, got = "an array" if array else "an object", names.get(type(value), "a number")
        raise NothingFound(f"expected {wanted} at the top, got {got}")
    return value


def _spans(
    signature: Signature, located: Located, given: list[Member] | None, array: bool
) -> tuple[list[Span], Places]:
    if given is None:
        (name,) = signature.output_fields
        return [Span(located.start, located.end, "value", name)], {name: (located.start, located.end)}
    found = [one.moved(located.start) for one in given]
    only = next(iter(signature.output_fields), "")
    if array and all(one.key != only for one in found):
        found = [one._replace(key=only) if one.key == "items" else one for one in found]
    return member_spans(signature, found)


def _located_text(before: str, annotation: object) -> str:
    located = locate(before)
    return before[located.start : located.end]


RULES["json_fence"] = RULES["first_json"] = _located_text
