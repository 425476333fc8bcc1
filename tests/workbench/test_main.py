from __future__ import annotations

import importlib
import keyword
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.errors import SessionError
from workbench import __version__
from workbench.cli.commands import SUMMARIES, parser_of
from workbench.output import exit_codes
from workbench.tui.launch import run_app

ROOT = Path(__file__).parents[2]


def workbench(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """`python -m workbench` as a program of its own."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "workbench", *words],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        timeout=60,
        **options,
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that takes nothing")
@pytest.mark.parametrize("words", [["--help"], ["render", "q.json"], ["render", "q.json", "--json"]])
def test_a_full_disk_behind_standard_output_is_told_in_one_line(words: list[str], rain: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "workbench", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
            timeout=60,
        )
    assert done.stderr == "workbench: standard output cannot be written: no space left on device\n"
    assert done.returncode == exit_codes.USAGE


def test_version_names_the_distribution(run: Callable[..., Any]) -> None:
    done = run("--version")
    assert (done.code, done.out) == (0, f"adapter-workbench {__version__}\n")


def test_help_lists_every_command_and_the_exit_codes(run: Callable[..., Any]) -> None:
    done = run("--help")
    assert done.code == 0
    assert all(f"  {name} " in done.out for name in SUMMARIES)
    assert "exit codes: 0 fine" in done.out


@pytest.mark.parametrize("command", SUMMARIES)
def test_help_of_every_command_teaches_by_example(command: str, run: Callable[..., Any]) -> None:
    for words in ((command, "--help"), ("help", command)):
        done = run(*words)
        assert done.code == 0
        assert f"examples:\n  workbench {command}" in done.out or f"  workbench {command}" in done.out
        assert "--json" in done.out


@pytest.mark.parametrize("command", SUMMARIES)
def test_the_account_in_the_help_of_a_command_fits_80_columns(command: str) -> None:
    account = str(parser_of(command).description).splitlines()
    assert [line for line in account if len(line) > 80] == []


def test_without_docstrings_the_help_has_the_summary() -> None:
    words = [sys.executable, "-OO", "-B", "-P", "-m", "workbench", "check", "--help"]
    done = subprocess.run(words, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"\n\n{SUMMARIES['check']}\n\npositional arguments:" in done.stdout


@pytest.mark.parametrize("command", SUMMARIES)
def test_every_command_is_one_module(command: str) -> None:
    module = importlib.import_module(f"workbench.cli.commands.{command}{'_' * keyword.iskeyword(command)}")
    assert all(hasattr(module, name) for name in ("add_arguments", "run"))
    assert re.fullmatch(r"`workbench \w+`: [^\n]+\n\n\S.+\n\nexamples:\n  workbench .+\n", module.__doc__, re.DOTALL)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["rendr"], "did you mean `workbench render`?"),
        (["missing.json"], "missing.json: no such file"),
        (["render"], "which session?"),
        (["render", "q.json", "--adaptr", "chat"], "did you mean --adapter?"),
        (["export", "q.json", "--as", "crul"], "did you mean curl?"),
        (["completions", "bsh"], "did you mean bash?"),
        (["check", "q.json", "--update", "rendr"], "did you mean render?"),
        (["new"], "the following arguments are required"),
        (["--screenshot", "out.svg", "--size", "big"], "columns x rows"),
        ([], "needs a terminal"),
    ],
)
def test_a_slip_gets_one_line_that_names_the_mend(words: list[str], said: str, run: Callable[..., Any]) -> None:
    done = run(*words)
    assert done.code == exit_codes.USAGE
    assert done.out == ""
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert "Traceback" not in done.err


def test_a_mistake_of_ours_is_one_line_and_a_log_without_secrets(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from workbench.cli.commands import models

    def fail(options: Any) -> int:
        raise ZeroDivisionError("with sk-canary-0123456789abcdef in it")

    monkeypatch.setattr(models, "run", fail)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789abcdef")
    done = run("models")

    (log,) = (tmp_path / "state").rglob("*.log")
    assert done.code == exit_codes.INTERNAL
    assert str(log) in done.err
    assert len(done.err.splitlines()) == 1
    assert "ZeroDivisionError" in log.read_text()
    assert "canary" not in log.read_text() + done.err


def test_an_interrupt_ends_with_130(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.cli.commands import models

    def interrupt(options: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "run", interrupt)
    done = run("models")
    assert (done.code, done.err) == (exit_codes.INTERRUPTED, "workbench: interrupted\n")


def test_control_characters_of_an_argument_never_reach_the_terminal(run: Callable[..., Any]) -> None:
    done = run("render", "\x1b]52;c;aGk=\x07[/bold].json")
    assert done.code == exit_codes.USAGE
    assert "\x1b" not in done.err
    assert "\x07" not in done.err
    assert "[/bold].json" in done.err


def test_as_a_program_it_prints_and_exits(tmp_path: Path) -> None:
    done = workbench("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, f"adapter-workbench {__version__}", "")


def test_a_reader_that_goes_away_is_no_traceback(tmp_path: Path) -> None:
    command = f"'{sys.executable}' -P -m workbench --help | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode in (exit_codes.OK, exit_codes.BROKEN_PIPE)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "words", [("render", "q.json"), ("export", "q.json"), ("models",), ("check", "."), (), ("--screenshot", "x.svg")]
)
def test_a_folder_that_was_deleted_is_said_in_one_line(
    words: tuple[str, ...], run: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    done = run(*words)
    assert done.code == exit_codes.USAGE
    assert done.err == "workbench: the current folder no longer exists; go to one that does, as in `cd ~`\n"


@pytest.mark.parametrize(
    "words",
    ["NAME", "check NAME", "pull NAME", "bench NAME", "render q.json --adapter NAME", "render q.json --case NAME"],
)
def test_of_a_long_name_an_error_quotes_the_beginning(words: str, rain: str, run: Callable[..., Any]) -> None:
    done = run(*words.replace("NAME", "n" * 5000).split(" "))
    assert done.code == exit_codes.USAGE, done.err
    assert "n" * 50 in done.err
    assert "n" * 205 not in done.err


def test_a_text_with_calls_in_place_of_a_session_names_the_command_for_it(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("Adapter ChatAdapter failed to parse the LM response. \n\nLM Response: x")
    with pytest.raises(SessionError, match=r"contains calls of dspy, .*workbench import"):
        run_app(str(tmp_path / "log.txt"))
    (tmp_path / "session.json").write_text('{"notes": "Adapter ChatAdapter failed to parse the LM response. ",,}')
    with pytest.raises(SessionError, match="not valid JSON"):
        run_app(str(tmp_path / "session.json"))
    (tmp_path / "none.txt").write_text("x")
    with pytest.raises(SessionError, match="not valid JSON"):
        run_app(str(tmp_path / "none.txt"))
