"""`workbench send`: send a session's columns to their models.

Send the prompt of each column to its model, one after the other or --jobs at a
time; show replies as they arrive, then the parse result. Models named offline/…
need no API key or network; others are called through litellm by their usual
name and API key variable, which may also be in a `.env` of this folder.
Exits 1 if a reply does not parse, 3 if a model could not be called or its reply
broke off. ctrl+c ends a run and keeps what had arrived. Expectations are judged
by `check` and `bench`.

examples:
  workbench send q.session.json
  workbench send q.session.json --adapter chat --model offline/sloppy
  workbench send q.session.json --model openai/gpt-6-luna --save   keep the replies and record them for `check`
  workbench send q.session.json --model openai/gpt-6-luna anthropic/claude-sonnet-5-5   every adapter with each
  workbench send q.session.json --all-cases --save
  workbench send q.session.json --replay             answer from the recording: no network, no cost
  workbench send q.session.json --repeat 10 --json | jq .runs.chat.parse_failure_rate
  workbench send agent.session.json --tool search=my_tools:search
  workbench send q.session.json --ask-again 2         after a parse error, return it to the model
  workbench send q.session.json --adapter xml --apply 1 --save     with the first fix of its last reply
  workbench send q.session.json --deadline 20 --json | jq .runs.chat.attempts
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

from adapters.formats.catalog import UnknownAdapterError
from adapters.late_dataclasses import dataclass, field, replace
from adapters.lm.config_file import ConfigError
from adapters.lm.protocol import ProviderError
from adapters.running.events import Listener, RequestSent
from adapters.running.runner import Run
from adapters.tools.tools import LONGEST_RESULT
from adapters.values.custom_types import BuildError
from sessions.errors import SessionError
from sessions.file.json_values import WrittenParts
from sessions.file.store import Fingerprint
from sessions.model.session import Case, Column, Session
from sessions.model.variants import VariantError
from sessions.running import repeats, tools
from sessions.running.replay import Replay
from workbench.cli import arguments, selection
from workbench.cli.selection import Selection
from workbench.config import settings
from workbench.output import console, exit_codes, json_shapes, run_text
from workbench.output.exit_codes import CommandError
from workbench.sending import model_choices, sending, sent_runs, tool_answers

characters = arguments.value("a number of characters above 0", arguments.digits, lambda number: number > 0)


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session")
    arguments.add_columns(parser)
    parser.shared("models")
    parser.flag("--all-cases", "send every case")
    parser.flag("--replay", "answer from the recording if the request is the same, else exit 3")
    parser.flag("--save", "save the replies to SESSION and record them")
    parser.option("--deadline", "S", "give up a column's run after S seconds", type=arguments.seconds)
    parser.option("--repeat", "N", "run each N times and count equal values", type=arguments.count, default=1)
    parser.option(
        "--jobs", "N", "send N columns at once (default 1); reported in order", type=arguments.count, default=1
    )
    parser.flag("--no-stream", "request whole replies instead of streams")
    parser.option(
        "--apply",
        "FIX",
        "send one column with a fix of its last reply: a number of `parse --fixes`, a kind, or a change as JSON",
    )
    arguments.add_ask_again(parser, "a column's own setting is its parameter ask_again")
    parser.flag("--raw", "keep the reply as raw text, unparsed")
    parser.option("--extraction-model", "M", "twostep's second model (default: the column's)", type=arguments.model)
    parser.shared("tool")
    parser.flag("--type-results", "ask for a tool's result where the session has none")
    parser.option(
        "--result-limit",
        "N",
        f"tell the model to ask for less if a tool's result has more than N characters (default {LONGEST_RESULT:,})",
        type=characters,
        default=LONGEST_RESULT,
    )
    parser.shared("allow_host", "allow_variable")
    arguments.add_variants(parser)


def run(options: arguments.Options) -> int:
    if options.jobs > 1 and options.type_results:
        raise CommandError("--type-results needs one run at a time: remove --jobs")
    if options.raw and options.ask_again is not None:
        raise CommandError("--raw parses nothing, so --ask-again never asks: choose one")
    if options.all_cases and options.case is not None:
        raise CommandError("--case sends one case and --all-cases sends every case: choose one")
    chosen = selection.select(options.session, options.adapters, options.case, every_case=options.all_cases)
    chosen = selection.vary_columns(chosen, options, beside=False)
    before = ""
    if options.apply is not None:
        chosen, before = _fixed(chosen, options.apply)
    if options.extraction_model is not None and not selection.has_two_step(chosen):
        raise CommandError("--extraction-model is the second model of twostep; no such column is sent")
    cases = chosen.session.cases if options.all_cases else (chosen.case,)
    for model in dict.fromkeys(chosen.session.model_of(column) for column in chosen.columns):
        leaves = model_choices.leaving(model)
        if leaves is not None:
            console.problem(leaves)
    with arguments.interruptible() as (_, cancel), closing(_Past(chosen.session, options.session)) as past:
        handlers = tool_answers.handlers(chosen.session, options.handlers)
        sender = _Sender(options, cancel, handlers, _Kept(chosen.session, chosen.loaded, options), past)
        shapes, codes = _send_all(sender, chosen, cases, options)
    now = OUTCOMES.get(exit_codes.worst(codes))
    if before and now and not options.json:
        is_copied = bool(sender.copied) and now == OUTCOMES[exit_codes.OK]
        also = f", but repeats the values of demo {sender.copied[0]}" if is_copied else ""
        console.text(f"before the fix: {before}; now: {now}{also}")
    if options.json:
        runs = {"runs": shapes[chosen.case.name]}
        console.json(runs | {"cases": shapes} if options.all_cases else runs)
    if cancel.is_set():
        console.problem("interrupted")
        codes.append(exit_codes.INTERRUPTED)
    return exit_codes.worst(codes)


OUTCOMES = {exit_codes.OK: "parsed", exit_codes.DIFFERENT: "parse error"}


def _fixed(chosen: Selection, wanted: str) -> tuple[Selection, str]:
    """Apply a fix for the chosen column's last reply, and return its outcome too; --save keeps the fix.

    Raises `CommandError`.
    """
    from workbench.editing import fixes

    if len(chosen.columns) != 1:
        raise CommandError("--apply changes one column: name it with --adapter")
    (column,) = chosen.columns
    reply = chosen.case.replies.get(column.id)
    hint = "" if reply is not None else "; the session has no reply of this column: keep one with `send --save`"
    try:
        effect = fixes.chosen(fixes.effects_for(chosen.session, column, chosen.case, reply, of_rejections=True), wanted)
    except Exception as error:  # as for rendering: whatever dspy's format raises
        raise CommandError(f"{column.id}: {error}{hint}") from error
    if "reply" in effect.fix.change:
        raise CommandError(f"fix {wanted} edits the reply, and sending asks for a new one: choose another fix")
    if effect.is_unfinished:
        raise CommandError(f"fix {wanted} adds a demo without outputs: fill it in first (in the app) or choose another")
    if effect.after is None:
        raise CommandError(f"{effect.fix.message} {effect.verdict}")
    console.message(f"applied: {effect.fix.message}")
    session, index = effect.after.session, chosen.session.columns.index(column)
    read = fixes.parse_result(chosen.session, chosen.case, column)
    before = "no reply"
    if read is not None:
        before = OUTCOMES[exit_codes.OK if read.ok else exit_codes.DIFFERENT]
    fixed = replace(chosen, session=session, columns=(session.columns[index],), case=session.case(chosen.case.name))
    return fixed, before


def _send_all(
    sender: _Sender, chosen: Selection, cases: Iterable[Case], options: arguments.Options
) -> tuple[dict[str, dict[str, Any]], list[int]]:
    """Send every column of every case, `--jobs` at a time, and report them in order.

    Returns the JSON shapes by case and column, and exit codes. Raises `CommandError`.
    """
    jobs = [(case, column) for case in cases for column in chosen.columns]
    turns = console.Turns()

    def work(number: int) -> tuple[Any, list[int]] | None:
        case, column = jobs[number]
        with turns.turn(number):
            if options.all_cases and not options.json and column is chosen.columns[0]:
                console.heading(case.plain_words, "yellow")
            return sender.send(chosen, case, column)

    shapes: dict[str, dict[str, Any]] = {case.name: {} for case, _ in jobs}
    codes = [exit_codes.OK]
    with ThreadPoolExecutor(options.jobs, "send") as pool:
        at_once = pool.map if options.jobs > 1 else map
        for (case, column), done in zip(jobs, at_once(work, range(len(jobs))), strict=True):
            if done is not None:
                shapes[case.name][column.id] = done[0]
                codes += done[1]
    return shapes, codes


@dataclass(eq=False)
class _Kept:
    """The session with the results of the runs, saved to the file with `--save`; concurrent runs take turns."""

    session: Session
    _saved: Session
    _options: arguments.Options
    _in_file: Fingerprint | None = None
    """The file's fingerprint while it holds exactly our session, so that no merge is needed."""
    _parts: WrittenParts = field(default_factory=WrittenParts)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    stopped: bool = False
    """True if a save failed, so that replies to further calls could not be kept."""

    def take(self, case: str, column: Column, outcome: Run) -> None:
        """Save a run at once, so that paid replies survive later failures and interruptions.

        Raises `CommandError` if saving fails; all results are then kept as a restore point.
        """
        if not (self._options.save and (_has_reply(outcome) or outcome.cancelled)):
            return
        keep = sending.keep if _has_reply(outcome) else sending.keep_partial
        with self._lock:
            self.session = keep(self.session, case, column, outcome, raw=self._options.raw)
            try:
                saved = selection.save(
                    self._saved,
                    self.session,
                    self._options.session,
                    "our results",
                    since=self._in_file,
                    parts=self._parts,
                )
            except CommandError:
                self.stopped = True
                raise
            self._saved = self.session
            self._in_file = saved.fingerprint if saved.session is self.session else None


class _Past:
    """Stores runs for `workbench runs`; reports a failure once."""

    def __init__(self, session: Session, path: str) -> None:
        self._path = os.path.realpath(path)
        self._lock = threading.Lock()
        self._kept: sent_runs.SentRuns | None = None
        try:
            megabytes = 0 if session.private else settings.load().settings.keep_runs
            if megabytes:
                self._kept = sent_runs.SentRuns(sent_runs.sent_file(), megabytes)
        except (ConfigError, OSError, SessionError, sqlite3.Error) as error:
            console.problem(f"runs are not kept: {sent_runs.plain_words(error)}")

    def add(self, session: Session, case: Case, column: Column, outcome: Run) -> None:
        with self._lock:
            if self._kept is None:
                return
            if column not in session.columns:
                session = replace(session, columns=(*session.columns, column))
            try:
                for one in sent_runs.past_runs(session, column, case.name, self._path, (outcome,)):
                    self._kept.add(one, session.replace_case(case))
            except (OSError, SessionError, sqlite3.Error) as error:
                self.close()
                self._kept = None
                console.problem(f"runs are not kept: {sent_runs.plain_words(error)}")

    def close(self) -> None:
        if self._kept is not None:
            self._kept.close()


@dataclass
class _Sender:
    """Sends columns according to the options."""

    _options: arguments.Options
    _cancel: threading.Event
    _handlers: dict[str, Any]
    _kept: _Kept
    _past: _Past
    copied: list[int] = field(default_factory=list)
    """The numbers of the demos whose outputs replies repeat."""

    def send(self, chosen: Selection, case: Case, column: Column) -> tuple[Any, list[int]] | None:
        """Send a column; return its JSON shape and the runs' exit codes, or None once sending has stopped."""
        outcomes: list[Run | CommandError] = []
        while len(outcomes) < self._options.repeat and not self._cancel.is_set() and not self._kept.stopped:
            outcome = self._run(replace(chosen, session=self._kept.session, case=case), column)
            outcomes.append(outcome)
            if isinstance(outcome, CommandError):
                break
            self._kept.take(case.name, column, outcome)
        if not outcomes:
            return None
        return _shape(column.id, outcomes, self._options), [_code_of(one) for one in outcomes]

    def _run(self, chosen: Selection, column: Column) -> Run | CommandError:
        """Run the column, or return the error that must be fixed first."""
        options = self._options
        listener: Listener = run_text.progress if options.json else run_text.Printer(column.id)
        recorded = chosen.case.recordings.get(column.id)
        replay = None
        if options.replay:
            if recorded is None:
                problem = CommandError("no recording to replay; record one with `send --save`", exit_codes.PROVIDER)
                return self._told(column.id, problem)
            replay = Replay(chosen.session, column, recorded, chosen.case.measured.get(column.id, ()))
        try:
            offered, state = tools.run_tools(
                chosen.session,
                ask=tool_answers.ask if options.type_results else None,
                handlers=self._handlers,
                most_characters=options.result_limit,
            )
            outcome = sending.send(
                chosen.session,
                column,
                chosen.case,
                listeners=(listener,),
                deadline_s=options.deadline,
                cancel=self._cancel,
                allowed=arguments.allowed(options),
                allow_code=column.adapter in chosen.allow_code,
                extraction_model=options.extraction_model,
                raw=options.raw,
                stream=not options.no_stream,
                offered=offered,
                model=replay,
            )
        except (VariantError, UnknownAdapterError, BuildError, ProviderError) as error:
            return self._told(column.id, CommandError(str(error)))
        if options.type_results:
            self._kept.session = state.session  # with the results that were typed
        if outcome.ok and (copied := repeats.copied_demo(chosen.session, chosen.case, outcome.values)):
            self.copied.append(copied)
        if replay is None:
            self._past.add(chosen.session, chosen.case, column, outcome)
        return self._told(column.id, outcome if replay is None else replay.as_measured(outcome))

    def _told(self, head: str, outcome: Run | CommandError) -> Run | CommandError:
        """Report the outcome: problems on standard error, the rest as text unless `--json`."""
        if isinstance(outcome, CommandError):
            console.problem(f"{head}: {outcome}")
            return outcome
        if not self._options.json:
            run_text.write_outcome(head, outcome, ", as recorded" if self._options.replay else "")
        if outcome.error is not None and not _has_reply(outcome) and not outcome.cancelled:
            console.problem(f"{head}: {outcome.error.message}")
        return outcome


def _shape(head: str, outcomes: list[Run | CommandError], options: arguments.Options) -> Any:
    """Return the column's JSON shape; without `--json`, print a summary of repeats."""
    runs = [one for one in outcomes if isinstance(one, Run)]
    refusal = next((one for one in outcomes if isinstance(one, CommandError)), None)
    if refusal is not None:
        error = {"phase": "request", "message": str(refusal), "attempt": 1, "payload": None}
        return {"ok": False, "values": {}, "events": [], "attempts": [], "error": error}
    if options.repeat == 1:
        return json_shapes.run(runs[0]) if options.json else None
    counted = repeats.collapse(runs)
    if options.json:
        return json_shapes.repeats(counted, runs)
    run_text.write_repeats(head, counted)
    return None


def _has_reply(outcome: Run) -> bool:
    """Return whether the model's reply is complete, whether or not it parsed."""
    return outcome.error is None or (outcome.error.phase == "response" and not outcome.cancelled)


def _code_of(outcome: Run | CommandError) -> int:
    """Return the exit code of a column's run."""
    if isinstance(outcome, CommandError):
        return outcome.code
    if outcome.ok:
        return exit_codes.OK
    if outcome.error is not None and outcome.error.phase == "request":
        was_sent = any(isinstance(event, RequestSent) for event in outcome.events)
        return exit_codes.PROVIDER if was_sent else exit_codes.USAGE
    return exit_codes.DIFFERENT
