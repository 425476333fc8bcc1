"""BAMLAdapter as in dspy 3.4.1: a compact schema with `#` comments in the prompt, JSON in the reply."""

from __future__ import annotations

import types
from functools import lru_cache
from typing import ClassVar, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from adapters.formats.conversation import JSON_TYPES
from adapters.formats.json import JSONAdapter
from adapters.formats.profile import OF_THE_BASE, Card, Profile
from adapters.prompts.field_descriptions import is_model
from adapters.prompts.text import Segment, Text
from adapters.signatures.read.annotations import fields_until_built
from adapters.signatures.signature import Signature, without_none
from adapters.signatures.type_names import walk
from adapters.values.value_text import write_value

INDENT = "  "
PLAIN = {str: "string", int: "int", float: "float", bool: "boolean"}


PROFILE = Profile(
    about="JSON, with a compact schema that has comments",
    card=Card(
        "JSON replies, with the types described in BAML's short form instead of a JSON schema.",
        "Like json, but each output's type in a few lines with comments: far fewer tokens for nested models.",
        "Like json: broken JSON is repaired; every output needs a key, and a value of its type.",
        (
            "for nested pydantic models whose JSON schema is longer than the task",
            "with small or cheap models that get lost in a schema",
        ),
        ("with one model used in two places: dspy mistakes that for recursion and raises an error",),
    ),
    inputs="markers",
    reply="json",
    word_for_none="null",
    quirks=OF_THE_BASE
    | {"prompt-ends-with-completed-marker", "asks-for-markers-and-reads-json", "types-in-short-form"},
    structure=(
        "Then the form of every message. Outputs are described in BAML's short form of a type, which takes far fewer "
        "tokens than a JSON schema: names, types, and descriptions as comments behind a #."
    ),
)


class BAMLAdapter(JSONAdapter):
    """An adapter for nested models. Like dspy, it rejects a model that is used twice as recursive."""

    name: ClassVar[str] = "baml"
    profile: ClassVar[Profile] = PROFILE
    demo_forms: ClassVar[tuple[str, str] | None] = ("markers", "json")
    error_name: ClassVar[str] = "BAMLAdapter"

    def format_field_structure(self, signature: Signature) -> str:
        # Text about a live model with forward references changes once it is built, so it is not cached until then.
        built = all(one.__pydantic_complete__ for one in _models(signature.outputs_only))
        return _structure_once_built(signature.fields_only) if built else _structure(signature)

    def input_text(self, annotation: object, value: object) -> str:
        if type(value) not in JSON_TYPES and isinstance(value, BaseModel):
            return value.model_dump_json(indent=2, by_alias=True)
        return write_value(annotation, value)


@lru_cache(maxsize=512)
def _models(signature: Signature) -> tuple[type[BaseModel], ...]:
    found = [part for field in signature.output_fields.values() for part in walk(field.annotation)]
    return tuple([one for one in found if is_model(one) and one is not BaseModel])  # BaseModel is never built


def _structure(signature: Signature) -> Text:
    segments = [
        Segment(
            "All interactions will be structured in the following way, with the appropriate values filled in.\n",
            "boilerplate",
        )
    ]
    for name in signature.input_fields:
        segments.append(Segment(f"\n[[ ## {name} ## ]]", "marker", name))
        segments.append(Segment(f"\n{{{name}}}", "name", name))
        segments.append(Segment("\n", "boilerplate"))
    for name, field in signature.output_fields.items():
        segments.append(Segment(f"\n[[ ## {name} ## ]]", "marker", name))
        segments.append(Segment(f"\nOutput field `{name}` should be of type: ", "boilerplate", name))
        segments.append(Segment(type_text(field.annotation), "schema", name))
        segments.append(Segment("\n", "boilerplate"))
    segments.append(Segment("\n[[ ## completed ## ]]", "marker"))
    return Text(segments)


_structure_once_built = lru_cache(maxsize=512)(_structure)


def type_text(annotation: object, indent: int = 0, seen: set[type] | None = None) -> str:
    """Write a type in BAML's short form (`dspy.adapters.baml_adapter`). Raises ValueError for a repeated model."""
    for plain, word in PLAIN.items():
        if annotation is plain:
            return word
    if is_model(annotation):
        return _model_text(annotation, indent, seen)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (types.UnionType, Union):
        members = [one for one in args if one is not type(None)]
        text = " or ".join([type_text(one, indent, seen) for one in members])
        return f"{text} or null" if len(members) < len(args) else text
    if origin is Literal:
        words: list[str] = []
        for member in args:
            if isinstance(member, str):
                words.append(f'"{member}"')
            elif isinstance(member, bool):
                words.append("true" if member else "false")
            else:
                words.append("null" if member is None else str(member))
        return " or ".join(words)
    if origin is list:
        item = args[0]
        if is_model(item):
            return f"[\n{_model_text(item, indent + 1, seen)}\n{INDENT * indent}]"
        return f"{type_text(item, indent, seen)}[]"
    if origin is dict:
        return f"dict[{type_text(args[0], indent, seen)}, {type_text(args[1], indent, seen)}]"
    return annotation.__name__ if hasattr(annotation, "__name__") else str(annotation)


def _model_text(model: type[BaseModel], indent: int, seen: set[type] | None) -> str:
    met = seen or set()
    if model in met:
        raise ValueError("BAMLAdapter cannot handle recursive pydantic models, please use a different adapter.")
    met.add(model)
    here, inner = INDENT * indent, INDENT * (indent + 1)
    lines: list[str] = []
    if indent == 0:
        lines += _comment(model.__doc__, here)
    lines.append(f"{here}{{")
    if not model.model_fields:
        lines.append(f"{inner}# No fields defined")
    for name, field in fields_until_built(model).items():
        if field.description:
            lines.append(f"{inner}# {field.description}")
        elif field.alias and field.alias != name:
            lines.append(f"{inner}# alias: {field.alias}")
        nested = without_none(field.annotation)
        if is_model(nested):
            lines += _comment(nested.__doc__, inner)
        lines.append(f"{inner}{name}: {type_text(field.annotation, indent + 1, met)},")
    lines.append(f"{here}}}")
    return "\n".join(lines)


def _comment(docstring: str | None, indent: str) -> list[str]:
    if not docstring:
        return []
    return [f"{indent}# {line.strip()}" for line in docstring.strip().split("\n") if line.strip()]
