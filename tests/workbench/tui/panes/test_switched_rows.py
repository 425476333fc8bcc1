"""Demos and history turns that are switched off look alike, and the marks stand at the rows that they are about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual import events

from adapters.prompts.text import DemoUse
from sessions.model.session import Demo, SignatureText
from tests.support.open_app import TICKETS, Desk, at_the_desk
from tests.support.screen import seen
from workbench.state.document import State
from workbench.tui.panes.turns import DemosPane, HistoryPane
from workbench.tui.widgets.row_list import RowList


def test_a_turn_that_is_off_is_marked_as_a_demo_that_is() -> None:
    case = replace(TICKETS.cases[0], history=({}, {}), turns_off=frozenset({1}))
    state = State(replace(TICKETS, cases=(case,), demos=(Demo({}, enabled=False),)))
    history, demos = [pane(lambda *_, **__: None, state) for pane in (HistoryPane, DemosPane)]
    assert history.mark_of(state, 0)[0] == "●"
    assert history.mark_of(state, 1) == demos.mark_of(state, 0) == ("○ off", "$foreground 60%")


def test_what_the_prompt_does_with_a_demo_stands_at_its_own_row_when_one_above_is_off() -> None:
    state = State(replace(TICKETS, demos=(Demo({}, enabled=False), Demo({"message": "Hi"}), Demo({}))))
    pane = DemosPane(lambda *_, **__: None, state)
    pane.show_uses([DemoUse(2, "dropped", ()), DemoUse(3, "complete", ())])
    assert [pane.mark_of(state, row)[0] for row in range(3)] == ["○ off", "✗ dropped", "●"]


def test_a_demo_that_was_just_added_is_no_error() -> None:
    state = State(replace(TICKETS, demos=(Demo({}),)))
    pane = DemosPane(lambda *_, **__: None, state)
    pane.show_uses([DemoUse(1, "dropped", ())])
    assert pane.mark_of(state, 0) == ("·", "$foreground 60%"), "a wider mark narrows the texts of the others"
    assert pane.summary_of(state, 0).plain == "(not sent while empty)"


@pytest.mark.slow
def test_the_values_of_all_rows_begin_below_each_other_whatever_the_marks_in_front() -> None:
    async def look(desk: Desk) -> None:
        await desk.go_to("demo", row=0)
        shown = [row.strip() for row in seen(desk.main.editors.demos.query_one(RowList))]
        assert [row.split()[1:3] for row in shown[:4]] == [
            ["●", "value"],
            ["◐", "incomplete"],
            ["○", "off"],
            ["✗", "dropped"],
        ]
        assert {row.index("value") for row in shown[:4]} == {len("1 ◐ incomplete  ")}
        await desk.press("end", "x", "x", "x")
        shown = [row.strip() for row in seen(desk.main.editors.demos.query_one(RowList))]
        assert shown[0].startswith("1 ●  value"), "no room for marks that no row has"

    whole = {"ticket": "value", "channel": "mail", "tags": [], "label": "bug", "urgency": 1}
    demos = (
        Demo(whole),
        Demo({"ticket": "value", "label": "bug"}),
        Demo(whole, enabled=False),
        Demo({"note": "value"}),
    )
    at_the_desk(look, replace(TICKETS, demos=demos))


@pytest.mark.slow
@pytest.mark.parametrize("is_last", [True, False])
def test_undoing_an_added_demo_leaves_the_focus_where_the_demos_are(is_last: bool) -> None:
    session = replace(TICKETS, demos=TICKETS.demos[:1] if is_last else ())

    async def act(desk: Desk) -> None:
        await desk.go_to("demo", row=0)
        await desk.press("ctrl+n")
        assert desk.main.editors.demos.form.focused_field is not None
        await desk.press("ctrl+z")
        assert len(desk.document.session.demos) == len(session.demos)
        assert desk.main.editors.demos.has_focus_within
        desk.app.post_message(events.Paste('{"ticket": "pasted"}'))
        await desk.until(lambda: len(desk.document.session.demos) > len(session.demos), "for what was pasted")

    at_the_desk(act, session)


def test_f2_leads_to_the_first_value_that_a_demo_lacks_and_typed_letters_are_its_text() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("input", "tags")
        await desk.press("f2")
        await desk.type("d x")
        (demo,) = desk.document.session.demos
        assert demo.values == {"ticket": "something", "label": "bug", "note": "d x"}
        await desk.press("escape", "d")
        assert len(desk.document.session.demos) == 2, "in the list they are keys"

    session = replace(TICKETS, demos=(Demo({"ticket": "something", "label": "bug"}),))
    at_the_desk(act, replace(session, signature=SignatureText("ticket, note, tags: list[str] -> label")))


def test_escape_takes_back_a_new_demo_that_nobody_touched() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("demo", row=0)
        await desk.press("ctrl+n", "escape")
        await desk.until(lambda: desk.document.session.demos == TICKETS.demos, "for the row to go")
        await desk.press("ctrl+n")
        await desk.type("x")
        await desk.press("escape")
        assert len(desk.document.session.demos) == 4 and isinstance(desk.app.focused, RowList)

    at_the_desk(act)


@pytest.mark.slow
def test_escape_leads_from_a_field_to_the_rows_where_letters_are_keys() -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to("demo", "ticket", 0)
        await desk.press("d", "escape", "d")
        demos = desk.document.session.demos
        assert [one.values["ticket"] for one in demos] == ["dsomething", "dsomething"], "typed, then copied"
        await desk.press("x", "escape")
        assert len(desk.document.session.demos) == 1 and isinstance(desk.app.focused, RowList)

    at_the_desk(act, replace(TICKETS, demos=(Demo({"ticket": "something", "label": "bug"}),)))
