"""A bench in words, as text, Markdown, JUnit and JSON; the page with every reply is `html_report`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from sessions.bench.grid import Cell, Change, Counted, Grid, Measure, Pair, median_ms, p95_ms
from sessions.bench.results import BenchRun
from sessions.fixtures import junit
from workbench.output import measures
from workbench.output.markdown import SIZE_LIMIT, code

SIGNS = {"good": "✓", "mixed": "◐", "bad": "✗", "broken": "!", "none": "·"}
"""A cell's standing as one sign, which says the same as its colour."""
IN_WORDS = {
    "good": "every run parsed and was as expected",
    "mixed": "some runs did, some did not",
    "bad": "no run parsed and was as expected",
    "broken": "no reply came",
    "none": "not run yet",
}
SAID: dict[Measure, str] = {"parsed": "parsed", "expected": "as expected"}
MOST_PAIRS = 8
"""Sentences about pairs that a text shows; the rest are counted, and all of them are in --json."""


def count_of(cell: Counted) -> str:
    """`9/10`: how many of the answered runs parsed and were as expected; `–` where nothing was answered."""
    total = len(cell.answered)
    return f"{cell.good}/{total}" if total else "–"


def share_words(total: Counted, measure: Measure) -> str:
    """`19 of 20 parsed (76–99 %)`; empty where there is nothing to say."""
    share = total.share(measure)
    if share is None:
        return ""
    interval = total.interval(measure)
    low, high = math.floor(interval.low * 100), math.ceil(interval.high * 100)
    return f"{share.successes} of {share.runs} {SAID[measure]} ({low}–{high} %)"


def took(total: Counted) -> str:
    """`~412 tokens, $0.02, 812 ms (p95 1,204 ms)`, tokens a run on average."""
    if not total.answered:
        return "nothing answered"
    tokens = "? tokens" if total.tokens is None else f"{total.tokens / len(total.answered):,.0f} tokens a run"
    times = median_ms(total.times), p95_ms(total.times)
    time = "" if times[0] is None or times[1] is None else f", {times[0]:,.0f} ms (p95 {times[1]:,.0f})"
    price = "free" if total.cost == 0 else measures.cost(total.cost)
    return f"{'~' if total.is_estimate else ''}{tokens}, {price}{time}"


def failed_words(total: Counted) -> str:
    """How many runs got no reply, and mostly why; empty where all did."""
    reasons = Counter(one.error or "?" for one in total.runs if one.outcome == "failed")
    if not reasons:
        return ""
    return f"{total.failed} without a reply: {reasons.most_common(1)[0][0]}"


def case_name(grid: Grid, file: str, case: str) -> str:
    """The case; with the session before it where there are several."""
    return f"{file}::{case}" if grid.has_several_files else case


def flip_words(cell: Cell) -> str:
    """Such as `parsed in 7 of 10 runs, as expected in 3 of 10`."""
    found = []
    for measure in cell.flips:
        share = cell.share(measure)
        if share is not None:
            found.append(f"{SAID[measure]} in {share.successes} of {share.runs} runs")
    return ", ".join(found)


def telling_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Certain differences first, the most certain before the others."""
    return sorted(pairs, key=lambda one: (not one.difference.is_certain, one.difference.p))


def terminal_lines(grid: Grid) -> Iterator[tuple[str, str]]:
    """Lines for a terminal, each with a colour or "" : the grid, the columns, the flips, what may be concluded."""
    yield from _grid_lines(grid)
    yield "", ""
    for total in grid.columns:
        parts = [share_words(total, "parsed"), share_words(total, "expected"), took(total), failed_words(total)]
        yield f"{total.column}: {'; '.join(part for part in parts if part)}", "red" if total.failed else ""
    flipped = [cell for cell in grid.cells if cell.flips]
    if flipped:
        yield f"{len(flipped)} cells flip between repeats:", "yellow"
        for cell in flipped:
            yield f"  {case_name(grid, cell.file, cell.case)} · {cell.column}: {flip_words(cell)}", ""
    for line in conclusions(grid, MOST_PAIRS):
        yield line, ""


def conclusions(grid: Grid, most: int) -> list[str]:
    """The sentences about pairs, up to `most` of them, and how many are left out."""
    pairs = telling_pairs(grid.pairs)
    lines = [one.words for one in pairs[:most]]
    if len(pairs) > most:
        certain = sum(one.difference.is_certain for one in pairs)
        lines.append(f"… of {len(pairs)} pairs of columns {certain} differ for certain; --json has them all")
    return lines


WIDEST = 110
"""Characters of a line of the grid. A wider one is turned on its side, and one that is too wide both ways left out."""


def _grid_lines(grid: Grid) -> Iterator[tuple[str, str]]:
    """A row a case, or a row a column where that fits better."""
    cases = [case_name(grid, *place) for place in grid.cases]
    columns = [one.column for one in grid.columns]
    rows = [[_cell_text(cell) for cell in grid.row(*place)] for place in grid.cases]
    turned = [list(cells) for cells in zip(*rows, strict=True)]
    for heads, names, cells in ((columns, cases, rows), (cases, columns, turned)):
        lines = _laid_out(heads, names, cells)
        if max(map(len, lines)) <= WIDEST:
            yield from [(line, "") for line in lines]
            return
    yield f"{len(cases):,} cases × {len(columns):,} columns: --html draws them all", "dim"


def _laid_out(heads: Sequence[str], names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """A table in text. Heads that are too long are numbered, and listed before it."""
    numbered = sum(len(head) + 2 for head in heads) > WIDEST - 30
    shown = [str(number) for number in range(1, len(heads) + 1)] if numbered else list(heads)
    lines = [f"{number:>3}  {head}"[:WIDEST] for number, head in enumerate(heads, 1)] if numbered else []
    width = min(40, max(map(len, names)))
    widths = [max(len(head), *[len(row[place]) for row in cells]) for place, head in enumerate(shown)]
    for name, row in (("", shown), *zip(names, cells, strict=True)):
        cut = name if len(name) <= width else f"{name[: width - 1]}…"
        parts = [f"{cell:<{size}}" for cell, size in zip(row, widths, strict=True)]
        lines.append(f"{cut:<{width}}  {'  '.join(parts)}".rstrip())
    return lines


def _cell_text(cell: Cell | None) -> str:
    if cell is None:
        return ""
    return f"{SIGNS[cell.standing]} {count_of(cell)}" + ("~" if cell.flips else "")


def change_words(grid: Grid, changes: Sequence[Change]) -> list[str]:
    """What became of each cell, the worse ones first, and how many of each kind."""
    order = ("worse", "better", "new", "gone")
    lines = []
    for word in order:
        for one in changes:
            if one.word == word:
                before = "–" if one.before is None else count_of(one.before)
                now = "–" if one.now is None else count_of(one.now)
                lines.append(f"{word}: {case_name(grid, one.file, one.case)} · {one.column}: {before} → {now}")
    counts = Counter(one.word for one in changes)
    return [*lines, ", ".join(f"{counts[word]} {word}" for word in ("better", "worse", "same", "new", "gone"))]


def markdown(grid: Grid, changes: Sequence[Change] | None) -> str:
    """For a pull request: bounded, and whatever a session says is plain text in it."""
    lines = ["## Bench", "", "| case | " + " | ".join(_table_code(one.column) for one in grid.columns) + " |"]
    lines.append("|---|" + "---|" * len(grid.columns))
    for file, case in grid.cases:
        cells = " | ".join(_cell_text(cell) for cell in grid.row(file, case))
        lines.append(f"| {_table_code(case_name(grid, file, case))} | {cells} |")
    lines += ["", "✓ all · ◐ some · ✗ none of the runs parsed and was as expected · ~ flips · ! no reply", ""]
    for total in grid.columns:
        parts = [share_words(total, "parsed"), share_words(total, "expected"), took(total)]
        lines.append(f"- {code(total.column)}: {'; '.join(part for part in parts if part)}")
    lines += ["", *[f"- {code(line)}" for line in conclusions(grid, MOST_PAIRS)]]
    if changes is not None:
        lines += ["", "### Beside the bench before", "", *[f"- {code(line)}" for line in change_words(grid, changes)]]
    return _bounded(lines)


def _bounded(lines: Sequence[str]) -> str:
    size = 0
    kept: list[str] = []
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > SIZE_LIMIT:
            return "\n".join([*kept, f"\n… and {len(lines) - number} more lines\n"])
        kept.append(line)
    return "\n".join([*kept, ""])


def _table_code(name: str) -> str:
    """Text of others in a cell of a table, which a `|` would end even within code."""
    return code(name).replace("|", "\\|")


def junit_report(grid: Grid) -> str:
    """A test case a cell: it fails when a run did not parse or was not as expected, and is an error without a reply."""
    found = []
    for cell in grid.cells:
        seconds = sum(cell.times) / 1000
        name = f"{cell.case}::{cell.column}"
        if not cell.runs:
            found.append(junit.Judged(cell.file, name, seconds, "skipped", "not run"))
        elif not cell.answered:
            found.append(junit.Judged(cell.file, name, seconds, "error", failed_words(cell)))
        elif cell.standing == "good":
            found.append(junit.Judged(cell.file, name, seconds))
        else:
            head = f"{count_of(cell)} runs parsed and were as expected"
            details = "\n".join(_why(run) for run in cell.answered if _why(run))
            found.append(junit.Judged(cell.file, name, seconds, "failure", head, details))
    return junit.written("workbench bench", found)


def _why(run: BenchRun) -> str:
    """Why a run is no good one, in a line; empty for one that is."""
    if run.outcome == "refused":
        return f"run {run.number}: {run.error}"
    return f"run {run.number}: {'; '.join(run.failures)}" if run.failures else ""


def as_json(grid: Grid, changes: Sequence[Change] | None) -> dict[str, Any]:
    """The shape of `bench --json`."""
    shape: dict[str, Any] = {
        "columns": {one.column: _column_shape(one) for one in grid.columns},
        "pairs": [_pair_shape(one) for one in grid.pairs],
        "cells": [_cell_shape(one) for one in grid.cells],
        "repeat": grid.repeat,
    }
    if changes is not None:
        shape["changes"] = [
            {"path": one.file, "case": one.case, "column": one.column, "change": one.word} for one in changes
        ]
    return shape


def _counted_shape(one: Counted) -> dict[str, Any]:
    interval = one.interval("parsed")
    held = one.interval("expected")
    return {
        "runs": len(one.answered),
        "parsed": one.parsed,
        "interval": [interval.low, interval.high],
        "expectations": one.held if one.expecting else None,
        "expecting": one.expecting,
        "expectations_interval": [held.low, held.high] if one.expecting else None,
        "failed": one.failed,
        "flags": dict(one.flags),
        "tokens": one.tokens,
        "tokens_are_estimates": one.is_estimate,
        "cost": one.cost,
        "ms": {"median": median_ms(one.times), "p95": p95_ms(one.times)},
    }


def _column_shape(one: Counted) -> dict[str, Any]:
    first = next(iter(one.runs), None)
    return {**_counted_shape(one), "adapter": first.adapter if first else None, "model": first.model if first else None}


def _pair_shape(one: Pair) -> dict[str, Any]:
    pair = one.difference
    return {
        "a": one.first,
        "b": one.second,
        "measure": one.measure,
        "differ": pair.is_certain,
        "p": pair.p,
        "p_adjusted": pair.p_adjusted,
        "difference": pair.mean,
        "cases": len(pair.first),
        "a_better": pair.better[0],
        "b_better": pair.better[1],
        "cases_needed": pair.needed,
        "words": one.words,
    }


def _cell_shape(one: Cell) -> dict[str, Any]:
    return {
        "path": one.file,
        "case": one.case,
        "column": one.column,
        **_counted_shape(one),
        "standing": one.standing,
        "values_agree": one.agreed,
        "different_values": len(one.values),
        "flips": list(one.flips),
        "errors": list(dict.fromkeys(run.error for run in one.runs if run.error)),
        "failures": list(dict.fromkeys(failure for run in one.answered for failure in run.failures)),
    }


_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%?")


def share_of(text: str) -> float | None:
    """`0.9` or `90%` as a share from 0 to 1; None for what is none."""
    found = _PERCENT.fullmatch(text.strip())
    if found is None:
        return None
    number = float(found[1]) / (100 if text.strip().endswith("%") else 1)
    return number if 0 <= number <= 1 else None
