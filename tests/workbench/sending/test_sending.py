"""What is kept of a run, the same from the command line and from the app."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.formats import catalog
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering
from tests.support.open_app import TICKETS
from workbench.sending import sending
from workbench.state.document import State
from workbench.state.engine import Engine

TWO_STEP = Session(
    SignatureText("question -> answer: int"),
    columns=(Column("two", "twostep", model="offline/exact"),),
    cases=(Case("one", {"question": "How many?"}),),
)


def test_a_twostep_reply_that_send_save_keeps_is_read_in_the_app_as_it_was_when_it_was_sent() -> None:
    (column,), (case,) = TWO_STEP.columns, TWO_STEP.cases
    run = sending.send(TWO_STEP, column, case)
    assert run.ok
    kept = sending.keep(TWO_STEP, "one", column, run)
    reading = Engine().column(State(kept), kept.columns[0]).reading
    assert reading is not None and reading.ok
    assert reading.values == run.values


def test_why_the_model_stopped_is_kept_with_its_reply() -> None:
    (column,), (case,) = TWO_STEP.columns, TWO_STEP.cases
    run = sending.send(TWO_STEP, column, case)
    stopped = run.attempts[0].completions[0].finish_reason
    reply = sending.keep(TWO_STEP, "one", column, run).cases[0].replies["two"]
    assert stopped and getattr(reply, "finish_reason", None) == stopped


@pytest.mark.parametrize("adapter", catalog.NAMES)
def test_the_reply_kept_of_a_run_names_the_request_that_it_answers(adapter: str) -> None:
    column = Column(adapter, adapter, model="offline/exact")
    session = replace(TICKETS, columns=(column,))
    case = session.cases[0]
    kept = sending.keep(session, case.name, column, sending.send(session, column, case))
    asked = rendering.request_of(session, column, case)
    assert kept.case(case.name).replies[adapter].request_digest == asked.digest()
    other = replace(case, inputs={**case.inputs, "ticket": "another"})
    assert asked.digest() != rendering.request_of(session, column, other).digest()
