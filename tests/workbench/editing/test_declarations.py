"""A place in a signature's text belongs to the field that is declared there."""

from __future__ import annotations

import pytest

from tests.support.open_app import CLASSIFY
from workbench.editing.declarations import field_at

LINES = CLASSIFY.split("\n")
NAMES = {"ticket", "channel", "tags", "label", "urgency"}


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LINES) if text in line)


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("column", [0, 4, 30])
def test_a_line_of_a_class_declares_its_field(name: str, column: int) -> None:
    assert field_at(LINES, line_of(f"    {name}:"), column, NAMES, True) == name


@pytest.mark.parametrize("text", ["import dspy", "class Classify", "Classify the ticket"])
def test_around_the_fields_there_is_none(text: str) -> None:
    assert field_at(LINES, line_of(text), 5, NAMES, True) is None


def test_a_declaration_goes_on_over_lines_and_ends_at_an_empty_one() -> None:
    lines = ["class A(dspy.Signature):", "    q: str = dspy.InputField(", '        desc="the q",', "    )", "", "x = 1"]
    assert [field_at(lines, number, 0, {"q"}, True) for number in range(6)] == [None, "q", "q", "q", None, None]


@pytest.mark.parametrize(
    ("column", "name"), [(0, "question"), (8, "question"), (11, "context"), (26, "context"), (33, "answer")]
)
def test_in_the_string_notation_it_is_the_last_name_before_the_cursor(column: int, name: str) -> None:
    lines = ["question, context: list[str] -> answer: float"]
    assert field_at(lines, 0, column, {"question", "context", "answer"}, False) == name


def test_a_place_beyond_the_text_and_a_text_of_nothing_are_no_error() -> None:
    assert field_at([""], 7, 7, {"a"}, True) is None
    assert field_at(["a -> b"], 7, 0, {"a", "b"}, False) == "b"
