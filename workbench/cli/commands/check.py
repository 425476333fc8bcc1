"""`workbench check`: renders and reads every recording again."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from sessions.causes.cause import Cause
from sessions.causes.cause import advice as advice_on
from sessions.causes.finding import Causes
from sessions.fixtures import junit, reports
from sessions.fixtures.verdicts import FixtureResult, Part, totals
from workbench.checks import fixture_files, keywords, markdown_report
from workbench.checks.checking import Checked, Plan, check_all
from workbench.cli import arguments
from workbench.output import command_output, exit_codes, json_shapes
from workbench.output.exit_codes import CommandError
from workbench.output.suggestions import nearest
from workbench.pages import check_page

DESCRIPTION = """\
Renders every recorded case and column again, reads its recorded replies
again, and says what is no longer as recorded: the messages and the request
(render), the verdict and the values (parse), what the case expects (expect).
A session that is linked to a program (workbench new FILE.py:Class) is held
against that too (source): what does the class say today? It is read, never run.
With --dspy the installed dspy does the same (upstream: messages, request and
readings; not for sessions with tools of their own, nor for adapters that are
not dspy's). With --live the prompt is sent again and the new reply judged.
PATH is a session file, or a folder: then every *.session.json below it, and
every other .json file that is a session.

Exits 1 on drift or a failed expectation, and 4 when a file has nothing
recorded and nothing expected: that is never a pass."""
EXAMPLES = """\
  workbench check q.session.json
  workbench check prompts/ other.session.json --adapter chat
  workbench check prompts/ -k 'rainy and not xml' --junit report.xml
  workbench check prompts/ -k path:invoices
  workbench check q.session.json --update            accept today's prompts and readings
  workbench check q.session.json --update parse      accept today's readings alone
  workbench check prompts/ --dspy            would the dspy installed here do the same?
  workbench check q.session.json --live openai/gpt-6-luna --repeat 5
  workbench check . --json | jq '.fixtures[] | select(.drift != [])'"""
UPDATES: tuple[Part, ...] = ("render", "parse")
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable with which GitHub Actions names the file of a step's summary."""
EVERY_S = 0.1
"""Seconds between two looks of a person at the progress."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a session file, or a folder of them")
    parser.add_argument("--adapter", dest="adapters", action="append", metavar="A", help="only this column; repeatable")
    parser.add_argument("--case", dest="cases", action="append", metavar="NAME", help="only this case; repeatable")
    parser.add_argument("-k", dest="keyword", default="", metavar="EXPR", help="only such cases, columns, path:WORDs")
    parser.add_argument(
        "--update",
        nargs="?",
        const="",
        metavar="VERDICT",
        help="record today's prompts and readings where they drifted, or only one of the two: render, parse",
    )
    parser.add_argument("--dspy", action="store_true", help="does the installed dspy render and read the same?")
    parser.add_argument("--dspy-python", metavar="PYTHON", help="that of another environment with dspy (means --dspy)")
    parser.add_argument("--live", nargs="?", const="", metavar="MODEL", help="send again, and judge what is expected")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="with --live: N times each")
    parser.add_argument(
        "--allow-host", dest="allow_hosts", action="append", default=[], metavar="HOST", help="with --live: as for send"
    )
    arguments.add_allow_variable(parser)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes to check files in (default 1)")
    parser.add_argument("--restore-order", action="store_true", help="undo a formatter's sorting of keys")
    parser.add_argument("--no-source", action="store_true", help="follow no link to a program (the verdict source)")
    parser.add_argument("--junit", metavar="FILE", help="write a report for the CI system too")
    parser.add_argument("--markdown", metavar="FILE", help="write the causes for a pull request too")
    parser.add_argument("--html", metavar="FILE", help="write a page for a browser too: causes, and every fixture")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    plan = _plan(options)
    if not options.paths:
        raise CommandError("which sessions? Give files or folders, as in `workbench check .`")
    files = fixture_files.find(options.paths)
    if not files:
        raise CommandError(f"no session in {', '.join(options.paths)}", exit_codes.NOTHING)
    results: list[FixtureResult] = []
    counts = Counter(totals(()))
    wants_report = options.json or options.junit is not None or options.html is not None
    errors: dict[str, str] = {}
    codes = [exit_codes.OK]
    causes = Causes()
    progress = _Progress(len(files))
    for checked in check_all(files, plan, options.jobs):
        progress.clear()
        codes.append(_code(checked, errors))
        counts.update(totals(checked.results))
        if wants_report:
            results += checked.results
        causes.add(checked.results)
        if not options.json and not checked.error:
            _write(checked)
        progress.step()
    progress.clear()
    found = causes.found()
    if options.junit is not None:
        _write_report(Path(options.junit), junit.report(results, errors))
    if options.html is not None:
        _write_report(Path(options.html), check_page.page_of(found, results, counts, errors))
    if options.markdown is not None or os.environ.get(SUMMARY):
        _write_markdown(options.markdown, markdown_report.report(found, counts, errors))
    if options.json:
        shapes = [{"path": path, "message": message} for path, message in errors.items()]
        fixtures = [json_shapes.fixture(one) for one in results]
        causes_found = [json_shapes.cause(one) for one in found]
        command_output.json({"fixtures": fixtures, "errors": shapes, "causes": causes_found, **counts})
    else:
        write_causes(found)
        command_output.text(reports.summary(counts))
        advice = advice_on(found, options.paths)
        if advice:
            command_output.message(advice)
    return exit_codes.worst(codes)


def write_causes(causes: Sequence[Cause]) -> None:
    """Each cause with its fixtures and an example, most fixtures first."""
    for cause in causes:
        command_output.heading(cause.heading(), "red")
        command_output.diff_lines(cause.lines())


def code_of(results: Sequence[FixtureResult]) -> int:
    """What one file's results mean: a file with nothing to compare is never a pass."""
    if any(one.failed for one in results):
        return exit_codes.DIFFERENT
    return exit_codes.OK if any(one.passed or one.unasked for one in results) else exit_codes.NOTHING


def _plan(options: argparse.Namespace) -> Plan:
    """What the options mean; the word after --update or --live may be a path. Raises `CommandError`."""
    update = _updates(options)
    model = options.live
    if model and (Path(model).exists() or model.endswith(".json")):
        options.paths.insert(0, model)
        model = ""
    if not 1 <= options.repeat <= 1_000 or not 1 <= options.jobs <= 256:
        raise CommandError("--repeat takes a number from 1 to 1000, --jobs one from 1 to 256")
    if options.repeat > 1 and options.live is None:
        raise CommandError("--repeat says how often to send; it goes with --live")
    if options.keyword:
        keywords.parse(options.keyword)
    return Plan(
        adapters=tuple(options.adapters or ()),
        cases=tuple(options.cases or ()),
        keyword=options.keyword,
        update=update,
        dspy=options.dspy_python or (sys.executable if options.dspy else None),
        live=options.live is not None,
        model=model or None,
        repeat=options.repeat,
        allow_hosts=tuple(options.allow_hosts),
        allow_variables=tuple(options.allow_variables),
        source=not options.no_source,
        restore_order=options.restore_order,
    )


def _updates(options: argparse.Namespace) -> tuple[Part, ...]:
    """The parts that --update accepts: those that are named, all of them without a name. Raises `CommandError`."""
    if options.update is None:
        return ()
    if options.update and (Path(options.update).exists() or arguments.looks_like_a_file(options.update)):
        options.paths.insert(0, options.update)
        return UPDATES
    wanted = options.update.split(",") if options.update else list(UPDATES)
    update = tuple([part for part in UPDATES if part in wanted])
    if len(update) != len(wanted):
        near = nearest(options.update, UPDATES)
        hint = f"; did you mean {near}?" if near else ""
        raise CommandError(f"--update {options.update}: only render and parse can be accepted{hint}")
    return update


def _code(checked: Checked, errors: dict[str, str]) -> int:
    if checked.error:
        command_output.message(f"workbench: {checked.error}")
        errors[str(checked.path)] = checked.error
        return exit_codes.USAGE
    if checked.updated:
        command_output.message(f"{checked.path}: recorded anew")
    if any(one.verdicts.get("live") == "error" for one in checked.results):
        return exit_codes.PROVIDER
    return code_of(checked.results)


class _Progress:
    """How many files are done, on standard error, for a person at a terminal alone."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._done = 0
        self._shown_at = 0.0
        self._is_wanted = count > 1 and command_output.is_terminal(sys.stderr)

    def step(self) -> None:
        self._done += 1
        now = time.monotonic()
        if self._is_wanted and now - self._shown_at > EVERY_S:
            self._shown_at = now
            sys.stderr.write(f"\r{self._done:,} of {self._count:,} files")
            sys.stderr.flush()

    def clear(self) -> None:
        if self._is_wanted and self._shown_at:
            sys.stderr.write("\r" + " " * 40 + "\r")


def _write_markdown(path: str | None, text: str) -> None:
    """Into the file that was named, and behind what stands in the summary of a step of GitHub Actions."""
    if path is not None:
        _write_report(Path(path), text)
    summary = os.environ.get(SUMMARY)
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            command_output.message(f"workbench: {summary}: {error.strerror or error}; the summary is not written")


def _write_report(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error


def _write(checked: Checked) -> None:
    path, results = checked.path, checked.results
    if not results:
        command_output.heading(f"{path}: {checked.nothing}", "yellow")
    elif code_of(results) == exit_codes.NOTHING:
        command_output.heading(f"{path}: nothing recorded; `workbench send {path} --save` does, or the app", "yellow")
    for note in dict.fromkeys(note for one in results for note in one.notes):
        command_output.heading(reports.noted(note, [one for one in results if note in one.notes]), "yellow")
