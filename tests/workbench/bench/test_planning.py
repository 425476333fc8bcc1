"""What a bench will take is said before anything is sent, and saying it takes no time of its own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sessions.bench.results import BenchRun, ResultsFile
from sessions.model.replies import Measured
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from tests.support.pace import loops
from workbench.bench.planning import Forecasts, Target, plan


def target_of(folder: Path, model: str, cases: int, demos: int = 0) -> Target:
    session = Session(
        SignatureText("question -> answer"),
        model=model,
        demos=tuple([Demo({"question": f"q{number}", "answer": "a " * 200}) for number in range(demos)]),
        columns=(Column("chat", "chat"), Column("json", "json")),
        cases=tuple([Case(f"c{number}", {"question": "x"}) for number in range(cases)]),
    )
    return Target(str(folder / "q.session.json"), session, session.columns, session.cases)


def test_a_forecast_looks_at_the_demos_once_a_column_however_many_runs_there_are(tmp_path: Path) -> None:
    few, many = [plan([target_of(tmp_path, "openai/gpt-4o-mini", 2, 200)], repeat) for repeat in (1, 1_000)]
    found = Forecasts(many).of(many.open)
    assert found.calls == 4_000
    assert found.reply_tokens == 1_000 * Forecasts(few).of(few.open).reply_tokens
    assert loops(lambda: Forecasts(many).of(many.open)) < 10


def test_one_column_with_a_known_price_does_not_hide_that_another_has_none(tmp_path: Path) -> None:
    model = "openai/nobody-knows-me"
    target = target_of(tmp_path, model, 1)
    chat, json = plan([target], 1).first
    for known, unknown in ((chat, json), (json, chat)):
        target.results_path.unlink(missing_ok=True)
        run = BenchRun(
            known.case.name,
            known.column.id,
            1,
            "parsed",
            known.request,
            model=model,
            measured=(Measured(cost=0.25),),
        )
        with ResultsFile(target.results_path) as file:
            file.append(run)
            file.append(replace(run, number=2, measured=(Measured(cost=0.75),)))
        made = plan([target], 3)
        forecasts = Forecasts(made)
        assert (forecasts.cost(known), forecasts.cost(unknown)) == (0.75, None)
        found = forecasts.of(made.open)
        assert (found.cost, found.unpriced) == (None, (model,))
