"""Build HTML pages: a head that blocks all loading, a style sheet for screen and print, the body."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib import resources

from adapters.display.as_html import Element, element, escaped, tag, written
from adapters.display.blocks import Block


def page(title: str, body: Sequence[Element | str], *, style: str = "", script: str = "") -> str:
    """Return a whole page, to be written as UTF-8; `style` and `script` are parts of the program, never data.

    It opens from disk and loads nothing, not even fonts or images: its Content-Security-Policy allows only its own
    style sheet and script, each by its hash. Raises ValueError for a style or script that would end its element.
    """
    if "</" in style or "</" in script:
        raise ValueError("neither a style sheet nor a script may contain </, which could end it")
    style = resources.files("workbench.pages").joinpath("page.css").read_text("utf-8") + style
    allowed = f"; script-src 'sha256-{_digest(script)}'" if script else ""
    policy = f"default-src 'none'; style-src 'sha256-{_digest(style)}'{allowed}; base-uri 'none'; form-action 'none'"
    content = written(tag("main", {}, tag("h1", {}, title), *body))
    runs = "its only script shows and hides parts of the page" if script else "no script runs"
    foot = written(tag("footer", {}, f"Made by adapter-workbench. This file is complete: nothing is loaded, {runs}."))
    runnable = f"<script>{script}</script>\n" if script else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{escaped(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{content}\n{foot}\n{runnable}</body>\n</html>\n"
    )


def page_of_blocks(title: str, blocks: Iterable[Block]) -> str:
    """Return a whole page of blocks."""
    return page(title, [element(one) for one in blocks])


def _digest(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")


def table(head: Sequence[Element | str], rows: Sequence[Sequence[Element | str]]) -> Element:
    """Build a table that scrolls if it is wider than the page.

    The first cell of each row is its heading; other cells may be complete `td` elements. An empty cell of the head
    is no heading, which a screen reader would announce.
    """
    named = [tag("th", {"scope": "col"}, one) if one != "" else tag("td", {}) for one in head]
    heads = tag("thead", {}, tag("tr", {}, *named))
    lines = [tag("tr", {}, tag("th", {"scope": "row"}, row[0]), *[_cell(one) for one in row[1:]]) for row in rows]
    return tag("div", {"class": "wide", "tabindex": "0"}, tag("table", {}, heads, tag("tbody", {}, *lines)))


def _cell(content: Element | str) -> Element:
    return content if isinstance(content, Element) and content.name == "td" else tag("td", {}, content)


def folded(summary: Element | str, *children: Element | str, is_open: bool = False) -> Element:
    """Fold children under a summary; printed pages show them unfolded."""
    return tag("details", {"open": ""} if is_open else {}, tag("summary", {}, summary), *children)
