"""Flags that no other test names: the reply that raises each, and the value that dspy makes of it."""

from __future__ import annotations

import enum
from typing import Any

import pytest

from adapters.formats.catalog import make
from adapters.replies.reading import Reading
from adapters.signatures.signature import Field, Signature


class Urgency(enum.Enum):
    HIGH = "act today"
    LOW = "can wait"


def read(adapter: str, reply: str, *outputs: Field) -> Reading:
    return make(adapter).read(Signature.make((Field("question", "input"), *outputs)), reply)


def flags(reading: Reading) -> dict[str, str | None]:
    return {flag.name: flag.field for flag in reading.flags}


def test_an_absent_output_with_a_default_is_flagged() -> None:
    reading = read("json", '{"answer": "A"}', Field("answer", "output"), Field("note", "output", default="none"))
    assert reading.values == {"answer": "A", "note": "none"}
    assert flags(reading) == {"default-filled-in": "note"}


def test_keys_that_are_no_output_are_flagged_as_ignored() -> None:
    reading = read("json", '{"answer": "A", "confidence": 1}', Field("answer", "output"))
    assert reading.values == {"answer": "A"}
    assert "extra-keys-ignored" in flags(reading)


def test_tags_that_are_no_output_are_flagged_as_ignored() -> None:
    reading = read("xml", "<answer>A</answer><mood>calm</mood>", Field("answer", "output"))
    assert reading.values == {"answer": "A"}
    assert "unknown-tag-ignored" in flags(reading)


def test_xml_that_ends_inside_a_cdata_section_is_flagged_as_cut_off() -> None:
    reading = read("xml", "<answer><![CDATA[A & B", Field("answer", "output"))
    assert not reading.ok
    assert "xml-cut-off" in flags(reading)


@pytest.mark.parametrize(
    ("name", "annotation", "written", "value"),
    [
        ("number-rewritten", str, "1.50", "1.5"),
        ("enum-by-name", Urgency, '"HIGH"', Urgency.HIGH),
        ("unusual-number", int, "3.0", 3),
    ],
)
def test_a_value_read_in_an_unusual_way_is_flagged(name: str, annotation: Any, written: str, value: object) -> None:
    reading = read("json", f'{{"answer": {written}}}', Field("answer", "output", annotation))
    assert reading.values == {"answer": value}
    assert flags(reading) == {name: "answer"}


def test_a_reply_too_large_to_repair_is_flagged_with_the_limit() -> None:
    reading = read("json", '{"answer": ' + "{[" * 60_000, Field("answer", "output", dict[str, Any]))
    assert not reading.ok
    assert "too-large-to-read" in flags(reading)
