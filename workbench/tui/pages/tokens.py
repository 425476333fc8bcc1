"""Show the page Tokens: the tokens of a request by origin, and the totals of other columns."""

from __future__ import annotations

from collections.abc import Iterator

from adapters.requests.token_ledger import Ledger
from workbench.output.display import one_line
from workbench.output.spending import ESTIMATED, HOW, LIST_PRICE, MOST_TURNS, Spent, bar, number, shown_shares, spent_by
from workbench.state.document import RenderedColumn
from workbench.tui.pages.page import LookedAt, heading, named, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece

NAME = 18
BAR = 30
"""The longest bar in cells; a row with its numbers fits into 80."""


def blocks_of(at: LookedAt) -> list[Block]:
    """Show the column's token ledger (exact once counted), then every column's total."""
    spent = _spent(at, at.rendered)
    if spent is None:
        return [EMPTY, *paragraph(f"There is no request: {at.rendered.why_no_prompt}", "error")]
    blocks = [EMPTY]
    if at.rendered.stale:
        blocks += paragraph(f"Out of date, because {at.rendered.error}", "error")
    blocks += [named("request", spent.total), named("its price", spent.said_cost), EMPTY]
    blocks += _bars(spent.ledger)
    blocks += _fields(spent.ledger)
    blocks += _columns(at)
    blocks += [EMPTY, *_notes(spent)]
    return blocks


def _spent(at: LookedAt, rendered: RenderedColumn) -> Spent | None:
    if rendered.request is None:
        return None
    counted = at.counted.get(rendered.column.id)
    if counted is not None and counted[0].counts_the_same(rendered.request):
        return spent_by(rendered.request, ledger=counted[1])
    return spent_by(rendered.request)


def _bars(ledger: Ledger) -> Iterator[Block]:
    shares = shown_shares(ledger)
    most = max([share.tokens for share in shares], default=0)
    for share in shares:
        yield _row(share.name, number(share.tokens, share.exact), share.tokens, ledger.tokens, most)


def _row(name: str, shown: str, tokens: int, whole: int, most: int) -> Block:
    label = Piece(f"{one_line(name, NAME):<{NAME}} ", "key")
    said = f"{shown:>9} {tokens / max(1, whole):>4.0%}  "
    return Block((Piece(said), Piece(bar(tokens, most, BAR), "accent")), 2, "", label)


def _fields(ledger: Ledger) -> list[Block]:
    """Show the tokens of each field, summed over all parts of the prompt."""
    fields = list(ledger.fields.items())
    if not fields:
        return []
    most = fields[0][1]
    rows = [
        _row(name, number(tokens, ledger.exact), tokens, ledger.tokens, most) for name, tokens in fields[:MOST_TURNS]
    ]
    return [*heading("By field, in all parts together"), *rows]


def _columns(at: LookedAt) -> list[Block]:
    found = {rendered.column.id: spent for rendered in at.columns if (spent := _spent(at, rendered)) is not None}
    if len(found) < 2:
        return []
    most = max([one.ledger.tokens for one in found.values()])
    rows = [
        [
            (f"{'●' if id == at.column.id else ' '} {id}", "name"),
            (number(one.ledger.tokens, one.ledger.exact), "value"),
            (bar(one.ledger.tokens, most, BAR // 2), "accent"),
            (one.said_cost, "note"),
        ]
        for id, one in found.items()
    ]
    return [*heading("Every column"), *table(rows, widest=48)]


def _notes(spent: Spent) -> Iterator[Block]:
    yield from paragraph(HOW, "note")
    if not spent.ledger.exact:
        yield from paragraph(ESTIMATED, "note")
    if spent.ledger.uncounted:
        yield from paragraph(f"Not counted: {', '.join(spent.ledger.uncounted)}.", "warning")
    if spent.cost:
        yield from paragraph(LIST_PRICE, "note")
