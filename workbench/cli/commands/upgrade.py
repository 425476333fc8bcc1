"""`workbench upgrade`: preview the effects of another dspy, model or adapter.

Preview the effects of another dspy, model or adapter. Renders every case of
every session below PATH both ways, and parses its recorded replies both ways.
Reports each cause of a difference once. Sends nothing (except with --live) and
writes nothing.

Name a dspy by release (3.0.4, after `workbench dspy add 3.0.4`), as `installed`
(beside the workbench), as `ours` (this program's own engine), or by the path of
a Python that has it.

Exits with 0 when nothing changes, 1 when something does, 4 when nothing could
be compared.

examples:
  workbench upgrade prompts/ --from 3.0.4 --to 3.4.1
  workbench upgrade prompts/ --from 3.0.4 --to ours --html upgrade.html
  workbench upgrade prompts/ --from ../app/.venv/bin/python --to installed
  workbench upgrade . --from-model openai/gpt-4o --to-model openai/gpt-6-sol
  workbench upgrade . --to-model openai/gpt-6-sol --live --repeat 5
  workbench upgrade . --from-adapter chat --to-adapter json
  workbench upgrade . --from 2.6.27 --to ours --markdown
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from datetime import date
from pathlib import Path

from adapters.formats import catalog
from adapters.late_dataclasses import dataclass, field, replace
from sessions.checking.expectations import ExpectationError
from sessions.errors import SessionError, counted
from sessions.file import store
from sessions.model.session import Column
from sessions.releases import environments
from sessions.releases.engine import Engine
from sessions.running.recording import DSPY
from sessions.upgrades import sides
from sessions.upgrades.report import Upgrade, notes_of, upgrade
from sessions.upgrades.sides import Change, Compared, Ours, Side, open_engine
from workbench.checks import fixture_files, live_check
from workbench.cli import arguments
from workbench.cli.selection import choose_columns, replace_columns
from workbench.output import console, exit_codes, report_blocks
from workbench.output.exit_codes import CommandError, no_such
from workbench.pages import report_pages


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="a session file, or a folder of them")
    parser.option("--from", "DSPY", "the current dspy (default: installed)", dest="before")
    parser.option("--to", "DSPY", "the new dspy (default: ours)", dest="after")
    parser.option("--from-model", "M", "default: each column's own", type=arguments.model)
    parser.option("--to-model", "M", "the new model", type=arguments.model)
    parser.option(
        "--from-adapter", "A", "only columns of this adapter, or a new one where there is none (default: every column)"
    )
    parser.option("--to-adapter", "A", "the new adapter")
    parser.shared("adapters")
    parser.several("--case", "NAME", "only this case; repeatable", dest="cases")
    parser.flag("--live", "also send under both and judge the replies")
    parser.option("--repeat", "N", "with --live: N times each", type=arguments.count, default=1)
    parser.shared("allow_host", "allow_variable")
    parser.flag("--markdown", "the report for a pull request")
    parser.option("--html", "FILE", "write the report as a page for a browser too")


def run(options: arguments.Options) -> int:
    if not options.paths:
        raise CommandError("expected session files or folders, as in `workbench upgrade . --from 3.0.4 --to ours`")
    if options.json and options.markdown:
        raise CommandError("--json and --markdown print two forms of the report: choose one")
    _settle(options)
    files = fixture_files.find(options.paths)
    with ExitStack() as stack:
        change = _change(options, stack)
        gathered = _gathered(files, options, change)
    there = [options.from_model] if options.from_model else gathered.models
    notes = list(notes_of(there, options.to_model, gathered.compared, today())) if options.to_model else []
    if gathered.unread:
        notes.append(f"{counted(gathered.unread, 'file')} could not be read")
    found = upgrade(change.before.name, change.after.name, gathered.compared, notes)
    if options.live:
        found = replace(found, live=live_check.conclusions(change, gathered.sent))
    if options.html is not None:
        arguments.write_output(options.html, report_pages.upgrade_page(found))
    if options.json:
        console.json(found.as_dict())
    elif options.markdown:
        console.text(report_blocks.upgrade_markdown(found), end="")
    elif found.fixtures or not gathered.codes:
        is_same = found.compared and not found.changed and not gathered.unread
        console.heading(report_blocks.headline(found), "green" if is_same else "yellow")
        console.blocks(report_blocks.of_upgrade(found))
    return exit_codes.worst([*gathered.codes, _code(found)])


def _settle(options: arguments.Options) -> None:
    """Check the options. Raises `CommandError` unless they name a single change, and for an unknown adapter."""
    kinds = {
        "--from and --to": options.before or options.after,
        "--from-model and --to-model": options.from_model or options.to_model,
        "--from-adapter and --to-adapter": options.from_adapter or options.to_adapter,
    }
    asked = [name for name, given in kinds.items() if given]
    if options.repeat > 1 and not options.live:
        raise CommandError("--repeat says how often to send; it goes with --live")
    if (options.allow_hosts or options.allow_variables) and not options.live:
        raise CommandError("--allow-host and --allow-variable allow sending; they go with --live")
    if len(asked) > 1:
        raise CommandError(f"change one thing at a time, so that causes stay apart: {' or '.join(asked)}")
    if not asked:
        raise CommandError("what changes? Name it with " + ", or ".join(kinds))
    for start, end in (("from_model", "to_model"), ("from_adapter", "to_adapter")):
        if getattr(options, start) and not getattr(options, end):
            raise CommandError(f"--{start.replace('_', '-')} says what there is; --{end.replace('_', '-')} what comes?")
    for name in (options.from_adapter, options.to_adapter):
        if name is not None and name not in catalog.NAMES:
            raise CommandError(no_such("adapter", name, catalog.NAMES))


def _change(options: arguments.Options, stack: ExitStack) -> Change:
    """Return the change with the engines of both sides started; `stack` closes them. Raises `CommandError`."""
    if options.to_model:
        ours = Ours()
        there = options.from_model
        before = Side(there or "the columns' own models", ours, there, as_written=True)
        return Change(before, Side(options.to_model, ours, options.to_model, as_written=True), "model")
    if options.to_adapter:
        ours = Ours()
        before = Side(options.from_adapter or "the columns' own adapters", ours)
        return Change(before, Side(options.to_adapter, ours, adapter=options.to_adapter), "adapter or its options")
    there, to_come = [_engine(name, stack) for name in (options.before or "installed", options.after or "ours")]
    return Change(Side(there.name, there), Side(to_come.name, to_come), "dspy release")


def _engine(name: str, stack: ExitStack) -> Engine:
    """Return the engine of that name; ours represents release `DSPY` unless that was added itself."""
    if name == DSPY and environments.find(name) is None:
        return Ours()
    return stack.enter_context(closing(open_engine(name)))


def today() -> date:
    """Return today's date, which decides whether a model has been retired."""
    return date.today()


@dataclass
class _Gathered:
    compared: list[Compared] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    """The columns' own models, one for each column."""
    sent: list[live_check.Sent] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    """The exit codes of errors while comparing and sending."""
    unread: int = 0
    """The number of files that could not be read."""


def _gathered(files: list[Path], options: arguments.Options, change: Change) -> _Gathered:
    """Compare the selected fixtures, and with `--live` send them; report errors."""
    found = _Gathered()
    unseen = set(options.cases)
    for path in files:
        try:
            session = store.load(path)
        except SessionError as error:
            console.problem(error)
            found.codes.append(exit_codes.USAGE)
            found.unread += 1
            continue
        columns = choose_columns(session, options.adapters) if session.columns or options.adapters else ()
        if options.from_adapter is not None:  # without a column of this adapter, use a new column
            there = tuple([one for one in columns if one.adapter == options.from_adapter])
            columns = there or (Column(options.from_adapter, options.from_adapter),)
        session = replace_columns(session, columns)
        found.models += [session.model_of(one) for one in columns]
        unseen -= {case.name for case in session.cases}
        for case in session.cases:
            for column in columns if not options.cases or case.name in options.cases else ():
                found.compared.append(sides.compare(change, session, str(path), case, column))
                if not options.live:
                    continue
                try:
                    sent = live_check.send(change, session, case, column, options.repeat, arguments.allowed(options))
                except ExpectationError as error:
                    said = f"{case.name} · {column.id}: expect.{error.place}: {error.message}"
                    console.problem(said)
                    found.codes.append(exit_codes.USAGE)
                    continue
                found.sent.append(sent)
                for error_text in sent.errors:
                    console.problem(f"{case.name} · {column.id}: {error_text}")
                    found.codes.append(exit_codes.PROVIDER)
    if unseen:
        console.problem(f"no session has a case {' or '.join(map(repr, sorted(unseen)))}")
        found.codes.append(exit_codes.NOTHING)
    return found


def _code(found: Upgrade) -> int:
    if any(one.is_broken for one in found.fixtures):
        return exit_codes.PROVIDER
    if not found.compared:
        return exit_codes.NOTHING
    return exit_codes.DIFFERENT if found.changed else exit_codes.OK
