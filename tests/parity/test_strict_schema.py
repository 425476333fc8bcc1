"""The schema of an adapter's own `response_format`, as dspy's client sends it."""

from __future__ import annotations

import enum
import random
from typing import Any, Optional

import dspy
import pydantic
import pytest
from dspy.adapters.json_adapter import _get_structured_outputs_response_format
from dspy.clients.legacy_requests import _strict_json_schema
from oracle import signatures
from oracle.tally import Record, Tally

from adapters import Signature
from adapters.requests.capabilities import Capabilities
from adapters.requests.strict_schema import response_format, strict_schema

SCHEMAS = Capabilities(True, True, True, frozenset({"response_format"}))


class Tag(enum.Enum):
    A = "a"
    B = "b"


class Line(pydantic.BaseModel):
    tag: Tag = pydantic.Field(Tag.A, description="a tag")
    note: Optional[str] = None  # noqa: UP045


class Out(pydantic.BaseModel):
    first: Line | None = None
    main: Line = pydantic.Field(description="the main one")


class Node(pydantic.BaseModel):
    children: list[Node] = []
    next: Node | None = None


class Endless(pydantic.BaseModel):
    again: Endless = pydantic.Field(description="with a description beside the reference")


def sent_by_dspy(signature: Any) -> Any:
    return _strict_json_schema(_get_structured_outputs_response_format(signature).model_json_schema())


def sent_by_us(signature: Any) -> Any:
    form = response_format(Signature.from_dspy(signature), SCHEMAS, True)
    assert form is not None
    return form["json_schema"]["schema"]


@pytest.mark.parametrize("annotation", [Out, list[Out], Out | None, Node, Tag, list[Tag]])
def test_a_reference_with_siblings_is_written_out_and_null_defaults_are_dropped(annotation: Any) -> None:
    field = dspy.OutputField(desc="beside the reference")
    signature = dspy.Signature({"q": (str, dspy.InputField()), "out": (annotation, field)})
    assert sent_by_us(signature) == sent_by_dspy(signature)
    assert '"default": null' not in str(sent_by_us(signature))


@pytest.mark.slow
def test_generated_signatures_send_the_schema_that_dspy_sends(record: Record) -> None:
    tally = Tally("schemas sent as response_format")
    for seed in range(300):
        built = signatures.signature(random.Random(f"schema {seed}"))
        try:
            theirs = sent_by_dspy(built.theirs)
        except Exception:  # types without a schema: both ask for an object
            continue
        ours = response_format(built.ours, SCHEMAS, True)
        if ours is None or ours["type"] != "json_schema":
            continue  # dspy's tier of open-ended dicts
        tally.add(str(seed), None if ours["json_schema"]["schema"] == theirs else f"{ours} is not {theirs}")
    tally.report(record)


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"type": "object", "properties": {"a": {"type": "string", "default": None}}}], "title": "T"},
        {"allOf": [{"type": "object"}, {"type": "object", "additionalProperties": True}]},
        {"definitions": {"D": {"type": "object"}}, "properties": {"a": {"$ref": "#/definitions/D", "title": "A"}}},
        {"anyOf": [{"type": "object", "properties": {}}, {"type": "null"}], "default": None},
        {"type": "array", "items": {"type": "object", "properties": {"a": {}}}},
        {"type": "array", "items": True},
        {"$ref": "#/$defs/A", "$defs": {"A": {"type": "string"}}, "description": "d"},
        {},
    ],
)
def test_schemas_of_every_shape(schema: dict[str, Any]) -> None:
    assert strict_schema(schema) == _strict_json_schema(schema)


@pytest.mark.parametrize("reference", ["other.json#/A", "#/$defs/None"])
def test_a_reference_that_leads_nowhere_is_refused_in_dspys_words(reference: str) -> None:
    schema = {"properties": {"a": {"$ref": reference, "title": "A"}}}
    with pytest.raises(ValueError) as theirs:
        _strict_json_schema(schema)
    with pytest.raises(ValueError) as ours:
        strict_schema(schema)
    assert str(ours.value) == str(theirs.value)


def test_a_schema_that_holds_itself_fails_at_once_as_it_does_for_dspy() -> None:
    schema = Endless.model_json_schema()
    with pytest.raises(RecursionError):
        _strict_json_schema(schema)
    with pytest.raises(RecursionError, match="Endless"):
        strict_schema(schema)
