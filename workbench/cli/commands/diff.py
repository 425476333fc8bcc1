"""`workbench diff`: compare the prompts of two sessions, or of a session with two adapters.

Compare two requests section by section (system, each demo, each turn of
history, the inputs, the parameters) and show the lines that differ, long lines
cut to the change; --json has them whole. Compares the first case of A with
the case of that name in B, unless --case names another. Calls no model. Exits
with 1 when anything differs.

examples:
  workbench diff before.session.json after.session.json
  workbench diff before.session.json after.session.json --adapter chat
  workbench diff q.session.json --adapter chat json
  workbench diff q.session.json --adapter chat --variant gepa-3
"""

from __future__ import annotations

from collections.abc import Iterator

from adapters.late_dataclasses import replace
from sessions.checking import reports
from sessions.errors import counted
from sessions.model.session import Column
from workbench.cli import arguments, selection
from workbench.output import console, exit_codes, prompt_diff

Pair = tuple[tuple[selection.Selection, Column], tuple[selection.Selection, Column]]


def add_arguments(parser: arguments.Parser) -> None:
    parser.add_argument("session", metavar="A", help="a session file")
    parser.add_argument("other", nargs="?", metavar="B", help="another session; without it, compares two adapters of A")
    arguments.add_columns(parser)
    arguments.add_variants(parser, "each column of A against itself with the variants of this tag")


def run(options: arguments.Options) -> int:
    differences = {}
    for before, after in _pairs(options):
        name = before[1].id if before[1].id == after[1].id else f"{before[1].id} → {after[1].id}"
        differences[name] = prompt_diff.compare(selection.require_request(*before), selection.require_request(*after))
    if not differences:
        raise exit_codes.CommandError("nothing was compared: the sessions have no column in common", exit_codes.NOTHING)
    if options.json:
        console.json({"differences": {name: list(found) for name, found in differences.items()}})
    else:
        for name, found in differences.items():
            said = counted(len(found), "section differs", "sections differ") if found else "the same"
            console.heading(f"[{name}] {said}", "red" if found else "green")
            for one in found:
                state = "only after" if one.before is None else "only before" if one.after is None else "changed"
                console.heading(f"  {one.section}: {state}", "blue")
                console.diff_lines(reports.marked(one.lines), indent="    ")
    return exit_codes.DIFFERENT if any(differences.values()) else exit_codes.OK


def _pairs(options: arguments.Options) -> Iterator[Pair]:
    """Yield the columns to compare: of two sessions by id, two adapters, or each column with each of its variants."""
    left = selection.select(options.session, options.adapters, options.case)
    if options.variants:
        if options.other is not None:
            raise exit_codes.CommandError("--variant compares a session with itself: leave the second one out")
        for column in left.columns:
            for tag in options.variants:
                varied = selection.add_variant_columns(replace(left, columns=(column,)), [tag])
                yield (left, column), (varied, varied.columns[-1])
    elif options.other is None:
        if len(options.adapters) != 2:
            raise exit_codes.CommandError(
                "name a second session, or two adapters: `workbench diff q.session.json --adapter chat json`"
            )
        first, second = left.columns
        yield (left, first), (left, second)
    else:
        right = selection.select(options.other, options.adapters, options.case, every_case=True)
        same = next((one for one in right.session.cases if one.name == left.case.name), None)
        if same is None:
            selection.report_first_case(right.session, options.case)
        right = replace(right, case=same or right.case)
        there = {column.id: column for column in right.columns}
        for column in left.columns:
            if column.id in there:
                yield (left, column), (right, there[column.id])
            else:
                console.message(f"column {column.id} is in {options.session} alone")
        ours = {column.id for column in left.columns}
        for column in right.columns:
            if column.id not in ours:
                console.message(f"column {column.id} is in {options.other} alone")
