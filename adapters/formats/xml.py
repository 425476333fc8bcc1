"""XMLAdapter as in dspy 3.4.1: every field in a tag of its name, lists and objects as nested tags."""

from __future__ import annotations

import types
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Union, get_args, get_origin

from typing_extensions import is_typeddict

from adapters.errors import AdapterParseError
from adapters.formats.base import is_own
from adapters.formats.chat import INTRODUCTION, ChatAdapter, field_with_info, outputs_with_values, value_segments
from adapters.formats.profile import FALLBACK_OPTION, SHARED_OPTIONS, Card, Profile
from adapters.late_dataclasses import dataclass
from adapters.prompts.field_descriptions import is_model, joined, placeholder_segments, translate_field_type
from adapters.prompts.text import Kind, Segment, Text, Values, join
from adapters.replies.reading import Reading
from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import LARGEST_TYPE
from adapters.types.recognition import ByIdentity, is_builtin, schema_by_name
from adapters.values.value_text import serialize_for_json, value_to_xml, write_value

GAP = Segment("\n\n", "boilerplate")


PROFILE = Profile(
    about="one tag a field",
    card=Card(
        "Every field between tags, nested types as nested tags.",
        "<field> tags in prompt and reply; a nested type is spelt out as nested tags.",
        "Strict XML: a bare & or <, or an unclosed tag, makes the whole reply a parse error.",
        (
            "with models that were trained on XML tags (Anthropic's, for instance)",
            "for nested outputs without structured output",
        ),
        (
            "where values contain &, < or HTML",
            "where replies may be cut off: XML that ends early is a parse error",
        ),
    ),
    inputs="tags",
    reply="xml",
    options=(*SHARED_OPTIONS, FALLBACK_OPTION),
    has_finetuning_in_dspy=True,
    structure=(
        "Then the form of every message: each field is between <name> and </name>. The parser later looks for "
        "exactly these tags in the reply; nested types become nested tags."
    ),
)


class XMLAdapter(ChatAdapter):
    """An adapter with tags around inputs and outputs; the reply is parsed as an XML document."""

    name: ClassVar[str] = "xml"
    profile: ClassVar[Profile] = PROFILE

    def demo_key(self, signature: Signature) -> Hashable:
        if type(self) is not XMLAdapter:
            return super().demo_key(signature)
        return signature.field_faces, _nested_outputs(signature.fields_only)

    def format_field_structure(self, signature: Signature) -> str:
        if is_own(self.format_field_with_value, XMLAdapter.format_field_with_value):
            return _structure(signature.fields_only)
        groups: list[str] = [Text((INTRODUCTION,))]
        for fields in (signature.input_fields, signature.output_fields):
            parts: list[str] = []
            for name, field in fields.items():
                if field.role == "output" and uses_nested_xml(field.annotation):
                    parts.append(_field_structure(name, field))
                else:
                    shown = {field_with_info(field): translate_field_type(name, field)}
                    parts.append(self.format_field_with_value(shown))
            groups.append(join("\n\n", parts))
        return join("\n\n", groups)

    def format_user_message_content(
        self, signature: Signature, inputs: Values, prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        fields = signature.input_fields.items()
        if not is_own(self.format_field_with_value, XMLAdapter.format_field_with_value):
            inputs_content = self.format_field_with_value(
                {field_with_info(field): inputs[name] for name, field in fields if name in inputs}
            )
        else:
            inputs_content = _written([(field, inputs[name], "value") for name, field in fields if name in inputs])
        parts: list[str] = [prefix, inputs_content]
        if main_request:
            reminder = self.user_message_output_requirements(signature)
            if reminder is None:  # dspy joins it without a check
                raise TypeError("sequence item 2: expected str instance, NoneType found")
            parts.append(Text.of(reminder, "reminder"))
        if not prefix and not suffix and len(parts) == 2:
            return parts[1]
        return joined((*parts, suffix))

    def format_assistant_message_content(
        self, signature: Signature, outputs: Values, missing_field_message: str | None = None
    ) -> str:
        if not is_own(self.format_field_with_value, XMLAdapter.format_field_with_value):
            return self.format_field_with_value(outputs_with_values(signature, outputs, missing_field_message))
        missing = None if missing_field_message is None else str(missing_field_message)
        return _written(
            [
                (field, outputs[name], "value") if name in outputs else (field, missing, "filler")
                for name, field in signature.output_fields.items()
            ]
        )

    def format_field_with_value(self, fields_with_values: Mapping[Field, object]) -> str:
        return _written([(field, value, "value") for field, value in fields_with_values.items()])

    def user_message_output_requirements(self, signature: Signature) -> str | None:
        return _reminder(signature.outputs_only)

    def _parse_other(self, signature: Signature, completion: Any) -> dict[str, object]:
        try:
            return self.parse(signature, f"{completion}")
        except AdapterParseError as error:
            error.lm_response = completion
            raise

    def _read(self, signature: Signature, completion: str) -> Reading:
        from adapters.formats.xml_reading import read_xml  # loads an XML parser

        return read_xml(self._findings(signature, completion))


def _written(fields: Iterable[tuple[Field, object, Kind]]) -> Text:
    segments: list[Segment] = []
    for field, value, kind in fields:
        _add_field(segments, field, value, kind)
    return Text(segments).strip()


def _add_field(segments: list[Segment], field: Field, value: object, kind: Kind) -> None:
    """Add a field in its tags, after an empty line unless it is the first."""
    name, annotation = field.name, field.annotation
    if segments:
        segments.append(GAP)
    opening, closing = _tags(name)
    is_plain_text = type(value) is str
    if not is_plain_text and isinstance(value, Text):
        segments.extend((opening, *value_segments(field, value), closing))
        return
    if field.role == "output" and not is_plain_text and uses_nested_xml(annotation):
        serialized = serialize_for_json(value)
        if isinstance(serialized, dict | list):
            segments.append(Segment(value_to_xml(serialized, name), kind, name))
            return
    elif not is_plain_text and not _can_be_read_twice(value):
        serialize_for_json(value)  # dspy does so first with every value, which exhausts an iterator
    text = write_value(annotation, value)
    if field.role == "output" and annotation is str:
        text = text.replace("&", "&amp;").replace("<", "&lt;")
    segments.append(opening)
    segments.append(Segment(text, kind, name))
    segments.append(closing)


PLAIN = frozenset((str, int, float, bool, type(None)))


def _can_be_read_twice(value: Any) -> bool:
    """Test cheaply whether a value is plain JSON, which can be serialized twice, unlike an iterator."""
    kind = type(value)
    if kind is list:
        return PLAIN.issuperset(map(type, value))
    return kind in PLAIN or (kind is dict and PLAIN.issuperset(map(type, value.values())))


@lru_cache(maxsize=4096)
def _tags(name: str) -> tuple[Segment, Segment]:
    return Segment(f"<{name}>\n", "marker", name), Segment(f"\n</{name}>", "marker", name)


@lru_cache(maxsize=512)
def _structure(signature: Signature) -> Text:
    return join("\n\n", (Text((INTRODUCTION,)), _fields(signature.inputs_only), _fields(signature.outputs_only)))


@lru_cache(maxsize=512)
def _fields(half: Signature) -> Text:
    return join("\n\n", [_field_structure(name, field) for name, field in half.fields.items()])


def _field_structure(name: str, field: Field) -> Text:
    if field.role == "output" and uses_nested_xml(field.annotation):
        return Text((Segment(xml_schema(name, field.annotation), "schema", name),))
    opening, closing = _tags(name)
    return Text((opening, *placeholder_segments(name, field), closing)).strip()


@lru_cache(maxsize=512)
def _reminder(signature: Signature) -> Text:
    segments = [Segment("Respond with the corresponding output fields wrapped in XML tags ", "reminder")]
    for index, name in enumerate(signature.output_fields):
        if index:
            segments.append(Segment(", then ", "reminder"))
        segments.append(Segment(f"`<{name}>`", "marker", name))
    segments.append(Segment(".", "reminder"))
    nested = [
        (name, one.annotation) for name, one in signature.output_fields.items() if uses_nested_xml(one.annotation)
    ]
    for index, (name, annotation) in enumerate(nested):
        segments.append(Segment(" " if index else " Use this nested XML structure: ", "reminder"))
        segments.append(Segment(xml_schema(name, annotation), "schema", name))
    return Text(segments)


def _uses_nested_xml(annotation: object) -> bool:
    members = [one for one in get_args(annotation) if one is not type(None)]
    if len(members) == 1 and get_origin(annotation) in (Union, types.UnionType):
        annotation = members[0]
    origin = get_origin(annotation)
    item = get_args(annotation)[0] if origin is list and get_args(annotation) else annotation
    if is_model(item) and is_builtin(item):
        return False
    return origin in (list, dict) or is_typeddict(annotation) or is_model(annotation)


uses_nested_xml: ByIdentity[bool] = ByIdentity(_uses_nested_xml)
"""Test whether an output is written as nested tags: lists, dicts, typed dicts and models except dspy's types.

Rule: `dspy.adapters.xml_adapter.XMLAdapter._uses_nested_xml`.
"""


@lru_cache(maxsize=256)
def _nested_outputs(signature: Signature) -> tuple[bool, ...]:
    return tuple([uses_nested_xml(one.annotation) for one in signature.output_fields.values()])


def xml_schema(tag: str, annotation: object) -> str:
    """Write the nested tags for a type's JSON schema, with `...` for each value.

    Raises ValueError for more than `LARGEST_TYPE` tags, where dspy has no limit.
    """
    schema = schema_by_name(annotation)
    return _NestedTags(tag, schema.get("$defs", {})).written(tag, schema, frozenset())


@dataclass(eq=False)
class _NestedTags:
    """Write and count the tags of an output; a model used in two places is written in both."""

    _output: str
    _definitions: Mapping[str, Any]
    _left: int = LARGEST_TYPE

    def written(self, tag: str, schema: Mapping[str, Any], seen: frozenset[str]) -> str:
        if reference := schema.get("$ref"):
            name = reference.rsplit("/", 1)[-1]
            if name in seen:
                return f"<{tag}>...</{tag}>"
            return self.written(tag, self._definitions[name], seen | {name})
        if choices := schema.get("anyOf"):
            chosen = next((one for one in choices if one.get("type") != "null"), choices[0])
            return self.written(tag, chosen, seen)
        self._left -= 1
        if self._left < 0:
            raise ValueError(
                f"XML writes out every field of nested models, and `{self._output}` has more than {LARGEST_TYPE:,}, "
                "which is the limit; Chat and JSON describe each model once"
            )
        if schema.get("type") == "array":
            return f"<{tag}>{self.written('item', schema.get('items', {}), seen)}</{tag}>"
        properties = schema.get("properties", {})
        children = "".join([self.written(name, child, seen) for name, child in properties.items()])
        return f"<{tag}>{children}</{tag}>" if children else f"<{tag}>...</{tag}>"
