from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from workbench.output import exit_codes

Run = Callable[..., Any]


def test_a_session_does_not_differ_from_its_copy(rain: str, run: Run) -> None:
    shutil.copy(rain, "copy.json")
    done = run("diff", rain, "copy.json", "--json")
    assert done.code == 0
    assert done.json == {"differences": {"chat": [], "json": [], "xml": []}}


def test_a_changed_input_differs_in_the_inputs_alone(rain: str, run: Run) -> None:
    text = Path(rain).read_text()
    Path("other.json").write_text(text.replace("Is it raining?", "Is it snowing?"))
    done = run("diff", rain, "other.json", "--adapter", "chat", "--json")
    (section,) = done.json["differences"]["chat"]
    assert done.code == exit_codes.DIFFERENT
    assert section["section"] == "inputs · user"
    assert [line for line in section["lines"] if line[0] in "+-"] == ["-Is it raining?", "+Is it snowing?"]


def test_a_case_is_compared_with_the_case_of_its_name_at_any_place(rain: str, run: Run) -> None:
    session = store.load(rain)
    (first,) = session.cases
    second = replace(first, name="snow", inputs={"question": "Is it snowing?"})
    for path, cases in (("a.json", (first, second)), ("b.json", (second, first)), ("c.json", (second, second))):
        named = [replace(one, name=f"{at} of c") for at, one in enumerate(cases)] if path == "c.json" else cases
        store.save(replace(session, cases=tuple(named)), path)
    done = run("diff", "a.json", "b.json", "--adapter", "chat")
    assert (done.code, done.err) == (
        exit_codes.OK,
        f"case {first.name!r}, the first of 2; choose another with --case NAME\n",
    )
    other = run("diff", "a.json", "c.json", "--adapter", "chat")
    assert (other.code, len(other.err.splitlines())) == (exit_codes.DIFFERENT, 2)
    assert "case '0 of c', the first of 2" in other.err


def test_long_lines_are_cut_to_the_change_for_people_and_whole_for_programs(rain: str, run: Run) -> None:
    session = store.load(rain)
    long = "Say whether it rains. " * 100
    for path, end in (("a.json", "Be brief."), ("b.json", "Be exact.")):
        store.save(replace(session, signature=replace(session.signature, instructions=long + end)), path)
    done = run("diff", "a.json", "b.json", "--adapter", "chat")
    assert done.code == exit_codes.DIFFERENT
    assert "⟦brief⟧" in done.out and "⟦exact⟧" in done.out
    assert max(map(len, done.out.splitlines())) < 300
    lines = run("diff", "a.json", "b.json", "--adapter", "chat", "--json").json["differences"]["chat"][0]["lines"]
    assert any(long in line for line in lines)


def test_sessions_without_a_column_in_common_are_not_called_the_same(rain: str, run: Run) -> None:
    session = store.load(rain)
    store.save(replace(session, columns=session.columns[:1]), "a.json")
    store.save(replace(session, columns=session.columns[1:2]), "b.json")
    done = run("diff", "a.json", "b.json")
    assert done.code == exit_codes.NOTHING and not done.out
    assert "column chat is in a.json alone\ncolumn json is in b.json alone\n" in done.err
    assert "no column in common" in done.err


def test_two_adapters_of_one_session_are_compared(rain: str, run: Run) -> None:
    done = run("diff", rain, "--adapter", "chat", "json")
    assert done.code == exit_codes.DIFFERENT
    assert "[chat → json]" in done.out
    assert "system: changed" in done.out
    assert run("diff", rain).code == exit_codes.USAGE


def test_messages_are_exported_as_json(rain: str, run: Run) -> None:
    done = run("export", rain, "--adapter", "chat")
    assert json.loads(done.out) == run("render", rain, "--json").json["prompts"]["chat"]["messages"]
    assert run("export", rain, "--adapter", "chat", "-o", "m.json").out == ""
    assert json.loads(Path("m.json").read_text()) == json.loads(done.out)


def test_curl_names_the_key_and_a_shell_reads_the_body_back(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    question = 'it\'s "quoted" $HOME `touch pwned` \\ $(touch pwned)\n!'
    run("new", "question -> answer", "-o", "q.json", "--input", f"question={question}")
    done = run("export", "q.json", "--to", "curl", "--model", "openai/gpt-6-luna", "--adapter", "chat")
    assert done.code == 0, done.err
    assert "Bearer $OPENAI_API_KEY" in done.out
    assert "canary" not in done.out

    script = 'curl() { printf "%s" "${@: -1}"; }\n' + done.out
    body = json.loads(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout)
    assert body["model"] == "gpt-6-luna"
    assert question in body["messages"][-1]["content"]
    assert not Path("pwned").exists()


def test_an_offline_model_has_no_curl(rain: str, run: Run) -> None:
    done = run("export", rain, "--to", "curl")
    assert done.code == exit_codes.USAGE
    assert "--model" in done.err


def test_models_say_which_key_each_needs_and_never_the_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_AUTH_TOKEN", raising=False)
    models = {one["model"]: one for one in run("models", "--json").json["models"]}
    assert {"offline/exact", "offline/chatty", "offline/sloppy", "offline/truncated"} <= set(models)
    by_key = {one["key"]: one["key_is_set"] for one in models.values()}
    assert by_key["OPENAI_API_KEY"] is True
    assert by_key["ANTHROPIC_API_KEY"] is False
    text = run("models")
    assert "OPENAI_API_KEY is set" in text.out
    assert "canary" not in text.out + text.err


def test_models_say_what_they_can_do_who_says_so_and_when_they_leave(run: Run) -> None:
    listed = json.loads(run("models", "openai/o4-mini", "--json").out)["models"]
    (row,) = [one for one in listed if one["model"] == "openai/o4-mini"]
    can = {"function_calling": True, "reasoning": True, "response_schema": True, "said_by": "dspy 3.4.1's table"}
    assert row["can"] == can
    assert row["retires"] == "2026-10-23"
    shown = run("models", "openai/o4-mini").out
    assert "left its API on 2026-10-23" in shown
    assert "can: tools, reasoning, schema (dspy 3.4.1's table)" in shown


def test_what_named_models_can_do_is_told_for_programs_and_people(run: Run) -> None:
    names = ["openai/gpt-6-sol", "nowhere/any"]
    found = json.loads(run("models", "--capabilities", *names, "--json").out)
    assert list(found) == names
    assert set(found[names[0]]) == {"function_calling", "reasoning", "response_schema", "params", "said_by"}
    assert found[names[0]]["function_calling"] is True and "tools" in found[names[0]]["params"]
    assert found["nowhere/any"]["params"] == []
    assert "nowhere/any  can: nothing special" in run("models", "--capabilities", *names).out


def test_sending_to_a_model_that_has_left_its_api_says_so(run: Run) -> None:
    run("new", "question -> answer", "-o", "q.json", "--input", "question=?")
    assert "openai/o4-mini left its API on 2026-10-23" in run("send", "q.json", "--model", "openai/o4-mini").err
