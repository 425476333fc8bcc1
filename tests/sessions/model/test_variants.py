"""Variants under tags: used while their original stands, stale once it has changed, and never dropped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions.checking import checking
from sessions.file import store
from sessions.model import variants
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText, Variant
from sessions.running import recording, rendering

SOURCE = '''import dspy

class Answer(dspy.Signature):
    """Answer briefly."""
    question: str = dspy.InputField(desc="what is asked")
    answer: str = dspy.OutputField()
'''
SESSION = variants.apply_variant(
    variants.apply_variant(Session(SignatureText(SOURCE)), "terse", "instructions", "One word."),
    "terse",
    "fields.question.desc",
    "the question",
)


def states(session: Session) -> dict[tuple[str, str], str]:
    return {(one.variant.tag, one.variant.of): one.state for one in variants.uses(session)}


def test_a_tags_variants_take_the_place_of_their_originals() -> None:
    signature = variants.apply(SESSION, "terse")
    assert signature.instructions == "One word."
    assert signature.fields["question"].description == "the question"
    assert SESSION.signature.read().instructions == "Answer briefly."
    assert set(states(SESSION).values()) == {"current"}


def test_a_variant_whose_original_has_changed_is_stale_and_stays() -> None:
    changed = replace(SESSION, signature=SignatureText(SOURCE.replace("briefly", "at length")))
    assert states(changed) == {("terse", "instructions"): "stale", ("terse", "fields.question.desc"): "current"}
    signature = variants.apply(changed, "terse")
    assert signature.instructions == "Answer at length."
    assert signature.fields["question"].description == "the question"
    again = store.loads(store.dumps(variants.apply_variant(changed, "other", "instructions", "Say it.")))
    assert again.variants[:2] == SESSION.variants
    looked_at = variants.apply_variant(changed, "terse", "instructions", "One word.")
    assert variants.apply(looked_at, "terse").instructions == "One word."


def test_a_variant_of_a_field_that_is_gone_is_lost_and_stays() -> None:
    without = replace(SESSION, signature=SignatureText("topic -> answer"))
    assert states(without)["terse", "fields.question.desc"] == "lost"
    assert variants.apply(without, "terse").fields.keys() == {"topic", "answer"}
    assert variants.apply_variant(without, "b", "instructions", "x").variants[:2] == SESSION.variants


def test_setting_a_variant_again_replaces_it_alone() -> None:
    again = variants.apply_variant(SESSION, "terse", "instructions", "Two words.")
    assert [one.text for one in again.variants] == ["Two words.", "the question"]
    assert variants.tags(variants.apply_variant(again, "v2", "instructions", "x")) == ("terse", "v2")


@pytest.mark.parametrize(
    ("tag", "of", "said"),
    [
        ("BAD TAG", "instructions", r"must match \^\[a-z0-9\]"),
        ("", "instructions", "must match"),
        ("original", "instructions", "is the signature itself"),
        ("a", "fields.nope.desc", "there is nothing called"),
        ("a", "fields.question.type", "there is nothing called"),
    ],
)
def test_what_cannot_be_a_variant_is_refused(tag: str, of: str, said: str) -> None:
    with pytest.raises(variants.VariantError, match=said):
        variants.apply_variant(SESSION, tag, of, "x")


def test_an_unknown_tag_is_never_the_original_in_disguise() -> None:
    with pytest.raises(variants.VariantError, match="terse"):
        variants.apply(SESSION, "tersely")


def test_a_column_stands_beside_its_variants() -> None:
    assert [one.id for one in variants.columns_of(Column("chat", "chat"), ["terse", "v2"])] == [
        "chat",
        "chat · terse",
        "chat · v2",
    ]


def test_a_variant_without_a_hash_is_of_whatever_stands_there() -> None:
    loose = replace(SESSION, variants=(Variant("v", "instructions", "New."),))
    assert variants.apply(loose, "v").instructions == "New."


def test_a_column_with_a_variant_is_rendered_with_it_and_stays_that_object() -> None:
    session = replace(
        SESSION, columns=variants.columns_of(Column("chat", "chat"), ["terse"]), cases=(Case("one", {"question": "?"}),)
    )
    original, terse = (rendering.request_of(session, one, session.cases[0]) for one in session.columns)
    assert "Answer briefly." in original.messages[0].text
    assert "One word." in terse.messages[0].text
    assert "Answer briefly." not in terse.messages[0].text
    first, second = (variants.session_of(session, session.columns[1]).signature.read() for _ in range(2))
    assert first is second
    assert store.loads(store.dumps(session)) == session


def test_a_column_with_a_variant_is_recorded_and_checked_with_it() -> None:
    columns = variants.columns_of(Column("chat", "chat"), ["terse"])[1:]
    reply = Reply("[[ ## answer ## ]]\nYes.\n\n[[ ## completed ## ]]", source="pasted")
    case = Case("one", {"question": "?"}, replies={columns[0].id: reply})
    session = replace(SESSION, columns=columns, cases=(case,))
    recorded = recording.record(session, case, columns[0])
    assert "One word." in str(recorded.cases[0].recordings[columns[0].id].messages)
    (checked,) = checking.check(recorded)
    assert (checked.verdicts["render"], checked.verdicts["parse"]) == ("pass", "pass")
    changed = variants.apply_variant(recorded, "terse", "instructions", "Two words.")
    assert checking.check(changed)[0].verdicts["render"] == "drift"


@pytest.mark.parametrize("tag", ["get weather", "V2", "", "-x", "x" * 65])
def test_an_invalid_tag_is_answered_in_words_and_not_by_a_pattern_alone(tag: str) -> None:
    with pytest.raises(variants.VariantError, match="lower-case letters, digits, dots, hyphens and underscores, for"):
        variants.check_tag(tag)
