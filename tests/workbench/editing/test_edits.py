"""What can be done to a session on screen."""

from __future__ import annotations

import json

import pytest

from adapters.signatures import notation
from adapters.signatures.signature import Field
from sessions.model.replies import Reply
from sessions.model.session import Session, SignatureText
from tests.support.open_app import CLASSIFY, TICKETS
from workbench.editing import edits, field_values, row_edits
from workbench.state.document import Place, State

STATE = State(TICKETS)
FIELDS = notation.read(CLASSIFY).fields


def at(field: str, kind: str = "input", row: int = -1) -> Place:
    return Place(kind, "" if kind == "demo" else "first", row, field)  # type: ignore[arg-type]


def test_a_text_field_takes_text_as_it_stands() -> None:
    state = edits.set_text(STATE, at("ticket"), FIELDS["ticket"], '["not json"\r\n\u2028')
    assert state.case.inputs["ticket"] == '["not json"\r\n\u2028'
    assert not state.drafts


@pytest.mark.parametrize("text", ['[ "a","b" ]', "[{}]", '[{"a": [1]}]', '{"a": [1]}'])
def test_json_text_that_is_a_value_leaves_no_draft_however_it_is_laid_out(text: str) -> None:
    half = edits.set_text(STATE, at("tags"), FIELDS["tags"], text[:-1])
    assert half.drafts == {at("tags"): text[:-1]}
    state = edits.set_text(half, at("tags"), FIELDS["tags"], text)
    assert state.case.inputs["tags"] == json.loads(text)
    assert not state.drafts


def test_text_that_is_no_json_stays_a_draft_and_the_value_stays() -> None:
    state = edits.set_text(STATE, at("tags"), FIELDS["tags"], "[1, ")
    assert state.session is TICKETS
    assert state.drafts == {at("tags"): "[1, "}
    mended = edits.set_text(state, at("tags"), FIELDS["tags"], "[1, 2]")
    assert mended.case.inputs["tags"] == [1, 2]


def test_empty_json_text_takes_the_field_away_and_empty_text_is_a_value() -> None:
    assert "tags" not in edits.set_text(STATE, at("tags"), FIELDS["tags"], "").case.inputs
    assert edits.set_text(STATE, at("ticket"), FIELDS["ticket"], "").case.inputs["ticket"] == ""


def test_the_same_value_is_no_change_but_another_type_is() -> None:
    field = Field("n", "input", int)
    state = edits.set_value(STATE, at("n"), 1)
    assert edits.set_value(state, at("n"), 1) is state
    assert edits.set_value(state, at("n"), True) is not state
    assert edits.set_text(state, at("n"), field, "1.0").case.inputs["n"] == 1.0


def test_keys_of_a_value_keep_the_users_order() -> None:
    state = edits.set_text(STATE, at("tags"), FIELDS["tags"], '{"z": 1, "a": 2}')
    assert list(state.case.inputs["tags"]) == ["z", "a"]
    assert list(state.case.inputs) == ["ticket", "channel", "tags"]


def test_rows_move_with_their_drafts() -> None:
    state = edits.set_text(STATE, at("tags", "demo", 0), FIELDS["tags"], "[")
    moved = row_edits.move(state, "demo", 0, 2)
    assert [one.values.get("ticket") for one in moved.session.demos] == ["Dark mode, please.", None, "It crashes."]
    assert moved.drafts == {at("tags", "demo", 2): "["}
    assert row_edits.delete(moved, "demo", 2).drafts == {}
    copied = row_edits.duplicate(moved, "demo", 2)
    assert copied.drafts == {at("tags", "demo", 2): "[", at("tags", "demo", 3): "["}


@pytest.mark.parametrize(("row", "to"), [(0, -1), (2, 3), (1, 1), (9, 0)])
def test_a_move_that_leads_nowhere_changes_nothing(row: int, to: int) -> None:
    assert row_edits.move(STATE, "demo", row, to) is STATE


def test_turns_are_rows_of_the_case_on_screen() -> None:
    state = row_edits.add(STATE, "history", 0, {"ticket": "one"})
    state = row_edits.add(state, "history", 1, {"ticket": "two"})
    state = row_edits.move(state, "history", 0, 1)
    assert [turn["ticket"] for turn in state.session.cases[0].history] == ["two", "one"]
    assert state.session.cases[1].history == ()


def test_a_copied_case_takes_inputs_and_drafts_and_leaves_replies() -> None:
    state = edits.set_text(STATE, at("tags"), FIELDS["tags"], "[")
    state = edits.set_reply(state, "first", "chat", Reply("x"))
    copied = edits.duplicate_case(state)
    assert [one.name for one in copied.session.cases] == ["first", "first 2", "second"]
    assert copied.case.inputs == state.case.inputs and not copied.case.replies
    assert copied.drafts[Place("input", "first 2", field="tags")] == "["


def test_what_a_reply_came_for_goes_with_its_case_and_with_another_reply() -> None:
    name = STATE.case.name
    yes = Reply("yes", request_digest="one request")
    kept = edits.set_reply(STATE, name, "chat", yes)
    assert edits.rename_case(kept, "another name").case.replies["chat"].request_digest == "one request"
    assert edits.set_reply(kept, name, "chat", Reply("pasted")).case.replies["chat"].request_digest is None
    assert edits.set_reply(kept, name, "chat", yes) is kept
    assert edits.set_reply(kept, name, "chat", Reply("yes", request_digest="another")) is not kept


def test_cases_have_names_of_their_own_and_one_always_stays() -> None:
    with pytest.raises(ValueError, match="already"):
        edits.rename_case(STATE, "second")
    with pytest.raises(ValueError, match="name"):
        edits.rename_case(STATE, " ")
    one = State(Session(SignatureText("a -> b")))
    with pytest.raises(ValueError, match="at least one"):
        edits.delete_case(one)
    assert edits.add_case(edits.add_case(one)).case.name == "case 3"


@pytest.mark.parametrize(
    ("annotation", "kind"),
    [
        ("str", "text"),
        ("Optional[str]", "text"),
        ("bool", "choice"),
        ("Literal['a', 2]", "choice"),
        ("Optional[Literal['a']]", "choice"),
        ("list[str]", "json"),
        ("int", "json"),
        ("str | int", "json"),
    ],
)
def test_each_type_has_its_editor(annotation: str, kind: str) -> None:
    assert field_values.editing_of(notation.read(f"x: {annotation} -> y").fields["x"]) == kind


def test_choices_are_the_plain_values_of_the_file() -> None:
    source = (
        "import dspy\nfrom enum import Enum\n\nclass Tone(Enum):\n    CALM = 'calm'\n    LOUD = 2\n\n"
        "class S(dspy.Signature):\n    tone: Tone | None = dspy.InputField()\n    y: str = dspy.OutputField()\n"
    )
    assert [one.value for one in field_values.choices_of(notation.read(source).fields["tone"])] == ["calm", 2, None]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("[1,", 1, 4), ("hello", 1, 1), ('{"a": 1,\n "b" 2}', 2, 6), ("1 2", 1, 3), ("[" * 100_000, 1, 1)],
)
def test_what_is_wrong_with_json_text_has_a_place(text: str, line: int, column: int) -> None:
    wrong = field_values.read_json(text)
    assert isinstance(wrong, field_values.NotAValue)
    assert (wrong.line, wrong.column) == (line, column)


def test_a_turn_that_is_off_stays_off_wherever_it_goes() -> None:
    state = STATE
    for at_row in range(3):
        state = row_edits.add(state, "history", at_row, {"ticket": str(at_row)})
    off = edits.toggle_turn(state, 1)
    assert list(off.case.turns) == [1, 3]
    moved = row_edits.move(off, "history", 1, 0)
    assert [one["ticket"] for one in moved.case.turns.values()] == ["0", "2"]
    assert len(row_edits.duplicate(off, "history", 1).case.turns_off) == 2
    assert not row_edits.delete(off, "history", 1).case.turns_off
    assert edits.toggle_turn(off, 1) == state
