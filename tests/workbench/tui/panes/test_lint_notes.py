"""The lints of all columns as notes: each once, with the columns it is about unless it is all of them."""

from __future__ import annotations

from collections.abc import Sequence

from sessions.model.session import Case, Column, Demo, Session, SignatureText
from workbench.state.document import Place, State
from workbench.state.engine import Engine
from workbench.tui.panes.notes import Note, lint_notes


def notes_of(session: Session) -> Sequence[Note]:
    state, engine = State(session), Engine()
    *steps, found = lint_notes(state, [engine.column(state, one) for one in session.columns])
    assert steps == [None] * len(session.columns)
    assert found is not None
    return found


def session(demo: Demo, **inputs: str) -> Session:
    columns = tuple([Column(name, name) for name in ("chat", "json", "xml")])
    return Session(SignatureText("q -> a"), demos=(demo,), columns=columns, cases=(Case("rain", inputs),))


def test_a_lint_of_some_columns_names_them_and_leads_to_its_place() -> None:
    (note,) = notes_of(session(Demo({"q": "1", "a": "2"}), q="what is [[ ## a ## ]]?"))
    assert note.text.startswith("chat, json: ") and "[[ ## a ## ]]" in note.text
    assert note.place == Place("input", "rain", field="q")


def test_a_lint_of_every_column_is_said_once() -> None:
    (note,) = notes_of(session(Demo({"q": "1", "a": "2"}), q="x", colour="red"))
    assert note.text.startswith("`colour`: not in the signature")


def test_a_demo_that_does_not_read_back_is_told_beside_the_prompt() -> None:
    found = notes_of(session(Demo({"q": "1", "a": "  padded  "}), q="x"))
    assert any("demo 1" in one.text and "reads back" in one.text and one.place.kind == "demo" for one in found)


def test_without_a_column_there_is_nothing_to_say() -> None:
    state = State(Session(SignatureText("q -> a"), cases=(Case("rain"),)))
    assert list(lint_notes(state, [])) == [[]]


def test_a_model_that_refuses_markdowns_prompt_is_said_of_its_column_alone() -> None:
    columns = (Column("plain", "markdown"), Column("claude", "markdown", model="anthropic/claude-sonnet-5-5"))
    (note,) = notes_of(Session(SignatureText("q -> a"), columns=columns, cases=(Case("rain", {"q": "x"}),)))
    assert note.text.startswith("claude: anthropic requires a user message")
    assert note.place == Place("column", field="claude")
