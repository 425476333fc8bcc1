"""`workbench render`: the messages each adapter makes of a session, without calling anything."""

from __future__ import annotations

import argparse
from typing import Any

from adapters.lm import tokenizers
from adapters.lm.capabilities import split_model
from adapters.requests.request import Request
from adapters.requests.token_ledger import Counts, ledger_of, pieces_of
from adapters.values.plain_json import plain
from sessions.running import rendering
from workbench.cli import arguments, requests, selection
from workbench.output import command_output, exit_codes, history_layout, json_shapes, spending
from workbench.output.spending import Spent, spent_by

DESCRIPTION = """\
Prints the messages that each column's adapter makes, laid out as
dspy.inspect_history does. Calls no model. What is printed is what `send` would
send: fields that a model takes natively have left the prompt. With --tokens it
prints what the whole request costs, by where its tokens come from."""
EXAMPLES = """\
  workbench render q.session.json                      every column of the session, first case
  workbench render q.session.json --adapter chat baml  a column, and an adapter that is no column yet
  workbench render q.session.json --request            with response_format, tools and parameters
  workbench render q.session.json --tokens             where the tokens go, and what a thousand calls cost
  workbench render q.session.json --json | jq '.prompts.chat.messages'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_session(parser)
    arguments.add_columns(parser)
    arguments.add_model(parser)
    parser.add_argument("--request", action="store_true", help="the whole request as JSON instead of its messages")
    parser.add_argument(
        "--tokens",
        action="store_true",
        help="where the tokens of each request go, by origin; ~ marks what the model's own tokenizer did not count",
    )
    arguments.add_variants(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    arguments.settle_session(options)
    chosen = selection.select(options.session, options.adapters, options.case, options.model)
    chosen = selection.with_variants(chosen, options.variants)
    shapes: dict[str, Any] = {}
    spent: dict[str, Spent] = {}
    codes = [exit_codes.OK]
    for column in chosen.columns:
        request = requests.prepare(chosen, column)
        if isinstance(request, requests.Unrenderable):
            codes.append(exit_codes.USAGE)
            command_output.message(f"workbench: {column.id}: {request.message}")
            shapes[column.id] = request.as_dict()
            continue
        if options.tokens:
            spent[column.id] = spent_by(request, ledger_of(request, _counted(request)))
        if options.json:
            shapes[column.id] = {
                **json_shapes.rendered(request),
                "sent": plain(rendering.body_of(chosen.session, column, request)),
            }
        elif options.tokens:
            continue
        elif options.request:
            command_output.text(json_shapes.dumps(rendering.body_of(chosen.session, column, request)))
        else:
            history_layout.write(f"{column.id} → {request.model}", [m.as_dict() for m in request.messages])
    if options.json:
        command_output.json({"prompts": shapes, **(json_shapes.ledgers(spent) if options.tokens else {})})
    elif options.tokens and spent:
        command_output.text(spending.text_of(spent))
    return exit_codes.worst(codes)


def _counted(request: Request) -> Counts | None:
    """As the model's own tokenizer counts, where it is at hand."""
    provider, name = split_model(request.model or "")
    return tokenizers.counts_of(name, pieces_of(request)) if provider == "openai" else None
