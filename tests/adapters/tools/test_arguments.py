"""A tool call's arguments: decoded, checked, and refused in words a model can act on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.tools.arguments import ArgumentsError, decode, validate

SEARCH = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}


def refused(schema: dict[str, Any], arguments: dict[str, Any]) -> str:
    with pytest.raises(ArgumentsError) as caught:
        validate(schema, arguments)
    return str(caught.value)


@pytest.mark.parametrize("none", [None, ""])
def test_no_arguments_are_an_empty_object(none: Any) -> None:
    assert decode(none) == {}


@pytest.mark.parametrize("text", ["{", "query=x", "[" * 100_000, "\udc80"])
def test_what_is_not_json_cannot_be_decoded(text: str) -> None:
    with pytest.raises(ArgumentsError, match=r"^Failed to decode tool call arguments\.$"):
        decode(text)


@pytest.mark.parametrize("text", ["[1]", "null", "3", '"x"'])
def test_arguments_are_an_object(text: str) -> None:
    with pytest.raises(ArgumentsError, match=r"^Tool call arguments must be a JSON object\.$"):
        decode(text)


def test_the_four_of_the_matrix() -> None:
    assert refused(SEARCH, {"query": "p", "x": 1}) == "Extra keys not permitted: ['x']"
    assert refused(SEARCH, {}) == "Missing required field: 'query'"
    assert refused(SEARCH, {"query": None}) == "query: value cannot be None"
    assert validate(SEARCH, {"query": 42}) == {"query": "42"}


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, "3.7", "n: unable to coerce '3.7' to int"),
        ({"type": "integer"}, 3.9, "n: unable to coerce 3.9 to int"),
        ({"type": "number"}, "high", "n: unable to coerce 'high' to float"),
        ({"type": "boolean"}, "maybe", "n: Cannot interpret 'maybe' as boolean"),
        ({"enum": ["pos", "neg", "neutral"]}, "POS", "n: expected one of ['pos', 'neg', 'neutral']"),
        ({"type": "array", "items": {"type": "string"}}, ["a", None], "n[1]: value cannot be None"),
        ({"type": "array"}, 3, "n: expected a list"),
        ({"type": "object"}, "x", "n: expected an object"),
        ({"type": "integer", "maximum": 5}, 6, "n: must be <= 5"),
        ({"type": "string", "minLength": 2}, "a", "n: length must be >= 2"),
        ({"type": "object", "additionalProperties": False}, {"z": 1}, "n: Extra keys not permitted: ['z']"),
        (
            {"type": "object", "properties": {"confidence": {"type": "number"}}},
            {"confidence": "hi"},
            "n.confidence: unable to coerce 'hi' to float",
        ),
        ({"$ref": "#/nowhere"}, 1, "n: the tool's schema refers to '#/nowhere', which is not in it"),
    ],
)
def test_a_refusal_names_the_place_and_the_reason(schema: dict[str, Any], value: Any, message: str) -> None:
    assert refused({"properties": {"n": schema}}, {"n": value}) == message


@pytest.mark.parametrize(
    ("schema", "value", "taken"),
    [
        ({"type": "integer"}, "3", 3),
        ({"type": "integer"}, 3.0, 3),
        ({"type": "number"}, "0.9", 0.9),
        ({"type": "boolean"}, "yes", True),
        ({"type": "array", "items": {"type": "string"}}, "alone", ["alone"]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, " ", None),
        ({"type": ["integer", "null"]}, "7", 7),
        ({"enum": [1, 2]}, "2", 2),
        ({}, None, None),
        ({"$ref": "#/$defs/N"}, "5", 5),
    ],
)
def test_what_is_meant_is_taken(schema: dict[str, Any], value: Any, taken: Any) -> None:
    made = validate({"properties": {"n": schema}, "$defs": {"N": {"type": "integer"}}}, {"n": value})
    assert made == {"n": taken}
    assert type(made["n"]) is type(taken)


def test_defaults_are_filled_in_and_optional_arguments_may_be_left_out() -> None:
    schema = {"properties": {"limit": {"type": "integer", "default": 5}, "page": {"type": "integer"}}}
    assert validate(schema, {}) == {"limit": 5}


def test_a_schema_that_names_itself_and_deep_arguments_end_in_an_error() -> None:
    assert "nested too deeply" in refused({"properties": {"n": {"$ref": "#/properties/n"}}}, {"n": 1})
    tree = {
        "properties": {"n": {"$ref": "#/$defs/T"}},
        "$defs": {"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
    }
    assert "nested too deeply" in refused(tree, {"n": json.loads("[" * 500 + "]" * 500)})
