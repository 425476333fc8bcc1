"""Several runs of a column: which values came how often, what failed, and how the other columns did."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adapters.lm.secrets import Scrubber
from sessions.running.repeats import Counted, Repeats
from workbench.output import measures
from workbench.output.display import one_line, value_text
from workbench.tui.pages.page import LookedAt, heading, named, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block

MOST_VALUES = 40
LONGEST_VALUE = 400


def blocks_of(at: LookedAt) -> list[Block]:
    """The repeats of the column, then the rate of every column that was sent several times."""
    counted = at.run.repeats if at.run is not None else None
    blocks = [EMPTY]
    if counted is None:
        under_way = at.run is not None and at.run.times > 1
        said = "Under way; this page shows them when they have ended." if under_way else at.keys(_HOW)
        blocks += paragraph(said, "note")
    else:
        blocks += _column(counted)
    return [*blocks, *_all_columns(at)]


_HOW = "This column was not sent several times: {app.send_otherwise|shift+F5} asks how often."


def _column(counted: Repeats) -> Iterable[Block]:
    yield named("runs", str(counted.runs))
    yield named("answered", str(counted.answered))
    yield named("not parsed", f"{counted.parse_failures}{_rate(counted)}")
    whole = counted.values
    yield named("values", f"{len(whole)} different" if whole else "none")
    for name, values in counted.fields.items():
        yield from heading(name)
        yield from _values(values)
    if counted.errors:
        yield from heading("Failed")
        yield from _values(counted.errors, "error")


def _values(values: Sequence[Counted], style: str = "value") -> Iterable[Block]:
    for one in values[:MOST_VALUES]:
        text = Scrubber().scrubbed(str(one.value)) if style == "error" else value_text(one.value)
        yield named(f"{one.count} ×", (one_line(text, LONGEST_VALUE), style), width=8)
    if len(values) > MOST_VALUES:
        yield named("", (f"… {len(values) - MOST_VALUES} more", "note"), width=8)


def _all_columns(at: LookedAt) -> list[Block]:
    rows: list[list[tuple[str, str]]] = []
    for rendered in at.columns:
        run = at.runs.get(rendered.column.id)
        if run is None or run.repeats is None:
            continue
        counted = run.repeats
        tone = "error" if counted.parse_failures else "ok"
        rows.append(
            [
                (rendered.column.id, "name"),
                (f"{measures.counted(counted.runs, 'run')}", "text"),
                (f"{counted.parse_failures} not parsed{_rate(counted)}", tone),
                (f"{len(counted.values)} different", "text"),
                (f"{sum(one.count for one in counted.errors)} failed", "note"),
            ]
        )
    return [*heading("Columns"), *table(rows)] if len(rows) > 1 else []


def _rate(counted: Repeats) -> str:
    rate = counted.parse_failure_rate
    return "" if rate is None else f" ({rate:.0%})"
