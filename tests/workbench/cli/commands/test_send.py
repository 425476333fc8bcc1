from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
from scripted_lm import ScriptedLM

from sessions import examples
from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.output import exit_codes
from workbench.sending import sending

Run = Callable[..., Any]


def test_an_offline_model_answers_every_column(rain: str, run: Run) -> None:
    done = run("send", rain, "--json")
    assert done.code == 0, done.err
    runs = done.json["runs"]
    assert list(runs) == ["chat", "json", "xml"]
    for name, one in runs.items():
        assert one["ok"]
        assert one["values"]["answer"] in ("yes", "no")
        assert isinstance(one["values"]["score"], float)
        (attempt,) = one["attempts"]
        (completion,) = attempt["completions"]
        assert attempt["adapter"] == name
        assert attempt["error"] is None
        assert attempt["duration_ms"] >= 0
        assert attempt["request"]["messages"][0]["role"] == "system"
        reading = completion["reading"]
        assert reading["ok"]
        assert "".join(completion["text"][s["start"] : s["end"]] for s in reading["spans"]) == completion["text"]
        kinds = [event["kind"] for event in one["events"]]
        assert kinds[0] == "PromptRendered"
        assert kinds[-1] == "PromptExecuted"
        assert kinds.index("RequestSent") < kinds.index("ChunkReceived") < kinds.index("ResponseReceived")
        chunks = [event["text"] for event in one["events"] if event["kind"] == "ChunkReceived"]
        assert "".join(chunks) == completion["text"]


def test_text_shows_the_reply_and_what_was_read(rain: str, run: Run) -> None:
    done = run("send", rain, "--adapter", "chat")
    assert done.code == 0, done.err
    assert "[chat → offline/exact]" in done.out
    assert "[[ ## answer ## ]]" in done.out
    assert "[chat] parsed" in done.out


def test_a_reply_that_does_not_parse_exits_1(rain: str, run: Run) -> None:
    done = run("send", rain, "--adapter", "json", "--model", "offline/truncated", "--json")
    assert not done.json["runs"]["json"]["ok"]
    assert done.code == exit_codes.DIFFERENT


def test_sending_leaves_the_file_alone_unless_told_to_save(rain: str, run: Run) -> None:
    before = Path(rain).read_bytes()
    assert run("send", rain).code == 0
    assert Path(rain).read_bytes() == before


def test_saved_runs_are_recordings_that_check_passes(rain: str, run: Run) -> None:
    assert run("send", rain, "--save").code == 0
    case = store.load(rain).cases[0]
    assert list(case.recordings) == ["chat", "json", "xml"]
    done = run("check", rain, "--json")
    assert done.code == 0, done.out
    assert (done.json["passed"], done.json["failed"]) == (3, 0)


def test_an_adapter_that_is_no_column_is_saved_as_one(rain: str, run: Run) -> None:
    assert run("send", rain, "--adapter", "baml", "--save").code == 0
    session = store.load(rain)
    assert [column.id for column in session.columns] == ["chat", "json", "xml", "baml"]
    assert list(session.cases[0].recordings) == ["baml"]
    assert run("check", rain).code == 0


def test_the_model_that_was_sent_to_is_saved_with_the_run(rain: str, run: Run) -> None:
    assert run("send", rain, "--adapter", "chat", "--model", "offline/chatty", "--save").code in (0, 1)
    session = store.load(rain)
    assert session.model_of(session.column("chat")) == "offline/chatty"
    assert session.model_of(session.column("json")) == "offline/exact"
    assert run("check", rain).code == 0


def test_every_case_is_sent_when_asked_for(run: Run) -> None:
    Path("s.json").write_text(examples.text("invoice"))
    names = [case.name for case in store.load("s.json").cases]
    assert len(names) > 1
    first = run("send", "s.json", "--adapter", "json", "--json")
    assert set(first.json) == {"runs"}
    assert repr(names[0]) in first.err

    done = run("send", "s.json", "--adapter", "json", "--all-cases", "--save", "--json")
    assert list(done.json["cases"]) == names
    assert done.json["runs"] == done.json["cases"][names[0]]
    assert [list(case.recordings) for case in store.load("s.json").cases] == [["json"]] * len(names)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "offline/nope"], "no offline model 'nope'"),
        (["--deadline", "soon"], "--deadline"),
        (["--deadline", "-1"], "above 0"),
        (["--adapter", "jsno"], "did you mean 'json'?"),
    ],
)
def test_a_wrong_word_is_named(words: list[str], said: str, rain: str, run: Run) -> None:
    before = Path(rain).read_bytes()
    done = run("send", rain, *words, "--save")
    assert done.code in (exit_codes.USAGE, exit_codes.PROVIDER)
    assert said in done.err
    assert Path(rain).read_bytes() == before


def test_repeats_are_counted_column_by_column(rain: str, run: Run) -> None:
    shape = run("send", rain, "--adapter", "chat", "--repeat", "3", "--json").json["runs"]["chat"]
    assert (shape["count"], shape["answered"], shape["parse_failure_rate"]) == (3, 3, 0.0)
    assert len(shape["runs"]) == 3
    assert sum(one["count"] for one in shape["fields"]["answer"]) == 3
    text = run("send", rain, "--adapter", "json", "--model", "offline/refusal", "--repeat", "2")
    assert text.code == exit_codes.DIFFERENT
    assert "[json] 2 runs, 2 not parsed (100%)" in text.out


def test_several_models_make_columns_adapter_by_model(rain: str, run: Run) -> None:
    done = run("send", "--json", "--adapter", "chat", "json", "--model", "offline/exact", "offline/chatty", rain)
    assert list(done.json["runs"]) == [
        "chat · offline/exact",
        "chat · offline/chatty",
        "json · offline/exact",
        "json · offline/chatty",
    ]
    models = [one["attempts"][0]["model"] for one in done.json["runs"].values()]
    assert models == ["offline/exact", "offline/chatty"] * 2


def test_a_raw_send_reads_nothing(rain: str, run: Run) -> None:
    done = run("send", rain, "--adapter", "json", "--model", "offline/refusal", "--raw", "--json")
    (attempt,) = done.json["runs"]["json"]["attempts"]
    assert done.code == 0
    assert attempt["completions"][0]["reading"] is None
    assert attempt["completions"][0]["text"].startswith("I'm sorry")


def test_twostep_asks_the_extraction_model(rain: str, run: Run) -> None:
    done = run("send", rain, "--adapter", "twostep", "--extraction-model", "offline/fenced", "--json")
    attempts = done.json["runs"]["twostep"]["attempts"]
    assert [(one["purpose"], one["model"]) for one in attempts[:2]] == [
        ("first", "offline/exact"),
        ("extraction", "offline/fenced"),
    ]


def with_tool(path: str) -> None:
    weather = {"name": "weather", "description": "The weather of a town.", "parameters": "town: str"}
    data = json.loads(Path(path).read_text())
    data["tools"] = [{**weather, "results": [{"result": "It pours."}]}]
    Path(path).write_text(json.dumps(data))


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml"])
def test_an_offline_model_calls_a_sessions_tool_and_then_answers(adapter: str, rain: str, run: Run) -> None:
    with_tool(rain)
    done = run("send", rain, "--adapter", adapter, "--save", "--json")
    assert done.code == 0, done.err
    shape = done.json["runs"][adapter]
    (invoked,) = (event for event in shape["events"] if event["kind"] == "ToolInvoked")
    assert (invoked["name"], invoked["rendered_output"]) == ("weather", "It pours.")
    assert [one["purpose"] for one in shape["attempts"]] == ["first", "tools"]
    assert shape["tool_turns"][0]["tool_calls"]["tool_call_results"][0]["value"] == "It pours."
    assert set(shape["values"]) == {"answer", "score"}
    checked = run("check", rain)
    assert checked.code == 0, checked.out
    shown = run("send", rain, "--adapter", adapter)
    assert "calls weather(" in shown.out


def test_a_function_of_the_users_answers_only_when_it_is_named(rain: str, run: Run) -> None:
    with_tool(rain)
    Path("my_weather_tools.py").write_text("def ask(town):\n    return 'snow in ' + str(len(town) > 0)\n")
    done = run("send", rain, "--adapter", "json", "--tool", "weather=my_weather_tools:ask", "--json")
    assert done.json["runs"]["json"]["tool_turns"][0]["tool_calls"]["tool_call_results"][0]["value"] == "snow in True"
    for wrong, said in (
        ("weather", "write NAME=module:function"),
        ("wether=a:b", "did you mean"),
        ("weather=no_such_module:f", "ModuleNotFoundError"),
        ("weather=my_weather_tools:nothing", "AttributeError"),
    ):
        for words in (("send", rain), (rain, "--screenshot", "out.svg")):  # the app takes the same option
            refused = run(*words, "--tool", wrong)
            assert refused.code == exit_codes.USAGE
            assert said in refused.err and wrong in refused.err
    assert "of which session?" in run("--screenshot", "out.svg", "--tool", "weather=a:b").err


PRINTS = """
import os
print("while it is imported")
def ask(town):
    print("from Python")
    os.system("echo from a program")
    return "snow"
"""


@pytest.mark.slow
def test_what_a_tool_prints_is_no_part_of_the_results(rain: str, run: Run) -> None:
    with_tool(rain)
    Path("loud_weather_tools.py").write_text(PRINTS)
    words = ["send", rain, "--adapter", "json", "--tool", "weather=loud_weather_tools:ask"]
    done = run(*words, "--json")
    assert done.json["runs"]["json"]["ok"]  # all of standard output is the JSON
    assert "from Python" in done.err
    for more in (["--json"], []):
        whole = subprocess.run([sys.executable, "-m", "workbench", *words, *more], capture_output=True, text=True)
        assert whole.returncode == 0
        for printed in ("while it is imported", "from Python", "from a program"):
            assert printed in whole.stderr and printed not in whole.stdout
        assert not more or json.loads(whole.stdout)["runs"]["json"]["ok"]


def test_how_long_a_tools_result_may_be_is_an_option(rain: str, run: Run) -> None:
    with_tool(rain)
    done = run("send", rain, "--adapter", "json", "--result-limit", "5", "--json")
    assert "gave 9 characters, and the limit is 5" in str(done.json["runs"]["json"]["tool_turns"])
    assert run("send", rain, "--result-limit", "0").code == exit_codes.USAGE


def test_a_typed_result_is_asked_for_and_saved_with_the_run(rain: str, run: Run) -> None:
    with_tool(rain)
    data = json.loads(Path(rain).read_text())
    data["tools"][0]["results"] = []
    Path(rain).write_text(json.dumps(data))
    done = run("send", rain, "--adapter", "json", "--type-results", "--save", stdin='{"sky": "grey"}\n')
    assert done.code == 0, done.err
    assert "the model calls weather(" in done.err
    (kept,) = store.load(rain).tools[0].results
    assert kept["result"] == {"sky": "grey"}


@pytest.mark.parametrize("words", [("--repeat", "0"), ("--repeat", "x"), ("--deadline", "-1")])
def test_numbers_that_are_none_are_refused(words: tuple[str, str], rain: str, run: Run) -> None:
    assert run("send", rain, *words).code == exit_codes.USAGE


def test_variants_are_columns_beside_the_original(rain: str, run: Run) -> None:
    data = json.loads(Path(rain).read_text())
    texts = {"of": "instructions", "original": ""}
    data["variants"] = [
        {"tag": "terse", "text": "One word.", **texts},
        {"tag": "old", "text": "x", **texts, "original": "sha256:of another text"},
    ]
    Path(rain).write_text(json.dumps(data))
    done = run("render", rain, "--adapter", "chat", "--variant", "terse", "--json")
    assert done.code == 0, done.err
    prompts = done.json["prompts"]
    assert list(prompts) == ["chat", "chat · terse"]
    assert "One word." in prompts["chat · terse"]["messages"][0]["content"]
    assert "One word." not in prompts["chat"]["messages"][0]["content"]
    sent = run("send", rain, "--adapter", "chat", "--variant", "terse", "--json").json["runs"]["chat · terse"]
    assert sent["attempts"][0]["request"]["messages"] == prompts["chat · terse"]["messages"]
    stale = run("render", rain, "--adapter", "chat", "--variant", "old")
    assert "variant old: instructions is left out: its original has changed" in stale.err
    wrong = run("send", rain, "--variant", "trese")
    assert (wrong.code, "terse" in wrong.err) == (exit_codes.USAGE, True)


def test_a_reply_that_is_saved_raw_stays_unread_and_can_be_recorded_again(rain: str, run: Run) -> None:
    run("send", rain, "--adapter", "json", "--raw", "--save")
    assert run("record", rain).code == 0
    case = store.load(rain).cases[0]
    assert case.replies["json"].raw is True
    assert [one.reading for one in case.recordings["json"].attempts[0].completions] == [None]
    done = run("check", rain, "--json")
    assert done.code == 0, done.out


def test_columns_at_once_are_told_and_kept_in_their_order(rain: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    send, together = sending.send, Barrier(3)
    over = {"chat": Event(), "json": Event(), "xml": Event()}
    before = {"chat": "json", "json": "xml"}  # the last column is the first to end

    def wait(session: Session, column: Column, *given: Any, **named: Any) -> Any:
        together.wait(60)  # all three are under way at once
        if column.id in before:
            assert over[before[column.id]].wait(60)
        outcome = send(session, column, *given, **named)
        over[column.id].set()
        return outcome

    monkeypatch.setattr(sending, "send", wait)
    done = run("send", rain, "--jobs", "3", "--save")
    assert done.code == 0, done.err
    places = [done.out.index(f"[{one} → offline/exact]") for one in ("chat", "json", "xml")]
    assert places == sorted(places)
    for one, after in (("chat", "json"), ("json", "xml")):
        assert done.out.index(f"[{one}] parsed") < done.out.index(f"[{after} →")
    assert sorted(store.load(rain).cases[0].recordings) == ["chat", "json", "xml"]
    assert run("check", rain).code == 0


def test_what_was_typed_belongs_to_one_run_at_a_time(rain: str, run: Run) -> None:
    done = run("send", rain, "--jobs", "2", "--type-results")
    assert (done.code, "remove --jobs" in done.err) == (exit_codes.USAGE, True)
    assert run("send", rain, "--jobs", "0").code == exit_codes.USAGE


@pytest.mark.parametrize("command", ["send", "render", "export"])
def test_an_empty_model_is_none(command: str, rain: str, run: Run) -> None:
    done = run(command, rain, "--model", "")
    assert done.code == exit_codes.USAGE
    assert "--model: the name is empty; `workbench models` lists" in done.err


def test_a_fix_is_applied_and_kept_with_save(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> code", "-o", path, "--input", "question=Q")
    done = run("send", path, "--adapter", "xml", "--apply", "adapter", "--save", "--json")
    assert done.code == 0, done.err
    assert done.err == "applied: Use the adapter `chat` for this column, as column chat does.\n"
    session = store.load(path)
    assert [one.adapter for one in session.columns].count("chat") == 2
    assert run("send", path, "--apply", "1").code == exit_codes.USAGE
    wrong = run("send", path, "--adapter", "chat", "--apply", "99")
    assert wrong.code == exit_codes.USAGE
    assert "need no fix" in wrong.err or "no fix '99'" in wrong.err


def test_the_outcome_before_a_fix_is_printed_beside_that_after_it(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "q.session.json"
    run("new", "question -> code", "-o", str(path), "--input", "question=Q")
    session = store.load(path)
    case = replace(session.cases[0], replies={"xml": Reply("no tags at all, only prose")})
    store.save(replace(session, cases=(case,)), path)
    done = run("send", str(path), "--adapter", "xml", "--apply", "adapter")
    assert (done.code, done.out.splitlines()[-1]) == (0, "before the fix: parse error; now: parsed"), done.err


def test_a_fix_after_which_the_reply_copies_a_demo_is_said_to_do_so(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, good = tmp_path / "q.session.json", "[[ ## reason ## ]]\nThe page stays white."
    monkeypatch.setattr(sending, "open_model", lambda *_, **__: ScriptedLM(good))
    cases = (Case("bad", {"ticket": "T"}, replies={"chat": Reply("It is a bug.")}),)
    cases += (Case("good", {"ticket": "U"}, replies={"chat": Reply(good)}),)
    store.save(Session(SignatureText("ticket -> reason"), (), (Column("chat", "chat"),), cases), path)
    done = run("send", str(path), "--adapter", "chat", "--apply", "demo")
    said = "before the fix: parse error; now: parsed, but repeats the values of demo 1"
    assert (done.code, done.out.splitlines()[-1]) == (0, said), done.err


def test_a_fix_of_a_reply_that_was_not_kept_is_asked_for_in_vain(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> answer", "-o", path, "--input", "question=Q")
    assert run("send", path, "--adapter", "chat", "--apply", "1").err == (
        "workbench: chat: the reply and the prompt need no fix; the session has no reply of this column: keep one with "
        "`send --save`\n"
    )


def test_a_demo_without_outputs_is_not_sent(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> code", "-o", path, "--input", "question=Q")
    (case,) = (session := store.load(path)).cases
    prose = replace(case, replies={"chat": Reply("Bern is the capital, and it lies on a river.", source="pasted")})
    Path(path).write_text(store.dumps(replace(session, cases=(prose,))), "utf-8")
    done = run("send", path, "--adapter", "chat", "--apply", "demo", "--save")
    assert done.code == exit_codes.USAGE
    assert "fix demo adds a demo without outputs: fill it in first (in the app) or choose another" in done.err


def test_what_a_server_rejects_is_left_out_with_apply(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> code", "-o", path, "--input", "question=Q")
    session = store.load(path)
    able = Column("json", "json", params={"capabilities": {"response_schema": True, "function_calling": False}})
    Path(path).write_text(store.dumps(replace(session, columns=(able,))), "utf-8")
    done = run("send", path, "--apply", "capabilities", "--save", "--json")
    assert done.code == 0 and "applied: Set the capability `response_schema` of this column to false." in done.err
    assert "response_format" not in done.json["runs"]["json"]["attempts"][0]["request"]
    saved = store.load(path).columns[0].params
    assert saved == {"capabilities": {"response_schema": False, "function_calling": False}}


def test_asking_again_shows_its_message_before_the_call_and_costs_a_call(tmp_path: Path, run: Run) -> None:
    path = str(tmp_path / "q.session.json")
    run("new", "question -> label: Literal['a', 'b'], n: int", "-o", path, "--input", "question=Q")
    done = run("send", path, "--adapter", "chat", "--model", "offline/mistyped", "--ask-again", "2")
    assert done.out.count("asks again (not dspy)") == 2
    assert "Your last reply could not be parsed:" in done.out
    runs = run("send", path, "--adapter", "chat", "--model", "offline/mistyped", "--ask-again", "1", "--json").json
    assert [one["number"] for one in runs["runs"]["chat"]["attempts"]] == [1, 2]
    assert "AskedAgain" in [one["kind"] for one in runs["runs"]["chat"]["events"]]
    assert run("send", path, "--ask-again", "9").code == exit_codes.USAGE
