"""Store finished runs, search them, open them again, and turn them into history."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from adapters.late_dataclasses import replace
from adapters.signatures.agents import FINISH, parsed_code, takes_steps
from adapters.values.plain_json import plain
from sessions.errors import SessionError, counted
from sessions.model.replies import Reply
from sessions.model.session import Case, Session, Tool
from sessions.running import rendering
from sessions.running.tools import NoResultError, canned_result, history_of
from workbench.editing import edits, row_edits
from workbench.output.display import one_line
from workbench.sending.sent_runs import PastRun, SentRuns, Wanted, plain_words
from workbench.state.document import Place, RenderedColumn, State, history_field
from workbench.tui.actions import files
from workbench.tui.actions.sending import ToolResultScreen
from workbench.tui.dialogs.ask import AskScreen, value_of
from workbench.tui.dialogs.sent_runs import PROGRAM, RunHistoryScreen
from workbench.tui.host import Ended, Host, answer_to
from workbench.tui.panes.verdicts import CODE_REPLY, TOOL_REPLY
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.reply.reply_view import ReplyView
from workbench.tui.widgets.text.plain import plain_notify

RESULTS = ("observation", "code_output")
Step = tuple[Mapping[str, Any], Callable[[State], State]]
"""A step of an agent, and a change that keeps its result."""


def keep_run(host: Host, run: ColumnRun) -> None:
    """Store a run that has ended."""

    def tell(why_not: str) -> None:
        say = partial(plain_notify, host.app, f"{why_not}. Runs sent now cannot be found later.", severity="warning")
        with suppress(RuntimeError):  # the app may have ended
            host.app.call_from_thread(say, title="Runs not saved")

    host.past_runs.add(run, tell)


async def look_at_runs(host: Host, scope: str = "this case") -> None:
    """Search sent runs; open the chosen run as it was sent, or show only its reply again.

    Undo reverts either, unless the run belongs to another session.
    """
    document = host.document
    case = document.state.case.name
    place = host.past_runs.place
    folder = os.path.dirname(place)
    live = host.past_runs.live
    scopes = {
        **({PROGRAM: Wanted(failed_first=True)} if live is not None else {}),
        "this case": Wanted(path=place, case=case),
        "this session": Wanted(path=place),
        "this folder": Wanted(folder=folder),
        "everywhere": Wanted(),
    }
    is_private = document.session.private

    def ask(work: Callable[[SentRuns], Any]) -> Awaitable[Any]:
        return host.past_runs.ask(work, is_private and screen.is_here, screen.is_of_program)

    screen = RunHistoryScreen(ask, scopes, scope, live)
    listed, is_reply_alone = await answer_to(host, screen)
    try:
        run = await ask(lambda kept: kept.whole(listed.id)) or listed  # a list has the beginnings of replies
        session = await ask(lambda kept: kept.session_of(run.id))
        reply = await asyncio.to_thread(_reply_of, run, session)
    except (OSError, SessionError, sqlite3.Error) as error:
        raise Ended(plain_words(error), "No runs", "error") from error
    if session is None or is_reply_alone:
        if run.column not in {one.id for one in document.session.columns}:
            raise Ended(f"There is no column {run.column} now.", "Not shown")
        host.main.replies.put(case, run.column, reply, f"reply of {run.time}", "again")
    elif screen.is_of_program:
        await _open_call(host, run, session, reply)
    elif run.path == place:
        _open_here(host, run, session, reply)
    else:
        await files.confirm_close(host)
        host.load(_add_reply(session, run, reply), None)
        host.main.status.say(f"as it was sent at {run.time} from {one_line(run.path, 60)}")


def _reply_of(run: PastRun, sent: Session | None) -> Reply:
    """Return the reply of a run, which answers the request of the session as it was sent, if that is stored."""
    digest = None
    if sent is not None:
        try:
            column = next(one for one in sent.columns if one.id == run.column)
            digest = rendering.request_of(sent, column, sent.case(run.case)).digest()
        except Exception:  # format may raise anything; without a digest the reply is never marked as old
            digest = None
    return Reply(run.text, model=run.model, request_digest=digest)


def _add_reply(session: Session, run: PastRun, reply: Reply) -> Session:
    """Return the session as it was sent, with the run's reply."""
    case = session.case(run.case)
    return session.replace_case(replace(case, replies={**case.replies, run.column: reply}))


async def _open_call(host: Host, run: PastRun, sent: Session, reply: Reply) -> None:
    """Open the session that a program's call belongs to, with the call's reply; edits of its signature stay."""
    if run.path != host.past_runs.place:
        await files.confirm_close(host)
        if not os.path.exists(run.path):
            host.load(_add_reply(sent, run, reply), None)
            return
        if not files.open_path(host, Path(run.path)):
            return
    now = host.document.session
    known = {one.name: one for one in now.cases}
    case = known.get(run.case, sent.case(run.case))
    ids = {one.id for one in now.columns}
    columns = (*now.columns, *[one for one in sent.columns if one.id == run.column and one.id not in ids])
    shown = case.replies.get(run.column)
    if run.column in {one.id for one in columns} and (shown is None or shown.text != run.text):
        case = replace(case, replies={**case.replies, run.column: reply})
    cases = {**known, case.name: case}
    made = replace(now, cases=tuple(cases.values()), columns=columns)
    session = made if made != now else now
    index = list(cases).index(case.name)
    host.main.runs.forget(run.case, run.column)
    host.main.edit(partial(replace, session=session, case_index=index), Place("session"), f"the call of {run.time}")
    host.main.columns.focus_on(run.column, ReplyView)


def _open_here(host: Host, run: PastRun, sent: Session, reply: Reply) -> None:
    """Restore signature, demos, columns and the run's case as they were sent; other cases are kept."""
    now = host.document.session
    known = next((one for one in now.cases if one.name == run.case), Case(run.case))
    was = sent.case(run.case)
    kept = replace(was, recordings=known.recordings, measured=known.measured, replies=known.replies)
    names = [one.name for one in now.cases]
    cases = tuple(kept if one.name == run.case else one for one in now.cases)
    cases = cases if run.case in names else (*cases, kept)
    session = replace(sent, cases=cases, name=now.name, notes=now.notes, private=now.private)
    index = [one.name for one in session.cases].index(run.case)
    was_open = _add_reply(session, run, reply)
    host.main.runs.forget(run.case, run.column)
    change = partial(replace, session=was_open, case_index=index, drafts={})
    host.main.edit(change, Place("session"), f"the run of {run.time}")
    host.main.columns.focus_on(run.column, ReplyView)


def toggle_private(host: Host) -> None:
    """Toggle whether the session is private: its runs are then stored in no file."""
    session = replace(host.document.session, private=not host.document.session.private)
    host.main.edit(lambda state: replace(state, session=session), Place("session"), "private")
    said = "private: its runs are forgotten when the app ends" if session.private else "its runs are kept again"
    host.main.status.say(said)


async def continue_from_run(host: Host) -> None:
    """Append the focused column's last run to the history, or report why that is impossible."""
    rendered = host.main.shown_column()
    signature = host.main.engine.signature.signature
    if rendered is None or signature is None:
        return
    if takes_steps(signature):
        await _add_step(host, rendered)
        return
    if history_field(signature) is None:
        raise Ended("This signature has no history. Add an input `history: dspy.History`.", severity="information")
    case = host.document.state.case
    run = host.main.runs.of(case.name, rendered.column.id)
    turns = history_of(case, run.run) if run is not None and run.run is not None else ()
    if not turns:
        said = host.key_words("This column has no run to continue. {app.send_column|F8} sends it.")
        raise Ended(said, severity="information")
    _refuse_added(host, rendered, turns)
    change = partial(add_turns, case=case.name, turns=turns)
    host.main.edit(
        change, Place("history", case.name, len(case.history)), f"{counted(len(turns), 'turn')} of {rendered.column.id}"
    )
    host.main.status.say(f"{counted(len(turns), 'turn')} added to the history")


def _refuse_added(host: Host, rendered: RenderedColumn, turns: Sequence[Mapping[str, Any]]) -> None:
    """End the action if the history has these turns of an old reply already."""
    state = host.document.state
    known, added = (
        [{key: one[key] for key in one if key not in RESULTS} for one in turn] for turn in (state.case.history, turns)
    )
    said = "The history has this reply already. {app.send_column|F8} asks for the next one, or paste it over this one."
    if all(one in known for one in added) and host.main.replies.is_outdated(state, rendered):
        raise Ended(host.key_words(said), severity="information")


async def _add_step(host: Host, rendered: RenderedColumn) -> None:
    """Append the step of an agent's reply with the result of its tool or code, asking for the result if unknown."""
    case, values = host.document.state.case, rendered.reading.values if rendered.reading is not None else {}
    reply, request = rendered.reply, rendered.request
    is_code, is_call = CODE_REPLY <= values.keys(), TOOL_REPLY <= values.keys()
    if reply is None or request is None or not (is_code or is_call):
        said = "This column has no step to continue. {app.send_column|F8} asks for a step, or paste a reply."
        raise Ended(host.key_words(said), severity="information")
    step, keep = await (_code_step if is_code else _tool_step)(host, rendered, values)
    answered = reply if reply.request_digest else replace(reply, request_digest=request.digest())

    def change(state: State) -> State:
        made = edits.set_reply(keep(state), case.name, rendered.column.id, answered)
        return add_turns(made, case=case.name, turns=(step,))

    number = len(case.history)
    host.main.edit(change, Place("history", case.name, number), f"step {number} of {rendered.column.id}")
    if is_code:
        does_parse, following = "generated_code" in step, "CodeAct.extractor"
        is_done = does_parse and values["finished"] is True
        added = "code" if does_parse else "code that does not parse"
    else:
        added, following = step["tool_name"], "ReAct.extract"
        is_done = added == FINISH
    done = f"the agent is done: choose the predictor {following} for its outputs"
    host.main.status.say(done if is_done else f"step {number} added: {added}")


async def _code_step(host: Host, rendered: RenderedColumn, values: Mapping[str, Any]) -> Step:
    """Return the step of a CodeAct, unless it was added before."""
    code, problem = parsed_code(str(values["generated_code"]))
    wrong = {"observation": f"Failed to parse the generated code: {problem}"}
    step = wrong if problem else {"generated_code": code}
    _refuse_added(host, rendered, (step,))
    if not problem:
        hint = "enter add the step   {ask.close|esc} add no step"
        dialog = AskScreen("Output of the code: JSON or text", "", lambda _: "", hint, is_value=True)
        step["code_output"] = json.dumps(value_of(await answer_to(host, dialog)))
    return step, lambda state: state


async def _tool_step(host: Host, rendered: RenderedColumn, values: Mapping[str, Any]) -> Step:
    """Return the step of a ReAct, unless it was added before."""
    name, arguments = str(values["next_tool_name"]), plain(values["next_tool_args"])
    step = {"thought": plain(values["next_thought"]), "tool_name": name, "tool_args": arguments}
    _refuse_added(host, rendered, (step,))
    known = next((one for one in host.document.session.tools if one.name == name), Tool(name))
    if name == FINISH:
        return {**step, "observation": "Completed."}, lambda state: state
    try:
        return {**step, "observation": canned_result(known, arguments)}, lambda state: state
    except NoResultError:
        dialog = ToolResultScreen(rendered.column.id, known, arguments, without="add no step")
    except RuntimeError as error:
        return {**step, "observation": f"Execution error in {name}: {error}"}, lambda state: state
    observation = value_of(await answer_to(host, dialog))
    keep = partial(row_edits.keep_result, name=name, arguments=arguments, result=observation)
    return {**step, "observation": observation}, keep


def add_turns(state: State, case: str, turns: Sequence[Mapping[str, Any]]) -> State:
    """Append turns to the history of the case with this name, if it exists."""
    known = next((one for one in state.session.cases if one.name == case), None)
    if known is None:
        return state
    changed = replace(known, history=(*known.history, *turns))
    return replace(state, session=state.session.replace_case(changed))
