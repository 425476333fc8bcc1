"""Report the cost of a prompt before it is sent: tokens by origin, and their price if known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adapters.late_dataclasses import dataclass
from adapters.lm import litellm_answers, model_list
from adapters.requests.request import Request
from adapters.requests.token_ledger import Ledger, Share, ledger_of
from workbench.output.display import one_line
from workbench.output.measures import cost

MOST_TURNS = 8
"""The most demos or turns in separate rows; the others are totalled in a row."""
WIDEST_NAME = 24
BAR = 30
EIGHTHS = " ▏▎▍▌▋▊▉"

HOW = "A token that spans two parts counts for the first."
ESTIMATED = "~ is an estimate: the model's tokenizer is not available, or its provider rewrites these parts."


@dataclass(frozen=True)
class Spent:
    """The ledger of a request to `model`; `price` is in US dollars per million prompt tokens, None if unknown."""

    model: str
    ledger: Ledger
    price: float | None

    @property
    def cost(self) -> float | None:
        """The price of the prompt in US dollars."""
        return None if self.price is None else self.ledger.tokens * self.price / 1_000_000

    @property
    def total(self) -> str:
        """`412 tokens, counted by o200k_base`, or `~412 tokens, estimated`."""
        by = f"counted by {self.ledger.tokenizer}" if self.ledger.tokenizer else "estimated"
        if self.ledger.tokenizer and not self.ledger.exact:
            by += ", except rows with ~"
        return f"{number(self.ledger.tokens, self.ledger.exact)} tokens, {by}"

    @property
    def said_cost(self) -> str:
        """The prompt cost of a call and of a thousand calls, or that it is unknown."""
        if self.cost == 0:
            return "free"
        if self.cost is None:
            return f"{cost(None)}: no table lists the model's price"
        mark = "" if self.ledger.exact else "~"
        return f"{mark}{cost(self.cost)} a call, {mark}{cost(self.cost * 1000)} a thousand"


def spent_by(request: Request, ledger: Ledger | None = None) -> Spent:
    """Return the spending of a request; its ledger is estimated if not given."""
    model = request.model or ""
    entry = model_list.listed(model)
    return Spent(model, ledger or ledger_of(request), None if entry is None else entry.input_price)


def list_price() -> str:
    """Say what the price is of, and where it is from."""
    table = litellm_answers.table_name()
    return f"The price, by {table}, is that of the prompt alone: the reply comes on top, and nothing is cached."


def number(tokens: int, exact: bool) -> str:
    """Return `412`, or `~412` for an estimate."""
    return f"{'' if exact else '~'}{tokens:,}"


def shown_shares(ledger: Ledger) -> tuple[Share, ...]:
    """Return the shares of a ledger; beyond `MOST_TURNS`, demos and turns are combined."""
    shown: list[Share] = []
    together: dict[str, list[Share]] = {"demo": [], "history": []}
    for share in ledger.shares:
        turns = together.get(share.name.partition(" ")[0])
        if turns is None:
            shown.append(share)
            continue
        turns.append(share)
        if len(turns) < MOST_TURNS:
            shown.append(share)
    for kind, turns in together.items():
        rest = turns[MOST_TURNS - 1 :]
        if rest:
            name = rest[0].name if len(rest) == 1 else f"{len(rest):,} other {_PLURAL[kind]}"
            last = turns[MOST_TURNS - 2]
            total = Share(name, sum([one.tokens for one in rest]), all(one.exact for one in rest))
            shown.insert(shown.index(last) + 1, total)
    return tuple(shown)


_PLURAL = {"demo": "demos", "history": "turns"}


def bar(tokens: int, most: int, width: int = BAR) -> str:
    """Draw a bar of `width` cells for `most` tokens; any tokens show at least an eighth of a cell."""
    eighths = max(1, round(tokens * width * 8 / most)) if tokens and most else 0
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def text_of(spent: Mapping[str, Spent]) -> str:
    """Write the ledgers of columns as text, with bars on a common scale, and compare their totals."""
    most = max([share.tokens for one in spent.values() for share in shown_shares(one.ledger)], default=0)
    texts = [_column(id, one, most) for id, one in spent.items()]
    if len(spent) > 1:
        texts.append(_totals(spent))
    notes = [HOW]
    if not all(one.ledger.exact for one in spent.values()):
        notes.append(ESTIMATED)
    unknown = dict.fromkeys([kind for one in spent.values() for kind in one.ledger.uncounted])
    if unknown:
        notes.append(f"Not counted: {', '.join(unknown)}.")
    if any(one.cost for one in spent.values()):
        notes.append(list_price())
    return "\n\n".join([*texts, "\n".join(notes)])


def _column(id: str, spent: Spent, most: int) -> str:
    lines = [f"{one_line(id, 60)} → {one_line(spent.model, 60)}: {spent.total}; {spent.said_cost}"]
    whole = spent.ledger.tokens
    for share in shown_shares(spent.ledger):
        lines.append(
            f"  {one_line(share.name, WIDEST_NAME):<{WIDEST_NAME}} {number(share.tokens, share.exact):>9} "
            f"{share.tokens / whole:>5.0%}  {bar(share.tokens, most)}"
        )
    fields = list(spent.ledger.fields.items())[:MOST_TURNS]
    if fields:
        mark = "" if spent.ledger.exact else "~"
        lines.append("  by field: " + ", ".join([f"{one_line(name, 40)} {mark}{tokens:,}" for name, tokens in fields]))
    return "\n".join(lines)


def _totals(spent: Mapping[str, Spent]) -> str:
    rows: list[Sequence[str]] = [
        (one_line(id, 40), number(one.ledger.tokens, one.ledger.exact), one.said_cost) for id, one in spent.items()
    ]
    widths = [max([len(row[at]) for row in rows]) for at in (0, 1)]
    most = max([one.ledger.tokens for one in spent.values()])
    bars = [bar(one.ledger.tokens, most) for one in spent.values()]
    return "\n".join(
        f"{name:<{widths[0]}}  {tokens:>{widths[1]}}  {shown:<{BAR}}  {price}"
        for (name, tokens, price), shown in zip(rows, bars, strict=True)
    )
