"""Convert plain JSON to custom types and back, guided by a field's annotation.

Only custom types are built; all other values stay the same objects. So 12 in a `float` field stays 12, where a
validated model would print 12.0, and dicts keep the order of their keys.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Union, get_args, get_origin

import pydantic

from adapters.late_dataclasses import dataclass
from adapters.signatures.signature import Signature
from adapters.types.recognition import (
    START,
    asks_for_types,
    fields_of,
    is_built,
    is_builtin,
    is_decision_type,
    is_kind_of,
    is_named,
    type_adapter,
    unwrapped,
)
from adapters.values.value_text import serialize_for_json

KEPT_AS_TEXT = ("Code", "Reasoning", "Tool")
"""Types that dspy writes into a prompt as text; for these, a text value is kept unchanged."""

WHAT_WORKS: Mapping[str, str] = {
    "Image": 'give {"url": "https://…"} or a data URI (data:image/png;base64,…)',
    "Audio": 'give {"data": BASE64, "audio_format": "wav"} or a data URI (data:audio/wav;base64,…)',
    "File": 'give {"file_data": "data:application/pdf;base64,…", "filename": …} or {"file_id": …}',
    "Code": 'give the program as text, or {"code": TEXT}',
    "Reasoning": 'give the text, or {"content": TEXT}',
    "History": 'give {"messages": [{…}, …]}, one object a turn, with the signature\'s field names as keys',
    "Tool": 'give {"name": …, "desc": …, "args": {NAME: JSON SCHEMA, …}}',
    "ToolCalls": 'give {"tool_calls": [{"name": …, "args": {…}}, …]}',
    "ToolCallResults": 'give {"tool_call_results": [{"call_id": …, "name": …, "value": …}, …]}',
    "Citations": 'give [{"cited_text": …, "document_index": …, "start_char_index": …, "end_char_index": …}, …]',
    "Document": 'give the text, or {"data": TEXT, "title": …, "media_type": "text/plain"}',
}


class BuildError(ValueError):
    """A plain value that its custom type rejects, with the field, the path in its value, and a hint."""

    def __init__(self, message: str, hint: str = "", field: str | None = None, path: str = "") -> None:
        self.message = message
        self.hint = hint
        self.field = field
        self.path = path
        where = f"field `{field}`" if field else ""
        if path:
            where = f"{where} at {path}".lstrip()
        said = f"{where}: {message}" if where else message
        super().__init__(f"{said}; {hint}" if hint else said)


def build(annotation: object, value: object, field: str | None = None) -> object:
    """Convert plain JSON in `value` to the custom types of `annotation`.

    Searches containers, unions, models, typed dicts and dataclasses. Instances stay as they are, and so does text with
    dspy's markers, as saved demos store custom types. Raises `BuildError`.
    """
    return _build_at(_Place(field), annotation, value)


def build_inputs(signature: Signature, values: Mapping[str, object]) -> dict[str, object]:
    """Build the custom types in inputs or a demo, in the given order; unknown keys keep their values.

    The turns of a `History` are built by the signature's other fields. Raises `BuildError`, which names the field.
    """
    fields = signature.fields
    built: dict[str, object] = {}
    for name, value in values.items():
        built[name] = build(fields[name].annotation, value, name) if name in fields else value
        if is_kind_of(type(built[name]), "History") and name in fields:
            built[name] = _build_turns(signature.without(name), name, built[name])
    return built


def _build_turns(signature: Signature, field: str, history: Any) -> object:
    def annotation_of(key: Any) -> object:
        return signature.fields[key].annotation if key in signature.fields else None

    turns = [
        {key: _build_at(_Place(field, f"messages[{index}].{key}"), annotation_of(key), turn[key]) for key in turn}
        for index, turn in enumerate(history.messages)
    ]
    pairs = zip(turns, history.messages, strict=True)
    if all(new[key] is old[key] for new, old in pairs for key in old):
        return history
    return history.model_copy(update={"messages": turns})


@dataclass(frozen=True, slots=True)
class _Place:
    """A path in a field's value, with the results of the union members tried so far."""

    field: str | None
    path: str = ""
    tried: dict[tuple[int, int], tuple[object, object, object]] = dataclasses.field(default_factory=dict)

    def at(self, key: object) -> _Place:
        name = str(key) if len(str(key)) <= 60 else f"{str(key)[:60]}…"
        step = f"[{key}]" if isinstance(key, int) else f".{name}" if self.path else name
        return _Place(self.field, self.path + step, self.tried)

    def refuse(self, cls: Any, reason: str) -> BuildError:
        hint = next((hint for name, hint in WHAT_WORKS.items() if is_kind_of(cls, name)), "")
        reason = reason if len(reason) <= 300 else f"{reason[:300]}…"
        return BuildError(f"not a valid {cls.__name__}: {reason}", hint, self.field, self.path)


def _build_at(place: _Place, annotation: object, value: object) -> object:
    try:
        return _build(annotation, value, place) if asks_for_types(annotation) else value
    except RecursionError:
        raise BuildError("nested too deeply", "give a value with fewer levels", place.field, place.path) from None


def _build(annotation: object, value: object, place: _Place) -> object:
    annotation = unwrapped(annotation)
    if value is None or not asks_for_types(annotation):
        return value
    if is_built(annotation):
        return _build_type(annotation, value, place)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Union or origin is types.UnionType:
        return _build_union(args, value, place)
    fields = fields_of(annotation)
    if fields:
        return _build_mapping(fields.get, value, place) if isinstance(value, Mapping) else value
    if isinstance(value, str) and START in value:
        return value
    if isinstance(origin, type) and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise BuildError("an object is expected here", "give {NAME: …}", place.field, place.path)
        return _build_mapping(lambda key: args[-1], value, place)
    if isinstance(origin, type) and issubclass(origin, Collection):
        if not isinstance(value, list | tuple | set | frozenset):
            raise BuildError("a list is expected here", "give […]", place.field, place.path)
        return _build_items(origin, args, value, place)
    return value


def _build_type(cls: Any, value: object, place: _Place) -> object:
    if isinstance(value, pydantic.BaseModel) or is_decision_type(cls):  # a demo may contain a decision's plain label
        return value
    if isinstance(value, str) and (START in value or any(is_kind_of(cls, name) for name in KEPT_AS_TEXT)):
        return value
    if getattr(cls, "__format_is_code__", False):
        if isinstance(value, str):
            return value
        raise BuildError(
            f"the format() of {cls.__name__} is code of the source, which is never run",
            "give the text that it makes, or a live class to the command line as module:Class",
            place.field,
            place.path,
        )
    if is_named(cls, "Tool"):
        if not isinstance(value, Mapping):
            raise place.refuse(cls, f"{type(value).__name__} where an object is expected")
        unknown = [key for key in value if key not in ("name", "desc", "args")]
        if unknown:
            raise place.refuse(cls, f"unknown key {unknown[0]!r}")
        name, desc, args = value.get("name"), value.get("desc"), value.get("args")
        if not isinstance(name, str) or not name:
            raise place.refuse(cls, "it has no name")
        if desc is not None and not isinstance(desc, str):
            raise place.refuse(cls, "`desc` is not text")
        if args is not None and not (isinstance(args, dict) and all(isinstance(one, dict) for one in args.values())):
            raise place.refuse(cls, "`args` is not an object of JSON schemas")
        from adapters.types.tools import Tool

        return Tool(name=name, desc=desc, args=args)
    if isinstance(value, str) and is_kind_of(cls, "Image"):
        value = {"url": value}
    try:
        return type_adapter(cls).validate_python(value)
    except pydantic.ValidationError as error:
        if isinstance(value, str) and not is_builtin(cls):
            return value  # dspy saves a custom type whose format is text as that text
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where, message = ".".join(map(str, first["loc"])), first["msg"].removeprefix("Value error, ")
        raise place.refuse(cls, f"`{where}`: {message}" if where else message) from error
    except RecursionError:
        raise
    except Exception as error:  # a type's own validator may raise anything
        raise place.refuse(cls, str(error)) from error


def _build_union(args: Sequence[object], value: object, place: _Place) -> object:
    arms = [unwrapped(arg) for arg in args if arg is not type(None)]
    if isinstance(value, str) and str in arms:
        return value
    refused: BuildError | None = None
    for arm in sorted(filter(asks_for_types, arms), key=is_built, reverse=True):
        # Try each member of a union once per value, to keep nested unions cheap
        key = id(arm), id(value)
        if key not in place.tried:
            try:
                outcome = _build(arm, value, place)
            except BuildError as error:
                outcome = error
            place.tried[key] = (arm, value, outcome)
        built = place.tried[key][2]
        if isinstance(built, BuildError):
            refused = refused or built
        elif built is not value or is_built(arm):
            return built
    if refused is not None and all(map(asks_for_types, arms)):
        raise refused
    return value


def _build_mapping(annotation_of: Callable[[Any], object], value: Mapping[object, object], place: _Place) -> object:
    built = {key: _build(annotation_of(key), child, place.at(key)) for key, child in value.items()}
    return value if all(built[key] is value[key] for key in built) else built


def _build_items(origin: object, args: Sequence[object], value: Collection[object], place: _Place) -> object:
    fixed = origin is tuple and not (len(args) == 2 and args[1] is ...)
    items = list(value)
    annotations = [*args[: len(items)], *[None] * (len(items) - len(args))] if fixed else [*args[:1]] * len(items)
    built = [_build(annotations[index], item, place.at(index)) for index, item in enumerate(items)]
    if all(new is old for new, old in zip(built, items, strict=True)):
        return value
    return tuple(built) if isinstance(value, tuple) else built


def plain_value(value: object) -> object:
    """Convert a value to plain JSON for `build`; values without a custom type stay the same object."""
    if is_built(type(value)):
        return _plain_type(value)
    if isinstance(value, dict):
        plain = {key: plain_value(child) for key, child in value.items()}
        return value if all(plain[key] is value[key] for key in plain) else plain
    if isinstance(value, list | tuple):
        children = [plain_value(child) for child in value]
        return value if all(new is old for new, old in zip(children, value, strict=True)) else children
    return value


def _plain_type(value: Any) -> object:
    if is_kind_of(type(value), "Tool"):
        described = {"name": value.name, "desc": value.desc, "args": value.args}
        return {key: part for key, part in described.items() if part is not None}
    plain = {}
    for name, info in type(value).model_fields.items():
        part = getattr(value, name)
        if part is not None or info.default is not None:
            plain[info.alias or name] = _plain_part(part)
    return plain


def _plain_part(value: object) -> object:
    if isinstance(value, pydantic.BaseModel):
        return _plain_type(value)
    if isinstance(value, dict):
        return {key: _plain_part(child) for key, child in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain_part(child) for child in value]
    return serialize_for_json(value)
