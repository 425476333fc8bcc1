"""Our reading of JSON Schema agrees with the reference implementation, and follows no reference outwards."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.json_schema import SchemaError, problem

scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from([0.5, 1.0, 2.5]), st.sampled_from("ab")
)
data = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
words = {
    "type": st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object", ["string", "null"]]),
    "enum": st.lists(scalars, min_size=1, max_size=3),
    "const": scalars,
    "minimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "minLength": st.integers(0, 2),
    "maxItems": st.integers(0, 2),
    "minProperties": st.integers(0, 2),
    "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    "uniqueItems": st.booleans(),
}
schemas = st.recursive(
    st.booleans() | st.fixed_dictionaries({}, optional=words),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            **words,
            "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=2),
            "additionalProperties": inner,
            "items": inner,
            "prefixItems": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
        },
    ),
    max_leaves=5,
)


@given(data, schemas)
def test_a_value_fits_exactly_when_jsonschema_says_so(value: Any, schema: Any) -> None:
    assert (problem(value, schema) is None) is jsonschema.Draft202012Validator(schema).is_valid(value)


def test_a_problem_names_its_place() -> None:
    schema = {"properties": {"items": {"items": {"$ref": "#/$defs/item"}}}, "$defs": {"item": {"required": ["price"]}}}
    assert problem({"items": [{"price": 1}, {}]}, schema) == 'items[1]: has no "price"'


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "https://example.com/schema.json"}, "leads out of it"),
        ({"$ref": "file:///etc/passwd"}, "leads out of it"),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"$ref": "#"}, "without end"),
        ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "without end"),
        ({"unevaluatedProperties": False}, "is not supported"),
        ({"type": "text"}, "wrong kind"),
        ({"required": 3}, "wrong kind"),
        ({"properties": []}, "wrong kind"),
        ("string", "an object, true or false"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        problem({"a": 1}, schema)
