"""A value fits a schema exactly when jsonschema says so; no reference leads outwards, and each comes to an end."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.checking.patterns import PatternError, SchemaError, problem

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


DOUBLING = {
    "$defs": {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)} | {"d40": {}},
    "$ref": "#/$defs/d0",
}
NESTED: dict[str, Any] = {}
for _ in range(20_000):
    NESTED = {"not": NESTED}


@given(data, schemas)
def test_a_value_fits_exactly_when_jsonschema_says_so(value: Any, schema: Any) -> None:
    assert (problem(value, schema) is None) is jsonschema.Draft202012Validator(schema).is_valid(value)


def test_a_problem_names_its_place() -> None:
    schema = {"properties": {"items": {"items": {"$ref": "#/$defs/item"}}}, "$defs": {"item": {"required": ["price"]}}}
    assert problem({"items": [{"price": 1}, {}]}, schema) == "items[1]: 'price' is a required property"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "https://example.com/schema.json"}, "leads out of it"),
        ({"$ref": "file:///etc/passwd"}, "leads out of it"),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"$ref": "#"}, "without end"),
        ({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}, "without end"),
        (DOUBLING, "without end"),
        (NESTED, "nested too deeply"),
        ({"unevaluatedProperties": False}, "is not supported"),
        ({"patternProperties": {"(a+)+$": {}}}, "is not supported"),
        ({"properties": {"a": {"minimumm": 1}}}, "is not supported"),
        ({"items": {"$dynamicRef": "http://127.0.0.1:9/x"}}, "is not supported"),
        ({"$ref": "#/enum/0", "enum": [{"$ref": "file:///etc/passwd"}]}, "leads nowhere"),
        ({"type": "text"}, "wrong kind"),
        ({"required": 3}, "wrong kind"),
        ({"properties": []}, "wrong kind"),
        ("string", "an object, true or false"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        problem({"a": 1}, schema)


@pytest.mark.parametrize(
    ("value", "fits"), [(12.55, True), (0.3, True), (10**400, True), (1e10 + 0.005, False), (0.305, False), ("x", True)]
)
def test_a_multiple_is_one_as_people_mean_it(value: Any, fits: bool) -> None:
    assert (problem(value, {"multipleOf": 0.01}) is None) is fits


def test_a_long_value_does_not_stand_in_what_is_said_of_it() -> None:
    assert problem("x" * 100_000, {"type": "integer"}) == "is not of type 'integer'"


def test_a_pattern_is_searched_within_a_limit_of_time() -> None:
    with pytest.raises(PatternError, match="more than"):
        problem("a" * 60 + "!", {"pattern": "^(a+)+$"})
