"""`workbench record`: record prompts, replies and parse results for `check`.

Record, for every column of every case, the messages, the request, the reply
last shown (sent, edited or pasted) and its parse result. `workbench check` then
reports any change. Skips columns without a reply; names replies that answer
another prompt or model than the recorded one.

examples:
  workbench record q.session.json
  workbench record q.session.json --case rainy --adapter chat
"""

from __future__ import annotations

import shlex

from adapters.formats.catalog import UnknownAdapterError
from sessions.errors import SessionError, few
from sessions.file import store
from sessions.running import recording, rendering
from workbench.cli import arguments, selection
from workbench.config import user_code
from workbench.output import console, exit_codes
from workbench.output.exit_codes import CommandError

MOST_NAMED = 5
"""The number of outdated replies that are named."""


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session")
    arguments.add_columns(parser, default_case="all")


def run(options: arguments.Options) -> int:
    loaded = session = store.load(options.session)
    allow_code = user_code.named(options.adapters)
    columns = selection.choose_columns(session, options.adapters)
    cases = session.cases if options.case is None else (selection.choose_case(session, options.case),)
    done: list[dict[str, object]] = []
    for case in cases:
        for column in columns:
            if column.id not in case.replies:
                continue
            try:
                adapter = rendering.adapter_of(column, allow_code=column.adapter in allow_code)
                session = recording.record(session, session.case(case.name), column, adapter=adapter)
            except (SessionError, UnknownAdapterError) as error:
                raise CommandError(f"{options.session}: {error}") from error
            one: dict[str, object] = {"case": case.name, "column": column.id}
            if recording.answers_another(session, session.case(case.name), column):
                one["outdated"] = True
            done.append(one)
    if not done:
        sends = f"`workbench send {shlex.quote(options.session)} --save`"
        raise CommandError(f"{options.session} has no reply to record; {sends} gets some", exit_codes.NOTHING)
    selection.save(loaded, session, options.session, winner="our results")
    outdated = [f"{one['case']} · {one['column']}" for one in done if "outdated" in one]
    if outdated:
        answers = "the reply answers" if len(outdated) == 1 else "the replies answer"
        sends = f"`workbench send {shlex.quote(options.session)} --save` gets replies to the recorded prompts"
        named = few(outdated, MOST_NAMED)
        console.problem(f"{named}: {answers} another prompt or model; {sends}")
    said = "\n".join([f"recorded {one['case']} · {one['column']}" for one in done])
    console.result(options.json, {"path": options.session, "recorded": done}, said)
    return exit_codes.OK
