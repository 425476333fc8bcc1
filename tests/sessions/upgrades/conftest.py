"""Another dspy for tests: our own engine, whose calls are changed on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.releases.engine import Call, Question
from sessions.upgrades.report import Upgrade, upgrade
from sessions.upgrades.sides import Change, Ours, Side, compare

Edit = Callable[[str, str], str]
"""A message's new text, of its role and its text."""
Compare = Callable[..., Upgrade]


class Older(Ours):
    """Ours as another release might have written it."""

    name = "dspy 3.0.4"
    version = "3.0.4"

    def __init__(self, edit: Edit, edit_call: Callable[[Call], Call]) -> None:
        self._edit = edit
        self._edit_call = edit_call

    def call(self, question: Question) -> Call:
        made = super().call(question)
        messages = tuple([self._edited(one) for one in made.messages])
        return self._edit_call(replace(made, messages=messages))

    def _edited(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        content = message["content"]
        return {**message, "content": self._edit(message["role"], content)} if isinstance(content, str) else message


SOURCE = '''
class Item(BaseModel):
    name: str = Field(description="What it is called")
    price: float | None = None

class Sort(dspy.Signature):
    """Sort what is asked."""

    history: dspy.History = dspy.InputField()
    question: str = dspy.InputField(desc="What is asked")
    hint: str | None = dspy.InputField()
    label: Literal["a", "b"] = dspy.OutputField()
    item: Item = dspy.OutputField()
'''
DEMO = {"question": "Käse?", "hint": "h", "label": "a", "item": {"name": "Käse", "price": 1.5}}
INPUTS = {"question": "Bread?", "hint": None}
TURN = {"question": "Tea?", "hint": "t", "label": "b", "item": {"name": "Tea", "price": None}}


@pytest.fixture
def session() -> Session:
    """A history, a demo, a model, a literal and an optional input, under three adapters."""
    case = Case("breakfast", INPUTS, (TURN,))
    columns = tuple([Column(name, name) for name in ("chat", "json", "xml")])
    return Session(SignatureText(SOURCE, "Sort"), (Demo(DEMO),), columns, (case,))


@pytest.fixture
def changed(session: Session) -> Compare:
    """The report of a change from a release that writes as the edits say to ours, over every column."""

    def compared(
        edit: Edit = lambda role, text: text,
        *,
        call: Callable[[Call], Call] = lambda made: made,
        of: Session = session,
    ) -> Upgrade:
        before = Older(edit, call)
        change = Change(Side(before.name, before), Side("ours", Ours()), "dspy release")
        found = [compare(change, of, "s.json", case, column) for case in of.cases for column in of.columns]
        return upgrade(before.name, "ours", found)

    return compared
