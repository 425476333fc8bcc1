"""Write blocks as HTML without scripts or external resources; untrusted text stays text.

HTML is built as a tree of elements and escaped when written, so no text can become markup:

    tag("td", {"class": "good"}, "1 < 2", tag("b", {}, name))
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from adapters.display.blocks import (
    DATA,
    Beside,
    Block,
    Difference,
    Folded,
    Heading,
    Items,
    Mark,
    Note,
    Passage,
    Shown,
    Table,
    Text,
    cut,
)
from adapters.late_dataclasses import dataclass

LONGEST = 40_000
"""The most characters of a passage in a notebook cell."""
LONGEST_CELL = 2_000
"""The most characters of a table cell, or of a sentence (which may quote a reply)."""
MOST_ROWS = 200
MOST_COLUMNS = 6
"""The most columns of a grid that stand side by side; a grid of more is transposed if it has fewer rows."""
MOST_LINES = 200
"""The most lines of a difference."""
LONGEST_LINE = 2_000
NAME = "adapters-shown"

_DARK = (
    f'body[data-jp-theme-light="false"] .{NAME}',
    f"body.vscode-dark .{NAME}",
    f"body.vscode-high-contrast .{NAME}",
    f".dark .{NAME}",
)
"""Selectors of dark themes in JupyterLab, VS Code and marimo; notebooks do not follow the system's preference."""


class Look(NamedTuple):
    """CSS colors for light and dark themes, and a CSS declaration for the font.

    Kinds of the same color differ in font.
    """

    light: str
    dark: str
    font: str = ""


LOOKS: Mapping[str, Look] = {
    "instructions": Look("#24272e", "#e6e9ed", "font-weight:bold"),
    "name": Look("#2a6ab0", "#7db8ff", "font-weight:bold"),
    "type": Look("#2a6ab0", "#7db8ff", "font-style:italic"),
    "description": Look("#4a4e57", "#b7bec8", "font-style:italic"),
    "constraint": Look("#8a5a00", "#e3b35a"),
    "schema": Look("#3f6c9c", "#93b9e0"),
    "value": Look("#24272e", "#e6e9ed"),
    "marker": Look("#a85a00", "#eba358"),
    "reminder": Look("#8a5a00", "#e3b35a", "font-style:italic"),
    "filler": Look("#b3312f", "#ff9a94", "text-decoration:underline"),
    "boilerplate": Look("#656872", "#9aa4b0"),
    "custom": Look("#24272e", "#e6e9ed"),
    DATA: Look("#2a7d45", "#74cf92"),
}
"""The looks of the pieces of a prompt: `adapters.prompts.text.Kind` and `DATA`."""

GROUNDS: Mapping[str, Look] = {
    "marker": Look("transparent", "transparent", "font-weight:bold"),
    "value": Look("#d3f0dc", "#17402a"),
    "repaired": Look("#fdeab7", "#4a3b0c"),
    "duplicate": Look("#e4dcf5", "#3a2f57", "text-decoration:line-through"),
    "unknown": Look("#fbd5d2", "#53211f"),
    "ignored": Look("#eceff2", "#262d35"),
    "prose": Look("transparent", "transparent", "font-style:italic"),
    "untraced": Look("transparent", "transparent"),
}
"""The backgrounds of the pieces of a reply: `adapters.replies.reading.SpanKind`."""


def cell(shown: Shown) -> str:
    """Return the HTML of a notebook cell; its style sheet affects nothing outside it."""
    return f'<div class="{NAME}"><style>{_style()}</style>{written(tag("div", {}, *_parts(shown)))}</div>'


def _parts(shown: Shown) -> Iterator[Element]:
    if shown.title:
        yield tag("div", {"class": "title"}, shown.title)
    for block in shown.blocks:
        yield element(block)


def element(block: Block) -> Element:
    """Build a block for a cell or a page. Long text is cut, with the number of characters left out."""
    match block:
        case Note():
            return tag("div", {"class": f"note {block.tone}".rstrip()}, _short(block.text))
        case Passage():
            return passage(block)
        case Table():
            return _table(block)
        case Heading():
            return tag("h3" if block.target else "h2", {}, _short(block.text))
        case Items():
            return tag("ul", {}, *[tag("li", {}, *_linked(one)) for one in block.items])
        case Difference():
            return _difference(block.lines)
        case Folded():
            # The id is inside the folded part, so that browsers unfold it when they follow a link.
            title = tag("summary", {}, tag("span", {"class": f"tag {block.title.tone}"}, _short(block.title.text)))
            inside = tag("div", {"id": block.id} if block.id else {}, *[element(one) for one in block.blocks])
            return tag("details", {"open": ""} if block.is_open else {}, title, inside)
        case Beside():
            return tag("div", {"class": "beside"}, *[tag("div", {}, *_parts(one)) for one in block.columns])


def _linked(text: Text) -> Iterator[Element | str]:
    if isinstance(text, str):
        yield _short(text)
        return
    yield tag("a", {"href": f"#{text.link}"}, _short(text.text)) if text.link else _short(text.text)
    for one in text.then:
        yield " "
        yield from _linked(one)


def passage(passage: Passage, longest: int = LONGEST, attributes: Mapping[str, str] | None = None) -> Element:
    """Build a title with its text of at most `longest` characters; `attributes` apply to the text."""
    pieces, missing = cut(passage.pieces, longest)
    more = [tag("div", {"class": "note dim"}, f"… {missing:,} more characters")] if missing else []
    heading = [tag("div", {"class": "heading"}, passage.title)] if passage.title else []
    spans = []
    for one in pieces:
        said = {"class": f"k-{one.kind}", "title": one.says, "data-key": one.key, "data-step": one.step}
        spans.append(tag("span", {name: value for name, value in said.items() if value}, one.text))
    return tag("div", {"class": "passage"}, *heading, tag("pre", attributes or {}, *spans), *more)


def _table(table: Table) -> Element:
    if table.is_grid and len(table.head) - 1 > max(MOST_COLUMNS, len(table.rows)):
        table = table.turned()
    # An empty corner is no heading, which a screen reader would announce.
    named = [tag("th", {"scope": "col"}, _short(one)) if one else tag("td", {}) for one in table.head]
    head = tag("tr", {}, *named)
    shown = table.rows if table.is_grid else table.rows[:MOST_ROWS]
    rows = [tag("tr", {}, _cell(row[0], "th"), *map(_cell, row[1:])) for row in shown]
    left = len(table.rows) - len(rows)
    more = [tag("div", {"class": "note dim"}, f"… {left:,} more rows")] if left else []
    body = tag("table", {}, tag("thead", {}, head), tag("tbody", {}, *rows))
    return tag("div", {"class": "wide", "tabindex": "0"}, body, *more)


def _cell(text: Text, name: str = "td") -> Element:
    attributes = {"scope": "row"} if name == "th" else {}
    if isinstance(text, Mark):
        attributes |= {"class": f"{text.tone or 'plain'}{' cell' if text.link else ''}", "title": text.says}
    return tag(name, {key: one for key, one in attributes.items() if one}, *_linked(text))


def _difference(lines: Sequence[str]) -> Element:
    shown: list[Element | str] = []
    for line in lines[:MOST_LINES]:
        text = f"{line}\n" if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…\n"
        tone = {"-": "bad", "+": "good"}.get(line[:1])
        shown.append(text if tone is None else tag("span", {"class": tone}, text))
    if len(lines) > MOST_LINES:
        shown.append(tag("span", {"class": "dim"}, f"… {len(lines) - MOST_LINES:,} more lines"))
    return tag("pre", {"tabindex": "0"}, *shown)


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
        # `.wide` overrides JupyterLab, which aligns tables in outputs to the right.
        f".{NAME} .wide th,.{NAME} .wide td{{text-align:left;vertical-align:top;padding:2px 10px 2px 0;border:0;"
        "border-bottom:1px solid var(--line);white-space:pre-wrap;overflow-wrap:break-word;background:none}",
        f".{NAME} .wide thead th{{color:var(--dim);font-weight:500;white-space:nowrap}}",
        f".{NAME} .wide tbody th{{color:inherit;font-weight:inherit}}",
        f".{NAME} .wide{{overflow-x:auto}}",
        *[f".{NAME} .{tone}{{color:var(--{tone})}}" for tone in ("good", "bad", "warning", "dim")],
    ]
    return "".join(rules) + light_rules(f".{NAME}") + dark_rules(_DARK)


def light_rules(within: str) -> str:
    """Return the style of all kinds of pieces within a selector, for light backgrounds."""
    words = [f"{within} .k-{kind}{{color:{look.light};{look.font}}}" for kind, look in LOOKS.items()]
    return "".join(
        words + [f"{within} .k-reply-{kind}{{background:{look.light};{look.font}}}" for kind, look in GROUNDS.items()]
    )


def dark_rules(within: Sequence[str]) -> str:
    """Return the colors of all kinds of pieces within selectors, for dark backgrounds; fonts stay the same."""
    rules = [f"{','.join(f'{one} .k-{kind}' for one in within)}{{color:{look.dark}}}" for kind, look in LOOKS.items()]
    for kind, look in GROUNDS.items():
        rules.append(f"{','.join(f'{one} .k-reply-{kind}' for one in within)}{{background:{look.dark}}}")
    return "".join(rules)


_NAME = re.compile(r"[a-z][a-z0-9-]*")
_EMPTY = frozenset({"br", "hr", "col", "meta", "input"})
"""Elements without an end tag."""
_ATTRIBUTES = frozenset(
    {
        *("class", "id", "title", "lang", "dir", "scope", "colspan", "open", "href", "name", "content", "hidden"),
        *("type", "value", "checked", "selected", "for", "role", "tabindex"),
    }
)
"""Allowed attributes: no scripts and no inline styles."""

# Characters that HTML cannot represent or browsers replace; they are shown, not hidden.
_IMPOSSIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# Characters that change the text direction, or are invisible.
_TURNING = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


@dataclass(frozen=True)
class Element:
    """An element with its attributes and children."""

    name: str
    attributes: Mapping[str, str]
    children: tuple[Element | str, ...]


def tag(name: str, attributes: Mapping[str, str], *children: Element | str) -> Element:
    """Make an element. Raises ValueError for names or attributes not allowed, and for links outside the page."""
    if _NAME.fullmatch(name) is None or name in ("script", "style", "iframe", "object", "embed", "base", "link"):
        raise ValueError(f"{name!r} is not an element of a page's body")
    for key, value in attributes.items():
        if key not in _ATTRIBUTES and not re.fullmatch(r"aria-[a-z]+|data-[a-z]+", key):
            raise ValueError(f"{key!r} is not an attribute of an element")
        if key == "href" and not value.startswith("#"):
            raise ValueError("an address may only be a place on the same page, #…")
    return Element(name, attributes, children)


def escaped(content: str) -> str:
    """Escape untrusted text, so that none of it is markup, invisible, or reversed."""
    shown = _IMPOSSIBLE.sub(lambda match: chr(0x2400 + ord(match[0])) if match[0] < " " else _code(match), content)
    shown = _TURNING.sub(_code, shown)
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def written(element: Element | str) -> str:
    """Write an element tree as HTML."""
    return "".join(_pieces(element))


def _pieces(element: Element | str) -> Iterator[str]:
    if isinstance(element, str):
        yield escaped(element)
        return
    said = ""
    for key, value in element.attributes.items():
        quoted = escaped(value).replace('"', "&quot;").replace("\n", "&#10;")
        said += f' {key}="{quoted}"'
    yield f"<{element.name}{said}>"
    if element.name in _EMPTY:
        return
    if element.name == "pre":
        yield "\n"  # HTML parsers drop the first newline of a pre, so add one
    for child in element.children:
        yield from _pieces(child)
    yield f"</{element.name}>"
