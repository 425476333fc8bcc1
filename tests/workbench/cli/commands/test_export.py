"""`workbench export --as NAME`: each form on the command line, what it leaves out, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.exporting.forms import FORMS
from workbench.output import exit_codes

Run = Callable[..., Any]
CANARY = "sk-canary-0123456789abcdef"
DEMO = '{"question": "q", "context": ["c"], "answer": "yes", "score": 0.5}'


@pytest.fixture
def asked(rain: str, run: Run) -> str:
    """A session with a demo and two cases, for a model that can be asked."""
    data = json.loads(Path(rain).read_text())
    data["model"] = "openai/gpt-6-luna"
    data["demos"] = [{"values": json.loads(DEMO)}]
    data["cases"].append({**data["cases"][0], "name": "case 2"})
    Path(rain).write_text(json.dumps(data))
    return rain


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_written_the_same_to_standard_output_a_file_and_json(
    form: str, asked: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    words = ("export", asked, "--as", form, "--adapter", "chat", "--case", "case 1")
    done = run(*words)
    assert done.code == 0, done.err
    assert run(*words, "-o", "out").out == ""
    assert Path("out").read_text(encoding="utf-8") == done.out
    shape = run(*words, "--json").json
    assert (shape["column"], shape["to"], shape["text"]) == ("chat", form, done.out)
    assert [line for line in done.err.splitlines() if line.startswith("left out: ")] == [
        f"left out: {one}" for one in shape["left_out"]
    ]
    assert CANARY not in done.out + done.err


def test_a_file_that_cannot_be_written_is_said_in_one_line(asked: str, run: Run) -> None:
    done = run("export", asked, "--as", "program", "--adapter", "chat", "-o", "no-folder/out")
    assert (done.code, done.err.count("\n")) == (exit_codes.USAGE, 1), done.err


def test_a_form_of_several_cases_has_all_of_them_unless_one_is_named(asked: str, run: Run) -> None:
    assert len(run("export", asked, "--as", "batch").out.splitlines()) == 6
    assert len(run("export", asked, "--as", "batch", "--case", "case 2", "--adapter", "chat").out.splitlines()) == 1
    assert "case 'case 1', the first of 2" in run("export", asked, "--as", "curl").err
    assert "the first of 2" not in run("export", asked, "--as", "batch").err


def test_to_is_as_under_its_old_name(asked: str, run: Run) -> None:
    assert run("export", asked, "--to", "curl").out == run("export", asked, "--as", "curl").out
    assert run("export", asked).out == run("export", asked, "--as", "messages").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "dspy", "--adapter", "markdown"), "baml, twostep (--adapter)"),
        (("--as", "curl", "--model", "offline/exact"), "(--model)"),
        (("--as", "pickle"), "invalid choice: 'pickle'"),
        (("--as", "dspy", "-o", "no/such/folder.py"), "no such file"),
    ],
)
def test_what_cannot_be_exported_is_one_line_that_says_why(
    words: tuple[str, ...], said: str, asked: str, run: Run
) -> None:
    done = run("export", asked, *words)
    assert done.code == exit_codes.USAGE
    assert said in done.err


def test_a_signature_that_cannot_be_read_says_where(asked: str, run: Run) -> None:
    data = json.loads(Path(asked).read_text())
    data["signature"]["text"] = "question -> answer: nothing_known"
    Path(asked).write_text(json.dumps(data))
    for form in FORMS:
        done = run("export", asked, "--as", form)
        assert done.code == exit_codes.USAGE and "nothing_known" in done.err, (form, done.err)


def test_a_host_of_the_session_gets_the_key_when_it_is_allowed(asked: str, run: Run) -> None:
    data = json.loads(Path(asked).read_text())
    data["params"] = {"api_base": "http://stranger:8000/v1"}
    Path(asked).write_text(json.dumps(data))
    assert "OPENAI_API_KEY" not in run("export", asked, "--as", "curl").out
    assert "OPENAI_API_KEY" in run("export", asked, "--as", "curl", "--allow-host", "stranger:8000").out
