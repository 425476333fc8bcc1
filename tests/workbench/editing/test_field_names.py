"""A field's new name goes everywhere its values are."""

from dataclasses import replace

import pytest

from sessions.model.session import Case, Demo, Session, SignatureText, Variant
from tests.support.open_app import CLASSIFY
from workbench.editing.edits import field_at, rename_field
from workbench.state.document import Place, State

SESSION = Session(
    SignatureText("q -> a"),
    demos=(Demo({"q": "1", "a": "2"}), Demo({"other": 1})),
    cases=(
        Case(
            "one",
            {"x": 0, "q": "3"},
            ({"q": "4"},),
            {"fields": {"q.b[0]": {"equals": 1}, "qq": {}}, "columns": {"chat": {"fields": {"q": {}}}}},
        ),
    ),
    variants=(Variant("v", "fields.q.desc", "text"),),
)


def test_values_expectations_variants_and_drafts_follow() -> None:
    place = Place("input", "one", field="q")
    made = rename_field(State(SESSION, 0, {place: "half"}), "query -> a", "q", "query")
    assert made.session.demos[0].values == {"query": "1", "a": "2"}
    assert made.session.demos[1] is SESSION.demos[1]
    assert list(made.case.inputs) == ["x", "query"]
    assert made.case.history == ({"query": "4"},)
    assert made.case.expect["fields"] == {"query.b[0]": {"equals": 1}, "qq": {}}
    assert made.case.expect["columns"] == {"chat": {"fields": {"query": {}}}}
    assert made.session.variants[0].of == "fields.query.desc"
    assert made.drafts == {place._replace(field="query"): "half"}


def test_what_stands_under_the_new_name_already_is_not_overwritten() -> None:
    both = replace(SESSION, demos=(Demo({"q": 1, "query": 2}),))
    assert rename_field(State(both), "query -> a", "q", "query").session.demos[0].values == {"q": 1, "query": 2}


# -- the field that a place in the text declares

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
