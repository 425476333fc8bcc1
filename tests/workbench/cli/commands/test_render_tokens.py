"""`render --tokens`: where the tokens of the request go, in numbers, bars and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import tiktoken

from adapters.lm.model_list import listed
from workbench.output import exit_codes

Run = Callable[..., Any]
MODEL = "openai/gpt-4o-mini"


def test_each_column_has_its_rows_and_they_are_the_whole_of_what_is_sent(rain: str, run: Run) -> None:
    done = run("render", rain, "--tokens", "--json", "--model", MODEL)
    assert done.code == exit_codes.OK, done.err
    encoding = tiktoken.get_encoding("o200k_base")
    entry = listed(MODEL)
    assert entry is not None and entry.input_price is not None
    for column in ("chat", "json", "xml"):
        sent = done.json["prompts"][column]["sent"]
        texts = [text for one in sent["messages"] for text in (one["role"], one["content"])]
        texts += [json.dumps(sent[name], separators=(",", ":")) for name in ("response_format",) if name in sent]
        expected = 3 + 3 * len(sent["messages"]) + sum(len(encoding.encode(text)) for text in texts)
        rows, total = done.json["ledger"][column], done.json["tokens"][column]
        assert sum(row["tokens"] for row in rows) == total["tokens"] == expected
        assert all(set(row) >= {"kind", "field", "turn", "tokens"} for row in rows)
        assert total["exact"] is (column != "json") and total["tokenizer"] == "o200k_base"
        assert total["cost"] == pytest.approx(expected * entry.input_price / 1e6)
        assert total["cost_per_thousand"] == pytest.approx(1000 * total["cost"])
    assert {row["kind"] for row in done.json["ledger"]["json"] if not row["exact"]} == {"response_format"}


def test_text_has_a_bar_for_each_origin_and_the_columns_side_by_side(rain: str, run: Run) -> None:
    done = run("render", rain, "--tokens", "--model", MODEL)
    assert "counted by o200k_base; $" in done.out and "a thousand" in done.out
    (chat,) = [part for part in done.out.split("\n\n") if part.startswith("chat →")]
    rows = {line[2:26].strip(): line for line in chat.splitlines()[1:]}
    assert {"chat format", "instructions", "descriptions", "markers", "inputs", "reminder"} <= set(rows)
    assert all("█" in line or "▏" <= line[-1] <= "▏" or line[-1] in "▎▍▌▋▊▉" for line in list(rows.values())[:-1])
    assert "by field: " in chat
    assert "response_format" in done.out and "~ is an estimate" in done.out


def test_offline_models_are_free_and_estimated_and_an_unlisted_model_has_no_price(rain: str, run: Run) -> None:
    done = run("render", rain, "--adapter", "chat", "--tokens")
    assert ": ~" in done.out and "estimated; free" in done.out and "$" not in done.out
    done = run("render", rain, "--adapter", "chat", "--tokens", "--model", "hosted_vllm/mine")
    assert "cost unknown" in done.out
    done = run("render", rain, "--adapter", "chat", "--tokens", "--json", "--model", "hosted_vllm/mine")
    assert done.json["tokens"]["chat"]["cost"] is None and not done.json["tokens"]["chat"]["exact"]


def test_many_demos_are_told_together_and_counted_each(run: Run) -> None:
    demos = [word for n in range(12) for word in ("--demo", json.dumps({"question": f"{n} + 1", "answer": str(n + 1)}))]
    run("new", "question -> answer", "-o", "q.json", "--input", "question=3", *demos)
    done = run("render", "q.json", "--adapter", "chat", "--tokens")
    assert "demo 7 " in done.out and "demo 8 " not in done.out and "5 other demos" in done.out
    rows = run("render", "q.json", "--adapter", "chat", "--tokens", "--json").json["ledger"]["chat"]
    assert {row["turn"] for row in rows if row["turn"]} >= {f"demo {n}" for n in range(1, 13)}


def test_a_column_that_cannot_be_rendered_is_said_and_the_others_are_counted(rain: str, run: Run) -> None:
    done = run("render", rain, "--adapter", "chat", "--tokens", "--case", "nobody")
    assert done.code == exit_codes.USAGE and "nobody" in done.err and done.out == ""


def test_names_of_others_are_shown_as_text(run: Run) -> None:
    run("new", "question -> answer", "-o", "q.json", "--input", "question=\x1b[31mred \ud83d[b]x[/b]")
    done = run("render", "q.json", "--tokens", "--model", "openai/[b]\x1b[31mx")
    assert done.code == exit_codes.OK and "\x1b" not in done.out
