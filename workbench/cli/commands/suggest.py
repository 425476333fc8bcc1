"""`workbench suggest`: asks a model for another wording, which becomes a variant if it is taken."""

from __future__ import annotations

import argparse

from adapters.errors import SignatureError
from adapters.lm.secrets import Scrubber
from sessions.errors import SessionError
from sessions.model import variants
from sessions.model.variants import VariantError
from workbench.cli import arguments, selection
from workbench.output import command_output, exit_codes, json_shapes, measures
from workbench.output.exit_codes import CommandError
from workbench.sending import suggesting

DESCRIPTION = """\
Ask a model to rewrite SESSION's instructions or the description of a field. The
model gets the signature and the replies that did not parse or did not meet their
expectations. Print the rewrite as a diff; --take saves it as a variant."""
EXAMPLES = """\
  workbench suggest q.session.json --model openai/gpt-6-sol
  workbench suggest q.session.json --of fields.score.desc --wish "say what 0 and 1 mean"
  workbench suggest q.session.json --take --tag stricter    then: workbench send q.session.json --variant stricter"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_session(parser)
    arguments.add_model(parser)
    parser.add_argument(
        "--of",
        default=variants.INSTRUCTIONS,
        metavar="TEXT",
        help="the text to rewrite: instructions (default) or fields.NAME.desc",
    )
    parser.add_argument("--wish", default="", metavar="WISH", help="describe what the rewrite should achieve")
    parser.add_argument("--take", action="store_true", help="save the rewrite to SESSION as a variant")
    parser.add_argument("--tag", metavar="TAG", help="the variant's tag (default: suggested, suggested-2, …)")
    arguments.add_allow_host(parser)
    arguments.add_allow_variable(parser)
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    options.adapters = []
    arguments.settle_session(options)
    session = selection.load(options.session)
    tag = options.tag or suggesting.free_tag(session)
    model = options.model or session.model
    try:
        variants.check_tag(tag)
        if options.take and any((one.tag, one.of) == (tag, options.of) for one in session.variants):
            raise CommandError(f"{tag} has a text for {options.of} already; choose another --tag")
        suggesting.check_target(session, options.of)
        failures = suggesting.failing(session)
        count = f"{len(failures)} repl{'y' if len(failures) == 1 else 'ies'} that went wrong"
        command_output.message(f"asking {model}, with {count}")
        made = suggesting.ask(
            session,
            options.of,
            model,
            options.wish,
            allow_hosts=options.allow_hosts,
            allow_variables=options.allow_variables,
        )
    except (VariantError, SignatureError) as error:
        raise CommandError(str(error)) from error
    except suggesting.SuggestionError as error:
        failed = CommandError(f"no suggestion: {Scrubber().scrubbed(str(error))}", exit_codes.PROVIDER)
        raise failed from error
    if options.take:
        try:
            taken = variants.with_variant(session, tag, options.of, made.text)
        except (SessionError, VariantError) as error:
            raise CommandError(str(error)) from error
        selection.save(session, taken, options.session)
    if options.json:
        said = {"of": made.of, "before": made.before, "text": made.text, "lines": list(made.lines)}
        kept = {"tag": tag if options.take else None, "taken": options.take, "failures": len(failures)}
        command_output.json({"suggestion": {**said, **kept, "run": json_shapes.run(made.run)}})
        return exit_codes.OK
    command_output.diff_lines(made.lines)
    command_output.message(measures.line(made.run.attempts[-1]))
    if options.take:
        command_output.message(f"saved as variant {tag}; try it: `workbench send {options.session} --variant {tag}`")
    else:
        command_output.message("nothing was written; --take saves it as a variant")
    return exit_codes.OK
