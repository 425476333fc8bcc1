"""The types that prompts speak of, as JSON schemas."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.lm.offline import wanted_types

TEXT, WHOLE, NUMBER, NULL = ({"type": one} for one in ("string", "integer", "number", "null"))


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        ("str", TEXT),
        ("int | None", {"anyOf": [WHOLE, NULL]}),
        ("Union[str, NoneType]", {"anyOf": [TEXT, NULL]}),
        ("list[float]", {"type": "array", "items": NUMBER, "uniqueItems": False}),
        ("dict[str, int]", {"type": "object", "additionalProperties": WHOLE}),
        ("dict[int, str]", {"type": "object", "additionalProperties": TEXT, "keys": WHOLE}),
        ("tuple[int, str]", {"type": "array", "prefixItems": [WHOLE, TEXT], "minItems": 2, "maxItems": 2}),
        ("tuple[int, Ellipsis]", {"type": "array", "items": WHOLE, "uniqueItems": False}),
        ("Literal['a', \"b's\", 3, True]", {"enum": ["a", "b's", 3, True]}),
        ("date", {"type": "string", "format": "date"}),
        ("Any", {}),
        ("Invoice", {"unknown": "Invoice"}),
    ],
)
def test_annotations(annotation: str, schema: Any) -> None:
    assert wanted_types.from_annotation(annotation) == schema


@pytest.mark.parametrize(
    "text", ["", "list[", "__import__('os').system('x')", "a" * 100_000 + "[", "(" * 9_000, "Literal[x]"]
)
def test_what_is_no_annotation_is_unknown_and_runs_nothing(text: str) -> None:
    assert wanted_types.is_vague(wanted_types.from_annotation(text))


@pytest.mark.parametrize(
    ("text", "schema"),
    [
        ("string", TEXT),
        ("string or null", {"anyOf": [TEXT, NULL]}),
        ('"yes" or "no"', {"enum": ["yes", "no"]}),
        ("int[]", {"type": "array", "items": WHOLE}),
        ("dict[string, float]", {"type": "object", "additionalProperties": NUMBER}),
        ("Color", {"unknown": "Color"}),
        (
            "# A.\n{\n  # what: is it\n  name: string,\n  tags: string[],\n  by: {\n    at: date,\n  } or null\n}",
            {
                "type": "object",
                "properties": {
                    "name": TEXT,
                    "tags": {"type": "array", "items": TEXT},
                    "by": {
                        "anyOf": [
                            {
                                "type": "object",
                                "properties": {"at": {"type": "string", "format": "date"}},
                                "required": ["at"],
                            },
                            NULL,
                        ]
                    },
                },
                "required": ["name", "tags", "by"],
            },
        ),
        (
            "[\n  {\n    n: int,\n  }\n]",
            {"type": "array", "items": {"type": "object", "properties": {"n": WHOLE}, "required": ["n"]}},
        ),
    ],
)
def test_bamls_simplified_types(text: str, schema: Any) -> None:
    assert wanted_types.from_baml(text) == schema


@pytest.mark.parametrize("text", ["", "{", "{ a", "dict[", "[" * 5000, "a: b"])
def test_broken_baml_is_unknown(text: str) -> None:
    assert isinstance(wanted_types.from_baml(text), dict)


def test_an_xml_template_gives_shape_but_no_types() -> None:
    schema = wanted_types.from_template("<o><id>...</id><items><item><name>...</name></item></items></o>")
    assert schema["properties"]["id"] == {"unknown": ""}
    assert schema["properties"]["items"]["items"]["required"] == ["name"]


def test_constraints_become_bounds() -> None:
    described = "A number.\nConstraints: greater than or equal to: 3, less than: 9.5"
    assert wanted_types.constrained(WHOLE, described) == {**WHOLE, "minimum": 3, "exclusiveMaximum": 9.5}
    lengths = wanted_types.constrained({"type": "array"}, "Constraints: minimum length: 2, maximum length: 4")
    assert (lengths["minItems"], lengths["maxItems"]) == (2, 4)


def test_a_note_names_the_choices_or_the_schema() -> None:
    assert wanted_types.from_note("must be one of: red; blue", {"unknown": "Color"}) == {"enum": ["red", "blue"]}
    assert wanted_types.from_note('must adhere to the JSON schema: {"type": "array"}', {}) == {"type": "array"}
    assert wanted_types.from_note("must adhere to the JSON schema: {broken", TEXT) == TEXT
    literal = {"enum": [1, 2]}
    assert wanted_types.from_note("must exactly match (no extra characters) one of: 1; 2", literal) == literal
