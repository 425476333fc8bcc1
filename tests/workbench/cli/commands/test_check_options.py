"""`check`: which fixtures, which verdicts, which reports, and several processes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sessions.file import saving, store
from sessions.model.session import Column
from sessions.releases.release import OURS, WORKER
from workbench.output import exit_codes
from workbench.sending import sending

Run = Callable[..., Any]


def ids(done: Any) -> list[str]:
    return [f"{one['path']}::{one['column']}" for one in done.json["fixtures"]]


def drifted(path: str, to: str = "drifted.json") -> str:
    """A copy of a recorded session whose output `score` has become text."""
    session = store.load(path)
    text = session.signature.text.replace("score: float", "score: str")
    assert text != session.signature.text
    store.save(replace(session, signature=replace(session.signature, text=text)), to)
    return to


@pytest.fixture
def recorded(rain: str, run: Run) -> str:
    assert run("send", rain, "--save").code == 0
    return rain


def test_k_and_adapter_and_case_choose_fixtures(recorded: str, run: Run) -> None:
    columns = [one.id for one in store.load(recorded).columns]
    assert [one.split("::")[1] for one in ids(run("check", recorded, "--json"))] == columns
    assert len(ids(run("check", recorded, "-k", "chat or xml", "--json"))) == 2
    assert len(ids(run("check", recorded, "-k", "not (chat or xml)", "--json"))) == len(columns) - 2
    assert len(ids(run("check", recorded, "--adapter", "chat", "--case", "no such", "--json"))) == 0
    done = run("check", recorded, "--adapter", "chta")
    assert done.code == exit_codes.NOTHING
    assert "q.json: no column or adapter 'chta'; did you mean 'chat'?" in done.out
    assert "nothing matches -k 'snow'" in run("check", recorded, "-k", "snow").out
    done = run("check", recorded, "-k", "chat and")
    assert done.code == exit_codes.USAGE
    assert "makes no sense" in done.err


def test_a_columns_id_means_that_column_alone_and_an_adapters_name_all_of_its_columns(rain: str, run: Run) -> None:
    session = store.load(rain)
    chat, json_column, xml = session.columns
    twins = (chat, replace(chat, id="chat-2"), replace(json_column, id="one"), replace(json_column, id="two"), xml)
    store.save(replace(session, columns=twins), rain)
    assert run("send", rain, "--save").code == 0
    assert ids(run("check", rain, "--adapter", "chat", "--json")) == ["q.json::chat"]
    assert ids(run("check", rain, "--adapter", "json", "--json")) == ["q.json::one", "q.json::two"]
    before = store.load(drifted(rain)).cases[0].recordings
    run("check", "drifted.json", "--update", "render,parse", "--adapter", "chat")
    after = store.load("drifted.json").cases[0].recordings
    assert [name for name in before if after[name] != before[name]] == ["chat"]


def test_update_accepts_one_verdict_and_leaves_the_other(recorded: str, run: Run) -> None:
    path = drifted(recorded)
    verdicts = [one["verdicts"] for one in run("check", path, "--json").json["fixtures"]]
    assert all(one["render"] == one["parse"] == "drift" for one in verdicts)
    done = run("check", path, "--update", "render", "--json")
    assert done.code == exit_codes.DIFFERENT
    assert all(one["verdicts"]["render"] == "pass" for one in done.json["fixtures"])
    assert all(one["verdicts"]["parse"] == "drift" for one in done.json["fixtures"])
    assert run("check", "--update", path).code == exit_codes.DIFFERENT, "the values changed: parse is to be named"
    assert run("check", path, "--update", "render,parse").code == 0
    assert run("check", path).code == 0
    assert len(saving.restore_points(path)) == 2
    assert run("check", path, "--update", "expect").code == exit_codes.USAGE


def test_a_drift_of_number_types_or_of_order_alone_is_accepted_too(recorded: str, run: Run) -> None:
    session = store.load(recorded)
    case = session.cases[0]
    made = case.recordings["chat"]
    (completion,) = made.attempts[0].completions
    reading = completion.reading
    assert isinstance(reading.values["score"], float)
    swapped = {"score": int(reading.values["score"]) * 1, "answer": reading.values["answer"]}
    for values in (swapped, dict(reversed(list(reading.values.items())))):
        one = replace(made.attempts[0], completions=(replace(completion, reading=replace(reading, values=values)),))
        recordings = {**case.recordings, "chat": replace(made, attempts=(one,))}
        store.save(session.replace_case(replace(case, recordings=recordings)), "other.json")
        assert run("check", "other.json").code == exit_codes.DIFFERENT
        assert run("check", "other.json", "--update", "render,parse").code == 0
        assert store.load("other.json").cases[0].recordings["chat"].attempts == made.attempts


def test_k_looks_at_cases_and_columns_and_at_paths_only_where_asked(recorded: str, run: Run) -> None:
    path = "SupportChat.session.json"
    Path(recorded).rename(path)
    assert ids(run("check", path, "-k", "json", "--json")) == [f"{path}::json"]
    assert ids(run("check", path, "-k", "chat", "--json")) == [f"{path}::chat"]
    assert ids(run("check", path, "-k", "xml and path:SUPPORTchat", "--json")) == [f"{path}::xml"]
    assert ids(run("check", path, "-k", "not path:support", "--json")) == []
    assert run("check", path, "-k", "path:").code == exit_codes.USAGE


def test_junit_says_per_verdict_what_failed(recorded: str, run: Run) -> None:
    path = drifted(recorded)
    Path("bad.json").write_text('{"format": 1, "signature": "\x1b')
    done = run("check", recorded, path, "bad.json", "--junit", "report.xml")
    assert done.code == exit_codes.USAGE
    suite = ElementTree.parse("report.xml").getroot()[0]
    cases = {(one.get("classname"), one.get("name")): one for one in suite}
    case = store.load(path).cases[0].name
    assert len(cases[recorded, f"{case}::chat::render"]) == 0
    failure = cases[path, f"{case}::chat::render"].find("failure")
    assert failure is not None
    assert "the type of `score`" in (failure.get("message") or "")
    assert cases["bad.json", "load"].find("error") is not None
    assert suite.get("tests") == str(len(suite))
    taken = [float(one.get("time") or -1) for one in suite]
    assert min(taken) >= 0 and sum(taken) > 0
    assert float(suite.get("time") or 0) == pytest.approx(sum(taken), abs=1e-4)
    assert suite.get("failures") == str(len(suite.findall(".//failure")))


def test_several_processes_say_the_same_in_the_same_order(recorded: str, run: Run) -> None:
    paths = [recorded, drifted(recorded), drifted(recorded, "more.json")]
    alone, together = run("check", *paths, "--json"), run("check", *paths, "--json", "--jobs", "2")
    assert together.out == alone.out
    assert together.code == alone.code == exit_codes.DIFFERENT


def test_live_sends_again_and_judges_what_is_expected(recorded: str, run: Run) -> None:
    done = run("check", "--live", recorded, "--repeat", "2", "--json")
    assert done.code == 0
    assert {one["verdicts"]["live"] for one in done.json["fixtures"]} == {"pass"}
    done = run("check", recorded, "--live", "offline/empty", "--repeat", "2", "--adapter", "chat", "--json")
    assert done.code == exit_codes.DIFFERENT
    (fixture,) = done.json["fixtures"]
    assert fixture["verdicts"]["live"] == "fail"
    assert fixture["verdicts"]["render"] == "pass"
    assert "2 of 2 runs are not as expected" in fixture["drift"][0]["message"]
    assert run("check", recorded, "--live", "offline/none").code == exit_codes.PROVIDER
    assert run("check", recorded, "--repeat", "2").code == exit_codes.USAGE


def test_a_live_run_is_given_up_at_its_deadline(recorded: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []
    own = sending.send

    def send(*args: Any, **options: Any) -> Any:
        given.append(options["deadline_s"])
        return own(*args, **options)

    monkeypatch.setattr(sending, "send", send)
    assert run("check", recorded, "--live", "--deadline", "7.5", "--adapter", "chat").code == 0
    assert given == [7.5]
    assert run("check", recorded, "--deadline", "7").code == exit_codes.USAGE


def test_shards_check_each_file_once(recorded: str, run: Run) -> None:
    paths = [recorded, drifted(recorded), drifted(recorded, "more.json")]
    every = run("check", *paths, "--json").json["fixtures"]
    parts = [run("check", *paths, "--shard", f"{index}/2", "--json").json["fixtures"] for index in (1, 2)]
    assert [one["path"] for one in parts[1]] == [paths[1]] * len(parts[1])
    assert sorted(map(str, [*parts[0], *parts[1]])) == sorted(map(str, every))
    empty = run("check", recorded, "--shard", "2/2")
    assert empty.code == 0 and "0 of 1 files" in empty.err
    for wrong in ("0/2", "3/2", "2"):
        assert run("check", recorded, "--shard", wrong).code == exit_codes.USAGE


def test_what_a_run_took_is_judged_where_a_case_limits_it(recorded: str, run: Run) -> None:
    session = store.load(recorded)
    case = session.cases[0]
    generous = replace(case, expect={"seconds": {"max": 1000}})
    store.save(session.replace_case(generous), recorded)
    assert run("check", recorded).code == 0
    store.save(session.replace_case(replace(case, expect={"seconds": {"max": 0}, "cost": {"max": 1}})), recorded)
    done = run("check", recorded, "--adapter", "chat", "--json")
    said = [one["message"] for one in done.json["fixtures"][0]["drift"]]
    assert said == ["was not measured in this run", "is more than 0"]
    store.save(session.replace_case(replace(case, expect={"tokens": 3})), recorded)
    assert "expected an object" in run("check", recorded).out


def test_the_installed_dspy_makes_the_same_of_a_fixture(recorded: str, run: Run) -> None:
    done = run("check", recorded, "--dspy", "--json")
    assert done.code == 0, done.out
    assert {one["verdicts"]["upstream"] for one in done.json["fixtures"]} == {"pass"}
    session = store.load(recorded)
    messages = list(session.cases[0].recordings["chat"].messages)
    messages[-1] = {**messages[-1], "content": str(messages[-1]["content"]) + "\nBe honest."}
    changed = replace(session.cases[0].recordings["chat"], messages=tuple(messages))
    case = replace(session.cases[0], recordings={**session.cases[0].recordings, "chat": changed})
    store.save(session.replace_case(case), recorded)
    done = run("check", recorded, "--dspy", "--adapter", "chat", "--json")
    assert done.code == exit_codes.DIFFERENT
    (fixture,) = done.json["fixtures"]
    (drift,) = [one for one in fixture["drift"] if one["verdict"] == "upstream"]
    assert drift["message"].startswith("against dspy 3.4.1: ")
    assert "-Be honest." in drift["diff"]


def test_no_report_says_that_all_match_where_a_release_is_missing(recorded: str, run: Run) -> None:
    text = Path(recorded).read_text()
    Path(recorded).write_text(re.sub(r'"adapter": "(chat|json|xml)"', r'"adapter": "\1@9.9.9"', text))
    done = run("check", recorded, "--junit", "report.xml", "--markdown", "report.md", "--html", "report.html")
    assert done.code == exit_codes.DIFFERENT
    reason = "dspy 9.9.9 is not added here: `workbench dspy add 9.9.9` adds it"
    assert next(line for line in done.out.splitlines() if "9.9.9" in line).endswith(f"{reason}  (3 fixtures)")
    assert "fixtures fail\n" in Path("report.md").read_text().split("\n\n")[0] + "\n"
    assert reason in Path("report.html").read_text()
    report = ElementTree.parse("report.xml")
    assert {one.get("message") for one in report.iter("error")} == {reason} and not [*report.iter("skipped")]


def test_what_dspy_could_not_be_asked_about_is_said_and_is_no_pass(recorded: str, run: Run) -> None:
    session = store.load(recorded)
    store.save(replace(session, columns=(*session.columns, Column("md", "markdown"))), recorded)
    assert run("send", recorded, "--save", "--adapter", "md").code == 0
    done = run("check", recorded, "--dspy", "-k", "xml or md")
    assert done.code == 0
    assert "1 passed, 1 not asked of dspy" in done.out
    assert "q.json: dspy 3.4.1 was not asked: it has no adapter `markdown`  [case 1::md]" in done.out
    done = run("check", recorded, "--dspy", "-k", "xml or md", "--json")
    assert (done.json["passed"], done.json["unasked"]) == (1, 1)
    run("check", recorded, "--dspy", "-k", "md", "--junit", "report.xml")
    skipped = {one.get("message") for one in ElementTree.parse("report.xml").iter("skipped")}
    assert "dspy 3.4.1 was not asked: it has no adapter `markdown`" in skipped


def test_the_words_on_another_dspy_agree_with_the_signs_of_the_diff(recorded: str, run: Run) -> None:
    session = store.load(recorded)
    made = session.cases[0].recordings["chat"]
    system = str(made.messages[0]["content"]).replace("\n2. `context`", " Answer it.\n2. `context`")
    changed = replace(made, messages=({**made.messages[0], "content": system}, *made.messages[1:]))
    text = session.signature.text.replace("question,", "question: str,")
    case = replace(session.cases[0], recordings={"chat": changed})
    store.save(replace(session.replace_case(case), signature=replace(session.signature, text=text)), recorded)
    (drift,) = [
        one
        for one in run("check", recorded, "--dspy", "--adapter", "chat", "--json").json["fixtures"][0]["drift"]
        if one["verdict"] == "upstream"
    ]
    assert any(line.startswith("-") and line.endswith("Answer it.") for line in drift["diff"])
    assert "less text there" in drift["message"]


def test_the_dspy_of_another_environment_is_named_and_not_the_one_beside_the_workbench(
    recorded: str, run: Run, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    (theirs / "dspy").mkdir(parents=True)
    (theirs / "dspy" / "__init__.py").write_text("class BaseLM:\n    pass\n\n\nclass LM(BaseLM):\n    pass\n")
    info = theirs / "dspy-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dspy\nVersion: 2.0\n")
    both = tmp_path / "wheel"
    both.mkdir()
    for package in ("adapters", "sessions"):
        (both / package).symlink_to(OURS / package)
    other = both / "dspy-9.9.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: dspy\nVersion: 9.9\n")
    code = f"import sys, runpy; sys.path.insert(0, {str(theirs)!r}); sys.argv = ['w', {str(both)!r}]; "
    done = subprocess.run(
        [sys.executable, "-I", "-c", code + f"runpy.run_path({str(WORKER)!r}, run_name='__main__')"],
        input="",
        capture_output=True,
        text=True,
    )
    assert json.loads(done.stdout)["dspy"] == "2.0", done.stderr


def test_a_python_without_dspy_is_one_clear_error(recorded: str, run: Run) -> None:
    for python in ("/bin/false", "/nowhere"):
        done = run("check", recorded, "--dspy-python", python)
        assert done.code == exit_codes.USAGE
        assert "--dspy-python" in done.err


@pytest.mark.parametrize("command", ["check", "stress"])
def test_an_added_release_is_named_by_its_number(recorded: str, run: Run, command: str) -> None:
    done = run(command, recorded, "--dspy-python", "9.9.9")
    assert (done.code, "`workbench dspy add 9.9.9` adds it" in done.err) == (exit_codes.USAGE, True), done.err


def test_an_update_does_not_write_over_what_another_program_wrote(recorded: str, run: Run) -> None:
    path = drifted(recorded)
    before = json.loads(Path(path).read_text())
    assert run("check", path, "--update", "render,parse").code == 0
    assert json.loads(saving.restore_points(path)[0].place.read_text()) == before


def test_a_project_with_another_dspy_than_the_sessions_is_named_with_what_shows_the_differences(
    recorded: str, run: Run
) -> None:
    assert "this project has dspy" not in run("check", recorded).err
    Path(".git").mkdir()
    Path("requirements.txt").write_text("dspy==3.2.1\n")
    done = run("check", recorded)
    assert done.code == exit_codes.OK
    assert (
        "this project has dspy 3.2.1 (requirements.txt), and 1 session follows 3.4.1; "
        f"`workbench upgrade {recorded} --from ours --to 3.2.1` shows the differences"
    ) in done.err
    project = {"version": "3.2.1", "source": "requirements.txt", "followed": {"3.4.1": 1}}
    assert run("check", recorded, "--json").json["project"] == project
    Path("requirements.txt").write_text("dspy==3.4.1\n")
    assert "this project has dspy" not in run("check", recorded).err
