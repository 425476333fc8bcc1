"""The report of a bench: each fact is described once, and reaches every reader."""

from __future__ import annotations

import json

from adapters.display import as_text
from adapters.display.blocks import Shown
from sessions.bench.grid import Grid
from sessions.bench.results import BenchRun
from tests.sessions.bench.test_conclusions import failed_cell, grid_of
from tests.sessions.bench.test_grid import Cell
from workbench.bench import report, report_files
from workbench.output import markdown
from workbench.pages.page import page_of_blocks


def test_every_report_begins_with_the_verdict() -> None:
    grid = grid_of(json="+" * 20, chat="-" * 20)
    verdict = "best: json · worse: chat (p < 0.001) · 20 cases"
    assert next(as_text.toned_lines(Shown("", tuple(report.blocks(grid, None))))) == (verdict, "strong")
    assert markdown.document(report.blocks(grid, None)).startswith(f"`{verdict}`\n")
    page = page_of_blocks("Bench", report.blocks(grid, None))
    assert page.partition("</h1>")[2].startswith(f'<div class="note strong">{verdict.replace("<", "&lt;")}</div>')
    assert next(iter(report_files.as_json(grid, None).items())) == ("verdict", verdict)


def test_runs_without_a_reply_are_told_with_their_whole_reason() -> None:
    reason = "The provider rejected the request (400): " + "x" * 100
    run = BenchRun(case="0", column="chat", number=1, outcome="rejected", request="", error=reason)
    grid = Grid((Cell("q.json", "0", "chat", (run,)), failed_cell("1", "chat")))
    lines = list(as_text.lines(Shown("", tuple(report.blocks(grid, None)))))
    assert f"chat: 1 rejected (misses): {reason}" in lines
    assert "chat: 1 not counted: ?" in lines


def test_a_fact_has_a_key_of_its_own_and_a_value_that_json_holds() -> None:
    keys = [fact.key for fact in report.FACTS]
    assert len(set(keys)) == len(keys)
    (column, _) = grid_of(a="+-?", b="+++").columns
    json.dumps({fact.key: fact.value(column) for fact in report.FACTS}, allow_nan=False)


def test_the_page_leads_from_a_cause_and_from_a_lost_case_to_the_cell() -> None:
    grid = grid_of(a="+-", b="++")
    page = page_of_blocks("Bench", report.blocks(grid, None, with_replies=True))
    assert "a failed, b passed: 1 case" in page
    assert "b failed" not in page
    head, _, rest = page.partition("Misses by cause")
    assert 'href="#cell-' in rest.partition("</details>")[0]
    assert "50 % (" in head  # the share above its column
    shape = report_files.as_json(grid, None)
    low, high = shape["pairs"][0]["cases_needed_range"]
    assert low <= shape["pairs"][0]["cases_needed"] <= high
    assert [(one["column"], one["runs"], len(one["cells"])) for one in shape["misses"]] == [("a", 1, 1)]


def test_shares_are_told_by_field() -> None:
    run = BenchRun(case="0", column="a", number=1, outcome="parsed", request="", fields=("x", "y"), wrong=("y",))
    total = Grid((Cell("q.json", "0", "a", (run,)),)).columns[0]
    assert report.fields_words(total) == "x 1 of 1, y 0 of 1"
    assert total.by_field == {"x": [1, 1], "y": [0, 1]}
