"""Write a bench for other programs: as JSON, and as JUnit XML for the CI system."""

from __future__ import annotations

from typing import Any

from sessions.bench.conclusions import Comparison, Conclusions
from sessions.bench.grid import Grid, misses_by_cause
from sessions.bench.totals import Cell
from sessions.checking import reports
from sessions.file.json_values import JSON
from workbench.bench.report import FACTS, count_of, reasons_of


def junit_report(grid: Grid) -> str:
    """Write JUnit XML: a cell fails unless all its runs are good, and is an error if none count."""
    found = []
    for cell in grid.cells:
        seconds = sum(cell.times) / 1000
        name = f"{cell.case}::{cell.column}"
        if not cell.many:
            found.append(reports.Judged(cell.file, name, seconds, "skipped", "not run"))
        elif not cell.counted:
            found.append(reports.Judged(cell.file, name, seconds, "error", cell.reason("failed")))
        elif cell.standing == "good":
            found.append(reports.Judged(cell.file, name, seconds))
        else:
            head = f"{count_of(cell)} runs parsed and were as expected"
            details = [f"run {run.number}: {'; '.join(reasons_of(run))}" for run in cell.runs if reasons_of(run)]
            found.append(reports.Judged(cell.file, name, seconds, "failure", head, "\n".join(details)))
    for reason, cells in grid.unrenderable.items():
        for path, name in [one.split("::", 1) for one in cells]:
            found.append(reports.Judged(path, name, 0.0, "error", reason))
    return reports.junit_of_cases("workbench bench", found)


def as_json(grid: Grid, compared: Comparison | None, baseline: str | None = None) -> dict[str, Any]:
    """Return the JSON of `bench --json`."""
    concluded = Conclusions(grid, baseline)
    verdict = concluded.verdict
    shape: dict[str, Any] = {
        "verdict": verdict.line,
        "ranking": {
            "best": verdict.best,
            "not_told_apart": list(verdict.not_told_apart),
            "worse": [one._asdict() for one in verdict.worse],
            "baseline": verdict.baseline,
            "better": [one._asdict() for one in verdict.better],
            "without_result": list(verdict.without),
            "cases": verdict.cases,
            "not_counted": verdict.not_counted,
        },
        "columns": {
            one.column: {
                **{fact.key: fact.value(one) for fact in FACTS},
                "adapter": one.adapter or None,
                "model": one.model or None,
            }
            for one in grid.columns
        },
        "pairs": [
            {
                "a": one.first,
                "b": one.second,
                "measure": one.measure,
                "differ": one.difference.is_certain,
                "p": one.difference.p,
                "p_adjusted": one.difference.p_adjusted,
                "difference": one.difference.mean,
                "interval": [one.difference.interval.low, one.difference.interval.high],
                "cases": len(one.difference.first),
                "not_counted": one.left_out,
                "a_better": one.difference.better[0],
                "b_better": one.difference.better[1],
                "cases_needed": one.difference.needed,
                "cases_needed_range": one.difference.needed_range,
                "words": one.words,
            }
            for one in concluded.pairs
        ],
        "cells": [
            {
                "path": one.file,
                "case": one.case,
                "column": one.column,
                **{fact.key: fact.value(one) for fact in FACTS},
                "standing": one.standing,
                "values_agree": one.agreed,
                "different_values": len(one.values),
                "flips": list(one.flips),
                **_texts(one),
            }
            for one in grid.cells
        ],
        "misses": [
            {
                "column": one.column,
                "cause": one.cause,
                "runs": one.runs,
                "cells": [{"path": cell.file, "case": cell.case} for cell in one.cells],
            }
            for one in misses_by_cause(grid)
        ],
        "unrenderable": {reason: list(cells) for reason, cells in grid.unrenderable.items()},
        "missing": grid.missing,
        "repeat": grid.repeat,
        "flaky": len(grid.flaky),
    }
    if compared is not None:
        shape["changes"] = [
            {"path": one.file, "case": one.case, "column": one.column, "change": one.word, "p": one.p}
            for one in compared.cells
        ]
        shape["column_changes"] = [
            {
                "column": one.column,
                "change": one.word,
                "difference": one.difference.mean if one.difference.first else None,
                "interval": [one.difference.interval.low, one.difference.interval.high],
                "p": one.difference.p_adjusted,
                "cases": len(one.difference.first),
                "words": one.words,
            }
            for one in compared.columns
        ]
        shape["worse"] = list(compared.worse)
    return shape


def _texts(cell: Cell) -> dict[str, JSON]:
    """Return the distinct errors and failures of a cell, read from the results file only where there are any."""
    runs = cell.runs if cell.causes or cell.failed else ()
    errors = dict.fromkeys(run.error for run in runs if run.error)
    return {"errors": list(errors), "failures": list(dict.fromkeys(one for run in runs for one in run.failures))}
