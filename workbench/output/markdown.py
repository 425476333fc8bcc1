"""Reports in Markdown that fit into a comment; text of others there is code, in which nothing means anything."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.output import display

SIZE_LIMIT = 60_000
"""Characters. A comment of GitHub holds 65,536, a step's summary a megabyte."""


def bounded(head: str, sections: Sequence[str], more: str) -> str:
    """As many of the sections as fit behind the head; `more` says where the others, which it counts as `{}`, are."""
    parts, size = [head], len(head)
    for number, section in enumerate(sections):
        if size + len(section) > SIZE_LIMIT:
            return "".join([*parts, f"\n{more.format(len(sections) - number)}\n"])
        parts.append(section)
        size += len(section)
    return "".join(parts)


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
