"""`workbench render`: the messages each adapter makes of a session, without calling anything."""

from __future__ import annotations

import argparse
from typing import Any

from adapters.values.plain_json import plain
from sessions.running import rendering
from workbench.cli import arguments, requests, selection
from workbench.output import command_output, exit_codes, history_layout, json_shapes

DESCRIPTION = """\
Prints the messages that each column's adapter makes, laid out as
dspy.inspect_history does. Calls no model. What is printed is what `send` would
send: fields that a model takes natively have left the prompt."""
EXAMPLES = """\
  workbench render q.session.json                      every column of the session, first case
  workbench render q.session.json --adapter chat baml  a column, and an adapter that is no column yet
  workbench render q.session.json --request            with response_format, tools and parameters
  workbench render q.session.json --json | jq '.prompts.chat.messages'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_session(parser)
    arguments.add_columns(parser)
    arguments.add_model(parser)
    parser.add_argument("--request", action="store_true", help="the whole request as JSON instead of its messages")
    arguments.add_variants(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    arguments.settle_session(options)
    chosen = selection.select(options.session, options.adapters, options.case, options.model)
    chosen = selection.with_variants(chosen, options.variants)
    shapes: dict[str, Any] = {}
    codes = [exit_codes.OK]
    for column in chosen.columns:
        request = requests.prepare(chosen, column)
        if isinstance(request, requests.Unrenderable):
            codes.append(exit_codes.USAGE)
            command_output.message(f"workbench: {column.id}: {request.message}")
            shapes[column.id] = request.as_dict()
        elif options.json:
            shapes[column.id] = {
                **json_shapes.rendered(request),
                "sent": plain(rendering.body_of(chosen.session, column, request)),
            }
        elif options.request:
            command_output.text(json_shapes.dumps(rendering.body_of(chosen.session, column, request)))
        else:
            history_layout.write(f"{column.id} → {request.model}", [m.as_dict() for m in request.messages])
    if options.json:
        command_output.json({"prompts": shapes})
    return exit_codes.worst(codes)
