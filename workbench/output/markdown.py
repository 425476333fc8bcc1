"""Text of others in Markdown: as code, in which nothing means anything."""

from __future__ import annotations

import re

from workbench.output import display


def code(text: str) -> str:
    """Text of others within a line: as code, in which neither Markdown, HTML, mentions nor addresses mean anything."""
    shown = " ".join(display.safe(text).split())
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[:1] == "`" or shown[-1:] == "`" or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(text: str, language: str = "") -> str:
    """Text of others in lines of its own, between fences longer than any within it."""
    shown = display.safe(text)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}\n"


def _longest_run(text: str) -> int:
    return max((len(one) for one in re.findall("`+", text)), default=0)
