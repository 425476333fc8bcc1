"""Variants are edited under their tags; one whose original changed says so and is never dropped."""

from __future__ import annotations

from dataclasses import replace

from sessions.model import variants
from sessions.model.session import Column, Session, SignatureText, Variant
from workbench.editing import column_edits, edits, row_edits
from workbench.state import document
from workbench.state.document import Place, State

STATE = State(
    Session(
        SignatureText("question -> answer", instructions="Answer."),
        columns=(Column("chat", "chat"), Column("chat · v1", "chat", variant="v1")),
    )
)


def add(state: State, at: int) -> State:
    return row_edits.add(state, "variant", at)


def states(state: State) -> list[str]:
    return [one.state for one in variants.uses(state.session)]


def test_a_new_variant_starts_as_the_instructions_under_a_tag_of_its_own() -> None:
    made = add(add(STATE, 0), 1)
    assert [(one.tag, one.of, one.text) for one in made.session.variants] == [
        ("v1", "instructions", "Answer."),
        ("v2", "instructions", "Answer."),
    ]
    assert states(made) == ["current", "current"]


def test_a_variant_goes_stale_with_its_original_is_never_dropped_and_is_renewed_when_its_owner_says_so() -> None:
    made = column_edits.set_text(add(STATE, 0), Place("variant", row=0, field="text"), "Briefly.")
    stale = edits.set_signature(made, instructions="Answer in full.")
    assert states(stale) == ["stale"] and stale.session.variants == made.session.variants
    edited = column_edits.set_text(stale, Place("variant", row=0, field="text"), "Very briefly.")
    assert states(edited) == ["stale"]
    assert states(column_edits.renew(edited, 0)) == ["current"]
    assert column_edits.renew(made, 0) is made


def test_columns_follow_a_tag_that_is_renamed_as_a_whole() -> None:
    tag = Place("variant", row=0, field="tag")
    renamed = column_edits.set_text(add(STATE, 0), tag, "terse")
    assert renamed.session.columns[1].variant == "terse"
    two = column_edits.set_of(add(renamed, 1), 1, "fields.answer.desc")
    both = column_edits.set_text(two, tag._replace(row=1), "terse")
    assert variants.tags(both.session) == ("terse",)
    apart = column_edits.set_text(both, tag, "other")
    assert apart.session.columns[1].variant == "terse"


def test_a_tag_that_will_not_do_is_a_draft_that_says_why() -> None:
    two = add(add(STATE, 0), 1)
    place = Place("variant", row=1, field="tag")
    for text, said in (("Two words", "must match"), ("original", "signature itself"), ("v1", "already"), ("", "match")):
        changed = column_edits.set_text(two, place, text)
        assert changed.session is two.session and changed.drafts == {place: text}
        assert said in column_edits.problem_of(changed, 1, "tag", text)
        assert document.state_of(document.session_with_drafts(changed)) == changed
    assert not column_edits.set_text(changed, place, "v3").drafts


def test_a_variant_can_be_of_a_description_and_of_no_text_that_its_tag_has_already() -> None:
    made = add(STATE, 0)
    of_answer = column_edits.set_of(made, 0, "fields.answer.desc")
    assert states(of_answer) == ["current"]
    two = row_edits.duplicate(of_answer, "variant", 0)
    assert [one.tag for one in two.session.variants] == ["v1", "v2"]
    third = column_edits.set_text(
        column_edits.set_of(two, 1, "instructions"), Place("variant", row=1, field="tag"), "v1"
    )
    assert column_edits.set_of(third, 1, "fields.answer.desc") is third


def test_a_variant_of_a_field_that_is_gone_stays_and_can_still_be_seen() -> None:
    lost = replace(STATE, session=replace(STATE.session, variants=(Variant("v1", "fields.gone.desc", "x"),)))
    assert states(lost) == ["lost"]
    of = column_edits.fields_of(lost.session.signature.read(), lost)[1]
    assert "fields.gone.desc" in str(of.annotation)
    assert column_edits.renew(lost, 0) is lost
    assert row_edits.delete(lost, "variant", 0).session.variants == ()


def test_a_signature_that_cannot_be_read_does_not_keep_anyone_from_editing_variants() -> None:
    broken = edits.set_signature(add(STATE, 0), text="question -> answer: imt")
    changed = column_edits.set_text(broken, Place("variant", row=0, field="text"), "Briefly.")
    assert changed.session.variants[0].text == "Briefly."
    assert len(add(changed, 1).session.variants) == 2


def test_what_a_variant_is_of_can_be_typed_where_there_are_too_many_fields_for_a_choice() -> None:
    made = add(STATE, 0)
    place = Place("variant", row=0, field="of")
    for text in ("", "x", '"fields.gone.desc"', "[1]", '"fields.'):
        changed = column_edits.set_text(made, place, text)
        assert changed.session is made.session and column_edits.problem_of(changed, 0, "of", text)
    typed = column_edits.set_text(made, place, '"fields.answer.desc"')
    assert typed.session.variants[0].of == "fields.answer.desc" and not typed.drafts
