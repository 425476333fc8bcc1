"""Options that would destroy a session, do nothing, or contradict each other: refused, with nothing changed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbench.conftest import Run
from workbench.output import exit_codes

ONTO_THE_SESSION = {
    "export": ("export", "FILE", "-o", "FILE"),
    "page": ("export", "FILE", "--as", "page", "-o", "FILE"),
    "check": ("check", "FILE", "--markdown", "FILE"),
    "check as a page": ("check", "FILE", "--html", "FILE"),
    "check for CI": ("check", "FILE", "--junit", "FILE"),
    "bench": ("bench", "FILE", "--html", "FILE"),
    "stress": ("stress", "FILE", "--html", "FILE"),
    "upgrade": ("upgrade", "FILE", "--to-adapter", "json", "--html", "FILE"),
}

REFUSED = {
    "run --clear word": (("runs", "--clear", "word"), "--clear deletes every run"),
    "run --clear --failed": (("runs", "--clear", "--failed"), "limited by --failed"),
    "run --clear --folder": (("runs", "--clear", "--folder", "."), "limited by --folder"),
    "run --id --model": (("runs", "--id", "1", "--model", "x"), "--id shows one run"),
    "run --since": (("runs", "--since", "yesterday"), "expected a day"),
    "run --until": (("runs", "--until", "2026-13-01"), "expected a day"),
    "check --allow-host": (("check", "FILE", "--allow-host", "localhost"), "--allow-host requires --live"),
    "check --allow-variable": (("check", "FILE", "--allow-variable", "X"), "--allow-variable requires --live"),
    "upgrade --allow-host": (("upgrade", "FILE", "--to-adapter", "json", "--allow-host", "x"), "go with --live"),
    "parse --extraction": (("parse", "FILE", "--adapter", "chat", "--extraction", "FILE"), "no such column"),
    "render --tokens --request": (("render", "FILE", "--tokens", "--request"), "ask for one"),
    "export two columns": (("export", "FILE", "--adapter", "chat,json"), "writes one column; --adapter names 2"),
    "bench --threshold": (("bench", "FILE", "--threshold", "1"), "--threshold needs scores"),
    "bench --level": (("bench", "FILE", "--level", "1%"), "--level needs something to compare with"),
    "bench --dry-run --html": (("bench", "FILE", "--dry-run", "--html", "b.html"), "leave out --html"),
    "bench --case": (("bench", "FILE", "--case", "case 1", "--case", "case x"), "no session has a case 'case x'"),
    "stress --fail-over": (("stress", "FILE", "--fail-over", "-1"), "expected a number from 0"),
    "stress --show --json": (("stress", "FILE", "--show", "fenced", "--json"), "leave out --json and --markdown"),
    "stress --json --markdown": (("stress", "FILE", "--json", "--markdown"), "choose one"),
    "upgrade --json --markdown": (("upgrade", "FILE", "--to-adapter", "json", "--json", "--markdown"), "choose one"),
    "models --ask-servers": (("models", "--capabilities", "openai/gpt-4o", "--ask-servers"), "--ask-servers goes with"),
    "runs --id --most": (("runs", "--id", "1", "--most", "3"), "limited by --most"),
    "bench --dry-run --fail-under": (("bench", "FILE", "--dry-run", "--fail-under", "0.9"), "leave out --fail-under"),
    "bench --dry-run --fail-if-worse": (
        ("bench", "FILE", "--dry-run", "--fail-under", "0", "--fail-if-worse", "--compare", "old"),
        "leave out --fail-under, --fail-if-worse, --compare",
    ),
    "bench --dry-run --compare": (("bench", "FILE", "--dry-run", "--compare", "old"), "leave out --compare"),
    "parse two replies": (("parse", "FILE", "--adapter", "twostep", "--extraction", "-"), "holds one reply"),
    "send --all-cases --case": (("send", "FILE", "--all-cases", "--case", "case 1"), "choose one"),
    "suggest --tag": (("suggest", "FILE", "--tag", "short"), "--take or --bench"),
    "suggest --repeat": (("suggest", "FILE", "--repeat", "3"), "--repeat goes with --bench"),
    "models --capabilities": (("models", "claude", "--capabilities", "openai/gpt-4o"), "takes exact names"),
    "serve --idle": (("serve", "--idle", "0"), "a number of minutes above 0"),
    "report to -": (("stress", "FILE", "--html", "-"), "name a file"),
    "a program that is not there": (("gone.py:Answer",), "gone.py: no such file\n"),
    "a folder that is not there": (("gone/",), "gone: no such file\n"),
    "send --raw --ask-again": (("send", "FILE", "--raw", "--ask-again", "1"), "choose one"),
    "dspy --python": (("dspy", "list", "--python", "python3"), "--python goes with add"),
    "a variable that is not set": (("check", ""), "'': no such file"),
    "send --extraction-model": (("send", "FILE", "--extraction-model", "offline/exact"), "second model of twostep"),
    "new to -": (("new", "a -> b", "-o", "-"), "a session is a file"),
    "import to -": (("import", "rows.csv", "-o", "-"), "a session is a file"),
    "import --call of demos": (("import", "rows.csv", "-o", "n.json", "--call", "2"), "leave out --call"),
    "import --predictor of demos": (("import", "rows.csv", "--dry-run", "--predictor", "p"), "leave out --predictor"),
    "import --case of demos": (("import", "rows.csv", "-o", "n.json", "--case", "c"), "--as cases makes cases"),
    "new --input twice": (("new", "a -> b", "-o", "n.json", "--input", "a=1", "--input", "a=2"), "is given twice"),
}


@pytest.mark.parametrize("words", ONTO_THE_SESSION.values(), ids=list(ONTO_THE_SESSION))
def test_no_report_overwrites_a_session(rain: str, run: Run, words: tuple[str, ...]) -> None:
    before = Path(rain).read_bytes()
    done = run(*(rain if word == "FILE" else word for word in words))
    assert done.code == exit_codes.USAGE and "would be overwritten" in done.err
    assert Path(rain).read_bytes() == before


@pytest.mark.parametrize("report", ["FILE", "-"])
def test_a_report_that_cannot_be_written_is_refused_before_anything_is_done(rain: str, run: Run, report: str) -> None:
    report = report.replace("FILE", rain)
    assert run("bench", rain, "--html", report).code == exit_codes.USAGE and not Path("q.bench.jsonl").exists()
    program = (sys.executable, "-c", "open('ran', 'w')")
    assert run("capture", "-o", "prompts", "--json", report, "--", *program).code == exit_codes.USAGE
    assert not Path("ran").exists()


@pytest.mark.parametrize(("words", "said"), REFUSED.values(), ids=list(REFUSED))
def test_what_would_be_ignored_is_refused(rain: str, run: Run, words: tuple[str, ...], said: str) -> None:
    Path("rows.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    done = run(*(rain if word == "FILE" else word for word in words))
    assert done.code == exit_codes.USAGE and said in done.err, done.err
    assert not Path("n.json").exists() and not Path("-").exists() and not done.out


def test_a_name_that_is_nowhere_is_never_green(rain: str, run: Run) -> None:
    run("send", rain, "--save", "--adapter", "chat")
    assert run("check", rain, "--adapter", "chat").code == exit_codes.OK
    for option in ("--adapter", "--case"):
        done = run("check", rain, "--adapter", "chat", "--case", "case 1", option, "gone")
        assert done.code == exit_codes.NOTHING and "'gone' in any of these sessions" in done.err
    done = run("review", rain, "--adapter", "chat", "--case", "case 1", "--case", "gone")
    assert done.code == exit_codes.NOTHING and "'gone' in any of these sessions" in done.err
    done = run("upgrade", rain, "--to-adapter", "chat", "--adapter", "chat", "--case", "case 1", "--case", "gone")
    assert done.code == exit_codes.NOTHING and "no session has a case 'gone'" in done.err


def test_a_shard_looks_for_names_in_the_files_of_the_others(rain: str, run: Run) -> None:
    run("send", rain, "--save", "--adapter", "chat")
    text = Path(rain).read_text(encoding="utf-8")
    other = Path("z.session.json")
    other.write_text(text.replace('"case 1"', '"case 2"'), encoding="utf-8")
    words = ("check", rain, str(other), "--adapter", "chat", "--case", "case 1", "--case", "case 2", "--shard")
    for shard in ("1/2", "2/2", "3/3"):
        assert run(*words, shard).code == exit_codes.OK
        done = run(*words, shard, "--case", "gone")
        assert done.code == exit_codes.NOTHING and "'gone' in any of these sessions" in done.err


def test_a_folder_is_checked_whole_and_once(rain: str, run: Run) -> None:
    run("send", rain, "--save", "--adapter", "chat")
    text = Path(rain).read_text(encoding="utf-8")
    folder = Path("folder")
    folder.mkdir()
    (folder / "marked.json").write_text(text, encoding="utf-8-sig")
    long = json.loads(text)
    long["cases"].append({**long["cases"][0], "name": "long", "notes": ["x" * 100_000]})
    (folder / "sorted.json").write_text(json.dumps(long, sort_keys=True), encoding="utf-8")
    assert run("lint", "folder", "--json").code == exit_codes.OK
    found = run("check", "folder", str(folder.resolve()), "--json").json
    assert {one["path"] for one in found["fixtures"]} == {"folder/marked.json", "folder/sorted.json"}


def test_a_link_to_nowhere_is_not_suggested_to_itself(rain: str, run: Run) -> None:
    shutil.copy(rain, "q.session.json")
    Path("r.session.json").symlink_to("nowhere")
    done = run("render", "r.session.json")
    assert done.code == exit_codes.USAGE and "did you mean r.session.json" not in done.err


def test_a_dash_is_standard_output(rain: str, run: Run) -> None:
    assert run("export", rain, "--adapter", "chat", "-o", "-").out == run("export", rain, "--adapter", "chat").out
    assert not Path("-").exists()


def test_nothing_written_is_not_called_written(rain: str, run: Run) -> None:
    done = run("pull", rain, "--json")
    assert done.code == exit_codes.DIFFERENT and done.json["written"] is False
    done = run("pull", f"./{rain}")
    assert done.code == exit_codes.DIFFERENT and "no link to a program" in done.err
    done = run("pull", ".")
    assert done.code == exit_codes.OK and "no session is linked" in done.err


def test_sending_works_where_runs_cannot_be_kept(rain: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(Path(rain).resolve()))
    done = run("send", rain, "--adapter", "chat")
    assert done.code == exit_codes.OK and "runs are not kept" in done.err and "[Errno" not in done.err


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&-"])
def test_closed_streams_are_no_internal_error(rain: str, run: Run, closed: str) -> None:
    command = f"{sys.executable} -m workbench render {rain} {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (exit_codes.OK, "")


@pytest.mark.parametrize("words", ["import - -o x.json", "parse q.json --adapter chat"])
def test_a_closed_input_is_empty(rain: str, run: Run, words: str) -> None:
    command = f"{sys.executable} -m workbench {words}"
    closed, empty = [
        subprocess.run(f"{command} {given}", shell=True, capture_output=True, text=True)
        for given in ("<&-", "</dev/null")
    ]
    assert closed.returncode in (exit_codes.DIFFERENT, exit_codes.USAGE)
    assert (closed.returncode, closed.stdout, closed.stderr) == (empty.returncode, empty.stdout, empty.stderr)


def test_a_file_that_looks_like_an_option_can_be_named(rain: str, run: Run) -> None:
    Path(rain).rename("-draft.json")
    done = run("check", "-draft.json")
    assert done.code == exit_codes.USAGE and "did you mean ./-draft.json?" in done.err
    assert "did you mean ./-draft.json?" in run("bench", "-draft.json", "--no-send").err
    Path("other.json").touch()
    assert "did you mean" not in run("stress", "./-draft.json", "other.json").err


def test_runs_are_found_by_the_time_that_is_printed(rain: str, run: Run) -> None:
    run("send", rain, "--adapter", "chat")
    at = run("runs", "--json").json["runs"][0]["at"]
    for text in (at, at[:19].replace("T", " "), at[:16], at[:10], at[:7], at[:4]):
        assert run("runs", "--since", text, "--until", text, "--json").json["count"] == 1, text
    assert run("runs", "--until", "2001-01-01 10:00").code == exit_codes.NOTHING
    assert "expected a day" in run("runs", "--since", f"{at[:10]} 25:00").err


def test_a_reader_of_runs_may_leave(rain: str, run: Run) -> None:
    run("new", "a -> b", "-o", "long.json", "--input", f"a={'x' * 100_000}")
    run("send", "long.json", "--adapter", "chat")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "workbench", "runs", "--id", "1"]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (exit_codes.BROKEN_PIPE, "")


def test_a_column_without_runs_is_not_below_a_share(rain: str, run: Run) -> None:
    done = run("bench", rain, "--adapter", "chat", "--no-send", "--fail-under", "0")
    assert done.code == exit_codes.DIFFERENT and "chat has no run that counts" in done.err


def test_a_suggested_command_can_be_pasted(run: Run) -> None:
    name = "my rain's.session.json"
    assert f"`workbench render {shlex.quote(name)}`" in run("new", "a -> b", "-o", name).err
    assert f"`workbench send {shlex.quote(name)} --save`" in run("check", name).out
    assert f"-o {shlex.quote('a b.json')}`" in run("a b.json").err


def test_an_unreadable_file_hides_no_lint_of_others(run: Run) -> None:
    folder = Path("folder")
    folder.mkdir()
    run("new", "question -> sql_query", "-o", "folder/b.json", "--input", "question=x")
    (folder / "a.json").write_text('{"format": 1, "signature": ', encoding="utf-8")
    alone = run("lint", "folder/b.json", "--json").json["lints"]
    done = run("lint", "folder", "--json")
    assert done.code == exit_codes.USAGE and done.json["lints"] == alone != []
    assert [one["path"] for one in done.json["errors"]] == ["folder/a.json"] and "folder/a.json" in done.err
    assert run("lint", "folder", "--strict").code == exit_codes.USAGE
    assert not run("lint", "folder/a.json").out


def test_a_session_without_a_case_hides_no_check_of_others(rain: str, run: Run) -> None:
    run("send", rain, "--save", "--adapter", "chat")
    empty = json.loads(Path(rain).read_text(encoding="utf-8"))
    Path("empty.json").write_text(json.dumps({**empty, "cases": []}), encoding="utf-8")
    done = run("check", rain, "empty.json", "--adapter", "chat", "--lint", "--json")
    assert done.code == exit_codes.USAGE and len(done.json["fixtures"]) == 1 and "empty.json: " in done.err
    assert [one["path"] for one in done.json["errors"]] == ["empty.json"]


@pytest.mark.parametrize("module", ["shlex", "workbench.cli.arguments"])
def test_ctrl_c_while_it_starts_shows_no_traceback(module: str) -> None:
    program = f"""
import runpy, sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
runpy.run_module("workbench", run_name="__main__")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (exit_codes.INTERRUPTED, "workbench: interrupted\n")


def test_the_extracting_model_of_twostep_is_taken(rain: str, run: Run) -> None:
    done = run(
        "send", rain, "--adapter", "chat", "twostep", "--extraction-model", "offline/exact", "--model", "offline/exact"
    )
    assert done.code == exit_codes.OK, done.err
