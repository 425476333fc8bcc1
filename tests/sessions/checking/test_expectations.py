"""Expectations judge values as JSON, and say what they found."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.formats.json import JSONAdapter
from adapters.replies.reading import Reading
from sessions.checking.expectations import ExpectationError, column_expectations, judge
from sessions.model.session import SignatureText

SIGNATURE = SignatureText("question -> answer, score: float, tags: list[str], item: dict[str, list[int]]").read()
GOOD = '{"answer": "44.80 EUR in total", "score": 0.5, "tags": ["a", "b"], "item": {"sizes": [1, 2]}}'


def read(reply: str) -> Reading:
    return JSONAdapter().read(SIGNATURE, reply)


HOLDS: list[tuple[str, dict[str, Any]]] = [
    ("answer", {"contains": "44.80 EUR"}),
    ("answer", {"matches": r"^\d+\.\d\d EUR"}),
    ("answer", {"length": {"min": 5, "max": 20}}),
    ("answer", {"in": ["no", "44.80 EUR in total"]}),
    ("score", {"equals": 0.5}),
    ("score", {"approx": 0.52, "tolerance": 0.05}),
    ("score", {"schema": {"type": "number", "minimum": 0, "maximum": 1}}),
    ("tags", {"length": 2, "contains": "b"}),
    ("tags", {"equals": ["a", "b"]}),
    ("tags[1]", {"equals": "b"}),
    ("item.sizes[0]", {"equals": 1.0}),
    ("item", {"contains": "sizes"}),
    ("tags", {"members": ["b", "a"]}),
    ("item.sizes", {"members": [2, 1.0]}),
    ("answer", {"fuzzy": "44.80 eur  in all"}),
    ("tags", {"overlap": ["b", "a", "a"]}),
    ("tags", {"overlap": ["b", "c"], "ratio": 0.3}),
]
BREAKS: list[tuple[str, dict[str, Any], str]] = [
    ("answer", {"contains": "45"}, "does not contain it"),
    ("answer", {"matches": "^EUR"}, "does not match"),
    ("answer", {"length": {"max": 3}}, "has a length of 18"),
    ("answer", {"approx": 44.8}, "is not a number"),
    ("score", {"equals": True}, "is something else"),
    ("score", {"approx": 0.6}, "further away"),
    ("score", {"schema": {"type": "integer"}}, "is not of type 'integer'"),
    ("score", {"length": 1}, "has no length"),
    ("tags", {"in": [["b", "a"]]}, "is none of them"),
    ("tags[2]", {"equals": "c"}, "nothing at this place"),
    ("tags", {"members": ["a", "c"]}, "lacks c and has 1 more"),
    ("tags", {"members": ["a", "b", "b"]}, "lacks b"),
    ("tags", {"members": ["a"]}, "has 1 more"),
    ("answer", {"members": ["44"]}, "is not a list"),
    ("item.colour", {"equals": "c"}, "nothing at this place"),
    ("answer", {"fuzzy": "nothing alike"}, "less than 0.8"),
    ("answer", {"fuzzy": "44.80 EUR in all", "ratio": 1}, "less than 1"),
    ("tags", {"overlap": ["a", "c"]}, "has 0.33 in common, less than 1"),
    ("answer", {"overlap": ["a"]}, "is not a list"),
]


@pytest.mark.parametrize(("field", "tests"), HOLDS)
def test_what_holds_is_silent(field: str, tests: dict[str, Any]) -> None:
    assert judge({"fields": {field: tests}}, read(GOOD)) == ()


@pytest.mark.parametrize(("field", "tests", "message"), BREAKS)
def test_what_does_not_hold_is_said(field: str, tests: dict[str, Any], message: str) -> None:
    (failure,) = judge({"fields": {field: tests}}, read(GOOD))
    assert message in failure.message
    assert failure.place.startswith(f"fields.{field}")


def test_a_reply_is_expected_to_parse_or_not_to() -> None:
    assert judge({"reply": "parses"}, read(GOOD)) == ()
    assert judge({"reply": "does_not_parse"}, read("sorry")) == ()
    (failure,) = judge({"reply": "parses"}, read("sorry"))
    assert failure.message.startswith("the reply does not parse: AdapterParseError: ")
    assert "AdapterParseError" in failure.message
    (failure,) = judge({"reply": "does_not_parse"}, read(GOOD))
    assert failure.message == "the reply parses"
    assert failure.found == "parses"
    (failure,) = judge({"fields": {"answer": {"equals": "x"}}}, read("sorry"))
    assert "does not parse" in failure.message


def test_a_column_can_have_expectations_of_its_own() -> None:
    expect = {"reply": "parses", "columns": {"xml": {"reply": "does_not_parse"}}}
    assert column_expectations(expect, "chat") == {"reply": "parses"}
    assert column_expectations(expect, "xml") == {"reply": "does_not_parse"}


@pytest.mark.parametrize(
    ("expect", "message"),
    [
        ({"fields": {"answr": {"equals": 1}}}, "no output field 'answr'"),
        ({"fields": {"answer": {"equal": 1}}}, "expected one of equals"),
        ({"fields": {"answer": 3}}, "expected an object, got a number"),
        ({"fields": {"answer": {"in": "abc"}}}, "expected a list"),
        ({"fields": {"answer": {"length": "long"}}}, "whole number"),
        ({"fields": {"answer": {"matches": "("}}}, "not valid"),
        ({"fields": {"answer": {"schema": {"$ref": "http://x"}}}}, "leads out of it"),
        ({"fields": {"tags": {"members": "a"}}}, "expected a list of the members"),
        ({"fields": {"score": {"approx": "x"}}}, "expected a number"),
        ({"reply": "works"}, "parses"),
        ({"fields": {"answer": {"fuzzy": 3}}}, "expected a text"),
        ({"fields": {"tags": {"overlap": "a"}}}, "expected a list"),
        ({"fields": {"tags": {"overlap": ["a"], "ratio": 2}}}, "ratio from 0 to 1"),
    ],
)
def test_an_expectation_that_cannot_be_understood_says_where(expect: dict[str, Any], message: str) -> None:
    with pytest.raises(ExpectationError, match=message):
        judge(expect, read(GOOD))


def test_an_unknown_part_of_expect_is_refused() -> None:
    with pytest.raises(ExpectationError, match="reply, fields, columns"):
        column_expectations({"field": {}}, "chat")
