"""Custom types are known by their base class's name, ours or dspy's, and nothing else passes for one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

import dspy
import dspy.adapters.types as theirs
import pydantic
import pytest
from dspy.adapters.types.citation import Citations as DspyCitations
from dspy.adapters.types.decision import Choice, Noul
from dspy.adapters.types.document import Document as DspyDocument

import adapters.types as ours
from adapters.types.recognition import (
    custom_types_in,
    is_builtin,
    is_custom_type,
    is_decision_type,
    is_kind_of,
    is_named,
)


class Formatted(pydantic.BaseModel):
    def format(self) -> list[dict[str, Any]]:
        return []


class Type(pydantic.BaseModel):
    """Only the name is the same."""


class Mine(ours.Type):
    x: int


class MineByDspy(dspy.Type):
    x: int


class MyHistory(ours.History): ...


NAMES = ["Image", "Audio", "File", "Code", "Reasoning", "Tool", "ToolCalls"]
DSPYS = [*(getattr(theirs, name) for name in NAMES), DspyCitations, DspyDocument]
OURS = [getattr(ours, cls.__name__) for cls in DSPYS]


@pytest.mark.parametrize("cls", [*OURS, *DSPYS, Mine, MineByDspy, ours.Code["java"], theirs.Code["java"]])
def test_a_class_below_either_type_is_a_custom_type(cls: Any) -> None:
    assert is_custom_type(cls)
    assert custom_types_in(Annotated[dict[str, list[cls | None]], "doc"]) == [cls]


@pytest.mark.parametrize(
    "annotation",
    [Formatted, Type, ours.History, theirs.History, ours.ToolCallResults, int, list[ours.Image], None, "Image", 5, Any],
)
def test_nothing_else_is_a_custom_type(annotation: Any) -> None:
    assert not is_custom_type(annotation)


ANNOTATIONS: list[Callable[[Any], Any]] = [
    lambda cls: cls,
    lambda cls: list[cls],
    lambda cls: cls | None,
    lambda cls: dict[cls, list[cls | str]],
    lambda cls: Annotated[cls, cls, "x"],
    lambda cls: tuple[cls, ...],
    lambda cls: Callable[[cls], cls],
    lambda cls: Literal["Image"],
    lambda cls: type[cls],
    lambda cls: Formatted,
]


@pytest.mark.parametrize("make", ANNOTATIONS, ids=range(len(ANNOTATIONS)))
def test_the_types_in_an_annotation_are_those_dspy_finds(make: Callable[[Any], Any]) -> None:
    found = dspy.Type.extract_custom_type_from_annotation(make(dspy.Image))
    assert custom_types_in(make(dspy.Image)) == found
    assert custom_types_in(make(ours.Image)) == [ours.Image for _ in found]


@pytest.mark.parametrize("name", [*NAMES, "History", "ToolCallResults"])
def test_a_named_type_is_ours_or_dspy_s(name: str) -> None:
    mine, dspys = getattr(ours, name), getattr(theirs, name)
    assert is_named(mine, name)
    assert is_named(dspys, name)
    assert not is_named(list[mine], name)
    assert not is_named(Formatted, name)
    assert is_builtin(mine)
    assert is_builtin(dspys)


def test_a_derived_class_is_another_type_except_for_code() -> None:
    assert not is_named(MyHistory, "History")
    assert is_kind_of(MyHistory, "History")
    assert is_named(ours.Code["java"], "Code")
    assert is_named(theirs.Code["java"], "Code")
    assert not is_builtin(Mine)
    assert not is_builtin(int)


def test_decision_types_are_told_apart() -> None:
    assert is_decision_type(Noul)
    assert is_decision_type(Choice["a", "b"])
    assert not is_decision_type(ours.Image)
    assert not is_decision_type("Noul")


def test_recognising_and_importing_need_neither_dspy_nor_the_network() -> None:
    script = (
        "import sys, adapters.types as t, adapters.types.recognition as r; r.is_named(t.Code['java'], 'Code'); "
        "print([m for m in ('dspy', 'litellm', 'requests', 'PIL', 'numpy', 'textual') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
