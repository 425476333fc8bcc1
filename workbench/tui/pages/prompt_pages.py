"""The pages Differences, Lint and Tokens: what sets prompts apart, what may go wrong, and what they cost."""

from __future__ import annotations

from itertools import groupby

from adapters.lint import LINTS, Lint
from adapters.requests.request import Request
from sessions.errors import counted
from sessions.running import linting
from workbench.output import prompt_diff
from workbench.output.display import one_line
from workbench.output.spending import ESTIMATED, HOW, MOST_TURNS, Spent, bar, list_price, number, shown_shares, spent_by
from workbench.state.document import Place, RenderedColumn
from workbench.tui.pages.drifts import blocks_of_lines
from workbench.tui.pages.page import LookedAt, heading, named, outdated, paragraph, table
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

RECORDED, SENT = "what was recorded", "what was sent last"
"""The other side of a comparison, besides `column ID`."""


def others_of(at: LookedAt) -> tuple[str, ...]:
    """List what this column can be compared with; the last request sent comes first if it differs, else last."""
    recorded = (RECORDED,) if at.column.id in at.case.recordings else ()
    beside = [one for one in at.columns if one.request is not None and one.column.id != at.column.id]
    columns = [f"column {one.column.id}" for one in beside]
    if at.sent is None:
        return (*recorded, *columns)
    return (SENT, *recorded, *columns) if has_changed(at.sent, at.rendered.request) else (*recorded, *columns, SENT)


def has_changed(sent: Request, now: Request | None) -> bool:
    """Return whether the request changed since it was sent."""
    return now is not None and sent.as_dict() != now.as_dict()


def difference_blocks(at: LookedAt, other: str | None) -> list[Block]:
    """Show the differences between `other` and this column's current request."""
    request = at.rendered.request
    if request is None:
        return [EMPTY, *paragraph(f"There is no prompt: {at.rendered.why_no_prompt}", "error")]
    if other is None:
        compared = "nothing sent ({app.send_all|F5}) or recorded ({app.record|ctrl+r}), to compare with."
        return [EMPTY, *paragraph(at.keys(f"There is no other column, and {compared}"), "note")]
    after = prompt_diff.sections(request)
    if other == SENT and at.sent is not None:
        # equal messages may have had other demo or turn numbers, so sections of an unchanged request are not compared
        before = prompt_diff.sections(at.sent) if has_changed(at.sent, request) else after
    elif other == RECORDED:
        before = prompt_diff.sections_of_recording(at.case.recordings[at.column.id], request)
    else:
        found = next((one.request for one in at.columns if f"column {one.column.id}" == other), None)
        if found is None:
            return [EMPTY, *paragraph("That column has no prompt.", "note")]
        before = prompt_diff.sections(found)
    diffs = prompt_diff.compare_sections(before, after)
    name = one_line(at.column.id, 30)
    head = [Piece("from ", "note"), Piece(other, "title"), Piece(" to ", "note"), Piece(f"{name} now", "title")]
    blocks = [*outdated(at), Block(tuple(head)), EMPTY]
    if not diffs:
        return [*blocks, Block((Piece("✓ ", "ok"), Piece("the same, byte for byte")))]
    blocks.append(block(f"{len(diffs)} of {len({**before, **after})} sections differ", "text"))
    for diff in diffs:
        plus = sum(line.startswith("+") for line in diff.lines)
        minus = sum(line.startswith("-") for line in diff.lines)
        what = "new" if diff.before is None else "gone" if diff.after is None else f"+{plus} −{minus} lines"
        blocks.append(named(diff.section, what, width=24))
    for diff in diffs:
        blocks += section_blocks(diff)
    return blocks


def section_blocks(diff: prompt_diff.SectionDiff) -> list[Block]:
    """Show a section's differences, with changed words marked."""
    return [EMPTY, block(diff.section, "heading"), *blocks_of_lines(diff.lines)]


LONGEST_MESSAGE = 400
MOST_OF_A_KIND = 12


def lints_of(at: LookedAt) -> tuple[Lint, ...]:
    """Find the lints of the column's prompt; none if the session cannot be rendered."""
    request = at.rendered.request
    return () if request is None else linting.lints_of(at.session, at.column, at.case, request)


def lint_blocks(at: LookedAt) -> list[Block]:
    """List the lints, grouped by kind below its meaning."""
    if at.rendered.request is None:
        return [EMPTY, *paragraph(f"There is no prompt: {at.rendered.why_no_prompt}", "error")]
    found = lints_of(at)
    if not found:
        return [*outdated(at), Block((Piece("✓ ", "ok"), Piece("Everything reaches the model as it was given.")))]
    many = counted(len(found), "thing reaches", "things reach")
    blocks = [*outdated(at), *paragraph(f"{many} the model in an unexpected form.", "text")]
    for name, group in groupby(enumerate(found), key=lambda numbered: numbered[1].name):
        members = list(group)
        blocks.append(block(LINTS.get(name, name), "heading"))
        for index, one in members[:MOST_OF_A_KIND]:
            said = Piece(one_line(one.message, LONGEST_MESSAGE))
            blocks.append(Block((said,), 2, f"lint {index}", Piece("⚠ ", "warning")))
        if len(members) > MOST_OF_A_KIND:
            blocks.append(block(f"… and {len(members) - MOST_OF_A_KIND} more of the kind", "note", indent=4))
        blocks.append(EMPTY)
    return blocks


def place_of(at: LookedAt, one: Lint) -> Place:
    """Return the editor that the lint is about."""
    part, number, field = one.place
    if part == "demo":
        row = (number or 1) - 1
        return Place("demo", row=row if row < len(at.session.demos) else -1, field=field or "")
    if part == "history":
        return Place("history", at.case.name, (number or 1) - 1, field or "")
    if part == "input":
        return Place("input", at.case.name, field=field or "")
    if part == "column":
        return Place("column", field=at.column.id)
    if part == "instructions" and at.session.signature.instructions is not None:
        return Place("instructions")
    return Place("signature", field=field or "")


NAME = 18
BAR = 30
"""The longest bar in cells; a row with its numbers fits into 80."""


def token_blocks(at: LookedAt) -> list[Block]:
    """Show the column's token ledger (exact once counted), then every column's total."""
    spent = _spent(at, at.rendered)
    if spent is None:
        return [EMPTY, *paragraph(f"There is no request: {at.rendered.why_no_prompt}", "error")]
    blocks = [*outdated(at), named("request", spent.total), named("its price", spent.said_cost), EMPTY]
    ledger, shares = spent.ledger, shown_shares(spent.ledger)
    most = max([share.tokens for share in shares], default=0)
    for share in shares:
        blocks.append(_row(share.name, number(share.tokens, share.exact), share.tokens, ledger.tokens, most))
    fields = list(ledger.fields.items())[:MOST_TURNS]
    blocks += heading("By field, in all parts together") if fields else []
    for name, tokens in fields:
        blocks.append(_row(name, number(tokens, ledger.exact), tokens, ledger.tokens, fields[0][1]))
    found = {rendered.column.id: one for rendered in at.columns if (one := _spent(at, rendered)) is not None}
    largest = max([one.ledger.tokens for one in found.values()], default=0)
    rows = [
        [
            (f"{'●' if id == at.column.id else ' '} {id}", "name"),
            (number(one.ledger.tokens, one.ledger.exact), "value"),
            (bar(one.ledger.tokens, largest, BAR // 2), "accent"),
            (one.said_cost, "note"),
        ]
        for id, one in found.items()
    ]
    blocks += [*heading("Every column"), *table(rows, widest=48)] if len(rows) > 1 else []
    blocks += [EMPTY, *paragraph(HOW, "note")]
    if not ledger.exact:
        blocks += paragraph(ESTIMATED, "note")
    if ledger.uncounted:
        blocks += paragraph(f"Not counted: {', '.join(ledger.uncounted)}.", "warning")
    if spent.cost:
        blocks += paragraph(list_price(), "note")
    return blocks


def _spent(at: LookedAt, rendered: RenderedColumn) -> Spent | None:
    if rendered.request is None:
        return None
    counted = at.counted.get(rendered.column.id)
    if counted is not None and counted[0].counts_the_same(rendered.request):
        return spent_by(rendered.request, ledger=counted[1])
    return spent_by(rendered.request)


def _row(name: str, shown: str, tokens: int, whole: int, most: int) -> Block:
    label = Piece(f"{one_line(name, NAME):<{NAME}} ", "key")
    said = f"{shown:>9} {tokens / max(1, whole):>4.0%}  "
    return Block((Piece(said), Piece(bar(tokens, most, BAR), "accent")), 2, "", label)
