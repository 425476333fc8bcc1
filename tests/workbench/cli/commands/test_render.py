from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import dspy
import pytest
from dspy.utils.inspect_history import pretty_print_history

from workbench.output import exit_codes

Run = Callable[..., Any]

INPUTS = {"question": "Is it raining?", "context": ["It pours.", "Umbrellas\nare out."]}


def signature_of_dspy() -> Any:
    return dspy.Signature(
        {
            "question": (str, dspy.InputField()),
            "context": (list[str], dspy.InputField()),
            "answer": (Literal["yes", "no"], dspy.OutputField()),
            "score": (float, dspy.OutputField()),
        }
    )


ADAPTERS = {"chat": dspy.ChatAdapter, "json": dspy.JSONAdapter, "xml": dspy.XMLAdapter}


@pytest.mark.parametrize("name", ADAPTERS)
def test_messages_equal_those_of_dspy(name: str, rain: str, run: Run) -> None:
    done = run("render", rain, "--json")
    assert done.code == 0, done.err
    expected = ADAPTERS[name]().format(signature_of_dspy(), [], INPUTS)
    assert done.json["prompts"][name]["messages"] == expected


def test_segments_joined_are_the_messages(rain: str, run: Run) -> None:
    for prompt in run("render", rain, "--json").json["prompts"].values():
        assert len(prompt["segments"]) == len(prompt["messages"])
        for message, segments in zip(prompt["messages"], prompt["segments"], strict=True):
            assert "".join(one["text"] for one in segments) == message["content"]
            assert all(set(one) >= {"text", "kind", "field", "turn"} for one in segments)
        assert [one[0]["turn"] for one in prompt["segments"]] == ["system", "inputs"]
        assert prompt["request"]["messages"] == prompt["messages"]
        assert prompt["request"]["model"] == "offline/exact"


def test_demos_and_their_turns(run: Run) -> None:
    run(
        *("new", "question -> answer", "-o", "q.json", "--input", "question=3 + 3"),
        *("--demo", '{"question": "1 + 1", "answer": "2"}', "--demo", '{"question": "2 + 2", "answer": "4"}'),
        *("--demo", '{"question": "lost"}'),
    )
    prompt = run("render", "q.json", "--adapter", "chat", "--json").json["prompts"]["chat"]
    turns = [segments[0]["turn"] for segments in prompt["segments"]]
    assert turns == ["system", "demo 1", "demo 1", "demo 2", "demo 2", "inputs"]
    assert [one["use"] for one in prompt["demos"]] == ["complete", "complete", "dropped"]


def test_text_follows_the_layout_of_inspect_history(rain: str, run: Run) -> None:
    done = run("render", rain, "--adapter", "chat")
    messages = dspy.ChatAdapter().format(signature_of_dspy(), [], INPUTS)
    theirs = io.StringIO()
    pretty_print_history([{"messages": messages, "outputs": ["R"], "timestamp": "chat → offline/exact"}], file=theirs)
    assert done.out == theirs.getvalue().partition("Response:")[0]


def test_adapters_are_columns_or_become_one(rain: str, run: Run) -> None:
    for words in ("--adapter chat baml", "--adapter chat --adapter baml", "--adapter chat,baml"):
        done = run("render", rain, *words.split(), "--json")
        assert list(done.json["prompts"]) == ["chat", "baml"], done.err
    done = run("render", "--adapter", "chat", "baml", rain, "--json")
    assert list(done.json["prompts"]) == ["chat", "baml"]


def test_the_request_that_litellm_writes_is_printed_as_it_goes_out(
    rain: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MISTRAL_API_KEY", "a-secret-of-mistral")
    words = ("render", rain, "--adapter", "chat", "--model", "mistral/mistral-small-latest", "--request")
    done = run(*words)
    assert "POST https://api.mistral.ai/v1/chat/completions\nAuthorization: Bearer $MISTRAL_API_KEY\n" in done.err
    assert json.loads(done.out)["model"] == "mistral-small-latest"
    http = json.loads(run(*words, "--json").out)["prompts"]["chat"]["http"]
    assert http["method"] == "POST" and http["headers"]["Content-Type"] == "application/json"
    assert http["url"].endswith("/v1/chat/completions") and http["body"] == done.out.rstrip("\n")
    failed = run("render", rain, "--adapter", "chat", "--model", "mistrl/any", "--request")
    assert failed.code == 2 and "did you mean mistral/any?" in failed.err


def test_the_request_follows_the_model(rain: str, run: Run) -> None:
    done = run("render", rain, "--adapter", "json", "--model", "openai/gpt-4o", "--request")
    request = json.loads(done.out)
    assert request["model"] == "openai/gpt-4o"
    assert "response_format" in request


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--adapter", "jsno"], "did you mean 'json'?"),
        (["--case", "nope"], "no case 'nope'"),
        (["--adapter", "no_such_module:Thing"], "no_such_module"),
    ],
)
def test_a_wrong_name_is_told_the_right_ones(words: list[str], said: str, rain: str, run: Run) -> None:
    done = run("render", rain, *words)
    assert (done.code, done.out) == (exit_codes.USAGE, "")
    assert said in done.err


def test_a_session_cannot_have_code_imported_that_only_it_names(rain: str, run: Run, tmp_path: Path) -> None:
    Path("evil.py").write_text("open('pwned', 'w').close()\n")
    text = Path(rain).read_text()
    Path(rain).write_text(text.replace('"adapter": "chat"', '"adapter": "evil:Adapter"'))
    for command in ("render", "send", "parse"):
        done = run(command, rain, "--json")
        assert done.code == exit_codes.USAGE
        assert "evil:Adapter" in done.err
        ((_, columns),) = done.json.items()
        assert columns["chat"]["error"]["message"]
        assert set(columns) == {"chat", "json", "xml"}
    assert run("check", rain).code == exit_codes.NOTHING
    assert not Path("pwned").exists()


def test_an_adapter_of_the_users_own_folder_is_a_column(rain: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("shouting_adapter.py").write_text(
        "from adapters.formats.chat import ChatAdapter\n"
        "class Shouting(ChatAdapter):\n"
        "    def format_task_description(self, signature):\n"
        "        return super().format_task_description(signature).upper()\n"
    )
    monkeypatch.setattr(sys, "path", list(sys.path))
    done = run("render", rain, "--adapter", "shouting_adapter:Shouting", "--json")
    assert done.code == 0, done.err
    assert "GIVEN THE FIELDS" in done.json["prompts"]["shouting_adapter:Shouting"]["messages"][0]["content"]


def test_json_includes_the_lints_of_every_column(tmp_path: Path, run: Run) -> None:
    file = str(tmp_path / "thoughts.session.json")
    demo = '{"input": "a", "output": "b"}'
    made = run("new", "input, demos -> thoughts, output", "-o", file, "--input", "input=x", "--demo", demo)
    assert made.code == 0, made.err
    for column in run("render", file, "--json").json["prompts"].values():
        found = {one["name"]: one for one in column["lints"]}
        assert all(one.keys() == {"name", "severity", "message", "place", "fixes"} for one in column["lints"])
        assert found["input-taken-by-predict"]["severity"] == "error"
        assert found["demo-filled-in"]["severity"] == "warning"
        assert found["demo-filled-in"]["place"].startswith("demo 1")


def test_a_prompt_without_surprises_has_no_lints(rain: str, run: Run) -> None:
    assert [one["lints"] for one in run("render", rain, "--json").json["prompts"].values()] == [[], [], []]
