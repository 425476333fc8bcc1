"""JSONAdapter as in dspy 3.4.1: inputs under markers, outputs as a JSON object, repaired if necessary.

Parsing rule: `JSONAdapter.parse`, also for BAMLAdapter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from adapters.errors import Pieces
from adapters.formats.base import Adapter, Callback, is_own
from adapters.formats.chat import INTRODUCTION, ChatAdapter, outputs_with_values, placeholders, structure_of
from adapters.formats.profile import OF_THE_BASE, Card, Profile
from adapters.json_text.json_document import Member, align, embedded_object, members
from adapters.json_text.json_loading import NOT_JSON, load_valid_json
from adapters.prompts.field_descriptions import joined, outputs_in_order, placeholder_segments
from adapters.prompts.text import Segment, Text, Values, value_segment
from adapters.replies.reading import Extract, Reading, Span
from adapters.replies.reading_builder import Findings
from adapters.requests.capabilities import Capabilities
from adapters.requests.strict_schema import response_format
from adapters.signatures.signature import Field, Signature
from adapters.values.coercion import RULES
from adapters.values.plain_json import Step
from adapters.values.value_text import indented_json, serialize_for_json, to_json

JSON_SPACE = " \t\n\r"
BRACE = re.compile("[{}]")

RULES["first_object"] = lambda before, annotation: first_object(before)


class Document(NamedTuple):
    """The JSON object in a reply: its values, range `start` to `end`, members with positions, and steps.

    `members` is None if the reply was repaired and the positions are unknown.
    """

    values: dict[str, object]
    start: int
    end: int
    members: Sequence[Member] | None
    steps: tuple[Step, ...]


def read_json(found: Findings, error_name: str) -> Reading:
    """Parse a reply as a JSON object. `error_name` is the adapter named in dspy's errors about values."""
    signature, completion = found.signature, found.completion
    try:
        document, searched = _document(completion, tuple(signature.output_fields))
    except Exception as error:  # dspy does not catch json_repair's errors, so these are the verdict
        found.fail(error)
        return found.reading("JSONAdapter")
    if document is None:
        place, said = _syntax_error(completion)
        message = "LM response cannot be serialized to a JSON object."
        found.fail(found.parse_error("JSONAdapter", message, searched), None, place, said)
        return found.reading("JSONAdapter")
    searched = (document.start, document.end)
    partial = {name: value for name, value in document.values.items() if name in signature.output_fields}
    spans, places = _spans(signature, completion, document)
    for name, value in list(partial.items()):
        place = places.get(name)
        refused = found.coerce(name, value, place, *_first_step(document, name, value, place))
        if refused is None:
            partial[name] = found.fields[name].value
        elif isinstance(refused, ValueError):
            words = Pieces((f"Failed to parse field {name}: ", found.told(name, refused)))
            failure = found.parse_error(error_name, words, searched, dict(partial))
            failure.__cause__ = refused
            found.fail(failure, name, place, found.why(name, refused))
        else:
            found.fail(refused, name, place)
    return found.reading("JSONAdapter", spans, searched)


def _document(completion: str, expected: Sequence[str]) -> tuple[Document | None, tuple[int, int]]:
    """Find the object, and the range that was searched last, which dspy's error quotes."""
    everything = (0, len(completion))
    document, is_object = _load(completion, everything, expected)
    if is_object:
        return document, everything
    place = first_braces(completion)
    if place is None:
        return None, everything
    inner, is_object = _load(completion, place, expected)
    if not is_object or inner is None:
        return None, place
    step = Step("first_object", completion, completion[place[0] : place[1]])
    return Document(inner.values, *place, inner.members, (step, *inner.steps)), place


def first_braces(text: str) -> tuple[int, int] | None:
    """Find the first `{` with a matching `}`, ignoring strings, and return both places.

    Takes linear time. Source: `dspy.adapters.json_adapter.JSONAdapter.parse`, whose pattern `\\{(?:[^{}]|(?R))*\\}`
    takes quadratic time.
    """
    open_braces: list[int] = []
    best: tuple[int, int] | None = None
    for match in BRACE.finditer(text):
        position = match.start()
        if text[position] == "{":
            open_braces.append(position)
        elif open_braces:
            start = open_braces.pop()
            if best is None or start < best[0]:
                best = (start, position + 1)
            if not open_braces:
                return best
    return best


def first_object(text: str) -> str:
    """Return the text of `first_braces`. Raises ValueError for none."""
    place = first_braces(text)
    if place is None:
        raise ValueError("there is no {…} in the text")
    return text[place[0] : place[1]]


def _load(completion: str, place: tuple[int, int], expected: Sequence[str]) -> tuple[Document | None, bool]:
    start, end = place
    text = completion if place == (0, len(completion)) else completion[start:end]
    found = members(text, expected)
    if found is not None:
        moved = found if start == 0 else [one.moved(start) for one in found]
        return Document({one.key: one.value for one in found}, start, end, moved, ()), True
    if not text.lstrip(JSON_SPACE).startswith("{") and load_valid_json(text) is not NOT_JSON:
        return None, False
    from adapters.json_text.repaired_json import repair_object  # loads json_repair

    repaired, inside = repair_object(text)
    if not isinstance(repaired, dict):
        return None, False
    if inside is None:
        inside = embedded_object(text, repaired)
    places = None if inside is None else [one.moved(start) for one in inside]
    return Document(repaired, start, end, places, (Step("json_repair", text, repaired),)), True


def _first_step(
    document: Document, name: str, value: object, place: tuple[int, int] | None
) -> tuple[list[Step], Extract | None]:
    """Return the first step to a field's JSON value: from its text, or from the whole reply if repaired."""
    if place is not None and not (document.steps and document.steps[-1].rule == "json_repair"):
        return [], Extract("json", *place, value)
    *before, repair = document.steps
    return [*before, Step(repair.rule, repair.before, value, path=name)], None


Places = dict[str, tuple[int, int]]


def _spans(signature: Signature, completion: str, document: Document) -> tuple[list[Span], Places]:
    if document.members is not None:
        return member_spans(signature, document.members)
    aligned = align(completion, document.start, document.end, document.values)
    if aligned is None:
        return [Span(document.start, document.end, "repaired")], {}
    spans: list[Span] = []
    places: Places = {}
    for one in aligned:
        if one.key not in signature.output_fields:
            spans.append(Span(one.key_start, max(one.end, one.key_end), "unknown"))
            continue
        spans.append(Span(one.key_start, one.start, "marker", one.key))
        if one.end > one.start:
            spans.append(Span(one.start, one.end, "value" if one.certain else "repaired", one.key))
            places[one.key] = (one.start, one.end)
    return spans, places


def member_spans(signature: Signature, found: Sequence[Member]) -> tuple[list[Span], Places]:
    """Return the spans of a valid object's members, and the range of each field's last value."""
    spans: list[Span] = []
    places: Places = {}
    last = {one.key: one for one in found}
    for one in found:
        if one.key not in signature.output_fields:
            spans.append(Span(one.key_start, one.end, "unknown"))
        elif last[one.key] is not one:
            spans.append(Span(one.key_start, one.end, "duplicate", one.key))
        else:
            spans.append(Span(one.key_start, one.start, "marker", one.key))
            spans.append(Span(one.start, one.end, "value", one.key))
            places[one.key] = (one.start, one.end)
    return spans, places


def _syntax_error(completion: str) -> tuple[tuple[int, int] | None, str]:
    """Find the position at which the reply stops being JSON, and describe the error."""
    none = "no JSON object in the reply"
    try:
        json.loads(completion)
    except json.JSONDecodeError as error:
        place = error.pos, min(error.pos + 1, len(completion))
        if not completion.lstrip().startswith("{"):
            return place, none
        if error.pos >= len(completion.rstrip()):
            return place, "the JSON object is not closed: the reply ends in the middle of it"
        if error.msg == "Extra data":
            return place, "the JSON object has ended before this, and dspy reads only one object"
        return place, f"the JSON object breaks here: {error.msg[:1].lower()}{error.msg[1:]}"
    except (ValueError, RecursionError):
        return None, none
    return None, none


PROFILE = Profile(
    about="one JSON object, by the provider's schema where it has one",
    card=Card(
        "Inputs under markers, the reply one JSON object; native structured output where the model has it.",
        "As Chat, but the outputs are described, and shown in examples, as a JSON object.",
        "The reply as JSON, repaired by json_repair where necessary; a key for every output; a value of its type.",
        (
            "with models that take a schema as response_format: then the form is guaranteed",
            "for many short or nested outputs, numbers and lists",
        ),
        (
            "for long prose or code as output: quotes and line breaks must be escaped, and models slip",
            "with small models without structured output",
        ),
    ),
    inputs="markers",
    reply="json",
    word_for_none="null",
    quirks=OF_THE_BASE | {"demos-show-field-names"},
    structure=(
        "Then the form of every message: inputs are below [[ ## name ## ]] markers, and the reply must be one JSON "
        "object with a key for every output. The notes beside the outputs say which values their types allow."
    ),
)


class JSONAdapter(ChatAdapter):
    """An adapter for JSON objects; its `response_format` depends on the model (see `adapters.requests.request`)."""

    name: ClassVar[str] = "json"
    profile: ClassVar[Profile] = PROFILE
    demo_forms: ClassVar[tuple[str, str] | None] = ("markers", "json")
    error_name: ClassVar[str] = "JSONAdapter"

    def __init__(
        self,
        callbacks: Sequence[Callback] | None = None,
        use_native_function_calling: bool = True,
        parallel_tool_calls: bool | None = None,
    ) -> None:
        super().__init__(
            callbacks=callbacks,
            use_native_function_calling=use_native_function_calling,
            parallel_tool_calls=parallel_tool_calls,
        )

    def fallback_adapter(self) -> Adapter | None:
        return None

    def response_format(self, signature: Signature, capabilities: Capabilities) -> dict[str, object] | None:
        return response_format(signature, capabilities, self.use_native_function_calling)

    def format_field_structure(self, signature: Signature) -> str:
        if is_own(self.format_field_with_value, JSONAdapter.format_field_with_value):
            return _structure(signature.fields_only)
        inputs = self.format_field_with_value(fields_with_values=placeholders(signature.input_fields), role="user")
        outputs = self.format_field_with_value(
            fields_with_values=placeholders(signature.output_fields), role="assistant"
        )
        return joined((Text((INTRODUCTION,)), Text((INPUTS,)), inputs, Text((OUTPUTS,)), outputs))

    def user_message_output_requirements(self, signature: Signature) -> str | None:
        return _reminder(signature.outputs_only)

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        if not is_own(self.format_field_with_value, JSONAdapter.format_field_with_value):
            return self.format_field_with_value(
                outputs_with_values(signature, outputs, missing_field_message), role="assistant"
            )
        missing = None if missing_field_message is None else str(missing_field_message)
        values = {name: outputs.get(name, missing) for name in signature.output_fields}
        return _object(values, outputs)

    def format_field_with_value(self, fields_with_values: Mapping[Field, object], role: str = "user") -> str:
        """Write fields under markers for the role `user`, otherwise as a JSON object."""
        if role == "user":
            return super().format_field_with_value(fields_with_values)
        values = {field.name: value for field, value in fields_with_values.items()}
        return _object(values, values)

    def _parse_other(self, signature: Signature, completion: Any) -> dict[str, object]:
        import json_repair

        fields = json_repair.loads(completion)
        if isinstance(fields, dict):
            return self.parse(signature, to_json(serialize_for_json(fields)))
        if isinstance(completion, bytes | bytearray):  # dspy searches it for braces
            raise TypeError("cannot use a string pattern on a bytes-like object")
        raise TypeError(f"a bytes-like object is required, not '{type(completion).__name__}'")

    def _read(self, signature: Signature, completion: str) -> Reading:
        return read_json(self._findings(signature, completion), self.error_name)


INPUTS = Segment("Inputs will have the following structure:", "boilerplate")
OUTPUTS = Segment("Outputs will be a JSON object with the following fields.", "boilerplate")
OPENING = Segment("{", "marker")
CLOSING = Segment("\n}", "marker")
EMPTY = Text((Segment("{}", "marker"),))


@lru_cache(maxsize=4096)
def _key(name: str, first: bool) -> Segment:
    return Segment(f"{'{' if first else ','}\n  {to_json(name)}: ", "marker", name)


def _object(values: dict[str, object], given: Mapping[str, object]) -> Text:
    """Write the outputs as an indented JSON object; those not in `given` are filler.

    Values are dumped together, as in dspy: pydantic writes some differently inside an object than alone (NaN becomes
    null).
    """
    jsonable = serialize_for_json(values)
    if type(jsonable) is not dict:
        return Text((Segment(to_json(jsonable), "value"),))
    if not jsonable:
        return EMPTY
    segments: list[Segment] = []
    add = segments.append
    for name, value in jsonable.items():
        add(_key(name, not segments))
        origins = values.get(name)
        if isinstance(origins, Text):
            segments.extend(_quoted(origins, name))
            continue
        text = indented_json(value, "\n  ")
        add(value_segment(text, name) if name in given else Segment(text, "filler", name))
    add(CLOSING)
    return Text(segments)


def _quoted(text: Text, name: str) -> Iterator[Segment]:
    """Yield the segments of a `Text` as a JSON string."""
    yield Segment('"', "marker", name)
    for one in text.segments:
        yield Segment(to_json(one.text)[1:-1], one.kind, one.field or name)
    yield Segment('"', "marker", name)


@lru_cache(maxsize=512)
def _structure(signature: Signature) -> Text:
    inputs = structure_of(signature.inputs_only)
    return joined(
        (Text((INTRODUCTION,)), Text((INPUTS,)), inputs, Text((OUTPUTS,)), _placeholders(signature.outputs_only))
    )


@lru_cache(maxsize=512)
def _placeholders(signature: Signature) -> Text:
    """Write the outputs as a JSON object of their placeholders and type notes."""
    outputs: list[Segment] = [OPENING]
    for index, (name, field) in enumerate(signature.output_fields.items()):
        outputs.append(Segment(f'{"," if index else ""}\n  {to_json(name)}: "', "marker", name))
        for segment in placeholder_segments(name, field):
            outputs.append(segment._replace(text=to_json(segment.text)[1:-1]))
        outputs.append(Segment('"', "marker", name))
    outputs.append(Segment("\n}" if signature.output_fields else "}", "marker"))
    return Text(outputs)


@lru_cache(maxsize=512)
def _reminder(signature: Signature) -> Text:
    segments = [Segment("Respond with a JSON object in the following order of fields: ", "reminder")]
    segments.extend(outputs_in_order(signature, "`{}`"))
    segments.append(Segment(".", "reminder"))
    return Text(segments)
