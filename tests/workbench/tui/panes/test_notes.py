"""The notes below the editors, by keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions import examples
from sessions.model.session import Case, Column, Demo, Session, SignatureText, Tool
from sessions.running import rendering
from sessions.running.linting import lints_of
from tests.support.open_app import SMALL, TICKETS, WIDE, Desk, at_the_desk
from tests.support.screen import seen
from workbench.state.document import Place, ReadSignature, State
from workbench.tui.panes.notes import NotesPane, lint_notes, notes_of
from workbench.tui.widgets.text.text_view import TextView


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, SMALL])
def test_enter_on_a_note_leads_to_its_place(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        view = desk.main.query_one(NotesPane).query_one(TextView)
        assert (
            "demo 2 has no urgency: it is sent before the complete demos, with a sentence instead" in view.plain_text
            and "demo 3 is dropped" in view.plain_text
        )
        assert view.size.height == min(6, len(view.rows))
        view.focus()
        await desk.press("down", "enter")
        assert desk.main.editors.demos.has_focus_within
        place = desk.main.editors.demos.edited_place
        assert place is not None and place.row == 2

    at_the_desk(act, size=size)


def test_a_note_is_told_in_the_smallest_terminal_wherever_one_is() -> None:
    async def act(desk: Desk) -> None:
        desk.app.guidance.show()
        for key in ("f2", "f3", "f4"):
            await desk.press(key)
            view = desk.main.query_one(NotesPane).query_one(TextView)
            at = desk.main.find_widget(view)
            assert at.visible_region.height >= 1, f"{key}: its line stood alone, with nothing below it"

    at_the_desk(act, session=examples.load("question"), size=SMALL)


def test_the_notes_of_an_empty_session_name_each_input_once_and_are_whole_in_the_smallest_terminal() -> None:
    async def act(desk: Desk) -> None:
        view = desk.main.query_one(NotesPane).query_one(TextView)
        assert [row.split(maxsplit=1)[1].rstrip() for row in seen(view)] == ["text has no value", "date has no value"]
        *_, found = lint_notes(desk.document.state, desk.main.columns.rendered)
        assert found == []

    session = Session(SignatureText("text, date -> answer"), columns=TICKETS.columns, cases=(Case("one", {}),))
    at_the_desk(act, session=session, size=SMALL)


def test_only_a_change_searches_the_prompts_for_notes_again() -> None:
    async def act(desk: Desk) -> None:
        notes = desk.main.query_one(NotesPane)
        search = notes._search
        await desk.press("f2", "f2", "f4", "f3", "f10", "f10")
        assert notes._search is search, "nothing of the session has changed"
        await desk.go_to("demo", "urgency")
        await desk.type("2")
        assert notes._search is not search

    at_the_desk(act)


def test_a_note_of_an_invalid_value_says_what_the_prompt_holds() -> None:
    async def act(desk: Desk) -> None:
        view = desk.main.query_one(NotesPane).query_one(TextView)
        for row, said in ((0, "the last valid value stays in use"), (1, "the prompts have no value for it")):
            await desk.go_to("demo", "urgency", row)
            await desk.type("high")
            await desk.until(
                lambda said=said, row=row: f"demo {row + 1}, urgency: invalid value; {said}" in view.plain_text
            )

    at_the_desk(act)


def test_a_note_of_an_invalid_value_in_another_case_says_what_that_case_holds() -> None:
    turns = ({"answer": "a"}, {"answer": "b"})
    cases = (Case("one", {}, history=turns), Case("two", {"tags": ["x"]}))
    session = Session(SignatureText("tags: list[str] -> answer"), columns=TICKETS.columns, cases=cases)
    drafts = {Place("history", "one", 1, "answer"): "[", Place("input", "one", field="tags"): "["}
    said = [one.text for one in notes_of(State(session, 1, drafts), ReadSignature(), ())]
    assert said[:2] == [
        "turn 2, answer: invalid value; the last valid value stays in use",
        "input tags: invalid value; the prompts have no value for it",
    ]
    read = ReadSignature(session.signature.read())
    shown = [one.text for one in notes_of(State(session, 0, drafts), read, ())]
    assert not [one for one in shown if "has no value" in one], "said once"


@pytest.mark.slow
def test_a_demo_whose_value_is_null_is_said_to_count_as_one_without_it() -> None:
    def notes(urgency: dict[str, None]) -> str:
        demo = Demo({"ticket": "It crashes.", "channel": "mail", "tags": [], "label": "bug", **urgency})
        said: list[str] = []

        async def act(desk: Desk) -> None:
            said.append(desk.main.query_one(NotesPane).query_one(TextView).plain_text)

        at_the_desk(act, session=replace(TICKETS, demos=(demo,)))
        return said[0]

    assert "demo 1 has no urgency: it is sent before the complete demos, with a sentence instead" in notes({})
    assert (
        "demo 1 has no urgency (null counts as none): it is sent before the complete demos, with a sentence instead"
        in notes({"urgency": None})
    )


def test_a_format_without_a_place_for_demos_is_not_said_to_drop_them_for_what_they_lack() -> None:
    complete = Demo({"ticket": "It crashes.", "channel": "mail", "tags": [], "label": "bug", "urgency": 3})
    lacks = Demo({"ticket": "It crashes.", "channel": "mail", "tags": [], "label": "bug"})
    columns = [Column("markdown", "markdown"), Column("chat", "chat")]
    said: list[str] = []

    async def act(desk: Desk) -> None:
        await desk.until(lambda: "no place for them" in desk.main.query_one(NotesPane).query_one(TextView).plain_text)
        said.append(desk.main.query_one(NotesPane).query_one(TextView).plain_text)

    for demo, some in ((complete, columns[:1]), (lacks, columns)):
        at_the_desk(act, session=replace(TICKETS, demos=(demo,), columns=tuple(some)))
    assert "demo 1" not in said[0]
    assert "demo 1 has no urgency: it is sent before the complete demos, with a sentence instead" in " ".join(
        said[1].split()
    )


def test_an_input_that_the_tools_of_the_session_fill_is_not_said_to_lack_a_value() -> None:
    signature = SignatureText("question, tools: list[dspy.Tool] -> answer")
    case, column = Case("one", {"question": "Rain?"}), Column("chat", "chat")
    session = Session(signature, columns=(column,), cases=(case,), model="offline/exact")

    def said(session: Session) -> str:
        found: list[str] = []

        async def act(desk: Desk) -> None:
            found.append(desk.main.query_one(NotesPane).query_one(TextView).plain_text)

        at_the_desk(act, session=session)
        lints = lints_of(session, column, case, rendering.request_of(session, column, case))
        return " ".join([*found, *(one.message for one in lints)])

    assert "tools has no value" in said(session) and "`tools` has no value" in said(session)
    assert "has no value" not in said(replace(session, tools=(Tool("search", "Search."),)))
