"""Columns are adapter × model × variant: added, changed and taken away without losing what was recorded."""

from __future__ import annotations

from dataclasses import replace

from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Recording, Session, SignatureText, Variant
from sessions.running import rendering
from workbench.editing import column_edits
from workbench.state.document import State

SESSION = Session(
    SignatureText("question -> answer"),
    columns=(Column("chat", "chat"), Column("json", "json")),
    cases=(Case("c", replies={"chat": Reply("hello")}),),
)


def ids(state: State) -> list[str]:
    return [one.id for one in state.session.columns]


def test_a_model_beside_a_column_is_a_column_that_names_it() -> None:
    made = column_edits.copy(State(SESSION), "chat", model="offline/sloppy")
    assert ids(made) == ["chat", "chat · offline/sloppy", "json"]
    assert made.session.columns[1] == Column("chat · offline/sloppy", "chat", model="offline/sloppy")
    again = column_edits.copy(made, "chat", model="offline/sloppy")
    assert ids(again)[1:3] == ["chat · offline/sloppy 2", "chat · offline/sloppy"]


def test_one_more_model_for_every_adapter_makes_adapter_times_model_and_no_column_twice() -> None:
    first = column_edits.add_model_to_all(State(SESSION), "offline/sloppy")
    second = column_edits.add_model_to_all(first, "offline/fenced")
    assert {(one.adapter, second.session.model_of(one)) for one in second.session.columns} == {
        (adapter, f"offline/{model}") for adapter in ("chat", "json") for model in ("exact", "sloppy", "fenced")
    }
    assert column_edits.add_model_to_all(second, "offline/exact") is second
    assert column_edits.add_model_to_all(second, "offline/fenced") is second


def test_an_id_that_names_the_model_follows_it_and_takes_replies_and_recordings_along() -> None:
    made = column_edits.copy(State(SESSION), "chat", model="offline/sloppy")
    recording = Recording((), {}, (), {})
    case = replace(
        made.case, recordings={"chat · offline/sloppy": recording}, replies={"chat · offline/sloppy": Reply("x")}
    )
    changed = column_edits.change(
        replace(made, session=made.session.replace_case(case)), "chat · offline/sloppy", model="offline/fenced"
    )
    assert ids(changed) == ["chat", "chat · offline/fenced", "json"]
    assert list(changed.case.recordings) == list(changed.case.replies) == ["chat · offline/fenced"]


def test_an_id_that_was_chosen_stays() -> None:
    changed = column_edits.change(State(SESSION), "chat", model="offline/sloppy")
    assert ids(changed) == ["chat", "json"] and changed.session.columns[0].model == "offline/sloppy"
    assert changed.case.replies == {"chat": Reply("hello")}
    assert column_edits.change(changed, "chat", model="offline/sloppy") is changed


def test_a_column_that_is_removed_leaves_its_replies() -> None:
    removed = column_edits.remove(State(SESSION), "chat")
    assert ids(removed) == ["json"] and "chat" in removed.case.replies


def test_a_variant_beside_a_column_is_rendered_with_its_words() -> None:
    session = replace(SESSION, variants=(Variant("terse", "instructions", "In one word."),))
    made = column_edits.copy(State(session), "chat", variant="terse")
    assert ids(made) == ["chat", "chat · terse", "json"]
    beside = column_edits.copy(made, "chat · terse", model="offline/sloppy")
    assert ids(beside)[:3] == ["chat", "chat · terse", "chat · terse · offline/sloppy"]
    original, varied = (
        rendering.request_of(made.session, column, made.case).messages[0].text for column in made.session.columns[:2]
    )
    assert "In one word." in varied and "In one word." not in original
    assert ids(column_edits.change(made, "chat · terse", variant=None))[1] == "chat 2"


def test_the_extraction_model_is_an_option_of_the_column_that_renders_and_goes_away_again() -> None:
    session = replace(SESSION, columns=(Column("two", "twostep"),))
    named = column_edits.set_extraction_model(State(session), "two", "offline/fenced")
    assert named.session.columns[0].options == {"extraction_model": "offline/fenced"}
    rendering.request_of(named.session, named.session.columns[0], named.case)
    assert column_edits.set_extraction_model(named, "two", None).session.columns[0] == session.columns[0]


def test_a_release_takes_over_every_column_of_its_adapters_and_names_those_that_bore_their_names() -> None:
    columns = (
        Column("chat", "chat"),
        Column("chat · offline/sloppy", "chat", model="offline/sloppy"),
        Column("mine", "json"),
        Column("markdown", "markdown"),
        Column("xml", "xml@2.6.27"),
    )
    state = State(replace(SESSION, columns=columns))
    made = column_edits.set_release(state, "3.0.4", ["chat", "json", "xml"])
    assert [(one.id, one.adapter, one.model) for one in made.session.columns] == [
        ("chat@3.0.4", "chat@3.0.4", None),
        ("chat@3.0.4 · offline/sloppy", "chat@3.0.4", "offline/sloppy"),
        ("mine", "json@3.0.4", None),
        ("markdown", "markdown", None),
        ("xml", "xml@3.0.4", None),
    ]
    assert column_edits.set_release(made, "3.0.4", ["chat", "json", "xml"]) is made
