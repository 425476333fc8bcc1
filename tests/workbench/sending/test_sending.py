"""What is kept of a run, the same from the command line and from the app."""

from __future__ import annotations

from sessions.model.session import Case, Column, Session, SignatureText
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
