"""`workbench bench`: run every case in every column, and report which column is best.

Runs every case of each SESSION (a file, or a folder of them) in every column,
--repeat times, and reports which column is best: how many replies parse and are
as the cases expect, with 95 % intervals, cost and time, and whether two columns
differ or there are too few cases to tell.

Each run is written to a results file beside the session (q.bench.jsonl) as soon
as it ends. The same command continues where it stopped and makes no run twice;
another prompt, model or option is another run. ctrl+c waits for active runs;
press it again to abort them. The session is not changed.

Exits 0 when all runs are done, 1 with --fail-under or --fail-if-worse if they
fail, 2 if --expect or --metric raises an exception, 3 if a run could not be
counted or, with --fail-under or --fail-if-worse, was not made, 4 if --no-send
finds no run or --fail-if-worse nothing to compare.

examples:
  workbench bench q.session.json --dry-run                       calls, tokens and price, nothing is sent
  workbench bench q.session.json --repeat 5 --jobs 8 --max-cost 2
  workbench bench prompts/ --model openai/gpt-6-luna anthropic/claude-sonnet-5-5 --adapter chat xml
  workbench bench q.session.json --html bench.html               one page with the heat map and every reply
  workbench bench q.session.json --again --compare previous --fail-if-worse
  workbench bench q.session.json --compare old.bench.jsonl --no-send
  workbench bench q.session.json --shard 2/8                     the second of eight machines: q.2-of-8.bench.jsonl
  workbench bench q.session.json --join parts/
  workbench bench q.session.json --expect my_checks:total_is_right
  workbench bench q.session.json --metric dspy.evaluate:answer_exact_match
  workbench bench q.session.json --json | jq '.pairs[] | select(.differ) | .words'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from adapters.late_dataclasses import replace
from sessions.bench import reading
from sessions.bench.conclusions import Comparison, compare_benches
from sessions.bench.grid import Grid, under
from sessions.bench.results import path_beside
from sessions.bench.statistics import LEVEL
from sessions.errors import counted
from workbench.bench import report, report_files
from workbench.bench.judging import Check, UserCheck, grid_of, user_metric
from workbench.bench.planning import Forecasts, Plan, Target, plan
from workbench.bench.running import Bench, Settings
from workbench.checks import fixture_files
from workbench.cli import arguments, selection
from workbench.config import user_code
from workbench.output import console, exit_codes, markdown, measures
from workbench.output.exit_codes import CommandError
from workbench.pages.page import page_of_blocks
from workbench.sending import model_choices, tool_answers

EVERY_S = 0.2
"""Seconds between two updates of the progress."""


dollars = arguments.value(
    "an amount of US dollars such as 2.50", lambda text: float(text.removeprefix("$")), lambda amount: 0 <= amount < 1e9
)
share = arguments.value("a share such as 0.9 or 90%", arguments.share_of, lambda share: 0 <= share <= 1)
level = arguments.value("a level between 0 and 1, such as 0.05 or 5%", arguments.share_of, lambda level: 0 < level < 1)
number = arguments.value("a number such as 0.5", float, math.isfinite)

OF_RUNS = ("html", "markdown", "junit", "fail_under", "fail_if_worse", "level", "compare")
"""The options that report or judge runs."""


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("paths", nargs="*", metavar="SESSION", help="a session file, or a folder of them")
    parser.shared("adapters")
    parser.several("--case", "NAME", "only this case; repeatable", dest="cases")
    parser.shared("models")
    arguments.add_variants(parser)
    arguments.add_ask_again(parser, "as a column beside each, which shows how often it helps and what it costs")
    parser.option(
        "--repeat",
        "N",
        "runs of each case and column (default 1; with --no-send or --join: as many as there are)",
        type=arguments.count,
    )
    parser.option("--jobs", "N", "runs at once (default 1)", type=arguments.count, default=1)
    parser.option("--shard", "I/N", "make every Nth run, from the Ith on (several machines)", type=arguments.shard)
    parser.option("--join", "DIR", "report the parts that `--shard` wrote, in DIR and below, as a single bench")
    parser.flag("--again", "run everything again, ignoring earlier results")
    parser.flag("--no-send", "send nothing: report what the results files contain")
    parser.flag("--dry-run", "show calls, tokens and cost, and send nothing")
    parser.option("--max-cost", "USD", "start no run that could push the total above USD", type=dollars)
    parser.option("--deadline", "S", "stop a run after S seconds; it counts as a miss", type=arguments.seconds)
    parser.several(
        "--expect",
        "MODULE:FUNCTION",
        "judge by function(inputs, values) too: True, False, a text that says what is wrong, or a score",
    )
    parser.option(
        "--metric",
        "MODULE:FUNCTION",
        "score by a metric for dspy.Evaluate, metric(example, pred, trace=None) to a bool or a number",
    )
    parser.option("--threshold", "SCORE", "the lowest score of --expect or --metric that passes", type=number)
    parser.option("--baseline", "COLUMN", "compare all columns with this column alone, which needs fewer cases")
    parser.option("--compare", "OLD", "compare with another results file, or with `previous`")
    parser.option("--fail-under", "SHARE", "exit 1 if a column's share is below: 0.9, 90%%", type=share)
    parser.flag("--fail-if-worse", "exit 1 if a column or cell is worse than in OLD")
    parser.option(
        "--level",
        "P",
        "how often --fail-if-worse may fail for an unchanged model (default 5%%)",
        type=level,
    )
    parser.option("--html", "FILE", "also write a page with the heat map and every reply")
    parser.option("--markdown", "FILE", "also write the grid for a pull request")
    parser.option("--junit", "FILE", "also write a report for the CI system, a test case a cell")
    parser.shared("allow_host", "allow_variable", "tool")


def run(options: arguments.Options) -> int:
    if options.join is not None and options.shard is not None:
        raise CommandError("--shard makes a part and --join reports all of them: use one after the other")
    if options.dry_run:
        values = [(name, getattr(options, name)) for name in OF_RUNS]
        given = [f"--{name.replace('_', '-')}" for name, value in values if value is not None and value is not False]
        if given:
            raise CommandError(f"--dry-run makes no run to report or judge: leave out {', '.join(given)}")
    if options.fail_if_worse and options.compare is None:
        raise CommandError("--fail-if-worse needs something to compare with: --compare OLD, or --compare previous")
    if options.threshold is not None and not (options.expect or options.metric):
        raise CommandError("--threshold needs scores: --expect or --metric")
    if options.level is not None and options.compare is None:
        raise CommandError("--level needs something to compare with: --compare OLD, or --compare previous")
    checks: list[Check] = []
    for name in dict.fromkeys(options.expect):
        function = user_code.function(name, f"--expect {name}", "my_checks:total_is_right")
        checks.append(UserCheck(name, function, options.threshold))
    if options.metric is not None:
        checks.append(user_metric(options.metric, options.threshold))
    planned, missing = planned_by(options)
    old = _old(options, planned)
    columns = dict.fromkeys(job.column.id for job in planned.first)
    if options.baseline is not None and options.baseline not in columns:
        raise CommandError(f"--baseline {options.baseline}: no such column; expected one of {', '.join(columns)}")
    if options.dry_run:
        found = Forecasts(planned).of(planned.open)
        if options.json:
            shape = {
                "calls": found.calls,
                "done": planned.done_count,
                "unpriced": list(found.unpriced),
                "cost": found.cost,
            }
            tokens = {"tokens": found.prompt_tokens + found.reply_tokens, "prompt_tokens": found.prompt_tokens}
            console.json({**shape, **tokens, "reply_tokens": found.reply_tokens})
            return exit_codes.OK
        done = counted(planned.done_count, "run is", "runs are")
        already = f"; {done} already done" if planned.done_count else ""
        console.text(f"{found.words}{already}; nothing was sent")
        return exit_codes.OK
    grid, codes = benched(planned, options, checks)
    for said in missing:
        console.problem(said)
        codes.append(exit_codes.PROVIDER)
    if options.no_send and not any(cell.many for cell in grid.cells):
        columns = dict.fromkeys(column for held in planned.results.values() for _, column in held.places)
        if columns:
            said = f"the results files have no run of these requests; they have runs of {', '.join(columns)}"
        else:
            said = "no results file has a run; leave out --no-send to make the runs"
        console.problem(said)
        codes.append(exit_codes.NOTHING)
    return _tell(grid, None if old is None else compare_benches(old, grid, options.level or LEVEL), options, codes)


def planned_by(options: arguments.Options) -> tuple[Plan, list[str]]:
    """Plan the runs; name the missing parts of `--join`. Raises `CommandError`."""
    # Select sessions, columns and cases.
    models: list[str] = options.models
    for names in (models, options.adapters):  # SESSION may follow `--model M …`, too
        while not options.paths and len(names) > 1 and arguments.looks_like_a_file(names[-1]):
            options.paths.append(names.pop())
    if not options.paths:
        raise CommandError("which sessions? Give files or folders, as in `workbench bench q.session.json`")
    found: list[Target] = []
    for path in fixture_files.find(options.paths):
        chosen = selection.select(str(path), options.adapters, every_case=True)
        chosen = selection.vary_columns(chosen, options, beside=True)
        cases = tuple([one for one in chosen.session.cases if not options.cases or one.name in options.cases])
        handlers = tool_answers.handlers(chosen.session, options.handlers)
        found.append(
            Target(str(path), chosen.session, chosen.columns, cases, chosen.allow_code, handlers, options.shard)
        )
    targets = [one for one in found if one.cases]
    missing = [name for name in options.cases if not any(case.name == name for one in found for case in one.cases)]
    if missing or not targets:
        raise CommandError(f"no session has a case {' or '.join(map(repr, missing))}".rstrip())
    for model in dict.fromkeys(one.session.model_of(column) for one in targets for column in one.columns):
        leaves = model_choices.leaving(model)
        if leaves is not None:
            console.problem(leaves)
    joined = {} if options.join is None else {one.file: reading.join(one.file, options.join) for one in targets}
    held = {file: one.results for file, one in joined.items()} or None
    planned = plan(targets, options.repeat or 1, options.again, held)
    if options.repeat is None and (options.no_send or options.join is not None):
        planned = replace(planned, repeat=planned.held_repeats)
    elif planned.held_repeats > planned.repeat:
        shown = f"{planned.repeat} of up to {planned.held_repeats} runs of each cell in the results file"
        console.problem(f"this report counts {shown}; --repeat {planned.held_repeats} counts all")
    for line in report.skipped(planned.unrenderable):
        console.problem(line)
    if not planned.first:
        raise CommandError("no case can be rendered in any column")
    for file, results in planned.results.items():
        if results.told:
            console.problem(f"{path_beside(file, options.shard)}: {results.told}; skipped")
    return planned, [f"{file}: missing parts: {', '.join(one.missing)}" for file, one in joined.items() if one.missing]


def benched(planned: Plan, options: arguments.Options, checks: Sequence[Check]) -> tuple[Grid, list[int]]:
    """Send the open runs unless options forbid it; return the grid and exit codes. Raises `CommandError`."""
    codes = [exit_codes.OK]
    if not options.no_send and options.join is None and planned.open_count:
        codes += _run_open(planned, options, checks)
        found = {file: reading.read(file, options.shard) for file in planned.results}
        planned = replace(planned, results=found)
    return grid_of(planned, checks), codes


def _old(options: arguments.Options, planned: Plan) -> Grid | None:
    """Read the earlier bench. Raises `SessionError`, and `CommandError` if there is none."""
    if options.compare is None:
        return None
    if options.compare == "previous":
        return planned.before()
    if not Path(options.compare).is_file():
        raise CommandError(f"--compare {options.compare}: no such results file; or write `previous`")
    found = reading.Results("", [options.compare])
    if found.told:
        console.problem(f"{options.compare}: {found.told}; skipped")
    return planned.as_of(found)


def _run_open(planned: Plan, options: arguments.Options, checks: Sequence[Check]) -> list[int]:
    """Send the open runs; return exit codes."""
    allowed = arguments.allowed(options)
    settings = Settings(options.jobs, options.deadline, options.max_cost, allowed, tuple(checks))
    line = console.StatusLine(EVERY_S)
    said = "waiting for active runs; press ctrl+c again to abort them. The same command continues."
    with arguments.interruptible(said) as (stop, cancel):
        bench = Bench(
            planned, settings, stop=stop, cancel=cancel, watch=lambda run, progress: line.show(progress.words)
        )
        try:
            bench.run()
        finally:
            line.clear()
        was_interrupted = stop.is_set()
    left = planned.open_count - bench.progress.done
    if bench.budget.is_used_up:
        spent = measures.cost(bench.budget.spent) if bench.budget.spent else "nothing"
        console.problem(
            f"stopped at --max-cost {options.max_cost:g}: {spent} spent, {left:,} runs left; "
            "the same command with a higher limit continues"
        )
    if was_interrupted:
        console.problem(f"interrupted, {left:,} runs left; the same command continues")
        return [exit_codes.INTERRUPTED]
    return [exit_codes.OK]


def _tell(grid: Grid, compared: Comparison | None, options: arguments.Options, codes: list[int]) -> int:
    told = partial(report.blocks, grid, compared, baseline=options.baseline)
    if options.html is not None:
        title = "Bench of " + ", ".join(dict.fromkeys(Path(file).name for file, _ in grid.cases))
        arguments.write_output(options.html, page_of_blocks(title, told(with_replies=True)))
    if options.markdown is not None:
        arguments.write_output(options.markdown, markdown.document(told()))
    if options.junit is not None:
        arguments.write_output(options.junit, report_files.junit_report(grid))
    if options.json:
        console.json(report_files.as_json(grid, compared, options.baseline))
    else:
        console.blocks(told())
    if options.fail_under is not None:
        with_share = {one.column for one in grid.columns if one.share("parsed") is not None}
        for column in under(grid, options.fail_under):
            said = f"is below {options.fail_under:.0%}" if column in with_share else "has no run that counts"
            console.problem(f"{column} {said}")
            codes.append(exit_codes.DIFFERENT)
    if options.fail_if_worse and compared is not None:
        for line in compared.worse:
            console.problem(line)
            codes.append(exit_codes.DIFFERENT)
        if compared.is_empty:
            nothing = "no run that counts of these cases and columns"
            console.problem(f"--compare {options.compare}: {nothing}, so nothing was compared")
            codes.append(exit_codes.NOTHING)
    is_judged = options.fail_under is not None or options.fail_if_worse
    if grid.missing and is_judged:
        console.problem(f"{counted(grid.missing, 'planned run')} not made, so not judged")
        # Keep 1 where a column fails already, by the runs that it has.
        codes.append(exit_codes.DIFFERENT if exit_codes.DIFFERENT in codes else exit_codes.PROVIDER)
    if (grid.unrenderable and is_judged) or any(one.failed for one in grid.columns):
        codes.append(exit_codes.PROVIDER)
    return exit_codes.worst(codes)
