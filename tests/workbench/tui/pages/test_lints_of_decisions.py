"""What the lints say of a session whose outputs are decisions, and what its demos are not blamed for."""

from __future__ import annotations

from adapters.types import Score
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from workbench.state.document import State
from workbench.state.engine import Engine
from workbench.tui.pages.page import LookedAt
from workbench.tui.pages.prompt_pages import lints_of

SOURCE = """import dspy
from dspy.experimental import Noul


class Triage(dspy.Signature):
    ticket: str = dspy.InputField()
    blocked: Noul = dspy.OutputField(desc="Is the user blocked?")
    others: list[Noul] = dspy.OutputField()
"""
DEMO = Demo({"ticket": "Thanks!", "blocked": False, "others": []})


def names_of_lints(adapter: str) -> list[str]:
    case = Case("case 1", {"ticket": "It is down."})
    session = Session(SignatureText(SOURCE), (DEMO,), (Column("one", adapter),), (case,))
    rendered = Engine().column(State(session), session.columns[0])
    assert rendered.request is not None, rendered.error
    return [one.name for one in lints_of(LookedAt(session, case, rendered, (rendered,))) if "baml" not in one.name]


def test_a_bare_label_in_a_demo_is_an_example_and_no_mistake() -> None:
    for adapter in ("chat", "json", "xml", "baml"):
        assert names_of_lints(adapter) == ["decision-by-evidence", "decision-inside-a-type"]


def test_a_decisions_value_is_the_first_that_is_shown_of_it() -> None:
    assert repr(Score["poor", "fair"](confidence=0.5, value=0.25)) == "Score(value=0.25, confidence=0.5)"
