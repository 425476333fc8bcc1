"""`workbench check`: render and parse every recording again.

Render every recorded case and column again, parse the recorded replies again,
and report what changed: the messages and the request (render), the verdict and
the values (parse), the case's expectations (expect). A session linked to a
program (workbench new FILE.py:Class) is compared with its class, too (source);
the program is read, never run. --dspy compares with the installed dspy
(upstream; not for sessions with tools, nor for adapters that dspy lacks).
--live sends the prompts again and judges the new replies. PATH is a session
file, or a folder: every *.session.json below it, and every other .json file
that is a session.

Exits with 1 on drift or a failed expectation, and with 4 when a file has
neither recordings nor expectations: that is never a pass.

examples:
  workbench check q.session.json
  workbench check prompts/ other.session.json --adapter chat
  workbench check prompts/ -k 'rainy and not xml' --junit report.xml
  workbench check prompts/ -k path:invoices
  workbench check q.session.json --update          record today's prompts, unless a verdict or value changed
  workbench check q.session.json --update parse    record today's parse results, changed verdicts too
  workbench check prompts/ --dspy            compare with the dspy installed here
  workbench check q.session.json --live openai/gpt-6-luna --repeat 5
  workbench check prompts/ --shard 2/8       the second of eight CI jobs
  workbench check . --json | jq '.fixtures[] | select(.drift != [])'
"""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from adapters.errors import reason_of
from sessions.causes.cause import Cause, verdict_lines
from sessions.causes.cause import advice as advice_on
from sessions.causes.finding import Causes
from sessions.checking import reports
from sessions.checking.verdicts import FixtureResult, Part, totals
from sessions.errors import counted, few
from sessions.releases import project
from sessions.running import recording
from sessions.source.linking import NO_LINK
from workbench.checks import fixture_files, github_annotations
from workbench.checks.checking import Checked, Plan, check_all, unseen
from workbench.cli import arguments
from workbench.output import console, exit_codes, json_shapes
from workbench.output.exit_codes import CommandError, nearest

UPDATES: tuple[Part, ...] = ("render", "parse")
SUMMARY = "GITHUB_STEP_SUMMARY"
"""The variable with the file of a step's summary in GitHub Actions."""
MOST_UNLINKED = 5
"""The most sessions without a source to name."""
EVERY_S = 0.1
"""Seconds between two updates of the progress."""


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a session file, or a folder of them")
    arguments.add_fixtures(parser)
    parser.option(
        "--update",
        "VERDICT",
        "record today's prompts and parse results, but no changed verdict or value; or one: render, parse",
        nargs="?",
        const="",
    )
    parser.flag("--dspy", "compare with the installed dspy")
    parser.option("--dspy-python", "PYTHON", "--dspy with that Python, or with an added release (3.0.4)")
    parser.option("--live", "MODEL", "send again and judge the new replies", nargs="?", const="")
    parser.option("--repeat", "N", "with --live: N times each", type=arguments.count, default=1)
    parser.several("--allow-host", "HOST", "with --live: as for send", dest="allow_hosts")
    parser.shared("allow_variable")
    parser.option("--deadline", "S", "with --live: give up a run after S seconds", type=arguments.seconds)
    parser.option("--shard", "I/N", "check every Nth file, from the Ith on, for a CI matrix", type=arguments.shard)
    parser.flag("--restore-order", "restore the key order that a formatter sorted")
    parser.flag("--no-source", "ignore linked programs (the verdict source)")
    parser.flag("--require-source", "fail if a session follows no program")
    parser.flag("--lint", "also report lints, as `workbench lint --strict` does")
    parser.option("--junit", "FILE", "also write a JUnit report")
    parser.option("--markdown", "FILE", "also write the causes as Markdown for a pull request")
    parser.option("--html", "FILE", "also write an HTML page with causes and every fixture")


def run(options: arguments.Options) -> int:
    plan = _plan(options)
    if not options.paths:
        raise CommandError("expected session files or folders, as in `workbench check .`")
    every = files = fixture_files.find(options.paths)
    if options.shard is not None:
        index, count = options.shard
        console.message(f"shard {index}/{count}: {len(every[index - 1 :: count])} of {len(every)} files")
        files = every[index - 1 :: count]
    results: list[FixtureResult] = []
    counts = Counter(totals(()))
    wants_report = options.json or options.junit is not None or options.html is not None
    errors: dict[str, str] = {}
    codes = [exit_codes.OK]
    causes = Causes()
    unlinked: dict[str, str] = {}
    followed: Counter[str] = Counter()
    names = {*options.adapters, *options.cases}
    progress = console.StatusLine(EVERY_S)
    for done, checked in enumerate(check_all(files, plan, options.jobs), 1):
        progress.clear()
        codes.append(_code(checked, errors))
        counts.update(totals(checked.results))
        if wants_report:
            results += checked.results
        causes.add(checked.results)
        names -= checked.names
        followed.update(checked.releases)
        if checked.unlinked:
            unlinked[str(checked.path)] = checked.unlinked
        if not options.json and not checked.error:
            _write(checked)
        if len(files) > 1:
            progress.show(f"{done:,} of {len(files):,} files")
    progress.clear()
    is_told = bool(files) and not any(counts.values())  # each file has told which name it lacks
    codes += [] if is_told else tell_of_unseen(unseen(names, every if options.shard is not None else ()))
    found = causes.found()
    lints: dict[str, Any] = {}
    unlinted: list[Any] = []
    if options.lint:
        from workbench.cli.commands import lint

        linted, problems = lint.lints_of_files([path for path in files if str(path) not in errors])
        codes += [lint.strict_code(linted), *lint.tell_of_problems(problems)]
        if options.json:
            lints, unlinted = lint.shape_of(linted), lint.errors_of(problems)
        else:
            lint.write(linted)
    if options.junit is not None:
        arguments.write_output(options.junit, reports.junit_report(results, errors))
    if options.html is not None:
        from workbench.pages import report_pages

        arguments.write_output(options.html, report_pages.check_page(found, results, counts, errors))
    if options.markdown is not None or os.environ.get(SUMMARY):
        _write_markdown(options.markdown, found, counts, errors)
    if options.json:
        own = project.find(Path.cwd())
        console.json(
            {
                "verdict_changes": [
                    {"path": one.path, "case": one.case, "column": one.column, **change}
                    for one in results
                    for change in json_shapes.verdict_changes_of(one)
                ],
                "fixtures": [json_shapes.fixture(one) for one in results],
                "errors": [*({"path": path, "message": said} for path, said in errors.items()), *unlinted],
                "causes": [json_shapes.cause(one) for one in found],
                **lints,
                "unlinked": [{"path": path, "why": why} for path, why in unlinked.items()],
                "project": own
                and {"version": own.version, "source": os.path.relpath(own.source), "followed": followed},
                **counts,
            }
        )
    else:
        write_causes(found)
        for line in verdict_lines(found):
            console.heading(line, "red")
        console.text(reports.summary(counts, len(errors)))
        advice = advice_on(found, options.paths)
        if advice:
            console.message(advice)
        if unlinked:
            named = [path if why == NO_LINK else f"{path} ({why})" for path, why in unlinked.items()]
            verb = "follows" if len(unlinked) == 1 else "follow"
            sessions = counted(len(files), "session")
            console.text(f"{len(unlinked):,} of {sessions} {verb} no source: {few(named, MOST_UNLINKED)}")
        _tell_of_project(followed, options.paths)
    for line in github_annotations.commands(found, errors):
        console.message(line)
    if options.require_source and unlinked:
        codes.append(exit_codes.DIFFERENT)
    if plan.update and not plan.update_verdicts and any(one.changes_verdict for one in found):
        console.message("--update left them out; `workbench review` shows each reply, --update parse accepts all")
    return exit_codes.worst(codes)


def tell_of_unseen(names: Collection[str]) -> list[int]:
    """Report values of `--adapter` and `--case` that no session has; return an exit code for each."""
    for name in sorted(names):
        console.problem(f"no case, column or adapter {name!r} in any of these sessions")
    return [exit_codes.NOTHING] * len(names)


def _tell_of_project(followed: Mapping[str, int], paths: Sequence[str]) -> None:
    """Report if the project in this folder has another dspy than the sessions."""
    own = project.find(Path.cwd())
    for release, count in sorted(followed.items()):
        if own is not None and release != own.version:
            sessions = f"{count} {'sessions follow' if count > 1 else 'session follows'} {release}"
            sides = f"--from {'ours' if release == recording.DSPY else release} --to {own.version}"
            shows = f"`workbench upgrade {shlex.join(paths)} {sides}` shows the differences"
            console.message(
                f"this project has dspy {own.version} ({os.path.relpath(own.source)}), and {sessions}; {shows}"
            )


def write_causes(causes: Sequence[Cause]) -> None:
    """Print each cause with its fixtures and an example, most fixtures first."""
    for cause in causes:
        console.heading(cause.heading(), "red")
        console.diff_lines(cause.lines())


def code_of(results: Sequence[FixtureResult]) -> int:
    """Return the exit code for a file; a file without anything to compare never passes."""
    if any(one.failed for one in results):
        return exit_codes.DIFFERENT
    return exit_codes.OK if any(one.passed or one.unasked for one in results) else exit_codes.NOTHING


def _plan(options: arguments.Options) -> Plan:
    """Convert options to a plan; the word after --update or --live may be a path. Raises `CommandError`."""
    update = _updates(options)
    model = options.live
    if model and (Path(model).exists() or model.endswith(".json")):
        options.paths.insert(0, model)
        model = ""
    if options.require_source and options.no_source:
        raise CommandError("--require-source and --no-source exclude each other")
    of_live = {
        "--repeat": options.repeat > 1,
        "--deadline": options.deadline is not None,
        "--allow-host": options.allow_hosts,
        "--allow-variable": options.allow_variables,
    }
    if options.live is None:
        arguments.refuse(of_live, "requires --live")
    if options.keyword:
        fixture_files.parse(options.keyword)
    return Plan(
        adapters=tuple(options.adapters),
        cases=tuple(options.cases),
        keyword=options.keyword,
        update=update,
        update_verdicts=bool(options.update) and "parse" in update,
        dspy=options.dspy_python or (sys.executable if options.dspy else None),
        live=options.live is not None,
        model=model or None,
        repeat=options.repeat,
        deadline_s=options.deadline,
        allowed=arguments.allowed(options),
        source=not options.no_source,
        restore_order=options.restore_order,
    )


def _updates(options: arguments.Options) -> tuple[Part, ...]:
    """Return the parts that --update names; without a name, all. Raises `CommandError`."""
    if options.update is None:
        return ()
    if options.update and (Path(options.update).exists() or arguments.looks_like_a_file(options.update)):
        options.paths.insert(0, options.update)
        options.update = ""
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
        console.problem(checked.error)
        errors[str(checked.path)] = checked.error
        return exit_codes.USAGE
    if checked.updated:
        console.message(f"{checked.path}: recorded again")
    if checked.restored:
        console.message(f"{checked.path}: the order of the keys was restored")
    if any(one.verdicts.get("live") == "error" for one in checked.results):
        return exit_codes.PROVIDER
    return code_of(checked.results)


def _write_markdown(
    path: str | None, causes: Sequence[Cause], counts: Mapping[str, int], errors: Mapping[str, str]
) -> None:
    """Write the report in Markdown to a file, and append it to GitHub Actions' step summary."""
    from workbench.output import report_blocks

    text = report_blocks.check_markdown(causes, counts, errors)
    if path is not None:
        arguments.write_output(path, text)
    summary = os.environ.get(SUMMARY)
    if summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            console.problem(f"{summary}: {reason_of(error)}; the summary is not written")


def _write(checked: Checked) -> None:
    path, results = checked.path, checked.results
    if not results:
        console.heading(f"{path}: {checked.nothing}", "yellow")
    elif code_of(results) == exit_codes.NOTHING:
        sends = f"`workbench send {shlex.quote(str(path))} --save`"
        console.heading(f"{path}: nothing recorded; {sends} does, or the app", "yellow")
    for note in dict.fromkeys(note for one in results for note in one.notes):
        console.heading(reports.noted(note, [one for one in results if note in one.notes]), "yellow")
