"""Describe a bench as blocks and facts, which are then written for each medium."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import NamedTuple

from adapters.display.blocks import Block, Folded, Heading, Items, Mark, Note, Passage, Piece, Table, Text, Tone
from sessions.bench.conclusions import Comparison, Conclusions, p_words
from sessions.bench.grid import Grid, Misses, lost_cases, misses_by_cause
from sessions.bench.results import BenchRun, Outcome
from sessions.bench.totals import Cell, ColumnTotal, Measure
from sessions.errors import counted, few
from sessions.file.json_values import JSON
from workbench.output.measures import cost

SIGNS = {"good": "✓", "mixed": "◐", "bad": "✗", "broken": "!", "none": "·"}
"""The sign of each standing; it carries the same information as the color."""
TONES: dict[str, Tone] = {"good": "good", "mixed": "warning", "bad": "bad", "broken": "worst", "none": "dim"}
OUTCOME_TONES: dict[Outcome, Tone] = {"parsed": "good", "refused": "bad", "rejected": "bad", "failed": "warning"}
IN_WORDS = {
    "good": "every run parsed and was as expected",
    "mixed": "some runs did, some did not",
    "bad": "no run did",
    "broken": "no run counts: the infrastructure failed",
    "none": "not run yet",
}
MOST_PAIRS = 8
"""The number of sentences about pairs shown unfolded; --json has all of them."""
MOST_GROUPS = 12
MOST_NAMED = 5
"""The most causes of misses, and cases of a cause, named in text."""
MOST_REPLIES = 3
"""The number of distinct replies of a cell shown unfolded."""
MOST_FOLDED = 30
"""The number of further distinct replies of a cell in a page."""

Total = Cell | ColumnTotal


class Fact(NamedTuple):
    """A fact about the runs of a cell or a column: its JSON key, and its table heading ("": only in JSON)."""

    key: str
    head: str
    value: Callable[[Total], JSON]
    words: Callable[[Total], str] = lambda it: ""


def _ends(total: Total, measure: Measure) -> JSON:
    interval = total.interval(measure)
    return [interval.low, interval.high]


def share_words(total: Total, measure: Measure) -> str:
    """Return `19 of 20 (76–99 %)`; empty without a share."""
    share = total.share(measure)
    if share is None:
        return ""
    interval = total.interval(measure)
    count = (total.parsed, total.counted) if measure == "parsed" else (total.held, total.expecting)
    return f"{count[0]:,} of {count[1]:,} ({math.floor(interval.low * 100)}–{math.ceil(interval.high * 100)} %)"


def fields_words(total: Total) -> str:
    """Return `answer 18 of 20, total 12 of 20`; empty if fewer than two fields have expectations."""
    found = [f"{name} {met:,} of {many:,}" for name, (met, many) in total.by_field.items()]
    return ", ".join(found) if len(found) > 1 else ""


def good_words(total: Total) -> str:
    """Return `62 % (46–76)`: the share used for the verdict, with its interval; or the mean score."""
    share, interval = total.share("good"), total.interval("good")
    if share is None:
        return "–"
    if total.is_graded:
        return score_words(total)
    return f"{float(share.as_fraction) * 100:.0f} % ({math.floor(interval.low * 100)}–{math.ceil(interval.high * 100)})"


def head_facts(total: Total) -> dict[str, str]:
    """Return the facts above a column of the grid, by name."""
    cost_said, tokens = cost_words(total), token_words(total)
    return {
        "good": good_words(total),
        "cost": "cost unknown" if cost_said == "unknown" else cost_said,
        "p50": "" if total.median_ms is None else f"p50 {total.median_ms:,.0f} ms",
        "tokens": f"{tokens} tokens" if tokens else "",
    }


def score_words(total: Total) -> str:
    """Return `0.82 (0.70–0.91)`: the metric's mean score with its interval; empty without a metric."""
    if total.score is None:
        return ""
    interval = total.interval("score")
    return f"{total.score:.2f} ({interval.low:.2f}–{interval.high:.2f})"


def token_words(total: Total) -> str:
    if not total.replied:
        return ""
    if total.tokens is None:
        return "?"
    about = "~" if total.estimates else ""
    return f"{about}{total.tokens / total.replied:,.0f}"


def cost_words(total: Total) -> str:
    if not total.replied:
        return ""
    return "unknown" if total.cost is None else cost(total.cost)


FACTS = (
    Fact("runs", "", lambda it: it.counted),
    Fact("parsed", "parsed", lambda it: it.parsed, lambda it: share_words(it, "parsed")),
    Fact("interval", "", lambda it: _ends(it, "parsed")),
    Fact(
        "copied",
        "copied from a demo",
        lambda it: it.copied,
        lambda it: f"{it.copied:,} of {it.parsed:,}" if it.copied else "",
    ),
    Fact(
        "expectations",
        "as expected",
        lambda it: it.held if it.expecting else None,
        lambda it: share_words(it, "expected"),
    ),
    Fact("expecting", "", lambda it: it.expecting),
    Fact("expectations_interval", "", lambda it: _ends(it, "expected") if it.expecting else None),
    Fact("fields", "by field", lambda it: it.by_field, fields_words),
    Fact("score", "score", lambda it: it.score, score_words),
    Fact("score_interval", "", lambda it: None if it.score is None else _ends(it, "score")),
    Fact("metric_calls", "", lambda it: it.metric_calls),
    Fact("tokens", "tokens a run", lambda it: it.tokens, token_words),
    Fact("tokens_are_estimates", "", lambda it: it.estimates > 0),
    Fact("cost", "cost", lambda it: it.cost, cost_words),
    Fact(
        "ms",
        "ms (p95)",
        lambda it: {"median": it.median_ms, "p95": it.p95_ms},
        lambda it: "" if it.median_ms is None else f"{it.median_ms:,.0f} ({it.p95_ms or 0:,.0f})",
    ),
    Fact("retries", "retries", lambda it: it.retries, lambda it: f"{it.retries:,}" if it.retries else ""),
    Fact(  # the error was sent back to the model: in how many runs, and how many of them then parsed
        "asked_again",
        "asked again",
        lambda it: it.asked_again,
        lambda it: f"{counted(it.asked, 'run')}, {it.asked_and_parsed:,} parsed" if it.asked else "",
    ),
    Fact("rejected", "rejected", lambda it: it.rejected, lambda it: f"{it.rejected:,}" if it.rejected else ""),
    Fact("failed", "not counted", lambda it: it.failed, lambda it: f"{it.failed:,}" if it.failed else ""),
    Fact("flags", "", lambda it: it.flags),
)


def fact_words(total: Total) -> str:
    """Return all facts in a line: `parsed 19 of 20 (76–99 %); tokens a run ~412; cost free; ms (p95) 812 (1,204)`."""
    return "; ".join(f"{fact.head} {said}" for fact in FACTS if fact.head and (said := fact.words(total)))


def count_of(cell: Cell) -> str:
    """Return `9/10`: the good runs of those that count, or the mean score; `–` if none count."""
    if cell.is_graded:
        return f"{cell.score:.2f}"
    return f"{cell.good}/{cell.counted}" if cell.counted else "–"


def cell_words(cell: Cell) -> str:
    return f"{SIGNS[cell.standing]} {count_of(cell)}{'~' if cell.flips else ''}"


def case_name(grid: Grid, file: str, case: str) -> str:
    """Return the name of a case, with its session file if there are several."""
    return f"{file}::{case}" if grid.has_several_files else case


def cell_name(grid: Grid, cell: Cell) -> str:
    return f"{case_name(grid, cell.file, cell.case)} · {cell.column}"


def flaky_words(cell: Cell) -> str:
    """Return the counts of the measures that flip: `parsed 7 of 10, as expected 3 of 10`."""
    counts = {"parsed": (cell.parsed, cell.counted), "expected": (cell.held, cell.expecting)}
    names = {"parsed": "parsed", "expected": "as expected"}
    return ", ".join(f"{names[one]} {counts[one][0]} of {counts[one][1]}" for one in cell.flips)


def blocks(
    grid: Grid, compared: Comparison | None, *, baseline: str | None = None, with_replies: bool = False
) -> Iterator[Block]:
    """Yield the verdict, the grid, and what explains them; `with_replies` adds every run."""
    concluded = Conclusions(grid, baseline)
    yield Note(concluded.verdict.line, "strong")
    runs = sum(cell.many for cell in grid.cells)
    made = f"{runs:,} of {counted(runs + grid.missing, 'run')} made" if grid.missing else counted(runs, "run")
    yield Note(f"{counted(len(grid.cases), 'case')} × {counted(len(grid.columns), 'column')}, {made}")
    cases = Heading("Cases, those that the columns disagree on first"), _grid(grid, with_replies)
    signs = Note(", ".join(f"{sign} {IN_WORDS[name]}" for name, sign in SIGNS.items()) + ", ~ flaky")
    columns = Heading("Columns"), column_table(grid)
    yield from (*cases, signs, *columns) if with_replies else (*columns, *cases, signs)
    yield from _groups(grid, with_replies)
    lines = []
    for one in grid.columns:
        if one.rejected:
            lines.append(f"{one.column}: {one.rejected:,} rejected (misses): {one.reason('rejected')}")
        if one.failed:
            lines.append(f"{one.column}: {one.failed:,} not counted: {one.reason('failed')}")
    if lines:
        yield Heading("Runs without a reply")
        yield Items(tuple(lines))
    if grid.unrenderable:
        yield Heading("Not run")
        yield Items(tuple(skipped(grid.unrenderable)))
    if grid.flaky:
        yield Heading(counted(len(grid.flaky), "flaky cell"))
        flaky = [Mark(f"{cell_name(grid, it)}: {flaky_words(it)}", link=_id(it, grid)) for it in grid.flaky]
        yield Items(tuple(flaky))
    if concluded.pairs:
        yield Heading("Conclusions")
        yield from conclusions(concluded)
    if compared is not None:
        yield Heading("Compared with the earlier bench")
        yield Items(tuple(changes(grid, compared)))
    if with_replies:
        yield Heading("Every reply")
        for cell in grid.cells:
            title = Mark(f"{cell_words(cell)}  {cell_name(grid, cell)} · {fact_words(cell)}", TONES[cell.standing])
            yield Folded(title, tuple(runs_of(cell.runs, MOST_REPLIES)), _id(cell, grid))


def skipped(unrenderable: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line for each reason why cells cannot be rendered."""
    for reason, cells in unrenderable.items():
        others = f" and {counted(len(cells) - 1, 'more cell')}" if len(cells) > 1 else ""
        yield f"{cells[0]}{others}: {reason}; skipped"


def column_table(grid: Grid) -> Table:
    """Build a table with a row of facts for each column."""
    facts = [fact for fact in FACTS if fact.head]
    rows = [[one.column, *[fact.words(one) for fact in facts]] for one in grid.columns]
    return Table.of(["column", *[fact.head for fact in facts]], rows)


def _id(cell: Cell, grid: Grid) -> str:
    return f"cell-{grid.numbers[cell.file, cell.case, cell.column]}"


def group_words(one: Misses) -> str:
    """Return `18 × A tag is not closed`."""
    return f"{one.runs:,} × {one.cause}"


def _groups(grid: Grid, with_replies: bool) -> Iterator[Block]:
    """Yield the misses by cause; with replies, link their cells, and add the cases lost to another column."""
    found = list(misses_by_cause(grid))
    if not found:
        return
    yield Heading("Misses by cause")
    if not with_replies:
        lines = []
        for one in found[:MOST_GROUPS]:
            names = [case_name(grid, cell.file, cell.case) for cell in one.cells]
            lines.append(f"{one.column}: {group_words(one)}: {few(names, MOST_NAMED)}")
        yield Items((*lines, *([f"… {len(found) - MOST_GROUPS:,} more causes"] if len(found) > MOST_GROUPS else [])))
        return
    for one in found:
        links = [Mark(cell_name(grid, cell), TONES[cell.standing], link=_id(cell, grid)) for cell in one.cells]
        yield Folded(Mark(f"{one.column}: {group_words(one)}", "bad"), (Items(tuple(links)),))
    yield Heading("Failed by one column, passed by another")
    for loser, winner in permutations([one.column for one in grid.columns], 2):
        if places := lost_cases(grid, loser, winner):
            cells = [grid.by_place[*place, loser] for place in places]
            links = [Mark(f"{cell_name(grid, cell)}: {cell.detail}", link=_id(cell, grid)) for cell in cells]
            yield Folded(
                Mark(f"{loser} failed, {winner} passed: {counted(len(links), 'case')}"), (Items(tuple(links)),)
            )


def _grid(grid: Grid, with_facts: bool) -> Table:
    def mark(cell: Cell | None) -> Mark:
        if cell is None:
            return Mark("", "dim")
        says = f"{cell.case} · {cell.column}: {IN_WORDS[cell.standing]}"
        return Mark(cell_words(cell), TONES[cell.standing], says, _id(cell, grid))

    facts = [head_facts(one) for one in grid.columns] if with_facts else []
    rows: list[tuple[Text, ...]] = [  # the row has the name that the fact bears in the head of a column
        (name, *[one[name].removeprefix(f"{name} ").removesuffix(f" {name}") for one in facts])
        for name in (facts[0] if facts else ())
    ]
    rows += [(case_name(grid, *one), *map(mark, grid.row(*one))) for one in grid.by_disagreement]
    return Table(("", *[one.column for one in grid.columns]), tuple(rows), is_grid=True)


def conclusions(concluded: Conclusions) -> Iterator[Block]:
    """Yield the sentences about pairs, certain differences first; those beyond `MOST_PAIRS` are folded."""
    pairs = sorted(concluded.pairs, key=lambda one: (not (by := one.difference).is_certain, by.p, -abs(by.mean)))
    said = [Mark(one.words, "" if one.difference.is_certain else "dim") for one in pairs]
    certain = sum(one.difference.is_certain for one in concluded.pairs)
    yield Items(tuple(said[:MOST_PAIRS]))
    if len(said) > MOST_PAIRS:
        more = f"{len(said) - MOST_PAIRS:,} more pairs; {certain:,} of all {len(said):,} differ for certain"
        yield Folded(Mark(more, "dim"), (Items(tuple(said[MOST_PAIRS:])),))


def changes(grid: Grid, compared: Comparison) -> Iterator[Mark]:
    """Yield the change of each column with its p-value, then the changed cells, worse first, then the counts."""
    tones: dict[str, Tone] = {"better": "good", "worse": "bad"}
    yield from [Mark(one.words, tones.get(one.word, "")) for one in compared.columns]
    for word in ("worse", "better", "new", "gone"):
        for one in compared.cells:
            if one.word == word:
                p = f" ({p_words(one.p)})" if one.p < 1 else ""
                before, now = ["–" if cell is None else count_of(cell) for cell in (one.before, one.now)]
                shown = f"{before} → {now}"
                if before == now and one.before is not None and one.now is not None:  # fewer or more of them parse
                    parsed = [f"{cell.parsed}/{cell.counted}" for cell in (one.before, one.now)]
                    shown = f"{parsed[0]} → {parsed[1]} parsed"
                yield Mark(f"{word}: {case_name(grid, one.file, one.case)} · {one.column}: {shown}{p}")
    counts = Counter(one.word for one in compared.cells)
    yield Mark(", ".join(f"{counts[word]} {word}" for word in ("better", "worse", "same", "new", "gone")))


def runs_of(every: Sequence[BenchRun], most: int | None = None) -> Iterator[Block]:
    """Yield the distinct replies of a cell's runs, most frequent first; those beyond `most` are folded."""
    alike: dict[tuple[object, ...], list[BenchRun]] = {}
    for run in every:
        text = run.reply.text if run.reply is not None else None
        alike.setdefault((run.outcome, text, run.error, run.failures), []).append(run)
    found = sorted(alike.values(), key=lambda runs: -len(runs))
    for runs in found[:most]:
        yield from _alike(runs)
    rest = [] if most is None else found[most:]
    if rest:
        title = Mark(counted(len(rest), "more reply", "more replies"))
        folded = [block for runs in rest[:MOST_FOLDED] for block in _alike(runs)]
        if len(rest) > MOST_FOLDED:
            folded.append(Note(f"{len(rest) - MOST_FOLDED:,} more different replies are in the results file", "dim"))
        yield Folded(title, tuple(folded))


def _alike(runs: Sequence[BenchRun]) -> Iterator[Block]:
    run = runs[0]
    numbers = f"run{'s' if len(runs) > 1 else ''} {', '.join(str(one.number) for one in runs)}"
    yield Heading(f"{numbers}: {run.outcome}   {run.model}  {run.at}", str(run.number))
    yield from [Note(line, OUTCOME_TONES[run.outcome] if line == run.error else "bad") for line in reasons_of(run)]
    if run.flags:
        yield Note("flags: " + ", ".join(run.flags), "warning")
    if run.values:
        values = [f"{name} {json.dumps(value, ensure_ascii=False)}" for name, value in run.values.items()]
        yield Passage("values", (Piece("\n".join(values), "value"),))
    if run.reply is not None:
        yield Passage("reply", (Piece(run.reply.text, "value"),))


def reasons_of(run: BenchRun) -> list[str]:
    """List why a run is not good."""
    return [line for line in (run.error, *run.failures) if line]
