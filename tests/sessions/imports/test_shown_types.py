"""The types that BAML and XML prompts show, as JSON schemas."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.imports import prompt_types, shown_types

TEXT, WHOLE, NUMBER, NULL = ({"type": one} for one in ("string", "integer", "number", "null"))


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
                "description": "A.",
                "properties": {
                    "name": {**TEXT, "description": "what: is it"},
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
    assert shown_types.from_baml(text) == schema


@pytest.mark.parametrize("text", ["", "{", "{ a", "dict[", "[" * 5000, "a: b"])
def test_broken_baml_is_unknown(text: str) -> None:
    assert isinstance(shown_types.from_baml(text), dict)


def test_an_xml_template_gives_shape_but_no_types() -> None:
    schema = shown_types.from_template("<o><id>...</id><items><item><name>...</name></item></items></o>")
    assert schema["properties"]["id"] == {"unknown": ""}
    assert schema["properties"]["items"]["items"]["required"] == ["name"]


def test_a_complex_number_in_a_baml_prompt_keeps_its_type() -> None:
    schema = shown_types.from_baml("{\n  z: complex,\n}")
    assert "z: complex" in prompt_types.classes_of({**schema, "title": "Wave"})["Wave"]
