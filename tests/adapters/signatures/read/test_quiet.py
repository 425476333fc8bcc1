"""Reading a signature says nothing on the terminal, whatever pydantic advises its author."""

from __future__ import annotations

import pytest

from adapters.signatures import notation

GENERIC = """
import dspy
from typing import Generic, TypeVar
from pydantic import BaseModel
T = TypeVar("T")
class Answer(BaseModel, Generic[T]):
    value: T
    class Config:
        schema_extra = {"example": {"value": 1}}
class S(dspy.Signature):
    question: str = dspy.InputField()
    answer: Answer[int] = dspy.OutputField()
"""


def test_old_configuration_of_a_generic_model_raises_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    notation.read(GENERIC)
    assert not list(recwarn)
