"""`workbench bench`: every case under every column, several times; what wins, what is certain, what it took."""

from __future__ import annotations

import importlib
import json
import re
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scripted_lm import ScriptedLM

from sessions.bench import results
from sessions.bench.statistics import wilson
from sessions.file import store
from sessions.model.session import Case, Demo
from workbench.bench.running import Progress
from workbench.output import exit_codes
from workbench.sending import sending

Run = Callable[..., Any]


def with_cases(path: str, count: int, expect: dict[str, Any] | None = None) -> Path:
    """The session in the file with so many cases; gives where its results go."""
    session = store.load(path)
    first = session.cases[0]
    cases = [replace(first, name=f"case {number}", expect=expect or {}) for number in range(1, count + 1)]
    store.save(replace(session, cases=tuple(cases)), path)
    return results.path_beside(path)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_case_runs_under_every_column_as_often_as_asked(rain: str, run: Run) -> None:
    held = with_cases(rain, 2)
    before = Path(rain).read_bytes()
    done = run("bench", rain, "--repeat", "3", "--jobs", "4", "--json")
    assert done.code == 0, done.err
    places = {(one["case"], one["column"], one["number"]) for one in lines(held)}
    assert len(places) == len(lines(held)) == 2 * 3 * 3
    assert Path(rain).read_bytes() == before
    assert set(done.json["columns"]) == {"chat", "json", "xml"}
    assert len(done.json["cells"]) == 6


def test_a_report_without_sending_counts_every_run_that_the_file_holds(rain: str, run: Run) -> None:
    with_cases(rain, 2)
    run("bench", rain, "--adapter", "chat", "--repeat", "3")
    assert "2 cases × 1 column, 6 runs" in run("bench", rain, "--adapter", "chat", "--no-send").out


def test_a_report_of_fewer_runs_than_the_file_holds_says_so(rain: str, run: Run) -> None:
    with_cases(rain, 2)
    run("bench", rain, "--adapter", "chat", "--repeat", "3")
    done = run("bench", rain, "--adapter", "chat")
    assert "2 cases × 1 column, 2 runs" in done.out
    assert "counts 1 of up to 3 runs of each cell in the results file; --repeat 3 counts all" in done.err


def test_the_json_has_the_agreed_shape(rain: str, run: Run) -> None:
    with_cases(rain, 2, {"fields": {"answer": {"in": ["yes", "no"]}}})
    shape = run("bench", rain, "--adapter", "chat", "json", "--repeat", "2", "--json").json
    column = shape["columns"]["chat"]
    assert {"runs", "parsed", "interval", "expectations", "tokens", "cost", "ms"} <= set(column)
    assert (column["runs"], column["parsed"], column["expectations"]) == (4, 4, 4)
    assert column["interval"] == [wilson(2, 2).low, wilson(2, 2).high]  # two cases, however often repeated
    assert shape["verdict"] == "best: none yet · not told apart: chat, json · 2 cases"
    assert (shape["ranking"]["best"], shape["ranking"]["not_counted"], shape["flaky"]) == (None, 0, 0)
    assert column["cost"] == 0
    assert column["tokens"] > 0
    assert column["ms"]["median"] <= column["ms"]["p95"]
    pair = shape["pairs"][0]
    assert (pair["a"], pair["b"], pair["differ"], pair["p"]) == ("chat", "json", False, 1.0)
    assert pair["words"] == "chat and json parse equally often: 4 and 4 of 4 runs of 2 cases"
    assert {"case", "column"} <= set(shape["cells"][0])


def test_a_column_that_wins_is_named_with_its_p_value(rain: str, run: Run) -> None:
    with_cases(rain, 8)
    done = run("bench", rain, "--adapter", "json", "--model", "offline/exact", "offline/truncated")
    assert done.code == 0, done.err
    assert (
        "json · offline/exact parses more often than json · offline/truncated: 8 and 0 of 8, +100 points (48 to 100),"
        in done.out
    )
    assert done.out.startswith("best: json · offline/exact · worse: json · offline/truncated (p = 0.0078) · 8 cases\n")
    assert "json · offline/truncated  0 of 8 (0–33 %)  " in done.out


def test_nothing_is_run_twice_and_what_was_begun_is_gone_on_with(rain: str, run: Run) -> None:
    held = with_cases(rain, 2)
    run("bench", rain)
    first = held.read_bytes()
    assert run("bench", rain).code == 0
    assert held.read_bytes() == first
    kept = first.splitlines(keepends=True)[:4]
    held.write_bytes(b"".join(kept))
    assert run("bench", rain).code == 0
    assert held.read_bytes().startswith(b"".join(kept))
    assert len(lines(held)) == 6
    assert run("bench", rain, "--repeat", "2").code == 0
    assert len(lines(held)) == 12


def test_again_runs_all_of_it_anew_in_a_series_of_its_own(rain: str, run: Run) -> None:
    held = with_cases(rain, 1)
    run("bench", rain, "--adapter", "chat")
    run("bench", rain, "--adapter", "chat", "--again")
    run("bench", rain, "--adapter", "chat")
    assert [one["series"] for one in lines(held)] == [1, 2]


def test_another_prompt_is_another_run_and_the_one_before_can_be_compared_with(rain: str, run: Run) -> None:
    held = with_cases(rain, 5)
    run("bench", rain, "--adapter", "json")
    session = store.load(rain)
    store.save(replace(session, model="offline/truncated"), rain)
    done = run("bench", rain, "--adapter", "json", "--compare", "previous", "--fail-if-worse", "--json")
    assert done.code == exit_codes.DIFFERENT
    assert len(lines(held)) == 10
    assert [one["change"] for one in done.json["changes"]] == ["worse"] * 5
    assert done.json["columns"]["json"]["runs"] == 5
    (change,) = done.json["column_changes"]
    assert (change["change"], change["p"]) == ("worse", 0.5**5)
    assert "json is worse than before: 5 and 0 of 5" in done.err
    strict = run("bench", rain, "--adapter", "json", "--compare", "previous", "--fail-if-worse", "--level", "1%")
    assert strict.code == 0, strict.err
    assert "json is not told apart from before: 5 and 0 of 5" in strict.out


def test_another_results_file_is_compared_by_case(rain: str, run: Run, tmp_path: Path) -> None:
    held = with_cases(rain, 2)
    run("bench", rain, "--adapter", "chat")
    old = tmp_path / "old.bench.jsonl"
    first, second = held.read_text().splitlines()
    old.write_text(first.replace('"parsed"', '"refused"', 1) + "\n")
    done = run("bench", rain, "--adapter", "chat", "--compare", str(old), "--no-send", "--fail-if-worse")
    assert done.code == 0, done.err
    assert "better: case 1 · chat: 0/1 → 1/1" in done.out
    assert "new: case 2 · chat: – → 1/1" in done.out
    assert "1 better, 0 worse, 0 same, 1 new, 0 gone" in done.out
    assert second


def test_a_cell_that_only_parses_less_says_so(rain: str, run: Run) -> None:
    with_cases(rain, 1, {"fields": {"answer": {"equals": "perhaps"}}})
    run("bench", rain, "--adapter", "json")
    store.save(replace(store.load(rain), model="offline/truncated"), rain)
    done = run("bench", rain, "--adapter", "json", "--compare", "previous")
    assert "worse: case 1 · json: 1/1 → 0/1 parsed" in done.out


def test_a_share_that_must_be_reached_fails_the_command(rain: str, run: Run) -> None:
    with_cases(rain, 2)
    words = ("bench", rain, "--adapter", "json", "--model", "offline/truncated")
    assert run(*words, "--fail-under", "90%").code == exit_codes.DIFFERENT
    assert "json is below 90%" in run(*words, "--fail-under", "0.9").err
    assert run(*words, "--fail-under", "0").code == 0


def test_runs_that_were_not_made_are_counted_and_fail_what_judges_them(rain: str, run: Run) -> None:
    held = with_cases(rain, 4)
    run("bench", rain, "--adapter", "chat", "json")
    held.write_bytes(b"".join(held.read_bytes().splitlines(keepends=True)[:5]))
    words = ("bench", rain, "--adapter", "chat", "json", "--no-send")
    done = run(*words)
    assert "4 cases × 2 columns, 5 of 8 runs made" in done.out
    assert done.code == 0
    assert run(*words, "--json").json["missing"] == 3
    for judged in (("--fail-under", "0"), ("--compare", str(held), "--fail-if-worse")):
        done = run(*words, *judged)
        assert (done.code, "3 planned runs not made" in done.err) == (exit_codes.PROVIDER, True), done.err
    held.write_bytes(held.read_bytes().splitlines(keepends=True)[0])
    done = run(*words, "--fail-under", "0")
    assert (done.code, "json has no run that counts" in done.err) == (exit_codes.DIFFERENT, True), done.err


def test_a_part_counts_only_its_own_runs_as_planned(rain: str, run: Run) -> None:
    with_cases(rain, 3)
    done = run("bench", rain, "--adapter", "chat", "--shard", "2/2", "--fail-under", "0", "--json")
    assert (done.json["columns"]["chat"]["runs"], done.json["missing"]) == (1, 0)
    assert done.code == 0, done.err


def test_a_report_without_any_run_is_no_success(rain: str, run: Run) -> None:
    with_cases(rain, 2)
    done = run("bench", rain, "--adapter", "chat", "--no-send")
    assert (done.code, "no results file has a run" in done.err) == (exit_codes.NOTHING, True)
    run("bench", rain, "--adapter", "chat", "--model", "offline/exact", "offline/chatty")
    done = run("bench", rain, "--adapter", "chat", "--no-send")
    assert done.code == exit_codes.NOTHING
    assert "they have runs of chat · offline/exact, chat · offline/chatty" in done.err


@pytest.mark.parametrize("old", ["", '{"a": 1}\n', "name,question\n"])
def test_a_comparison_with_nothing_is_never_a_pass(rain: str, run: Run, tmp_path: Path, old: str) -> None:
    with_cases(rain, 2)
    (tmp_path / "old.jsonl").write_text(old)
    words = ("bench", rain, "--adapter", "chat", "--fail-if-worse", "--compare")
    for compared in (str(tmp_path / "old.jsonl"), "previous"):
        done = run(*words, compared)
        assert (done.code, "nothing was compared" in done.err) == (exit_codes.NOTHING, True), done.err


def test_what_it_will_take_is_said_before_anything_is_sent(rain: str, run: Run) -> None:
    held = with_cases(rain, 2)
    done = run("bench", rain, "--repeat", "5", "--dry-run")
    assert done.code == 0
    assert done.out.startswith("30 calls, ~")
    assert "free" in done.out
    assert not held.exists()
    shape = run("bench", rain, "--model", "openai/gpt-4o-mini", "--repeat", "5", "--dry-run", "--json").json
    assert shape["calls"] == 30
    assert shape["cost"] > 0
    assert shape["tokens"] == shape["prompt_tokens"] + shape["reply_tokens"]
    unknown = run("bench", rain, "--model", "openai/nobody-knows-me", "--dry-run", "--json").json
    assert (unknown["cost"], unknown["unpriced"]) == (None, ["openai/nobody-knows-me"])


def test_a_limit_that_cannot_be_kept_is_refused_before_anything_is_sent(rain: str, run: Run) -> None:
    held = with_cases(rain, 1)
    done = run("bench", rain, "--model", "openai/nobody-knows-me", "--max-cost", "1")
    assert done.code == exit_codes.USAGE
    assert "the price of openai/nobody-knows-me is unknown" in done.err
    assert not held.exists()


def test_expectations_are_judged_and_the_user_may_judge_too(
    rain: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = with_cases(rain, 1, {"fields": {"answer": {"equals": "perhaps"}}})
    (tmp_path / "my_checks.py").write_text(
        "def good(inputs, values):\n    return values['answer'] in ('yes', 'no') and 'question' in inputs\n"
        "def bad(inputs, values):\n    return 'too \\x1b[31mred'\n"
        "number = 3\n"
    )
    monkeypatch.delitem(sys.modules, "my_checks", raising=False)
    done = run("bench", rain, "--adapter", "chat", "--json")
    assert done.json["cells"][0]["failures"] == ["answer: expected perhaps, got no"]
    words = ("--expect", "my_checks:good", "--expect", "my_checks:bad")
    done = run("bench", rain, "--adapter", "json", *words, "--json")
    assert done.json["cells"][0]["failures"] == [
        "answer: expected perhaps, got no",
        "my_checks:bad: too \x1b[31mred",
    ]
    assert lines(held)[-1]["expected"] is False
    for given, said in (
        ("my_checks", "write module:function"),
        ("my_checks:number", "number is not a function"),
        ("my_checks:gone", "AttributeError"),
        ("no_such_module_here:x", "ModuleNotFoundError"),
    ):
        refused = run("bench", rain, "--expect", given)
        assert refused.code == exit_codes.USAGE
        assert said in refused.err


def test_a_function_that_raises_stops_the_bench_and_what_was_paid_for_is_kept(
    rain: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = with_cases(rain, 3)
    (tmp_path / "raising_checks.py").write_text(
        "def breaks(inputs, values):\n    return values['nothing']\n"
        "def odd(inputs, values):\n    return [values['answer']]\n"
        "def score(inputs, values):\n    return 0.25\n"
    )
    monkeypatch.delitem(sys.modules, "raising_checks", raising=False)
    for name, said in (
        ("breaks", "raised KeyError: 'nothing'"),
        ("odd", "returned ['no']: expected True, False, None, a text or a number"),
        ("score", "returned the score 0.25: say from where on it is right, as with --threshold 0.5"),
    ):
        done = run("bench", rain, "--adapter", "chat", "--expect", f"raising_checks:{name}")
        assert done.code == exit_codes.USAGE
        assert "column chat: --expect raising_checks:" in done.err
        assert said in done.err
        assert len(lines(held)) >= 1
    for threshold, right in (("0.25", 3), ("0.3", 0)):
        words = ("--expect", "raising_checks:score", "--threshold", threshold, "--json")
        shape = run("bench", rain, "--adapter", "chat", *words).json
        assert shape["columns"]["chat"]["expectations"] == right
    assert shape["cells"][0]["failures"] == ["raising_checks:score: scored 0.25, below 0.3"]
    assert len(lines(held)) == 3


def test_a_function_that_was_edited_judges_the_runs_that_are_there(
    rain: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = tmp_path / "edited_checks.py"
    found = []
    for said in ("False", "True  # now"):
        checks.write_text(f"def good(inputs, values):\n    return {said}\n")
        monkeypatch.delitem(sys.modules, "edited_checks", raising=False)
        importlib.invalidate_caches()
        done = run("bench", rain, "--adapter", "chat", "--expect", "edited_checks:good", "--json")
        found.append(done.json["columns"]["chat"]["expectations"])
    assert found == [0, done.json["columns"]["chat"]["runs"]]


def test_the_reports_say_the_same_to_each_reader(rain: str, run: Run, tmp_path: Path) -> None:
    with_cases(rain, 2)
    page, pull, ci = tmp_path / "b.html", tmp_path / "b.md", tmp_path / "b.xml"
    words = ("--html", str(page), "--markdown", str(pull), "--junit", str(ci))
    run("bench", rain, "--adapter", "json", "--model", "offline/exact", "offline/truncated", *words)
    html = page.read_text("utf-8")
    assert html.count('class="good cell"') >= 2
    assert html.count("<details>") >= 4
    rows = dict(re.findall(r"<tr><th[^>]*>(cost|p50|tokens)</th><td[^>]*>([^<]*)</td>", html))
    assert rows.keys() == {"cost", "p50", "tokens"}
    assert not any(name in value for name, value in rows.items()), "a row's name is not in its cells again"
    # What a cell leads to stands within what is folded: a browser that goes there opens it.
    for number in range(4):
        assert f'href="#cell-{number}"' in html
        assert f'</summary><div id="cell-{number}">' in html
    assert "json · offline/exact and json · offline/truncated are not told apart" in html
    verdict = "best: none yet · not told apart: json · offline/exact, json · offline/truncated · 2 cases"
    assert html.index(verdict) < html.index("<table>")
    assert pull.read_text("utf-8").startswith(f"`{verdict}`\n")
    assert "| json · offline/exact | 2 of 2 (34–100 %) |" in pull.read_text("utf-8")
    suite = ElementTree.parse(ci).getroot()[0]
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == ("workbench bench", "4", "2")


HOSTILE = "</pre><script>alert(1)</script> | ` [x](http://e) \x1b]0;t\x07 \u202e\ud800 <b>"


def test_hostile_names_and_replies_are_text_in_every_report(rain: str, run: Run, tmp_path: Path) -> None:
    session = store.load(rain)
    case = Case(HOSTILE.replace("\ud800", ""), {**session.cases[0].inputs, "question": HOSTILE.replace("\ud800", "")})
    store.save(replace(session, cases=(case,)), rain)
    page, pull, ci = tmp_path / "b.html", tmp_path / "b.md", tmp_path / "b.xml"
    words = ("--html", str(page), "--markdown", str(pull), "--junit", str(ci))
    done = run("bench", rain, "--adapter", "chat", "--model", "offline/chatty", *words)
    assert done.code == 0, done.err
    html = page.read_text("utf-8")
    assert "<script" not in html
    assert "\x1b" not in html + pull.read_text("utf-8") + ci.read_text("utf-8")
    ElementTree.parse(ci)


def test_a_folder_is_one_bench_of_all_its_sessions(rain: str, run: Run, tmp_path: Path) -> None:
    with_cases(rain, 1)
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.session.json").write_bytes(Path(rain).read_bytes())
    done = run("bench", str(folder), "--adapter", "chat", "--json")
    assert done.code == 0, done.err
    assert done.json["columns"]["chat"]["runs"] == 2
    assert len({one["path"] for one in done.json["cells"]}) == 2
    assert sorted(one.name for one in folder.glob("*.jsonl")) == ["a.bench.jsonl", "b.bench.jsonl"]


def test_a_broken_line_is_told_and_passed_over(rain: str, run: Run) -> None:
    held = with_cases(rain, 2)
    run("bench", rain, "--adapter", "chat")
    held.write_bytes(held.read_bytes()[:-30])
    done = run("bench", rain, "--adapter", "chat", "--json")
    assert done.code == 0
    assert "line 2: incomplete; skipped" in done.err
    assert done.json["columns"]["chat"]["runs"] == 2


def test_a_column_without_a_prompt_is_left_out_and_said(run: Run, tmp_path: Path) -> None:
    from sessions import examples

    path = tmp_path / "invoice.session.json"
    store.save(examples.load("invoice"), path)
    done = run("bench", str(path), "--adapter", "chat", "baml", "--json")
    assert done.code == 0, done.err
    assert "recursive" in done.err
    assert "and 1 more cell: " in done.err
    assert list(done.json["columns"]) == ["chat"]
    ((reason, cells),) = done.json["unrenderable"].items()
    assert "recursive" in reason and len(cells) == 2
    gate = run("bench", str(path), "--adapter", "chat", "baml", "--fail-under", "0", "--junit", "report.xml")
    assert gate.code == exit_codes.PROVIDER and "Not run" in gate.out
    assert {one.get("message") for one in ElementTree.parse("report.xml").iter("error")} == {reason}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bench"], "which sessions?"),
        (["bench", "gone.session.json"], "no such file or folder"),
        (["bench", "SESSION", "--fail-if-worse"], "--compare"),
        (["bench", "SESSION", "--compare", "gone.jsonl"], "no such results file"),
        (["bench", "SESSION", "--case", "nobody"], "no session has a case 'nobody'"),
        (["bench", "SESSION", "--repeat", "0"], "expected a number from 1"),
        (["bench", "SESSION", "--baseline", "baml"], "no such column; expected one of chat, json, xml"),
        (["bench", "SESSION", "--level", "2"], "a level between 0 and 1"),
        (["bench", "SESSION", "--threshold", "high"], "a number such as 0.5"),
        (["bench", "SESSION", "--max-cost", "much"], "an amount of US dollars"),
        (["bench", "SESSION", "--fail-under", "12"], "a share such as"),
        (["bench", "SESSION", "--adapter", "chatt"], "did you mean 'chat'?"),
        (["bench", "SESSION", "--model", "offline/exakt"], "offline/exact"),
        (["bench", "SESSION", "--html", "no-such-folder/x.html"], "no-such-folder/x.html"),
    ],
)
def test_what_makes_no_sense_is_one_line(rain: str, run: Run, words: list[str], said: str) -> None:
    done = run(*[rain if word == "SESSION" else word for word in words])
    assert done.code == exit_codes.USAGE, done.err
    assert said in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_all_columns_are_compared_with_the_baseline_alone(rain: str, run: Run, tmp_path: Path) -> None:
    with_cases(rain, 2)
    page = tmp_path / "bench.html"
    shape = run("bench", rain, "--baseline", "json", "--html", str(page), "--json").json
    assert shape["verdict"] == "baseline: json · not told apart: chat, xml · 2 cases"
    assert [(one["a"], one["b"]) for one in shape["pairs"]] == [("chat", "json"), ("xml", "json")]
    assert (shape["ranking"]["baseline"], shape["ranking"]["better"]) == ("json", [])
    assert shape["verdict"] in page.read_text()


def test_a_column_whose_id_has_commas_is_chosen_whole_or_with_a_backslash(rain: str, run: Run) -> None:
    with_cases(rain, 1)
    session = store.load(rain)
    chat, json_, *_ = session.columns
    store.save(replace(session, columns=(replace(chat, id="chat,0.7"), replace(chat, id="a,b · c"), json_)), rain)
    for words in (["chat,0.7", "a,b · c", "json"], ["chat\\,0.7,a\\,b · c,json"], ["json,chat\\,0.7", "a,b · c"]):
        shape = run("bench", rain, "--adapter", *words, "--baseline", "chat,0.7", "--json").json
        assert sorted(shape["columns"]) == ["a,b · c", "chat,0.7", "json"]
        assert shape["ranking"]["baseline"] == "chat,0.7"
    refused = run("bench", rain, "--adapter", "chat,0.7,json")
    assert (refused.code, "0.7" in refused.err) == (2, True)


def test_an_empty_reply_is_a_reply_that_does_not_parse_and_is_not_asked_for_again(rain: str, run: Run) -> None:
    held = with_cases(rain, 1, {"fields": {"answer": {"in": ["yes", "no"]}}})
    done = run("bench", rain, "--adapter", "chat", "--model", "offline/empty", "--json")
    assert done.code == 0, done.err
    assert (done.json["columns"]["chat"]["runs"], done.json["columns"]["chat"]["failed"]) == (1, 0)
    assert done.json["columns"]["chat"]["expectations"] == 0
    run("bench", rain, "--adapter", "chat", "--model", "offline/empty")
    assert len(lines(held)) == 1


def test_what_is_expected_since_is_judged_without_asking_again(rain: str, run: Run) -> None:
    held = with_cases(rain, 2, {"fields": {"answer": {"equals": "perhaps"}}})
    assert run("bench", rain, "--json").json["columns"]["chat"]["expectations"] == 0
    before = held.read_bytes()
    with_cases(rain, 2, {"fields": {"answer": {"in": ["yes", "no"]}}})
    shape = run("bench", rain, "--json").json
    assert [shape["columns"][name]["expectations"] for name in ("chat", "json", "xml")] == [2, 2, 2]
    with_cases(rain, 2)
    assert run("bench", rain, "--json").json["columns"]["chat"]["expectations"] is None
    assert held.read_bytes() == before
    with_cases(rain, 2, {"fields": {"nothing": {"equals": 1}}})
    refused = run("bench", rain)
    assert refused.code == exit_codes.USAGE
    assert "expect.fields.nothing: no output field" in refused.err


def test_the_progress_says_how_far_it_is_how_fast_what_it_cost_and_how_long_it_will_take() -> None:
    words = Progress(400, done=120, failed=2, rejected=1, retries=3, cost=0.12, seconds=60.0, waiting_s=7.0).words
    assert words == (
        "120 of 400 runs · 2.0 a second · $0.12 · 2 min 20 s left · waiting for the provider: 7 s · "
        "3 retries · 1 rejected · 2 not counted"
    )
    assert "free so far" in Progress(4).words
    assert "cost unknown" in Progress(4, cost=None).words


def test_parts_of_several_machines_are_joined_as_a_single_bench(rain: str, run: Run, tmp_path: Path) -> None:
    with_cases(rain, 3)
    stem = Path(rain).name.removesuffix(".session.json").removesuffix(".json")
    for index in (1, 2, 3):
        assert run("bench", rain, "--repeat", "2", "--shard", f"{index}/3").code == 0
    parts = sorted(Path(rain).parent.glob("*-of-3.bench.jsonl"))
    assert [one.name for one in parts] == [f"{stem}.{index}-of-3.bench.jsonl" for index in (1, 2, 3)]
    assert len({line for one in parts for line in one.read_text().splitlines()}) == 3 * 3 * 2
    assert not results.path_beside(rain).exists()
    folder = tmp_path / "parts"
    (folder / "copy").mkdir(parents=True)
    for one in (*parts[:2], parts[0]):
        target = folder / one.name if not (folder / one.name).exists() else folder / "copy" / one.name
        target.write_bytes(one.read_bytes())
    joined = run("bench", rain, "--repeat", "2", "--join", str(folder), "--json")
    assert joined.code == exit_codes.PROVIDER
    assert "missing parts: 3/3" in joined.err
    assert sum(one["runs"] for one in joined.json["columns"].values()) == 12  # the copy counts no part twice
    (folder / parts[2].name).write_bytes(parts[2].read_bytes())
    whole = run("bench", rain, "--repeat", "2", "--join", str(folder), "--json")
    assert (whole.code, sum(one["runs"] for one in whole.json["columns"].values())) == (0, 18)
    assert not results.path_beside(rain).exists()
    assert run("bench", rain, "--join", str(tmp_path / "none")).code == exit_codes.USAGE
    assert run("bench", rain, "--join", str(folder), "--shard", "1/3").code == exit_codes.USAGE
    assert run("bench", rain, "--shard", "4/3").code == exit_codes.USAGE


def test_replies_copied_from_a_demo_are_counted_beside_those_that_parsed(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "ticket -> reason", "-o", path, "--input", "ticket=T")
    with_cases(path, 2)
    copied = Demo({"ticket": "U", "reason": "The page stays white."})
    store.save(replace(store.load(path), demos=(copied,)), path)
    reply = "[[ ## reason ## ]]\nThe page stays white."
    monkeypatch.setattr(sending, "open_model", lambda *_, **__: ScriptedLM(reply))
    column = run("bench", path, "--adapter", "chat", "--json").json["columns"]["chat"]
    assert (column["parsed"], column["copied"]) == (2, 2)
    text = run("bench", path, "--adapter", "chat", "--no-send").out
    assert re.search(r"parsed +copied from a demo .*\nchat +2 of 2 \(.*\) +2 of 2 ", text), text
    store.save(replace(store.load(path), demos=()), path)
    done = run("bench", path, "--adapter", "chat")
    assert done.code == 0 and "copied" not in done.out


def test_a_column_that_asks_again_shows_how_often_it_helps(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> label: Literal['a', 'b'], n: int", "-o", path, "--input", "question=Q")
    with_cases(path, 2)
    done = run(
        *("bench", path, "--adapter", "chat", "--model", "offline/mistyped", "--ask-again", "1", "--json"),
    )
    columns = done.json["columns"]
    assert set(columns) == {"chat", "chat · ask again"}
    assert (columns["chat"]["asked_again"], columns["chat · ask again"]["asked_again"]) == (0, 2)
    assert columns["chat · ask again"]["tokens"] > columns["chat"]["tokens"]
    text = run("bench", path, "--adapter", "chat", "--model", "offline/mistyped", "--ask-again", "1").out
    assert "2 runs, 0 parsed" in text
