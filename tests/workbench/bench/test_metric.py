"""`--metric`: metrics for `dspy.Evaluate` work unchanged, and give the same score on the same replies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import pytest

from sessions.bench import results
from sessions.file import store
from tests.support.bench_lines import runs_in

Run = Callable[..., Any]

METRICS = """
import dspy


def exact(example, pred, trace=None):
    return example.answer == pred.answer


def graded(example, pred, trace=None):
    return (len(pred.answer) % 4) / 3


def raises(example, pred, trace=None):
    return example.gold == pred.answer


def text(example, pred, trace=None):
    return "yes"


class Judge(dspy.LM):
    def __init__(self):
        super().__init__("openai/gpt-4o-mini", cache=False)

    def forward(self, prompt=None, messages=None, **kwargs):
        from litellm import ModelResponse

        said = "[[ ## score ## ]]\\n0.5\\n\\n[[ ## completed ## ]]"
        return ModelResponse(
            choices=[{"message": {"role": "assistant", "content": said}}],
            usage={"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
            model="gpt-4o-mini",
        )


class Asks(dspy.Module):
    def __init__(self):
        super().__init__()
        self.judge = dspy.Predict("answer, gold -> score: float")

    def forward(self, example, pred, trace=None):
        with dspy.context(lm=Judge(), adapter=dspy.ChatAdapter()):
            return self.judge(answer=pred.answer, gold=example.answer).score
"""


@pytest.fixture
def benched(rain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session of six cases that expect yes or no, and a module of metrics."""
    (tmp_path / "metrics_of_mine.py").write_text(METRICS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    session = store.load(rain)
    first = session.cases[0]
    cases = [
        replace(first, name=f"case {at}", expect={"fields": {"answer": {"equals": ("yes", "no")[at % 2]}}})
        for at in range(6)
    ]
    store.save(replace(session, cases=tuple(cases)), rain)
    return rain


def evaluated(path: str, column: str, metric: Callable[..., Any]) -> float:
    """`dspy.Evaluate` on the same replies: a program that returns the values of the bench's results file."""
    session = store.load(path)
    found = {one.case: one for one in runs_in(results.path_beside(path)) if one.column == column}

    class Program(dspy.Module):
        def forward(self, case: str) -> dspy.Prediction:
            run = found[case]
            if run.outcome != "parsed":
                raise ValueError("it does not parse")
            return dspy.Prediction(**run.values)

    devset = [
        dspy.Example(case=one.name, answer=one.expect["fields"]["answer"]["equals"]).with_inputs("case")
        for one in session.cases
    ]
    evaluate = dspy.Evaluate(devset=devset, metric=metric, num_threads=1, max_errors=100, display_progress=False)
    return float(evaluate(Program()).score)


@pytest.mark.parametrize("name", ["exact", "graded"])
@pytest.mark.parametrize("model", ["offline/exact", "offline/sloppy", "offline/truncated"])
def test_bench_and_dspy_evaluate_give_the_same_score(benched: str, run: Run, name: str, model: str) -> None:
    done = run("bench", benched, "--adapter", "chat", "--model", model, "--metric", f"metrics_of_mine:{name}", "--json")
    assert done.code == 0, done.err
    import metrics_of_mine  # type: ignore[import-not-found]

    ((column, total),) = done.json["columns"].items()
    assert round(100 * total["score"], 2) == evaluated(benched, column, getattr(metrics_of_mine, name))
    assert total["score_interval"][0] <= total["score"] <= total["score_interval"][1]


def test_a_metric_of_dspy_itself_decides_the_verdict(benched: str, run: Run) -> None:
    words = ("--adapter", "chat", "json", "--metric", "dspy.evaluate:answer_exact_match")
    done = run("bench", benched, *words, "--json")
    assert done.code == 0, done.err
    assert done.json["columns"]["chat"]["score"] == 0.5
    assert [one["measure"] for one in done.json["pairs"]] == ["parsed", "expected", "score"]
    assert done.json["columns"]["chat"]["metric_calls"] == 0
    assert run("bench", benched, *words, "--fail-under", "0.6").code == 1


def test_the_calls_of_a_metric_are_counted_in_the_cost_and_made_once(benched: str, run: Run) -> None:
    words = ("bench", benched, "--adapter", "chat", "--metric", "metrics_of_mine:Asks", "--json")
    done = run(*words)
    assert done.code == 0, done.err
    total = done.json["columns"]["chat"]
    assert (total["score"], total["metric_calls"]) == (0.5, 6)
    assert total["cost"] == pytest.approx(6 * (1000 * 0.15 + 100 * 0.6) / 1e6)
    before = results.path_beside(benched).read_bytes()
    assert run(*words).json["columns"]["chat"] == total
    assert results.path_beside(benched).read_bytes() == before
    line = json.loads(before.splitlines()[0])
    assert (line["metric_calls"], line["score"]) == (1, 0.5)
    assert line["metric"].startswith("sha256:")


def test_a_graded_score_with_a_threshold_is_right_or_wrong(benched: str, run: Run) -> None:
    words = ("bench", benched, "--adapter", "chat", "--metric", "metrics_of_mine:graded")
    plain = run(*words, "--json").json["columns"]["chat"]["score"]
    assert 0 < plain < 1
    assert run(*words, "--threshold", "0.9", "--json").json["columns"]["chat"]["score"] in (0.0, 1.0)
    assert f"{plain:.2f}" in run(*words, "--no-send").out


@pytest.mark.parametrize(
    ("metric", "said"),
    [
        ("metrics_of_mine", "write module:function"),
        ("metrics_of_mine:nothing", "AttributeError"),
        ("no_such_module:exact", "ModuleNotFoundError"),
        ("metrics_of_mine:raises", "--metric metrics_of_mine:raises raised AttributeError"),
        ("metrics_of_mine:text", "returned 'yes': expected True, False or a number"),
    ],
)
def test_a_metric_that_fails_stops_the_bench(benched: str, run: Run, metric: str, said: str) -> None:
    done = run("bench", benched, "--adapter", "chat", "--metric", metric)
    assert done.code == 2
    assert said in done.err


@pytest.mark.parametrize("place", ["inputs", "imported"])
def test_a_label_that_is_no_output_is_in_the_example_and_not_in_the_prompt(
    place: str, rain: str, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "labels.py").write_text("def same(gold, pred, trace=None):\n    return gold.label == pred.answer\n")
    data = json.loads(Path(rain).read_text())
    (first,) = data["cases"]
    known = first["inputs"] if place == "inputs" else {}
    data["cases"] = [{**first, "name": label, place: {**known, "label": label}} for label in ("yes", "no")]
    Path(rain).write_text(json.dumps(data))
    done = run("bench", rain, "--adapter", "chat", "--metric", "labels:same", "--json")
    assert done.code == 0, done.err
    answers = [json.loads(line)["values"]["answer"] for line in results.path_beside(rain).read_text().splitlines()]
    assert done.json["columns"]["chat"]["score"] == sum(map(str.__eq__, answers, ("yes", "no"))) / 2
    assert "label" not in run("render", rain, "--adapter", "chat", "--case", "yes").out
