"""The bundled examples teach on real material: they open, render, are answered offline, and check as recorded."""

from __future__ import annotations

import pytest

from adapters import lm
from adapters.replies.reading import Reading
from adapters.running import runner
from sessions import examples
from sessions.checking import checking
from sessions.file import store
from sessions.model.session import Case, Column, Session
from sessions.running import recording, rendering


def answered(session: Session, case: Case, column: Column) -> runner.Run:
    signature = session.signature.read()
    model = lm.open(session.model_of(column), chunk_seconds=0)
    adapter = rendering.adapter_of(column)
    demos, inputs = rendering.demos_of(session), rendering.inputs_of(signature, case)
    return runner.run(adapter, model, signature, demos, inputs, fallback=session.fallback)


@pytest.mark.parametrize("name", examples.ALL)
def test_the_file_is_what_saving_it_would_write(name: str) -> None:
    assert store.dumps(examples.load(name)) == examples.text(name)


@pytest.mark.parametrize("name", examples.NAMES)
def test_every_text_is_half_a_page_or_more(name: str) -> None:
    session = examples.load(name)
    for values in (*[demo.values for demo in session.demos], *[case.inputs for case in session.cases]):
        assert sum(len(text) for text in map(str, values.values())) >= 1_300
    assert len(session.signature.read().instructions) > 1_000
    assert session.notes.count("\n- ") >= 4


@pytest.mark.parametrize("name", examples.NAMES)
def test_every_column_is_answered_offline_and_passes_its_own_check(name: str) -> None:
    session = examples.load(name)
    assert [column.adapter for column in session.columns] == ["chat", "json", "xml"]
    for case in session.cases:
        for column in session.columns:
            run = answered(session, case, column)
            assert run.ok, run.error
            session = recording.record(session, session.case(case.name), column, run)
    again = store.loads(store.dumps(session))
    assert again == session
    results = checking.check(again, name)
    assert [(one.case, one.column) for one in results if not one.passed] == []
    assert len(results) == len(session.cases) * 3


def test_each_example_shows_what_it_is_for() -> None:
    question, invoice, triage = map(examples.load, examples.NAMES)
    assert "->" in question.signature.text
    assert {"class Currency(str, Enum)", "items: list[LineItem]"} <= {
        line.strip().rstrip(":").split(" = ")[0] for line in invoice.signature.text.splitlines()
    }
    assert len(triage.cases[0].history) == 2
    uses = rendering.request_of(question, question.columns[0], question.cases[0]).prompt.demos
    assert [one.use for one in uses] == ["complete", "incomplete", "complete"]


def test_the_second_example_is_short_and_every_reply_to_it_parses() -> None:
    session = examples.load(examples.SECOND)
    assert len(store.dumps(session)) < 4_000 and len(session.demos) == 2
    for column in session.columns:
        request = rendering.request_of(session, column, session.cases[0])
        assert sum(len(str(one)) for one in request.messages) < 4_000 and not request.prompt.demos[0].missing
        assert answered(session, session.cases[0], column).ok


def test_a_demo_that_is_asked_again_is_answered_as_in_the_demo() -> None:
    session = examples.load("triage")
    reading = answered(session, session.cases[1], session.columns[0]).attempts[0].completions[0].reading
    assert isinstance(reading, Reading)
    assert reading.values["queue"] == session.demos[1].values["queue"] == "outage"


def test_an_unknown_example_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="question, invoice, triage"):
        examples.load("nothing")


def test_the_first_example_gets_a_good_a_repaired_and_a_refused_reply() -> None:
    session = examples.load(examples.FIRST)
    (case,) = session.cases
    assert len(session.signature.text) + len(session.signature.instructions or "") + len(str(case.inputs)) < 200
    good, repaired, refused = [answered(session, case, column) for column in session.columns]
    values = {"seller": "Tim & Sons", "total": 12.5, "paid": True}
    assert good.ok and good.values == values
    assert repaired.ok and repaired.values == values
    (completion,) = repaired.attempts[0].completions
    assert completion.reading is not None
    assert all(field.steps[0].rule == "json_repair" for field in completion.reading.fields.values())
    assert not refused.ok
    (completion,) = refused.attempts[0].completions
    assert completion.reading is not None
    assert [flag.name for flag in completion.reading.flags] == ["xml-ampersand"]
