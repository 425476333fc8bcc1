"""`workbench capture`: run a program and write its dspy calls to sessions.

Run PROGRAM and save its dspy calls (2.6 and later) as sessions, without
changing the program: one session a signature in DIR, a case for each distinct
input, with demos, adapter, model, reply and dspy's parse result. Differences
from this workbench's own prompts and parse results are reported at the end.
Sessions already in DIR gain the cases and columns they lack.

Works with any Python of any environment; nothing needs to be installed there.
Keeps the program's output and exit code, and writes messages to standard error.
No API key, header or environment variable gets into a file.

--check writes no session: it compares what the program asks today with the
sessions in DIR and exits with 1 if a prompt changed, a predictor is new, or one
is no longer asked; this guards dynamic signatures and compiled demos, too.

--live shows the calls in the app as they arrive, failed ones first. Choose one,
fix its signature, and write it back into the program. The program's output
follows when the app and the program have ended. Without a PROGRAM the app
attaches to programs already capturing into DIR, and detaches when you quit.

In code: dspy.configure(callbacks=[Capture(DIR)]), or `with capture(DIR):`, from
workbench.capture; in pytest --workbench-capture DIR.

examples:
  workbench capture -o prompts/ -- python program.py
  workbench capture -o prompts/ --only failures -- .venv/bin/python -m app.nightly
  workbench capture -o prompts/ --redact patient --cases 20 -- pytest tests/
  workbench check prompts/
  workbench capture -o prompts/ --live -- python program.py   watch the calls, fix one
  workbench capture -o prompts/ --live                        attach to programs capturing there
  workbench capture --check prompts/ -- python program.py     what it asks today, compared
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from adapters.errors import reason_of
from sessions.causes.finding import Causes
from sessions.checking import reports
from sessions.checking.verdicts import totals
from sessions.errors import counted
from workbench.capture import capturing
from workbench.capture.calls_check import CallsCheck, compare
from workbench.capture.in_your_process import attaching
from workbench.capture.sessions_writer import attached
from workbench.cli import arguments
from workbench.output import console, exit_codes
from workbench.output.exit_codes import CommandError

Show = Callable[[Callable[[], str], Path, Callable[[], str]], int]
"""Shows calls: a description of their program, their file, the last lines of errors; returns an exit code."""
ATTACHED = """\
Programs that capture into DIR show their calls here:

  workbench capture -o DIR -- PROGRAM
  dspy.configure(callbacks=[Capture("DIR")])  # from workbench.capture import Capture"""
STARTUP = Path(capturing.__file__).with_name("startup")
"""The folder that is prepended to the program's PYTHONPATH."""
OUTPUT, ERRORS = "output", "errors"
"""Files of a temporary folder with --live: what the program writes while the app shows its calls."""
LAST_OUTPUT = 4_000
"""Bytes of the program's standard error that are shown while it makes no call."""
PATIENCE_S = 120.0
"""Seconds to wait for sessions to be written after the program ended."""


_count = arguments.value("a number of at least 1", arguments.digits, lambda number: number >= 1)
_share = arguments.value("a share above 0, up to 1, such as 0.1", float, lambda share: 0 < share <= 1)


def add_arguments(parser: arguments.Parser) -> None:
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("-o", "--out", metavar="DIR", help="folder for the sessions")
    wanted.add_argument("--check", metavar="DIR", help="compare the calls with the sessions in DIR; writes none")
    parser.flag("--live", "with -o: show the calls in the app as they arrive")
    parser.option("--junit", "FILE", "with --check: also write a JUnit report")
    parser.option("--cases", "N", "at most N new cases a session (default: 50)", type=_count)
    parser.add_argument(
        "--only", choices=("failures",), help="only calls that failed, had a parse error, or fell back to JSON"
    )
    parser.option("--sample", "SHARE", "a share of the distinct inputs, such as 0.1", type=_share, default=1.0)
    parser.several(
        "--redact",
        "FIELD",
        "remove the texts of this field from inputs, prompts and replies; skips calls in which they cannot be "
        "found again (numbers, up to three letters); can be repeated",
    )
    parser.option("--json", "FILE", "write a report to FILE, in the documented JSON")
    parser.add_argument(
        "program", nargs=argparse.REMAINDER, metavar="-- PROGRAM …", help="the command to run, with its arguments"
    )


def run(options: arguments.Options, show: Show) -> int:
    program = options.program[1:] if options.program[:1] == ["--"] else options.program
    if not program and not options.live:
        raise CommandError("expected a program, as in `workbench capture -o prompts/ -- python program.py`")
    if options.junit is not None and options.check is None:
        raise CommandError("--junit requires --check")
    if options.live and options.out is None:
        raise CommandError("--live requires -o")
    given = {"--cases": options.cases, "--only": options.only, "--redact": options.redact, "--json": options.json}
    unused = [name for name, value in {**given, "--sample": options.sample != 1.0}.items() if value]
    if not program and unused:
        raise CommandError(f"{', '.join(unused)}: expected a program; `--live` alone only shows calls")
    if options.live and not console.is_terminal(sys.stdout):
        raise CommandError("--live requires a terminal")
    folder = options.out or options.check
    if Path(folder).exists() and not Path(folder).is_dir():
        raise CommandError(f"{folder}: expected a folder for the sessions")
    if options.check is not None and not Path(folder).exists():
        raise CommandError(f"{folder}: no such folder")
    with ExitStack() as stack:
        try:
            calls = stack.enter_context(attached(Path(folder))) if options.live else None
        except OSError as error:
            raise CommandError(f"{folder}: {reason_of(error)}") from error
        if calls is not None and not program:
            return show(lambda: f"attached to {folder}", calls, lambda: ATTACHED.replace("DIR", folder))
        return _capture(options, program, show, calls)


def _capture(options: arguments.Options, program: list[str], show: Show, calls: Path | None) -> int:
    with tempfile.TemporaryDirectory(prefix="workbench-capture-") as today:
        told = capturing.options_of(
            options.out or today,
            linked_from=options.check,
            cases=options.cases,
            only=options.only or "all",
            sample=options.sample,
            redact=options.redact,
            report=True,
        )
        writer = capturing.writer(told)
        try:
            writer.start()
        except OSError as error:
            raise CommandError(f"calls cannot be captured: {error}") from error
        try:
            path = os.pathsep.join([str(STARTUP), *filter(None, [os.environ.get("PYTHONPATH")])])
            environment = {**os.environ, "PYTHONPATH": path, attaching.VARIABLE: writer.folder}
            code = _run(program, environment, Path(today), calls, show)
        finally:
            wrong = writer.finish(PATIENCE_S, until_all_end=True)
            found, made = writer.report()
        if wrong:
            console.message(f"workbench capture: {wrong}")
        compared = None if options.check is None else compare(Path(options.check), Path(today))
    missing = max(0, made - sum(one["calls"] + one["lost"] for one in found))
    if options.json is not None:
        # Write the report to a file, because standard output is the program's.
        from workbench.output import json_shapes

        shape: dict[str, Any] = {"exit_code": code, "processes": found, "not_captured": missing}
        if compared is not None:
            causes = Causes()
            causes.add(compared.results)
            shape["check"] = {
                "causes": [json_shapes.cause(one) for one in causes.found()],
                "fixtures": [json_shapes.fixture(one) for one in compared.results],
                "new": list(compared.new),
                "gone": list(compared.gone),
            }
        arguments.write_output(options.json, json_shapes.dumps(shape) + "\n")
    if not (made or wrong):
        console.message(
            "workbench capture: nothing was captured: no Python that the program started called a predictor of dspy "
            "(one started with -I, -E or -S cannot be listened to)"
        )
    elif compared is None:
        for line in capturing.plain_words(found, options.out, missing):
            console.message(line)
    return code if compared is None else _told(options, code, compared, found, missing)


def _told(
    options: arguments.Options, code: int, compared: CallsCheck, found: Sequence[Mapping[str, Any]], missing: int
) -> int:
    """Report a comparison; return the program's exit code, else 1 for differences or lost calls."""
    causes = Causes()
    causes.add(compared.results)
    for cause in causes.found():
        console.message(cause.heading())
        for line in cause.lines():
            console.message(line)
    unpaired = dict.fromkeys(compared.new, "no session has this predictor")
    unpaired |= dict.fromkeys(compared.gone, "the program did not ask this predictor")
    for name, why in unpaired.items():
        console.message(f"{name}: {why}")
    lost = missing + sum(one["lost"] for one in found)
    if lost:
        console.message(f"{counted(lost, 'call')} lost: not compared")
    console.message(f"workbench capture: {reports.summary(totals(compared.results))}")
    if options.junit is not None:
        arguments.write_output(options.junit, reports.junit_report(compared.results, unpaired))
    if code:
        return code
    if compared.failed or lost:
        return exit_codes.DIFFERENT
    return exit_codes.OK if any(one.passed for one in compared.results) else exit_codes.NOTHING


def _run(program: list[str], environment: Mapping[str, str], output: Path, calls: Path | None, show: Show) -> int:
    """Run the program and return its exit code like a shell: 128 plus the signal's number if killed.

    Terminating signals are passed to the program; we wait for its end. `output` is a folder for what it writes while
    the app shows `calls`.
    """
    try:
        if calls is None:
            process = subprocess.Popen(program, env=environment)
        else:
            with open(output / OUTPUT, "wb") as said, open(output / ERRORS, "wb") as errors:
                unread = subprocess.DEVNULL
                process = subprocess.Popen(program, env=environment, stdin=unread, stdout=said, stderr=errors)
    except OSError as error:
        near = "" if shutil.which(program[0]) else f"; is {program[0]} installed here?"
        if program[0].endswith(".py") and Path(program[0]).is_file():
            raise CommandError(f"{program[0]} is a source file: write `python {program[0]}`") from None
        raise CommandError(f"{program[0]}: {reason_of(error)}{near}") from None
    names = [name for name in ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2") if hasattr(signal, name)]
    handlers: dict[signal.Signals, Any] = {
        getattr(signal, name): lambda got, frame: process.send_signal(got) for name in names
    }
    handlers[signal.SIGINT] = signal.SIG_IGN  # the terminal signals the program itself
    with arguments.handling(handlers):
        try:
            if calls is not None:
                _watch(program, process, calls, output / ERRORS, show)
            code = process.wait()
        finally:
            if calls is not None:
                for name, stream in ((OUTPUT, sys.stdout), (ERRORS, sys.stderr)):
                    with open(output / name, "rb") as file, suppress(OSError):
                        stream.flush()
                        shutil.copyfileobj(file, stream.buffer)
                        stream.flush()
    return code if code >= 0 else 128 - code


def _watch(program: list[str], process: subprocess.Popen[bytes], calls: Path, errors: Path, show: Show) -> None:
    """Show the program's calls in the app until the user leaves it; a signal to the app ends the program, too."""
    command = " ".join([os.path.basename(program[0]), *program[1:]])

    def about() -> str:
        code = process.poll()
        return f"{command} {'is running' if code is None else f'ended with {code}'}"

    def output() -> str:
        with errors.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LAST_OUTPUT))
            return file.read().decode("utf-8", "replace")

    if show(about, calls, output) != exit_codes.OK:
        process.terminate()
    elif process.poll() is None:
        console.message(f"workbench capture: {program[0]} is still running; ctrl+c ends it")
