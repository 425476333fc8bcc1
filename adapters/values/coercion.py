"""Convert raw text or JSON to typed values for all adapters, and record every step.

The rules and their order are those of `dspy.adapters.utils.parse_value`. `apply` replays a rule by its name.
"""

from __future__ import annotations

import ast
import enum
import json
import types
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, Union, get_args, get_origin

import pydantic

from adapters.json_text.json_loading import NOT_JSON, load_json, load_valid_json
from adapters.json_text.repair_limits import LITERAL_LENGTH, TooLargeError
from adapters.signatures.signature import Field
from adapters.types.recognition import Validator, is_custom_type, type_adapter
from adapters.values import value_text
from adapters.values.plain_json import Step


def coerce(
    value: object,
    annotation: object,
    steps: list[Step] | None = None,
    validator_of: Callable[[object], Validator] = type_adapter,
) -> object:
    """Convert a value to its type; append every step to `steps`, even before an error.

    Raises what `parse_value` raises: ValueError (such as pydantic's ValidationError), and the errors that dspy does not
    catch: TypeError for an unhashable value of an Enum, RecursionError and MemoryError for deep nesting.
    """
    trace: list[Step] = [] if steps is None else steps
    if annotation is str:
        return value if type(value) is str else _step(trace, "str", value, str(value))
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        member = find_enum_member(annotation, value)
        by_value = any(one.value == value for one in annotation)
        trace.append(Step("enum_by_value" if by_value else "enum_by_name", value, member))
        return member
    origin = get_origin(annotation)
    if origin is Literal:
        allowed = get_args(annotation)
        if value in allowed:
            return _step(trace, "literal_member", value, value)
        if isinstance(value, str):
            for rule in ("strip", "unwrap", "unquote"):
                after = RULES[rule](value, None)
                if after != value:
                    trace.append(Step(rule, value, after))
                value = after  # even if equal: stripping a subclass of str returns a plain str
            if value in allowed:
                return _step(trace, "literal_member", value, value)
    members = get_args(annotation) if origin is Union or origin is types.UnionType else ()
    is_optional_text = type(None) in members and str in members
    if not isinstance(value, str) or is_optional_text:
        return _step(trace, "pydantic", value, validator_of(annotation).validate_python(value))
    return _coerce_text(value, annotation, trace, validator_of)


def find_enum_member(enum: type[enum.Enum], identifier: Any) -> enum.Enum:
    """Find a member by its value, else by its name, like dspy's function. Raises ValueError if there is none."""
    for member in enum:
        if member.value == identifier:
            return member
    if identifier in enum.__members__:
        return enum[identifier]
    raise ValueError(f"{identifier} is not a valid name or value for the enum {enum.__name__}")


def apply(rule: str, before: object, annotation: object) -> object:
    """Replay the rule of a recorded step on `before`.

    For a step with a `path`, its `after` is the part of the result at that path. Raises KeyError for an unknown rule,
    and whatever the rule raises.
    """
    return RULES[rule](before, annotation)


def _step(trace: list[Step], rule: str, before: object, after: object) -> object:
    trace.append(Step(rule, before, after))
    return after


def _unwrap(value: str) -> str:
    if value.startswith(("Literal[", "str[")) and value.endswith("]"):
        return value[value.find("[") + 1 : -1]
    return value


def _coerce_text(
    text: str, annotation: object, trace: list[Step], validator_of: Callable[[object], Validator]
) -> object:
    start = len(trace)
    candidate = load_valid_json(text)
    if candidate is NOT_JSON:
        from adapters.json_text.repaired_json import repair_json

        candidate = repair_json(text)
        if candidate == "" and text != "":
            candidate = _literal(text, trace)
        else:
            trace.append(Step("json_repair", text, candidate))
    elif candidate == "" and text != "":
        candidate = _literal(text, trace)
    else:
        trace.append(Step("json", text, candidate))
    validate = validator_of(annotation).validate_python
    try:
        value = validate(candidate)
    except pydantic.ValidationError as refused:
        if not is_custom_type(annotation):
            raise
        try:
            value = validate(text)
        except pydantic.ValidationError:
            raise refused from None
        trace[start:] = [
            Step("pydantic", text, value, note="what was read from it was refused; the type read the text itself")
        ]
        return value
    return _step(trace, "pydantic", candidate, value)


def _literal(text: str, trace: list[Step]) -> object:
    if len(text) > LITERAL_LENGTH:
        raise TooLargeError(f"{len(text):,} characters for a Python literal (the limit is {LITERAL_LENGTH:,})")
    try:
        candidate = _literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return _step(trace, "literal_eval", text, candidate)


def _literal_eval(text: str) -> object:
    with warnings.catch_warnings():
        # Python warns about unknown escapes on standard error, which is the app's screen.
        warnings.simplefilter("ignore")
        return ast.literal_eval(text)


def _join_marker_line(text: str) -> str:
    first, *others = text.splitlines()
    return "\n".join([first.strip(), *others])


Rule = Callable[[Any, Any], Any]

RULES: dict[str, Rule] = {
    "str": lambda before, annotation: str(before),
    "enum_by_value": lambda before, annotation: find_enum_member(annotation, before),
    "enum_by_name": lambda before, annotation: annotation[before],
    "literal_member": lambda before, annotation: before,
    "strip": lambda before, annotation: before.strip(),
    "unwrap": lambda before, annotation: _unwrap(before),
    "unquote": lambda before, annotation: (
        before[1:-1] if len(before) > 1 and before[0] == before[-1] and before[0] in "\"'" else before
    ),
    "json": lambda before, annotation: json.loads(before),
    "json_repair": lambda before, annotation: load_json(before),
    "literal_eval": lambda before, annotation: _literal_eval(before),
    "pydantic": lambda before, annotation: type_adapter(annotation).validate_python(before),
    "pydantic_by_name": lambda before, annotation: type_adapter(annotation).validate_python(before, by_name=True),
    "join_lines": lambda before, annotation: "\n".join(before.splitlines()),
    "join_marker_line": lambda before, annotation: _join_marker_line(before),
    "default": lambda before, annotation: before,
}
"""Functions that replay each rule. Adapters add the rules of their own formats."""


RULE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "str": "written as text by str()",
        "enum_by_value": "the enum member with this value",
        "enum_by_name": "the enum member of this name",
        "literal_member": "one of the allowed values",
        "strip": "white space at both ends removed",
        "unwrap": "taken out of Literal[…] or str[…]",
        "unquote": "one pair of quotes removed",
        "json": "read as JSON",
        "json_repair": "repaired as JSON by json_repair",
        "literal_eval": "read as a Python literal",
        "pydantic": "validated and converted by pydantic",
        "pydantic_by_name": "validated by pydantic with field names instead of aliases",
        "join_lines": "every kind of line break made \\n",
        "join_marker_line": "the rest of the marker's line and the lines below it joined",
        "threshold": "decided: true where its probability reaches the threshold",
        "cuts": "decided: the mean of the levels, which the cuts sort into one",
        "weights": "decided: the option of the greatest probability times weight",
        "default": "filled in: the reply had nothing",
        "xml": "read as XML, guided by the field's JSON schema",
        "json_fence": "the first block fenced as ```json",
        "first_json": "the first JSON value in the text",
        "first_object": "the first {…} in the text, strings not respected",
    }
)
"""Descriptions of the rules for people."""


def parse_value(value: object, annotation: object) -> Any:
    """Convert raw text or a JSON value to its type. Raises what `dspy.adapters.utils.parse_value` raises."""
    return coerce(value, annotation)


def format_field_value(field_info: Field, value: object, assume_text: bool = True) -> str | dict[str, object]:
    """Write a field's value as text, or as a content part if `assume_text` is False."""
    text = value_text.write_value(field_info.annotation, value)
    return text if assume_text else {"type": "text", "text": text}
