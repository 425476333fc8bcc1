"""The matrix reply × parser: which adapter reads which column's reply, and what each makes of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from adapters.formats import catalog
from adapters.json_text.repair_limits import quick_reading
from adapters.prompts.prompt import Prompt
from adapters.replies.reading import Reading
from adapters.requests.request import Request, read_reply
from adapters.signatures.signature import Signature
from workbench.output.display import one_line, value_text
from workbench.output.reading_text import verdict
from workbench.state.derived import RenderedColumn
from workbench.tui.pages.looked_at import LookedAt
from workbench.tui.pages.writing import heading, named, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block

LONGEST = 100_000
"""Characters of a reply above which it is read by its own parser only: five more readings would take too long."""
LONGEST_VALUE = 200


def blocks_of(at: LookedAt) -> list[Block]:
    """A row for each column's reply, a column for each parser; then what each parser made of this column's reply."""
    with_reply = [one for one in at.columns if one.text and one.request is not None]
    if not with_reply:
        return [
            EMPTY,
            *paragraph(
                at.keys("There are no replies yet: {app.send_all|F5} sends, or paste one below a prompt."), "note"
            ),
        ]
    parsers = list(dict.fromkeys([*catalog.NAMES, *[one.column.adapter for one in at.columns]]))
    rows = [[("reply of", "note"), *[(catalog.title(name), "note") for name in parsers]]]
    rows += [_row(one, parsers) for one in with_reply]
    targets = ["", *[target_of(one.column.id) for one in with_reply]]
    blocks = [
        EMPTY,
        *paragraph(
            at.keys(
                "Each reply under every parser, with no call. ✓ it reads it, ✗ it refuses it; the number says how "
                "many of the outputs it found. {text.choose|enter} goes to the reply."
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
    """Where the row of a column leads: to its reply."""
    return f"reply {column_id}"


def reading_by(rendered: RenderedColumn, parser: str) -> Reading | None:
    """The column's reply as another parser reads it; None where it is too long, repairing it
    takes more than a moment, or the parser can not be had."""
    if parser == rendered.column.adapter:
        return rendered.reading
    if rendered.request is None or len(rendered.text) > LONGEST or ":" in parser:
        return None
    return _read(parser, rendered.request.signature, rendered.request.calls_field, rendered.text)


@lru_cache(maxsize=64)
def _read(parser: str, signature: Signature, calls_field: str | None, text: str) -> Reading | None:
    try:
        with quick_reading() as steps:
            made = read_reply(catalog.make(parser), Request(Prompt(()), {}, signature, calls_field=calls_field), text)
        return None if steps.ran_out else made
    except Exception:  # an installed adapter may raise anything
        return None


def _row(rendered: RenderedColumn, parsers: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (rendered.column.id, "key"),
        *[_cell(reading_by(rendered, name), name == rendered.column.adapter) for name in parsers],
    ]


def _cell(reading: Reading | None, is_own: bool) -> tuple[str, str]:
    if reading is None:
        return ("–", "note")
    if _is_waiting(reading):
        return ("2nd call", "note")
    count = f"{_found(reading)}/{len(reading.fields)}"
    own = " own" if is_own else ""
    return (f"✓ {count}{own}", "ok") if reading.ok else (f"✗ {count}{own}", "error")


def _is_waiting(reading: Reading) -> bool:
    """Whether the text was written for a second model, which has not been asked."""
    return reading.error is not None and reading.error.type == "NeedsExtraction"


def _found(reading: Reading) -> int:
    return sum(one.state in ("read", "native") for one in reading.fields.values())


def _what_it_made(rendered: RenderedColumn, parser: str) -> list[Block]:
    reading = reading_by(rendered, parser)
    title = catalog.title(parser)
    if reading is None:
        why = "too long to be read by all" if len(rendered.text) > LONGEST else "not read"
        return [named(title, (why, "note"))]
    if reading.ok:
        return [
            named(title, ("✓ ", "ok"), _values(reading.values)),
            *[named("", ("⚠ " + flag.message, "warning")) for flag in reading.flags[:4]],
        ]
    if _is_waiting(reading):
        return [named(title, ("a second model would take the fields out of it", "note"))]
    return [named(title, ("✗ ", "error"), one_line(verdict(reading), LONGEST_VALUE * 2))]


def _values(values: Mapping[str, object]) -> str:
    return ", ".join([f"{name} = {one_line(value_text(value), LONGEST_VALUE)}" for name, value in values.items()])
