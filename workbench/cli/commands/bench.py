"""`workbench bench`: every case under every column, several times, and which column wins."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from sessions.bench import results
from sessions.bench.grid import Change, Grid, changes, under
from sessions.bench.results import BenchRun
from sessions.errors import SessionError
from workbench.bench import functions, html_report, words
from workbench.bench.judging import judged_again
from workbench.bench.planning import Forecast, Forecasts, Plan, Target, plan
from workbench.bench.running import Bench, Progress, Settings
from workbench.checks import fixture_files
from workbench.cli import arguments, selection
from workbench.cli.interruption import interruptible
from workbench.output import command_output, exit_codes, measures
from workbench.output.exit_codes import CommandError
from workbench.sending import model_choices, tool_answers

DESCRIPTION = """\
Runs every case of each SESSION (a file, or a folder of them) under every
column, --repeat times, and says which column wins: how many replies parse and
are as the cases expect, with 95 % intervals, what it cost and took, and whether
two columns differ or there are too few cases to tell.

Each run is written to a results file beside the session (q.bench.jsonl) as soon
as it is there. The same command goes on where it was ended, and makes no run
twice; another prompt, model or option is another run. ctrl+c lets the runs
under way come to their end, once more ends them. The session is not changed.

Exits 0 when it was run to the end, 1 with --fail-under or --fail-if-worse where
that is so, 3 when a reply did not come."""
EXAMPLES = """\
  workbench bench q.session.json --dry-run                       calls, tokens and price, before anything is sent
  workbench bench q.session.json --repeat 5 --jobs 8 --max-cost 2
  workbench bench prompts/ --model openai/gpt-6-luna anthropic/claude-sonnet-5-5 --adapter chat xml
  workbench bench q.session.json --html bench.html               one page with the heat map and every reply
  workbench bench q.session.json --again --compare previous --fail-if-worse
  workbench bench q.session.json --compare old.bench.jsonl --no-send
  workbench bench q.session.json --expect my_checks:total_is_right
  workbench bench q.session.json --json | jq '.pairs[] | select(.differ) | .words'"""

EVERY_S = 0.2
"""Seconds between two looks of a person at the progress."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="SESSION", help="a session file, or a folder of them")
    arguments.add_adapters(parser)
    parser.add_argument("--case", dest="cases", action="append", metavar="NAME", help="only this case; repeatable")
    arguments.add_models(parser)
    arguments.add_variants(parser)
    parser.add_argument(
        "--repeat", type=arguments.count, default=1, metavar="N", help="runs of each case and column (default 1)"
    )
    parser.add_argument("--jobs", type=arguments.count, default=1, metavar="N", help="runs at once (default 1)")
    parser.add_argument("--again", action="store_true", help="make all runs anew, whatever was run before")
    parser.add_argument("--no-send", action="store_true", help="send nothing: tell what the results files hold")
    parser.add_argument("--dry-run", action="store_true", help="say what it would take, and send nothing")
    parser.add_argument("--max-cost", type=dollars, metavar="USD", help="begin no run that may cost more in all")
    parser.add_argument("--deadline", type=arguments.seconds, metavar="S", help="give up a run after S seconds")
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        metavar="MODULE:FUNCTION",
        help="function(inputs, values) of your own judges too: True, False, or a text that says what is wrong",
    )
    parser.add_argument(
        "--compare", metavar="OLD", help="say what is better or worse than in another results file, or `previous`"
    )
    parser.add_argument(
        "--fail-under", type=share, metavar="SHARE", help="exit 1 if a column's share is below: 0.9, 90%%"
    )
    parser.add_argument("--fail-if-worse", action="store_true", help="exit 1 if a cell is worse than in OLD")
    parser.add_argument("--html", metavar="FILE", help="write one page with the heat map and every reply too")
    parser.add_argument("--markdown", metavar="FILE", help="write the grid for a pull request too")
    parser.add_argument("--junit", metavar="FILE", help="write a report for the CI system too, a test case a cell")
    arguments.add_allow_host(parser)
    arguments.add_allow_variable(parser)
    arguments.add_tool(parser)
    arguments.add_json(parser)


def dollars(text: str) -> float:
    """An amount of US dollars."""
    with suppress(ValueError):
        value = float(text.removeprefix("$"))
        if 0 <= value < 1e9:
            return value
    raise argparse.ArgumentTypeError(f"{text!r} is no amount of US dollars")


def share(text: str) -> float:
    """A share from 0 to 1."""
    found = words.share_of(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no share; write 0.9 or 90%")
    return found


def run(options: argparse.Namespace) -> int:
    if options.fail_if_worse and options.compare is None:
        raise CommandError("--fail-if-worse needs something to compare with: --compare OLD, or --compare previous")
    checks = functions.checks(options.expect)
    try:
        targets = _targets(options)
        planned = plan(targets, options.repeat, options.again)
        old = _old(options, planned)
    except SessionError as error:
        raise CommandError(str(error)) from error
    for reason, cells in planned.unrenderable.items():
        others = f" and {len(cells) - 1} more cells" if len(cells) > 1 else ""
        command_output.message(f"workbench: {cells[0]}{others}: {reason}; left out")
    if not planned.jobs:
        raise CommandError("nothing can be run")
    for path, said in planned.unread.items():
        command_output.message(f"workbench: {path}: {said}; passed over")
    if options.dry_run:
        return _tell_forecast(planned, options)
    codes = [exit_codes.OK]
    if planned.open and not options.no_send:
        codes += _run_open(planned, options, checks)
    held = {one.file: results.read(one.results_path).runs for one in targets}
    jobs = {one.file: [job for job in planned.jobs if job.target is one] for one in targets}
    grid = planned.grid(options.repeat, {file: judged_again(jobs[file], runs, checks) for file, runs in held.items()})
    return _tell(grid, None if old is None else changes(old, grid), options, codes)


def _targets(options: argparse.Namespace) -> list[Target]:
    """What the options mean, session by session. Raises `CommandError`."""
    models: list[str] = options.models
    for names in (models, options.adapters):  # SESSION may stand behind `--model M …` too
        while not options.paths and len(names) > 1 and arguments.looks_like_a_file(names[-1]):
            options.paths.append(names.pop())
    if not options.paths:
        raise CommandError("which sessions? Give files or folders, as in `workbench bench q.session.json`")
    files = fixture_files.find(options.paths)
    if not files:
        raise CommandError(f"no session in {', '.join(options.paths)}", exit_codes.NOTHING)
    found = [_target(str(path), options) for path in files]
    with_cases = [one for one in found if one.cases]
    if not with_cases:
        raise CommandError(f"no session has a case {' or '.join(map(repr, options.cases or ()))}".rstrip())
    for model in dict.fromkeys(one.session.model_of(column) for one in with_cases for column in one.columns):
        leaves = model_choices.leaving(model)
        if leaves is not None:
            command_output.message(f"workbench: {leaves}")
    return with_cases


def _target(file: str, options: argparse.Namespace) -> Target:
    chosen = selection.select(file, options.adapters, every_case=True)
    chosen = selection.with_variants(selection.with_models(chosen, options.models), options.variants)
    wanted = options.cases
    cases = tuple([case for case in chosen.session.cases if wanted is None or case.name in wanted])
    handlers = tool_answers.handlers(chosen.session, options.handlers)
    return Target(file, chosen.session, chosen.columns, cases, chosen.allow_code, handlers)


def _old(options: argparse.Namespace, planned: Plan) -> Grid | None:
    """What the bench is compared with. Raises `SessionError`, and `CommandError` where there is nothing."""
    if options.compare is None:
        return None
    if options.compare == "previous":
        return planned.before(options.repeat)
    if not Path(options.compare).is_file():
        raise CommandError(f"--compare {options.compare}: no such results file; or write `previous`")
    read = results.read(options.compare)
    if read.unread:
        command_output.message(f"workbench: {options.compare}: {results.told(read)}; passed over")
    return planned.as_of(read.runs, options.repeat)


def _tell_forecast(planned: Plan, options: argparse.Namespace) -> int:
    found = Forecasts(planned).of(planned.open)
    if options.json:
        shape = {"calls": found.calls, "done": len(planned.done), "unpriced": list(found.unpriced), "cost": found.cost}
        tokens = {"tokens": found.prompt_tokens + found.reply_tokens, "prompt_tokens": found.prompt_tokens}
        command_output.json({**shape, **tokens, "reply_tokens": found.reply_tokens})
        return exit_codes.OK
    command_output.text(forecast_words(found, len(planned.done)))
    return exit_codes.OK


def forecast_words(found: Forecast, done: int) -> str:
    """`400 calls, ~350,000 + ~40,000 tokens, about $1.20`; which are done already, and whose price nobody knows."""
    price = (
        f"about {measures.cost(found.cost)}" if found.cost else "free" if found.cost == 0 else "a price nobody knows"
    )
    unknown = f" ({', '.join(found.unpriced)})" if found.unpriced else ""
    already = f"; {done:,} runs are done already" if done else ""
    tokens = f"~{found.prompt_tokens:,} + ~{found.reply_tokens:,} tokens"
    return f"{found.calls:,} calls, {tokens}, {price}{unknown}{already}; nothing was sent"


def _run_open(planned: Plan, options: argparse.Namespace, checks: Sequence[functions.UserCheck]) -> list[int]:
    """Runs what is open; what that means for the exit code."""
    settings = Settings(
        options.jobs,
        options.deadline,
        options.max_cost,
        tuple(options.allow_hosts),
        tuple(options.allow_variables),
        tuple(checks),
    )
    shown = _Shown()
    with interruptible(
        "ending after the runs under way; ctrl+c once more ends them too, and the same command goes on"
    ) as (stop, cancel):
        bench = Bench(planned, settings, stop=stop, cancel=cancel, watch=shown)
        try:
            bench.run()
        except SessionError as error:
            raise CommandError(str(error)) from error
        finally:
            shown.clear()
        was_interrupted = stop.is_set()
    left = len(planned.open) - bench.progress.done
    if bench.budget.is_used_up:
        command_output.message(
            f"workbench: stopped at --max-cost {measures.cost(options.max_cost)}: {measures.cost(bench.budget.spent)} "
            f"is spent, {left:,} runs are left; the same command with more goes on"
        )
    if was_interrupted:
        command_output.message(f"workbench: interrupted, {left:,} runs are left; the same command goes on")
        return [exit_codes.INTERRUPTED]
    return [exit_codes.OK]


class _Shown:
    """The progress in one line on standard error, for a person at a terminal alone."""

    def __init__(self) -> None:
        self._at = 0.0
        self._is_wanted = command_output.is_terminal(sys.stderr)

    def __call__(self, run: BenchRun, progress: Progress) -> None:
        now = time.monotonic()
        if self._is_wanted and now - self._at > EVERY_S:
            self._at = now
            with suppress(OSError):
                width = os.get_terminal_size(sys.stderr.fileno()).columns - 1
                sys.stderr.write("\r" + progress_words(progress)[:width].ljust(width))
                sys.stderr.flush()

    def clear(self) -> None:
        if self._is_wanted and self._at:
            sys.stderr.write("\r\x1b[K")


def progress_words(progress: Progress) -> str:
    """`120 of 400 runs · 8.1 a second · $0.12 · 35 s left`."""
    parts = [f"{progress.done:,} of {progress.total:,} runs", f"{progress.rate:.1f} a second"]
    parts.append("free so far" if progress.cost == 0 else measures.cost(progress.cost))
    if progress.left_s is not None:
        minutes, rest = divmod(round(progress.left_s), 60)
        parts.append(f"{minutes} min {rest} s left" if minutes else f"{rest} s left")
    if progress.waiting_s:
        parts.append(f"the provider asks to wait {progress.waiting_s:.0f} s")
    if progress.failed:
        parts.append(f"{progress.failed} without a reply")
    return " · ".join(parts)


def _tell(grid: Grid, changed: Sequence[Change] | None, options: argparse.Namespace, codes: list[int]) -> int:
    title = "Bench of " + ", ".join(dict.fromkeys(Path(file).name for file, _ in grid.cases))
    if options.html is not None:
        _write(options.html, html_report.report(grid, changed, title))
    if options.markdown is not None:
        _write(options.markdown, words.markdown(grid, changed))
    if options.junit is not None:
        _write(options.junit, words.junit_report(grid))
    if options.json:
        command_output.json(words.as_json(grid, changed))
    else:
        for line, colour in words.terminal_lines(grid):
            if colour:
                command_output.heading(line, colour)
            else:
                command_output.text(line)
        for line in () if changed is None else words.change_words(grid, changed):
            command_output.text(line)
    if options.fail_under is not None:
        for column in under(grid, options.fail_under):
            command_output.message(f"workbench: {column} is below {options.fail_under:.0%}")
            codes.append(exit_codes.DIFFERENT)
    if options.fail_if_worse and any(one.word == "worse" for one in changed or ()):
        codes.append(exit_codes.DIFFERENT)
    if any(one.failed for one in grid.columns):
        codes.append(exit_codes.PROVIDER)
    return exit_codes.worst(codes)


def _write(path: str, content: str) -> None:
    try:
        Path(path).write_text(content, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror or error}") from error
