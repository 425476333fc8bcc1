"""`workbench stress`: damage good replies and compare the verdicts of the parsers.

Damages a good reply in more than a hundred named ways, as careless models,
servers and gateways do, and shows each adapter's verdict: same values, parse
error, flagged, or silently wrong, the dangerous case. The good reply is the
column's recording, else the reply below it, another column's reply, a demo, or
the answer of offline/exact. Tries every adapter, with the options of the
session's columns. Calls no model.

Exits 0, or 1 with --fail-over if an adapter is silently wrong more often; 4
without a reply to damage; with --fail-over, also if an adapter that you name
has none.

examples:
  workbench stress q.session.json
  workbench stress q.session.json --adapter chat xml --case rain
  workbench stress q.session.json --adapter chat --show 'a draft, then the answer'
  workbench stress q.session.json --adapter json --fail-over 3       in CI
  workbench stress q.session.json --dspy-python old/bin/python       beside another dspy
  workbench stress q.session.json --markdown >> notes.md
  workbench stress q.session.json --html stress.html
  workbench stress q.session.json --json | jq .counts
"""

from __future__ import annotations

import textwrap
from itertools import groupby
from pathlib import Path

from adapters.late_dataclasses import replace
from adapters.mutations import CATALOGUE
from sessions.errors import counted
from sessions.file import store
from sessions.stress import grid
from sessions.stress.grid import VERDICTS, Grid, Survival, Verdict
from workbench.cli import arguments, selection
from workbench.output import (
    console,
    display,
    exit_codes,
    json_shapes,
    markdown,
    reading_text,
    survival_words,
)
from workbench.output.survival_words import MEANINGS, NOT_APPLICABLE, SIGNS, WORDS

NAME_WIDTH = 36
"""The width of a mutation's name in cells, so that six columns fit into 80."""
HEAD_WIDTH = 12
VALUE_WIDTH = 26
"""The most characters of each of two values on a line."""
LIMIT = arguments.whole_number(0, 1000)
_COLOURS: dict[Verdict, str] = {"silently_wrong": "red", "flagged": "yellow", "refused": "dim", "same": "green"}


def add_arguments(parser: arguments.Parser) -> None:
    parser.shared("session")
    arguments.add_columns(parser)
    parser.several(
        "--dspy-python",
        "PYTHON",
        "add the parsers of the dspy of that Python, or of an added release (3.0.4), a column each; repeatable",
    )
    parser.option("--show", "NAME", "show the replies of this mutation with their parse results")
    parser.option("--fail-over", "N", "exit 1 if an adapter is silently wrong more than N times", type=LIMIT)
    parser.flag("--markdown", "write the grid as a Markdown table")
    parser.option("--html", "FILE", "write a page for a browser, with every damaged reply")


def run(options: arguments.Options) -> int:
    if options.show is not None and options.show not in CATALOGUE:
        raise exit_codes.CommandError(exit_codes.no_such("mutation", options.show, CATALOGUE))
    if options.show is not None and (options.json or options.markdown):
        raise exit_codes.CommandError("--show prints text: leave out --json and --markdown")
    if options.json and options.markdown:
        raise exit_codes.CommandError("--json and --markdown print two forms of the grid: choose one")
    found = _grid(options)
    if options.html is not None:
        from workbench.pages import report_pages

        arguments.write_output(options.html, report_pages.survival_page(found, Path(options.session).name))
    if options.json:
        console.json(json_shapes.survival(found))
    elif options.markdown:
        from workbench.pages import report_pages

        console.text(markdown.document([report_pages.counts(found), report_pages.grid(found)]), end="")
    elif options.show is not None:
        # Print a mutation with the text for each parser, and its parse result.
        mutation = CATALOGUE[options.show]
        console.text(f"{mutation.name}: {mutation.imitates}\n")
        for column in found.columns:
            cell = column.cells.get(options.show)
            if cell is None:
                console.heading(f"[{column.id}] not applicable to its reply", "dim")
                continue
            console.heading(f"[{column.id}] {SIGNS[cell.verdict]} {WORDS[cell.verdict]}", _COLOURS[cell.verdict])
            for line in survival_words.differences(cell):
                console.text(f"  {line}")
            console.text(f"\n{cell.text}\n")
            reading_text.write(column.id, cell.reading)
    else:
        _write(found, Path(options.session).name)
    broken = [one for one in found.columns if one.good is not None]
    if not broken:
        return exit_codes.NOTHING
    limit = options.fail_over
    over = [one for one in broken if limit is not None and one.counts["silently_wrong"] > limit]
    for one in over:
        times = counted(one.counts["silently_wrong"], "time")
        console.message(f"{one.id} is silently wrong {times}, of at most {limit}")
    if over:
        return exit_codes.DIFFERENT
    is_unjudged = limit is not None and options.adapters and len(broken) < len(found.columns)
    return exit_codes.NOTHING if is_unjudged else exit_codes.OK


def _grid(options: arguments.Options) -> Grid:
    if options.adapters:
        chosen = selection.select(options.session, options.adapters, options.case)
        columns = {column.id: column for column in chosen.columns}
        session, case, allow_code = chosen.session, chosen.case, chosen.allow_code
    else:
        session, allow_code = store.load(options.session), frozenset()
        case = selection.choose_case(session, options.case)
        selection.report_first_case(session, options.case)
        columns = grid.every_adapter(session)
    found = grid.grid_of(session, case, columns, allow_code)
    if options.dspy_python:
        # Insert other dspy releases' columns after each column whose parser they have.
        beside: dict[str, list[Survival]] = {column.id: [column] for column in found.columns}
        for python in options.dspy_python:
            from sessions.releases import environments  # loads subprocess

            with environments.open_named(python) as dspy:
                for column in found.columns:
                    other = grid.read_by(dspy, session, column)
                    beside[column.id] += [] if other is None else [other]
        found = replace(found, columns=tuple([one for columns in beside.values() for one in columns]))
    for column in found.columns:
        if column.problem:
            console.problem(f"{column.id}: {column.problem}")
    for said in survival_words.passed_over(found.columns):
        console.message(f"not used: {said}")
    return found


def _write(found: Grid, name: str) -> None:
    """Print counts, silently wrong values, and the grid."""
    count = sum(len(one.cells) for one in found.columns)
    ways = counted(len(found.mutations), "way")
    adapters = counted(sum(one.good is not None for one in found.columns), "adapter")
    console.heading(f"{name} · {found.case}: {count} damaged replies, {ways} × {adapters}", "blue")
    for source in survival_words.sources(found.columns):
        console.text(f"  the good reply: {source}")
    console.text("")
    heads = [display.one_line(one.id, HEAD_WIDTH) for one in found.columns]
    console.text(_row("", heads, heads))
    for verdict in VERDICTS:
        counts = [str(one.counts[verdict]) if one.good is not None else "-" for one in found.columns]
        console.heading(_row(f"{SIGNS[verdict]} {WORDS[verdict]}", counts, heads), _COLOURS[verdict])
    silent = found.silently_wrong()
    if silent:
        console.heading("\nsilently wrong", "red")
    broken = [one for one in found.columns if one.good is not None]
    for mutation, columns in silent:
        ids = "every adapter" if len(columns) == len(broken) > 1 else ", ".join([one.id for one in columns])
        console.text(f"  {mutation.name}: {ids}")
        console.text(f"      {mutation.imitates}")
        for line in survival_words.differences(columns[0].cells[mutation.name], VALUE_WIDTH):
            console.text(f"      {line}")
    for group, mutations in groupby(found.mutations, lambda one: one.group):
        console.heading(f"\n{group}", "blue")
        for mutation in mutations:
            cells = [one.cells.get(mutation.name) for one in found.columns]
            signs = [NOT_APPLICABLE if one is None else SIGNS[one.verdict] for one in cells]
            row = _row(f"  {mutation.name}", signs, heads)
            bad = [_COLOURS[one] for one in VERDICTS[:2] if SIGNS[one] in row[NAME_WIDTH:]]
            console.heading(row, bad[0] if bad else None)
    console.text("")
    for verdict in VERDICTS:
        console.text(f"{SIGNS[verdict]} {WORDS[verdict]}: {MEANINGS[verdict]}")
    console.text(f"{NOT_APPLICABLE} this cannot happen to a reply of that form and those values")
    for line in survival_words.decision(found):
        console.text("\n".join(textwrap.wrap(line, 80, subsequent_indent="  ")))


def _row(name: str, cells: list[str], heads: list[str]) -> str:
    padded = [
        " " * (display.cell_width(head) - display.cell_width(one)) + one for one, head in zip(cells, heads, strict=True)
    ]
    return f"{name:<{NAME_WIDTH}}  {'  '.join(padded)}".rstrip()
