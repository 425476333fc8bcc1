"""Values of schemas, and texts that a schema's pattern accepts."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest

from adapters.lm.offline.good_text import Sampler, example_of
from adapters.lm.offline.source import Source


@pytest.mark.parametrize(
    "pattern",
    [
        r"^[A-Z]{2}-\d{4}$",
        r"\d{3,5}",
        r"^(?:EUR|USD) \d+\.\d{2}$",
        r"^(?P<year>\d{4})-(\d\d)$",
        r"^[^@\s]+@[^@\s]+\.[a-z]{2,}$",
        r"^#[0-9a-fA-F]{6}$",
        r"a?b*c+",
        r"^v\d+(\.\d+){2}$",
        r"[\w-]+",
        r"[^\w]",
        r"[^a0 \-_Z]",
        r"[]a]",
        r"^$",
    ],
)
def test_the_pattern_accepts_its_example(pattern: str) -> None:
    example = example_of(pattern)
    assert example is not None
    assert re.search(pattern, example)


@pytest.mark.parametrize("pattern", [r"(?=a)b", r"(a)\1", "(", "[", "a{", ")", "*", "(" * 5000, "a" * 501])
def test_what_is_not_understood_gives_none(pattern: str) -> None:
    assert example_of(pattern) is None


def test_a_pattern_that_would_take_for_ever_to_match_takes_no_time() -> None:
    assert example_of(r"^(a+)+$") == "a"


def test_huge_counts_are_kept_small() -> None:
    assert len(example_of("a{100000000}") or "") < 100


def test_counts_of_counts_are_given_up_before_they_fill_the_memory() -> None:
    assert example_of("(" * 4 + "a" + "{40})" * 4) is None


NEXT = {"next": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Node"}]}}


@pytest.mark.parametrize(
    "schema",
    [
        {"const": 3},
        {"type": ["null", "integer"]},
        {"allOf": [{"type": "integer"}, {"minimum": 50}]},
        {"type": "integer", "multipleOf": 7, "minimum": 8},
        {"type": "integer", "exclusiveMinimum": 5},
        {"type": "number", "exclusiveMaximum": 0},
        {"type": "string", "maxLength": 4},
        {"type": "string", "minLength": 60},
        {"type": "string", "pattern": "^[A-Z]{2}-\\d{3}$"},
        {"$ref": "#/$defs/Node", "$defs": {"Node": {"type": "object", "properties": NEXT, "required": ["next"]}}},
    ],
    ids=str,
)
def test_a_value_meets_its_schema(schema: Any) -> None:
    value = Sampler(Source({"text": "It rained in Bergen."}), "seed").value("found", schema)
    jsonschema.validate(value, schema)
