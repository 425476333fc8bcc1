"""Two changes of one session are put together part by part, and where they collide nobody guesses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from sessions.file import store
from sessions.file.both_changes import CollisionError, merge
from sessions.model.replies import Measured, Reply
from sessions.model.session import Case, Column, Demo, Recording, Session, SignatureText, Variant
from tests.sessions.strategies import sessions
from tests.support.pace import loops

RECORDED = Recording(({"role": "user", "content": "?"},), {}, (), {}, "sent")
BASE = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"), Column("json", "json")),
    cases=(Case("one", {"question": 1, "other": "x"}), Case("two")),
    variants=(Variant("terse", "instructions", "Short."),),
)


def case(session: Session, **changed: Any) -> Session:
    return session.replace_case(replace(session.cases[0], **changed))


def test_each_sides_part_is_taken_from_that_side() -> None:
    ours = case(BASE, inputs={"question": 2, "other": "x"}, replies={"chat": Reply("a")})
    theirs = replace(case(BASE, inputs={"question": 1, "other": "y"}), notes="theirs", demos=(Demo({"question": "q"}),))
    merged = merge(BASE, ours, theirs)
    assert merged.session.cases[0].inputs == {"question": 2, "other": "y"}
    assert merged.session.cases[0].replies == {"chat": Reply("a")}
    assert (merged.session.notes, len(merged.session.demos)) == ("theirs", 1)
    assert merged.taken == ("demos", "cases · one · inputs · other", "notes")


def test_rows_that_either_side_added_or_took_away_are_there_or_gone() -> None:
    ours = replace(BASE, columns=(*BASE.columns, Column("xml", "xml")), cases=(BASE.cases[0], Case("ours")))
    theirs = replace(BASE, columns=(BASE.columns[1], Column("baml", "baml")), variants=())
    merged = merge(BASE, ours, theirs).session
    assert [one.id for one in merged.columns] == ["json", "baml", "xml"]
    assert [one.name for one in merged.cases] == ["one", "ours"]
    assert merged.variants == ()


def test_the_order_is_the_files_unless_only_we_changed_it() -> None:
    turned = replace(BASE, cases=BASE.cases[::-1])
    edited = case(BASE, inputs={})
    assert [one.name for one in merge(BASE, turned, edited).session.cases] == ["two", "one"]
    assert [one.name for one in merge(BASE, edited, turned).session.cases] == ["two", "one"]


@pytest.mark.parametrize(
    ("ours", "theirs", "place"),
    [
        (lambda s: case(s, inputs={"question": 2}), lambda s: case(s, inputs={"question": 3}), "inputs · question"),
        (lambda s: case(s, inputs={"question": True}), lambda s: case(s, inputs={"question": 1.0}), "question"),
        (lambda s: replace(s, notes="a"), lambda s: replace(s, notes="b"), "notes"),
        (lambda s: case(s, inputs={}), lambda s: replace(s, cases=s.cases[1:]), "cases · one"),
        (
            lambda s: case(s, recordings={"chat": RECORDED}),
            lambda s: case(s, recordings={"chat": replace(RECORDED, source="pasted")}),
            "cases · one · recorded · chat",
        ),
        (
            lambda s: case(s, recordings={"json": RECORDED}),
            lambda s: replace(s, columns=s.columns[:1]),
            "columns · json",
        ),
        (
            lambda s: replace(s, columns=s.columns[:1]),
            lambda s: case(s, recordings={"json": RECORDED}),
            "columns · json",
        ),
    ],
)
def test_the_same_part_changed_in_two_ways_collides_and_is_named(
    ours: Callable[[Session], Session], theirs: Callable[[Session], Session], place: str
) -> None:
    with pytest.raises(CollisionError, match="in the same place") as caught:
        merge(BASE, ours(BASE), theirs(BASE))
    assert any(place in one for one in caught.value.places), caught.value.places


def test_ours_stands_in_a_collision_when_that_is_what_was_decided() -> None:
    ours = replace(case(BASE, inputs={"question": 2, "other": "x"}), notes="ours")
    theirs = replace(case(BASE, inputs={"question": 3, "other": "y"}), notes="theirs", name="n")
    merged = merge(BASE, ours, theirs, "ours").session
    assert (merged.cases[0].inputs, merged.notes, merged.name) == ({"question": 2, "other": "y"}, "ours", "n")


def test_a_run_wins_over_another_run_with_what_was_measured_and_over_nothing_else() -> None:
    ours = case(BASE, recordings={"chat": RECORDED}, measured={"chat": (Measured(),)})
    theirs = case(BASE, recordings={"chat": replace(RECORDED, source="pasted")})
    merged = merge(BASE, ours, theirs, "our results").session.cases[0]
    assert (merged.recordings["chat"].source, merged.measured["chat"]) == ("sent", (Measured(),))
    named = case(BASE, inputs={"replies": 1}), case(BASE, inputs={"replies": 2})
    with pytest.raises(CollisionError):
        merge(BASE, *named, "our results")


@pytest.mark.slow
@given(sessions, sessions)
def test_when_one_side_changed_nothing_the_other_is_what_comes_out(base: Session, changed: Session) -> None:
    for merged in (merge(base, changed, base), merge(base, base, changed)):
        assert store.dumps(merged.session) == store.dumps(changed)


@given(sessions, some.text(max_size=20))
def test_both_making_the_same_change_is_no_collision(base: Session, notes: str) -> None:
    both = replace(base, notes=base.notes + notes, columns=())
    assert store.dumps(merge(base, both, both).session) == store.dumps(both)


def test_putting_together_costs_what_was_changed_and_not_what_the_file_holds() -> None:
    messages = [{"role": "user", "content": f"Message {number}\n" * 20} for number in range(20)]
    recorded = {one: replace(RECORDED, messages=tuple(messages)) for one in ("chat", "json", "xml")}
    cases = tuple([Case(f"case {number}", {"question": 1}, recordings=recorded) for number in range(50)])
    base = store.loads(store.dumps(replace(BASE, cases=cases)))
    ours = base.replace_case(replace(base.cases[7], inputs={"question": "ours"}))
    theirs = store.loads(store.dumps(base.replace_case(replace(base.cases[9], inputs={"question": "theirs"}))))
    merged = merge(base, ours, theirs)
    assert merged.taken == ("cases · case 9 · inputs · question",)
    assert merged.session.cases[7].inputs == {"question": "ours"}
    assert all(one is other for one, other in zip(merged.session.cases[10:], ours.cases[10:], strict=True))
    assert loops(lambda: merge(base, ours, theirs)) < loops(lambda: store.dumps(base))
