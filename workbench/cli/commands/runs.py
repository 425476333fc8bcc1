"""`workbench runs`: search everything sent by word, model, adapter or date, or clear it.

Search the runs of all sessions, as the app and `send` keep them in the state
folder: words of prompt, reply or error, in any order. The newest come first.
Runs of private sessions (`"private": true` in the file) are never kept, and the
setting `keep_runs` states the room for the others. Exits 4 if nothing is found.

examples:
  workbench runs invoice total --failed
  workbench runs --model sonnet --adapter json --since 2026-11-01 --folder .
  workbench runs --id 4711                       the run whole, with its prompt
  workbench runs --id 4711 -o then.session.json  the session as it was sent
  workbench runs --clear
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from typing import Any

from adapters.late_dataclasses import asdict
from sessions.file import store
from workbench.cli import arguments
from workbench.config import settings
from workbench.output import console, exit_codes
from workbench.output.display import one_line
from workbench.output.exit_codes import CommandError
from workbench.sending import sent_runs
from workbench.sending.sent_runs import PastRun, SentRuns, Wanted

FILTERS = ("words", "model", "adapter", "failed", "since", "until", "folder", "most")
"""The options that select runs."""
MOST = 20
"""The default number of runs that a search shows."""
DATES = ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S")


def _as_stored(text: str) -> str:
    """Write a day, or a part or time of it, as runs have it. Raises ValueError."""
    second, point, fraction = text.strip().replace(" ", "T").partition(".")
    if point:  # as `runs --json` writes it
        datetime.strptime(f"{second}.{fraction}", f"{DATES[-1]}.%f")
        return f"{second}.{fraction[:3]}"
    for form in DATES:
        with suppress(ValueError):
            return datetime.strptime(second, form).strftime(form)
    raise ValueError(text)


_date = arguments.value("a day such as 2026-11-01", _as_stored, bool)


def add_arguments(parser: arguments.Parser) -> None:
    about = "the beginning of a word of prompt, reply or error; or as in the app: model:gpt is:failed"
    parser.add_argument("words", nargs="*", metavar="WORD", help=about)
    parser.option("--model", "PART", "runs of models whose name contains PART", default="")
    parser.option("--adapter", "A", "runs of this adapter", default="")
    parser.flag("--failed", "only runs that failed or broke off")
    parser.option("--since", "DATE", "the first day, such as 2026-11-01", type=_date)
    parser.option("--until", "DATE", "the last day", type=_date)
    parser.option("--folder", "DIR", "runs of sessions in this folder and below")
    parser.option("--most", "N", f"show at most N (default {MOST})", type=arguments.count)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--id", type=int, metavar="N", help="show the run with this number, with its prompt")
    what.add_argument("--clear", action="store_true", help="delete every kept run")
    parser.option("-o --output", "FILE", "with --id: write the session as it was sent")


def run(options: arguments.Options) -> int:
    if options.output and options.id is None:
        raise CommandError("-o needs --id: the number of a run")
    ignored = [name for name in FILTERS if getattr(options, name) not in ("", None, False, [])]
    if ignored and (options.clear or options.id is not None):
        given = "WORD" if ignored[0] == "words" else f"--{ignored[0]}"
        does = "--clear deletes every run" if options.clear else "--id shows one run"
        raise CommandError(f"{does}, and cannot be limited by {given}")
    try:
        if options.clear:
            freed = sent_runs.clear()
            console.result(options.json, {"freed_bytes": freed}, f"{freed:,} bytes of runs deleted")
            return exit_codes.OK
        with closing(SentRuns(sent_runs.sent_file(), settings.load().settings.keep_runs)) as kept:
            return _show_run(kept, options) if options.id is not None else _search(kept, options)
    except BrokenPipeError:  # of standard output
        raise
    except (OSError, sqlite3.Error) as error:
        raise CommandError(sent_runs.plain_words(error)) from error


def _search(kept: SentRuns, options: arguments.Options) -> int:
    folder = os.path.realpath(options.folder) if options.folder is not None else ""
    within = Wanted(
        model=options.model,
        adapter=options.adapter,
        failed=options.failed,
        since=options.since or "",
        until=options.until or "",
        folder=folder,
    )
    found = kept.search(sent_runs.wanted_of(" ".join(options.words), within), options.most or MOST)
    count, size = kept.size()
    if options.json:
        runs = [_shape(one, ("values", "messages")) for one in found.runs]
        console.json({"runs": runs, "count": found.count, "kept": count, "bytes": size})
    else:
        for one in found.runs:
            console.text(_line(one))
        console.message(f"{found.count:,} found of {count:,} runs, {size / sent_runs.MEGABYTE:.1f} MB")
    return exit_codes.OK if found.runs else exit_codes.NOTHING


def _show_run(kept: SentRuns, options: arguments.Options) -> int:
    found = kept.whole(options.id)
    if found is None:
        raise CommandError(f"there is no run {options.id}; newer runs may have replaced it")
    if options.output:
        session = kept.session_of(options.id)
        if session is None:
            raise CommandError(f"run {options.id} was kept without its session")
        arguments.write_output(options.output, store.dumps(session))
        console.message(f"wrote {options.output}")
    if options.json:
        messages = [{"role": role, "content": text} for role, text in found.messages]
        console.json(_shape(found, ()) | {"messages": messages})
    elif not options.output:
        console.text(_line(found))
        for role, text in (*found.messages, ("reply", found.text), ("error", found.error)):
            if text:
                console.text(f"\n--- {role}\n{text}")
    return exit_codes.OK


def _shape(run: PastRun, without: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in asdict(run).items() if name not in without}


def _line(run: PastRun) -> str:
    sign = {"done": "✓", "failed": "✗"}.get(run.phase, "■")
    said = one_line(run.error or " ".join(run.text.split()), 60)
    return f"{run.id:>6} {sign} {run.time}  {run.title} · {run.case} · {run.column}  {run.model}  {said}"
