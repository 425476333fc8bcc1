"""Demos and history turns that are switched off look alike, and the marks stand at the rows that they are about."""

from __future__ import annotations

from dataclasses import replace

from adapters.prompt import DemoUse
from sessions.session import Demo
from tests.support.open_app import TICKETS
from workbench.document import State
from workbench.panes.demos import DemosPane
from workbench.panes.history import HistoryPane


def test_a_turn_that_is_off_is_marked_as_a_demo_that_is() -> None:
    case = replace(TICKETS.cases[0], history=({}, {}), turns_off=frozenset({1}))
    state = State(replace(TICKETS, cases=(case,), demos=(Demo({}, enabled=False),)))
    history, demos = HistoryPane(lambda *_, **__: None), DemosPane(lambda *_, **__: None)
    assert history.mark_of(state, 0)[0] == "●"
    assert history.mark_of(state, 1) == demos.mark_of(state, 0) == ("○ off", "$foreground 60%")


def test_what_the_prompt_does_with_a_demo_stands_at_its_own_row_when_one_above_is_off() -> None:
    state = State(replace(TICKETS, demos=(Demo({}, enabled=False), Demo({}), Demo({}))))
    pane = DemosPane(lambda *_, **__: None)
    pane.show_uses([DemoUse(2, "dropped", ()), DemoUse(3, "complete", ())])
    assert [pane.mark_of(state, row)[0] for row in range(3)] == ["○ off", "✗ dropped", "●"]
