"""What is shown, as HTML for one cell of a notebook: no script, nothing loaded, text of others only as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adapters.shown.blocks import Block, Note, Passage, Piece, Shown, Table, cut
from adapters.shown.colours import GROUNDS, LOOKS
from adapters.shown.elements import Element, tag, written

LONGEST = 40_000
"""Characters of one passage in a cell."""
LONGEST_CELL = 2_000
"""Characters of one cell of a table, and of a sentence (which may quote a reply)."""
MOST_ROWS = 200
NAME = "adapters-shown"

_DARK = (
    f'body[data-jp-theme-light="false"] .{NAME}',
    f"body.vscode-dark .{NAME}",
    f"body.vscode-high-contrast .{NAME}",
    f".dark .{NAME}",
)
"""Where JupyterLab, VS Code and marimo are dark; what the system prefers says nothing of a notebook."""


def cell(shown: Shown) -> str:
    """The HTML of a cell, with its own style sheet, whose rules reach nothing outside it."""
    return f'<div class="{NAME}"><style>{_style()}</style>{written(tag("div", {}, *_parts(shown)))}</div>'


def _parts(shown: Shown) -> Iterator[Element]:
    if shown.title:
        yield tag("div", {"class": "title"}, shown.title)
    for block in shown.blocks:
        yield element(block)


def element(block: Block) -> Element:
    """A block as it stands in a cell or on a page. What is too long is cut, and says by how much."""
    if isinstance(block, Note):
        return tag("div", {"class": f"note {block.tone}"}, _short(block.text))
    if isinstance(block, Passage):
        return passage(block)
    if isinstance(block, Table):
        return _table(block)
    return tag("div", {"class": "beside"}, *[tag("div", {}, *_parts(one)) for one in block.columns])


def passage(passage: Passage, longest: int = LONGEST, attributes: Mapping[str, str] | None = None) -> Element:
    """A text of at most `longest` characters with its title; `attributes` are those of the text."""
    pieces, missing = cut(passage.pieces, longest)
    more = [tag("div", {"class": "note dim"}, f"… {missing:,} more characters")] if missing else []
    heading = [tag("div", {"class": "heading"}, passage.title)] if passage.title else []
    return tag("div", {"class": "passage"}, *heading, tag("pre", attributes or {}, *map(_span, pieces)), *more)


def _span(piece: Piece) -> Element:
    said = {"title": piece.says, "data-key": piece.key, "data-step": piece.step}
    return tag("span", {"class": f"k-{piece.kind}", **{name: one for name, one in said.items() if one}}, piece.text)


def _table(table: Table) -> Element:
    head = tag("tr", {}, *[tag("th", {"scope": "col"}, one) for one in table.head])
    rows = [tag("tr", {}, *[tag("td", {}, _short(one)) for one in row]) for row in table.rows[:MOST_ROWS]]
    left = len(table.rows) - len(rows)
    more = [tag("div", {"class": "note dim"}, f"… {left:,} more rows")] if left else []
    return tag("div", {"class": "wide"}, tag("table", {}, tag("thead", {}, head), tag("tbody", {}, *rows)), *more)


def _short(text: str) -> str:
    left = len(text) - LONGEST_CELL
    return text if left <= 0 else f"{text[:LONGEST_CELL]}… ({left:,} more characters)"


def _style() -> str:
    rules = [
        f".{NAME}{{color-scheme:light;--ink:#24272e;--dim:#5b6470;--line:#d5dae1;--card:#f7f8fa;--good:#0d6b33;"
        f"--bad:#b3312f;--warning:#8a5a00;color:var(--ink);font-size:13px;line-height:1.45;max-width:100%}}",
        f"{','.join(_DARK)}{{color-scheme:dark;--ink:#e6e9ed;--dim:#9aa4b0;--line:#39424d;--card:#1c2229;--good:#7fd9a0;"
        "--bad:#ff9a94;--warning:#e3b35a}",
        f".{NAME} .title{{font-weight:600;margin:2px 0 4px;overflow-wrap:anywhere}}",
        f".{NAME} .heading{{color:var(--dim);font-size:12px;margin-top:4px}}",
        f".{NAME} pre{{background:var(--card);color:var(--ink);border:1px solid var(--line);border-radius:4px;"
        "margin:2px 0 6px;padding:6px 8px;white-space:pre-wrap;overflow-wrap:anywhere;word-break:normal;"
        "max-height:30em;overflow:auto;"
        "font:12px/1.45 ui-monospace,'SF Mono',Menlo,Consolas,monospace}",
        f".{NAME} .beside{{display:flex;gap:10px;overflow-x:auto;align-items:flex-start}}",
        f".{NAME} .beside>div{{flex:1 0 21em;min-width:0}}",
        f".{NAME} table{{border-collapse:collapse;margin:2px 0 6px;color:var(--ink);font-size:12px}}",
        # `.wide` outweighs JupyterLab, which has tables of an output begin at the right.
        f".{NAME} .wide th,.{NAME} .wide td{{text-align:left;vertical-align:top;padding:2px 10px 2px 0;border:0;"
        "border-bottom:1px solid var(--line);white-space:pre-wrap;overflow-wrap:break-word;background:none}",
        f".{NAME} .wide th{{color:var(--dim);font-weight:500;white-space:nowrap}}",
        f".{NAME} .wide{{overflow-x:auto}}",
        *[f".{NAME} .{tone}{{color:var(--{tone})}}" for tone in ("good", "bad", "warning", "dim")],
    ]
    return "".join(rules) + light_rules(f".{NAME}") + dark_rules(_DARK)


def light_rules(within: str) -> str:
    """The style of every kind of piece within a selector: on a light ground, and as CSS."""
    words = [f"{within} .k-{kind}{{color:{look.light};{look.font}}}" for kind, look in LOOKS.items()]
    return "".join(
        words + [f"{within} .k-reply-{kind}{{background:{look.light};{look.font}}}" for kind, look in GROUNDS.items()]
    )


def dark_rules(within: Sequence[str]) -> str:
    """The colours of every kind of piece on a dark ground, within any of these selectors; the fonts stay."""
    rules = [f"{','.join(f'{one} .k-{kind}' for one in within)}{{color:{look.dark}}}" for kind, look in LOOKS.items()]
    for kind, look in GROUNDS.items():
        rules.append(f"{','.join(f'{one} .k-reply-{kind}' for one in within)}{{background:{look.dark}}}")
    return "".join(rules)
