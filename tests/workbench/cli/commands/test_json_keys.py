"""Keys of `--json` that no other test asks for, each with a value that can be checked by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.test_features import documented_json_keys
from tests.workbench.conftest import Run
from workbench.__main__ import main

AGENT = """import dspy


class Agent(dspy.Signature):
    question: str = dspy.InputField()
    tools: list[dspy.Tool] = dspy.InputField()
    calls: dspy.ToolCalls = dspy.OutputField()
"""


@pytest.fixture
def session(run: Run) -> str:
    """A session of two columns and one case, in the folder of the test."""
    words = ("new", "question -> answer, sure: bool", "-o", "q.session.json", "--input", "question=Is it raining?")
    assert run(*words).code == 0
    return "q.session.json"


def test_fields_that_the_model_takes_natively_are_named_as_removed(run: Run) -> None:
    Path("agent.py").write_text(AGENT, encoding="utf-8")
    tools = json.dumps([{"name": "search", "desc": "Search.", "args": {"query": {"type": "string"}}}])
    words = (
        "new",
        "agent.py:Agent",
        "-o",
        "agent.session.json",
        "--input",
        "question=Who?",
        "--input",
        f"tools={tools}",
    )
    assert run(*words).code == 0
    made = run("render", "agent.session.json", "--adapter", "json", "--model", "openai/gpt-4o", "--json").json
    assert made["prompts"]["json"]["removed_fields"] == ["tools", "calls"]


def test_what_no_tokenizer_counts_is_named_as_uncounted(run: Run, session: str) -> None:
    counted = run("render", session, "--adapter", "chat", "--tokens", "--json").json["tokens"]["chat"]
    assert counted["uncounted"] == []


def test_values_that_parsed_beside_an_error_are_salvaged(run: Run, session: str) -> None:
    reply = "[[ ## answer ## ]]\nYes.\n\n[[ ## sure ## ]]\nperhaps\n"
    reading = run("parse", session, "--adapter", "chat", "--json", stdin=reply).json["readings"]["chat"]
    assert not reading["ok"]
    assert reading["salvage"] == {"answer": "Yes."}


def test_every_mutation_belongs_to_a_group(run: Run, session: str) -> None:
    mutations = run("stress", session, "--json").json["mutations"]
    assert mutations
    assert all(mutation["group"] for mutation in mutations)


def test_an_upgrade_counts_the_tokens_of_both_sides(run: Run, session: str) -> None:
    words = ("upgrade", session, "--from-adapter", "chat", "--to-adapter", "json", "--json")
    found = run(*words).json
    (fixture,) = found["fixtures"]
    assert found["counts"]["tokens_before"] == fixture["tokens_before"] > 0
    assert found["counts"]["tokens_after"] == fixture["tokens_after"] > 0


def test_a_merge_names_the_places_that_both_sides_changed(run: Run, session: str) -> None:
    original = json.loads(Path(session).read_text(encoding="utf-8"))
    for name, question in (("ours", "Is it snowing?"), ("theirs", "Is it hot?")):
        original["cases"][0]["inputs"]["question"] = question
        Path(f"{name}.session.json").write_text(json.dumps(original), encoding="utf-8")
    merged = run("merge", session, "ours.session.json", "theirs.session.json", "--json")
    assert merged.code == 1
    assert len(merged.json["collisions"]) == 1
    assert "question" in merged.json["collisions"][0]


def test_a_capture_reports_the_exit_code_of_the_program(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    words = ("-o", str(tmp_path / "prompts"), "--json", str(report), "--", sys.executable, "-c", "raise SystemExit(7)")
    assert main(["capture", *words]) == 7
    assert json.loads(report.read_text(encoding="utf-8"))["exit_code"] == 7


def test_a_bench_counts_and_compares(run: Run, session: str) -> None:
    made = run(
        "bench", session, "--adapter", "chat", "json", "--repeat", "2", "--json", "--model", "offline/exact"
    ).json
    assert made["ranking"]["best"] is None
    assert made["ranking"]["not_told_apart"] == ["chat", "json"]
    assert made["ranking"]["without_result"] == []
    chat = made["columns"]["chat"]
    assert (chat["expecting"], chat["expectations_interval"]) == (0, None)
    assert chat["tokens_are_estimates"] is True
    (cell, _) = made["cells"]
    assert cell["values_agree"] == 2
    assert cell["different_values"] == 1
    pair = made["pairs"][0]
    assert pair["measure"] == "parsed"
    assert (pair["a_better"], pair["b_better"], pair["difference"]) == (0, 0, 0)
    assert pair["p_adjusted"] == 1
    assert pair["cases_needed"] is None


def test_every_key_of_a_send_and_of_its_repeats_is_documented(run: Run, session: str) -> None:
    (sent,) = run("send", session, "--adapter", "chat", "--json").json["runs"].values()
    (attempt,) = sent["attempts"]
    (completion,) = attempt["completions"]
    (repeated,) = run("send", session, "--adapter", "chat", "--repeat", "2", "--json").json["runs"].values()
    assert {*sent, *attempt, *completion, *repeated} - documented_json_keys() == set()
    assert {"number", "purpose", "tool_turns", "logprobs", "parse_failures", "count"} <= documented_json_keys()


def test_every_key_of_a_model_is_documented(run: Run) -> None:
    listed = run("models", "--json").json
    can = run("models", "--capabilities", "openai/gpt-6-luna", "--json").json["openai/gpt-6-luna"]
    written = {*listed, *can}.union(*listed["models"], *[one["can"] for one in listed["models"] if "can" in one])
    assert {"table", "context_tokens", "input_price", "output_price", "said_by"} <= written
    assert {*written, "api_base", "says"} - documented_json_keys() == set()


def test_every_key_of_an_import_is_documented(run: Run, session: str) -> None:
    Path("demos.csv").write_text("question,answer,sure\nWhy?,So.,true\n", encoding="utf-8")
    written = run("import", "demos.csv", "--into", session, "--dry-run", "--json").json
    assert {*written, *written["signature"]} - documented_json_keys() == set()
