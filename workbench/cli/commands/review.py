"""`workbench review`: show drift by cause; accept or reject causes.

Group the drift of recorded sessions by cause: one changed word of a description
is one cause, however many fixtures show it. At a terminal, decide each cause on
the screen; elsewhere, with CI set, or with --by, causes are listed and accepted
by id. Accepting records today's prompts and parse results in every fixture
without another cause. Replies that parse differently come first, and are
accepted one by one, never by --accept-all. Accepting all changes of a linked
program (source) pulls its text; the next review shows the prompts it changes.

The screen writes when you leave it, a list only with --accept. Each file is
written once, whole; a file that changed meanwhile is named and skipped. Exits
with 1 while anything drifts, and with 4 if nothing is recorded.

examples:
  workbench review prompts/                    decide cause by cause
  workbench review prompts/ --accept 1f0c2a9be4 --accept 77d1e0a3c2
  workbench review prompts/ --accept-all -k 'not slow'
  workbench review prompts/ --by case          list the drift of each case
  workbench review . --json | jq '.causes[].words'
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial

from sessions.causes.cause import Cause, verdict_lines
from sessions.errors import counted
from workbench.checks import fixture_files, reviewing
from workbench.checks.checking import Plan
from workbench.checks.decisions import decisions_on_files, is_accepted_with_all, why_not
from workbench.checks.reviewing import Decide, FilesLook, Review, Written
from workbench.cli import arguments
from workbench.cli.commands.check import tell_of_unseen, write_causes
from workbench.output import console, exit_codes, json_shapes


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a session file, or a folder of them")
    arguments.add_fixtures(parser)
    parser.add_argument("--by", choices=("cause", "case"), help="list causes, or the causes of each case")
    parser.several("--accept", "CAUSE", "accept this cause, by id; repeatable")
    parser.flag("--accept-all", "accept all causes except changed verdicts and values")
    parser.flag("--no-source", "ignore linked programs")


def run(options: arguments.Options, decide: Decide | None = None) -> int:
    """Run the command; `decide` opens the review screen, which this module does not import."""
    if options.keyword:
        fixture_files.parse(options.keyword)
    files = fixture_files.find(options.paths)
    plan = Plan(
        adapters=tuple(options.adapters),
        cases=tuple(options.cases),
        keyword=options.keyword,
        source=not options.no_source,
    )
    found = reviewing.review(files, plan, options.jobs)
    for error in found.errors.values():
        console.problem(error)
    seen = frozenset[str]().union(*[one.names for one in found.checked])
    codes = tell_of_unseen({*options.adapters, *options.cases} - seen)
    ids = _accepted(options, found)
    chosen = [*options.adapters, "--case", *options.cases, "-k", options.keyword, f"{options.no_source}"]
    kept, was_left = decisions_on_files(options.paths, chosen), False
    again = partial(reviewing.review, files, plan, options.jobs)
    is_decided = options.json or options.accept or options.accept_all or options.by or os.environ.get("CI")
    is_seen = all(console.is_terminal(one) for one in (sys.stdin, sys.stdout, sys.stderr))
    on_screen = bool(found.causes) and decide is not None and not is_decided and is_seen
    if on_screen and decide is not None:
        found, decisions = decide(found, again, FilesLook(plan), ", ".join(options.paths), kept)
        ids, was_left = set(decisions.accepted) if decisions is not None else set(), decisions is not None
        if decisions is None:
            console.message("review aborted; nothing was written")
    written: list[Written] = []
    changed = {fixture.path for cause in found.causes if cause.id in ids for fixture in cause.fixtures}
    for path in [one.path for one in found.checked if str(one.path) in changed]:
        one = reviewing.accept(path, ids, plan, found.seen.get(path))
        written.append(one)
        if options.json:  # else report each file at once: many files take a while
            continue
        if one.error:
            console.problem(one.error)
            continue
        waiting = f", {one.waiting} wait for another cause" if one.waiting else ""
        waiting += f", {one.text_left}" if one.text_left else ""
        console.text(f"{path}: {'pulled, ' if one.pulled else ''}{one.recorded} recorded again{waiting}")
    if was_left and not any(one.error for one in written):
        kept.remove()
    left = again() if any(one.recorded or one.pulled for one in written) else found
    if options.json:
        console.json(
            {
                "causes": [json_shapes.cause(one) for one in left.causes],
                "accepted": sorted(ids),
                "written": [str(one.path) for one in written if one.recorded or one.pulled],
                "left_out": [one.id for one in left.causes if one.changes_verdict and options.accept_all],
                "left": [{"path": str(one.path), "message": one.error} for one in written if one.error],
                "errors": [{"path": path, "message": message} for path, message in left.errors.items()],
            }
        )
    else:
        _tell(options, left, written, bool(ids) or on_screen)
    if options.accept_all and (lines := verdict_lines(left.causes)):
        console.message("\n".join([*lines, "--accept-all left them out; --accept ID records one of them"]))
    if found.errors or any(one.error for one in written):
        return exit_codes.USAGE
    if left.causes:
        return exit_codes.DIFFERENT
    return exit_codes.worst([*codes, exit_codes.OK if left.is_of_something else exit_codes.NOTHING])


def _accepted(options: arguments.Options, found: Review) -> set[str]:
    """Return the chosen ids. Raises `CommandError` for an unknown id or a cause that cannot be accepted."""
    known = {one.id: one for one in found.causes}
    for id in options.accept:
        if id not in known:
            near = exit_codes.nearest(id, list(known))
            hint = f"; did you mean {near}?" if near else f"; there is {', '.join(known) or 'none'}"
            raise exit_codes.CommandError(f"--accept {id}: no such cause{hint}")
        if why := why_not(known[id]):
            raise exit_codes.CommandError(f"--accept {id}: {known[id].words}: {why}")
    ids = set(options.accept)
    return ids | {one.id for one in found.causes if is_accepted_with_all(one)} if options.accept_all else ids


def _tell(options: arguments.Options, left: Review, written: Sequence[Written], was_decided: bool) -> None:
    if was_decided:
        settled = {id for one in written for id in one.settled}
        if not settled and any(one.error for one in written):
            return  # the errors say it
        console.message(f"{len(settled)} accepted; {counted(len(left.causes), 'cause')} left")
        return
    if not left.causes:
        if left.is_of_something or not left.errors:
            said = "no drift" if left.is_of_something else "nothing was compared: nothing is recorded"
            console.message(said + (f"; {counted(len(left.errors), 'file')} not read" if left.errors else ""))
        return
    if options.by == "case":
        # Print the causes of each case.
        by_case: dict[tuple[str, str], list[tuple[Cause, list[str]]]] = {}
        for cause in left.causes:
            columns: dict[tuple[str, str], list[str]] = {}
            for one in cause.fixtures:
                columns.setdefault((one.path, one.case), []).append(one.column)
            for case, of in columns.items():
                by_case.setdefault(case, []).append((cause, of))
        for (path, name), found in by_case.items():
            console.heading(f"{path}::{name}", "red")
            for cause, of in found:
                console.text(f"  {cause.id}  {cause.words}  [{', '.join(of)}]")
    else:
        write_causes(left.causes)
    told = "" if os.environ.get("CI") else "; --accept CAUSE or --accept-all records again"
    console.message(f"{counted(len(left.causes), 'cause')}, nothing was written{told}")
