"""`workbench diff`: compare the prompts of two sessions, or of a session with two adapters."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from adapters.requests.request import Request
from workbench.cli import arguments, selection
from workbench.cli.arguments import Parser
from workbench.cli.selection import Selection
from workbench.output import command_output, exit_codes, prompt_diff
from workbench.output.exit_codes import CommandError
from workbench.output.prompt_diff import SectionDiff

DESCRIPTION = """\
Compare two requests section by section (system, each demo, each turn of
history, the inputs, the parameters) and show the lines that differ. Calls no
model. Exits with 1 when anything differs."""
EXAMPLES = """\
  workbench diff before.session.json after.session.json
  workbench diff before.session.json after.session.json --adapter chat
  workbench diff q.session.json --adapter chat json
  workbench diff q.session.json --adapter chat --variant gepa-3"""


def add_arguments(parser: Parser) -> None:
    parser.add_argument("session", metavar="A", help="a session file")
    parser.add_argument("other", nargs="?", metavar="B", help="another session; without it, compares two adapters of A")
    arguments.add_columns(parser)
    arguments.add_variants(parser, "each column of A against itself with the variants of this tag")
    arguments.add_json(parser)


def run(options: argparse.Namespace) -> int:
    differences = {name: prompt_diff.compare(before, after) for name, before, after in _pairs(options)}
    if options.json:
        command_output.json({"differences": {name: list(found) for name, found in differences.items()}})
    else:
        for name, found in differences.items():
            _write(name, found)
    return exit_codes.DIFFERENT if any(differences.values()) else exit_codes.OK


def _pairs(options: argparse.Namespace) -> Iterator[tuple[str, Request, Request]]:
    """Yield the pairs to compare, by name: a column id, or `chat → json`."""
    left = selection.select(options.session, options.adapters, options.case)
    if options.variants:
        yield from _variants_added(left, options)
        return
    if options.other is None:
        if len(options.adapters) != 2:
            raise CommandError(
                "name a second session, or two adapters: `workbench diff q.session.json --adapter chat json`"
            )
        first, second = left.columns
        yield (
            f"{first.id} → {second.id}",
            selection.require_request(left, first),
            selection.require_request(left, second),
        )
        return
    right = selection.select(options.other, options.adapters, options.case)
    ids = [column.id for column in right.columns]
    for column in left.columns:
        if column.id not in ids:
            command_output.message(f"column {column.id} is in {options.session} alone")
            continue
        other = right.columns[ids.index(column.id)]
        yield column.id, selection.require_request(left, column), selection.require_request(right, other)


def _variants_added(left: Selection, options: argparse.Namespace) -> Iterator[tuple[str, Request, Request]]:
    """Yield each column paired with each of its variants."""
    if options.other is not None:
        raise CommandError("--variant compares a session with itself: leave the second one out")
    for column in left.columns:
        for tag in options.variants:
            varied = selection.add_variant_columns(replace(left, columns=(column,)), [tag])
            other = varied.columns[-1]
            yield (
                f"{column.id} → {other.id}",
                selection.require_request(left, column),
                selection.require_request(varied, other),
            )


def _write(name: str, found: tuple[SectionDiff, ...]) -> None:
    command_output.heading(
        f"[{name}] {f'{len(found)} sections differ' if found else 'the same'}", "red" if found else "green"
    )
    for one in found:
        state = "only after" if one.before is None else "only before" if one.after is None else "changed"
        command_output.heading(f"  {one.section}: {state}", "blue")
        command_output.diff_lines(one.lines, indent="    ")
