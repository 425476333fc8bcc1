"""Show the matrix reply × parser, with the values that each parser finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adapters.formats import catalog
from adapters.replies.reading import MOST_FIXES, Reading
from workbench.lessons import parser_matrix
from workbench.lessons.parser_matrix import is_waiting
from workbench.output.display import one_line, value_text
from workbench.output.reading_text import verdict
from workbench.state.document import RenderedColumn
from workbench.tui.pages.page import LookedAt, heading, named, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block

LONGEST_VALUE = 200


def blocks_of(at: LookedAt) -> list[Block]:
    """Show the matrix, then each parser's result for this column's reply."""
    with_reply = [one for one in at.columns if one.text and one.request is not None]
    if not with_reply:
        said = "There are no replies yet: {app.send_all|F5} sends, or paste one below a prompt."
        return [EMPTY, *paragraph(at.keys(said), "note")]
    parsers = parser_matrix.parsers_for([one.column.adapter for one in at.columns])
    rows = [[("reply of", "note"), *[(catalog.title(name), "note") for name in parsers]]]
    rows += [_row(one, parsers) for one in with_reply]
    targets = ["", *[target_of(one.column.id) for one in with_reply]]
    blocks = [
        EMPTY,
        *paragraph(
            at.keys(
                "Each reply parsed by every adapter, without a call: ✓ it parses, ✗ a parse error; the number counts "
                "the outputs found. {text.choose|enter} goes to the reply."
            )
        ),
        *table(rows, targets, widest=24),
    ]
    chosen = at.rendered if at.rendered in with_reply else with_reply[0]
    blocks += heading(f"The reply of {one_line(chosen.column.id, 30)}")
    for name in parsers:
        blocks += _what_it_made(chosen, name)
    return blocks


def target_of(column_id: str) -> str:
    """Return the target of a column's row, which leads to its reply."""
    return f"reply {column_id}"


def reading_by(rendered: RenderedColumn, parser: str) -> Reading | None:
    """Parse the column's reply with a parser; None in the cases of `parser_matrix.reading_by`, or without a request."""
    if parser == rendered.column.adapter:
        return rendered.reading
    return None if rendered.request is None else parser_matrix.reading_by(parser, rendered.request, rendered.text)


def _row(rendered: RenderedColumn, parsers: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (rendered.column.id, "key"),
        *[_cell(reading_by(rendered, name), name == rendered.column.adapter) for name in parsers],
    ]


def _cell(reading: Reading | None, is_own: bool) -> tuple[str, str]:
    tone = "note" if reading is None or is_waiting(reading) else "ok" if reading.ok else "error"
    return parser_matrix.words_of(reading, is_own), tone


def _what_it_made(rendered: RenderedColumn, parser: str) -> list[Block]:
    reading = reading_by(rendered, parser)
    title = catalog.title(parser)
    if reading is None:
        why = "too long to be read by all" if len(rendered.text) > parser_matrix.LONGEST else "not read"
        return [named(title, (why, "note"))]
    if reading.ok:
        return [
            named(title, ("✓ ", "ok"), _values(reading.values)),
            *[named("", ("⚠ " + flag.message, "warning")) for flag in reading.flags[:4]],
        ]
    if is_waiting(reading):
        return [named(title, ("a second model would extract the fields", "note"))]
    return [
        named(title, ("✗ ", "error"), one_line(verdict(reading), LONGEST_VALUE * 2)),
        *[named("", (f"⚠ {cause.message}", "warning")) for cause in reading.diagnosis[:4]],
        *[named("", (f"+ {message}", "note")) for message in reading.fix_messages[:MOST_FIXES]],
    ]


def _values(values: Mapping[str, object]) -> str:
    return ", ".join([f"{name} = {one_line(value_text(value), LONGEST_VALUE)}" for name, value in values.items()])
