"""A model read from source has validators that are never run: what dspy may refuse is not called certain."""

from __future__ import annotations

import dspy
import pytest

from adapters.formats.catalog import make
from adapters.signatures import notation
from workbench.output import reading_text

SOURCE = '''
import dspy
from typing import Annotated
from pydantic import AfterValidator, BaseModel, field_serializer, field_validator

def no_zero(value):
    assert value != 0, "no zero"
    return value

class Line(BaseModel):
    price: float

    @field_validator("price")
    @classmethod
    def positive(cls, value):
        assert value > 0, "not positive"
        return value

class Shown(BaseModel):
    price: float

    @field_serializer("price")
    def rounded(self, value):
        return round(value)

class Bill(dspy.Signature):
    """Read it."""
    note: str = dspy.InputField()
    lines: list[Line] = dspy.OutputField()
    total: Annotated[int, AfterValidator(no_zero)] = dspy.OutputField()
    listed: list[Annotated[int, AfterValidator(no_zero)]] = dspy.OutputField()
    shown: Shown = dspy.OutputField()
    plain: int = dspy.OutputField()
'''
REPLY = '{"lines": [{"price": -1}], "total": 3, "listed": [0], "shown": {"price": 1}, "plain": 1}'


def test_a_verdict_says_that_it_is_uncertain_where_dspy_refuses_by_code_of_the_source() -> None:
    live: dict[str, object] = {"__name__": "live"}
    exec(compile(SOURCE, "live", "exec", dont_inherit=True), live)  # noqa: S102
    with pytest.raises(Exception, match="not positive"):
        dspy.JSONAdapter().parse(live["Bill"], REPLY)
    reading = make("json").read(notation.read(SOURCE, "Bill"), REPLY)
    assert reading.ok
    assert reading.uncertain == ("lines", "listed")
    assert reading_text.verdict(reading) == "parsed, uncertain: lines, listed"
    told = [flag.message for flag in reading.flags if flag.name == "unchecked-by-its-code"]
    assert "Line: field_validator `positive`" in told[0]
    assert "AfterValidator" in told[1]


def test_what_was_not_found_and_what_has_no_code_is_certain() -> None:
    signature = notation.read(SOURCE, "Bill")
    assert make("json").read(signature, '{"plain": 1}').uncertain == ()
    assert notation.read("q -> a: list[int]").output_fields["a"].unchecked == ()
