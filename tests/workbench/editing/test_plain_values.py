"""Values as people write them say the same as their JSON, whatever they hold, and an error names its place."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.signatures import notation
from workbench.editing import field_values, plain_values
from workbench.editing.field_values import ABSENT, NotAValue

SOURCE = """
from datetime import date
from typing import Literal
from pydantic import BaseModel
import dspy

class Item(BaseModel):
    name: str
    price: float
    tags: list[str]

class Invoice(BaseModel):
    number: str
    issued: date
    items: list[Item]
    note: str | None = None
    paid: bool

class S(dspy.Signature):
    invoice: Invoice = dspy.InputField()
    items: list[Item] = dspy.InputField()
    docs: list[str] = dspy.InputField()
    scores: dict[str, list[int]] = dspy.InputField()
    nested: list[list[str]] = dspy.InputField()
    maybe: list[str] | None = dspy.InputField()
    count: int = dspy.InputField()
    day: date = dspy.InputField()
    either: str | int = dspy.InputField()
    anything: list = dspy.InputField()
    picture: dspy.Image = dspy.InputField()
    answer: str = dspy.OutputField()
"""
TYPES = {name: one.annotation for name, one in notation.read(SOURCE, "S").input_fields.items()}

INVOICE = {
    "number": "12",
    "issued": "2024-01-02",
    "items": [{"name": "Cake: large", "price": 12.5, "tags": ["sweet"]}, {"name": "Bread", "price": 3, "tags": []}],
    "note": None,
    "paid": True,
}
WRITTEN = """\
number: 12
issued: 2024-01-02
items:
  - name: Cake: large
    price: 12.5
    tags:
      - sweet
  - name: Bread
    price: 3
    tags: []
note: null
paid: true"""

texts = st.text(st.sampled_from('ab 12.:-|[]{}"\n\t\r#,\u2028\x1b\ud800ü') | st.characters(), max_size=12)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.sampled_from(["null", "true", "- a", "|"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "price", "tags", "items", "note"]) | texts, inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(sorted(TYPES)), values)
def test_what_is_written_is_read_as_the_same_value_whether_it_fits_the_type_or_not(name: str, value: Any) -> None:
    text = plain_values.shown(value, TYPES[name])
    assert repr(plain_values.read(text, TYPES[name])) == repr(value)


@given(st.sampled_from(sorted(TYPES)), st.text(st.sampled_from('ab 1:-|[]{}"\n'), max_size=40))
def test_any_text_is_a_value_or_is_wrong_at_a_place_that_it_has(name: str, text: str) -> None:
    found = plain_values.read(text, TYPES[name])
    if isinstance(found, NotAValue):
        lines = text.split("\n")
        assert 1 <= found.line <= len(lines) and 1 <= found.column <= len(lines[found.line - 1]) + 2
        assert found.message


def test_a_model_is_its_fields_and_a_list_its_rows() -> None:
    assert plain_values.shown(INVOICE, TYPES["invoice"]) == WRITTEN
    assert plain_values.read(WRITTEN, TYPES["invoice"]) == INVOICE
    assert plain_values.shown(["x", "12"], TYPES["docs"]) == "- x\n- 12"


def test_paragraphs_are_paragraphs() -> None:
    text = "Dear all,\n\n  the cake is late.\nYours"
    written = plain_values.shown([text, "x"], TYPES["docs"])
    assert written == "- |\n  Dear all,\n\n    the cake is late.\n  Yours\n- x"
    assert plain_values.read(written, TYPES["docs"]) == [text, "x"]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("docs", "one\ntwo", ["one", "two"]),
        ("docs", '["a", 1]', ["a", 1]),
        ("docs", "", ABSENT),
        ("maybe", "null", None),
        ("count", "12", 12),
        ("day", "2024-01-02", "2024-01-02"),
        ("either", "abc", "abc"),
        ("scores", "a b:\n  - 1\n  - 2", {"a b": [1, 2]}),
        ("items", "- name: Cake\n  price: 3\n  tags:", [{"name": "Cake", "price": 3, "tags": []}]),
        ("items", '- {"name": "Cake"}', [{"name": "Cake"}]),
        ("picture", "https://example.org/cat.png", "https://example.org/cat.png"),
    ],
)
def test_it_is_read_by_the_type(name: str, text: str, value: Any) -> None:
    assert repr(plain_values.read(text, TYPES[name])) == repr(value)


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "said"),
    [
        ("invoice", "number: 1\npaid: maybe", 2, 7, "true or false"),
        ("invoice", "number: 1\nnumber: 2", 2, 1, "twice"),
        ("invoice", "number", 1, 1, "a name, a colon and a value (number, issued, items, note)"),
        ("invoice", "number: 1\n   paid: true", 2, 4, "indented differently"),
        ("items", "- name: a\n  price:", 2, 9, "not finished: a number"),
        ("items", "Cake", 1, 1, "start every row with `- `"),
        ("items", "- name: a\n  tags: x", 2, 9, "on the lines below"),
        ("docs", "- a\nb", 2, 1, "or none"),
        ("docs", "[1,", 1, 4, "not finished"),
        ("count", "many", 1, 1, "a number"),
    ],
)
def test_an_error_says_where_and_what_belongs_there(name: str, text: str, line: int, column: int, said: str) -> None:
    wrong = plain_values.read(text, TYPES[name])
    assert isinstance(wrong, NotAValue)
    assert (wrong.line, wrong.column) == (line, column) and said in wrong.message


def test_a_skeleton_names_what_a_value_is_made_of() -> None:
    made = plain_values.skeleton(TYPES["items"])
    assert made == "- name: \n  price: \n  tags:\n    - "
    assert plain_values.skeleton(TYPES["count"]) == ""
    filled = made.replace("name: ", "name: Cake").replace("price: ", "price: 3").replace("    - ", "    - sweet")
    assert plain_values.read(filled, TYPES["items"]) == [{"name": "Cake", "price": 3, "tags": ["sweet"]}]


@pytest.mark.parametrize(
    "hostile", ["- " * 5_000 + "x", "[" * 100_000, "\n".join(f"{' ' * n}a:" for n in range(3_000))]
)
def test_what_is_nested_too_deeply_is_said_and_stops_nothing(hostile: str) -> None:
    for annotation in TYPES.values():
        plain_values.read(hostile, annotation)


def test_a_large_value_stands_as_json() -> None:
    large = ["x" * 50_000]
    assert plain_values.shown(large, TYPES["docs"]).startswith("[")


def test_nothing_behind_the_name_of_an_optional_text_is_null_and_a_text_of_no_length_is_quotes() -> None:
    invoice = {**INVOICE, "number": ""}
    for note in (None, "", "x"):
        written = plain_values.shown({**invoice, "note": note}, TYPES["invoice"])
        assert plain_values.read(written, TYPES["invoice"]) == {**invoice, "note": note}
    begun = "number:\nissued: 2024-01-02\nitems: []\nnote:\npaid: true"
    assert plain_values.read(begun, TYPES["invoice"]) == {**invoice, "items": [], "note": None}


@pytest.mark.parametrize(
    ("text", "value"), [("- bug\n- ", ["bug"]), ("-", []), ("- bug\n-\n- ", ["bug", ""]), ("- \n- bug", ["", "bug"])]
)
def test_the_empty_last_row_that_enter_makes_is_no_item(text: str, value: list[str]) -> None:
    assert plain_values.read(text, list[str]) == value
    assert plain_values.read(text.replace("bug", "7"), list[int]) == [7] or "" in value or not value
    assert plain_values.read(plain_values.shown(["bug", ""], list[str]), list[str]) == ["bug", ""]


@pytest.mark.parametrize(
    ("annotation", "before", "begins"),
    [
        (list[str], "- milk", "- "),
        (list[str], "- note: bring it", "- "),
        (list[str], "milk", ""),
        (list[str], "- ", None),
        (list[dict[str, str]], "- item: Cake", "  "),
        (list[dict[str, str]], "  price: 3", "  "),
        (dict[str, list[str]], "tags:", "  "),
        (dict[str, list[str]], "  - red", "  - "),
        (dict[str, str], "remarks: |", "  "),
    ],
)
def test_enter_goes_on_with_the_list_or_the_indentation(annotation: Any, before: str, begins: str | None) -> None:
    assert plain_values.next_line(before, annotation) == begins


def test_in_a_row_texts_come_first_and_embedded_data_last() -> None:
    """Rows that all start with the bytes of an image look the same."""
    image = {"url": "data:image/png;base64,iVBORw0KGgo="}
    shown = field_values.in_one_line([image, "a\n  b", ["x", None, True], {"ü": [image]}, 12, ""])
    assert shown == ["a b", "", '["x", null, true]', '{"ü": [{"url": "image/png · 8 B"}]}', "12", "image/png · 8 B"]


def test_only_the_start_of_a_long_or_deep_value_is_written_for_a_row() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    long = [{"text": "x" * 100_000}] * 100_000
    assert field_values.in_one_line([deep])[0] == "[[[[]]]]"
    assert len(field_values.in_one_line([long])[0]) < 5_000
