"""Write Markdown reports that fit into a comment; untrusted text becomes code, so that it is not markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from adapters.display.as_html import escaped
from adapters.display.blocks import Block, Difference, Folded, Heading, Items, Note, Table, text_of
from workbench.output import display

SIZE_LIMIT = 60_000
"""The most characters of a report. A GitHub comment holds 65,536 characters, a step summary a megabyte."""
MOST_LINES = 60
"""The most lines of a difference."""
LONGEST_LINE = 300
MOST_NAMED = 20
"""The most names in a list, such as the fixtures of a cause."""


def bounded(head: str, sections: Sequence[Sequence[Block]], more: str) -> str:
    """Write the head and the sections that fit, with what is folded.

    `more` counts the other sections as `{}` and says where they are.
    """
    text = head
    for number, section in enumerate(sections):
        written = "\n" + "\n".join(_lines(section, with_folded=True))
        if len(text) + len(written) > SIZE_LIMIT:
            return f"{text}\n{more.format(len(sections) - number)}\n"
        text += written
    return text


_HARMLESS = re.compile(r"(?:[A-Za-z0-9 ✓◐✗≠!·~/%(),–…$+=-]|(?<=\d)\.(?=\d))*")
"""Text that Markdown leaves unchanged, without addresses or mentions."""


def document(blocks: Iterable[Block]) -> str:
    """Write blocks; lines that do not fit into a comment are counted."""
    lines = list(_lines(blocks))
    size = 0
    for number, line in enumerate(lines):
        size += len(line) + 1
        if size > SIZE_LIMIT:
            return "\n".join([*lines[:number], f"\n… and {len(lines) - number} more lines\n"])
    return "\n".join([*lines, ""])


def _lines(blocks: Iterable[Block], *, with_folded: bool = False) -> Iterator[str]:
    for block in blocks:
        match block:
            case Note():
                yield from (code(block.text), "")
            case Heading():
                yield from (_heading(block.text), "")
            case Items():
                yield from [f"- {code(text_of(one))}" for one in block.items]
                yield ""
            case Table():
                # `|` ends a cell even within code.
                shown = [[_shown(text_of(one)) for one in row] for row in (block.head, *block.rows)]
                head, *rows = [[one.replace("|", "\\|") for one in row] for row in shown]
                yield from (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
                yield ""
            case Difference():
                lines = [display.cut(one, LONGEST_LINE) for one in block.lines]
                if len(lines) > MOST_LINES:
                    lines[MOST_LINES:] = [f"… {len(lines) - MOST_LINES:,} more lines"]
                yield fenced("\n".join(lines), "diff")
            case Folded(title, inside, is_open=True):
                yield from (_heading(title.text), "", *_lines(inside, with_folded=with_folded))
            case Folded(title, inside) if with_folded:
                yield from (f"<details><summary>{escaped(title.text)}</summary>", "")
                yield from (*_lines(inside, with_folded=True), "</details>", "")
            case Folded():
                yield from (f"… {_shown(block.title.text)}", "")


def _heading(text: str) -> str:
    number = _NUMBER.match(text)
    return f"### {_shown(text)}" if number is None else f"### {number[0]}{_shown(text[number.end() :])}"


_NUMBER = re.compile(r"\d+\. ")


def _shown(text: str) -> str:
    return text if _HARMLESS.fullmatch(text) else code(text)


def code(text: str) -> str:
    """Write untrusted text as inline code, where Markdown, HTML, mentions and addresses have no effect."""
    shown = " ".join(display.safe(text).split())
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[:1] == "`" or shown[-1:] == "`" or not shown else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(text: str, language: str = "") -> str:
    """Write untrusted text as a code block, between fences longer than any in the text."""
    shown = display.safe(text)
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}{language}\n{shown}\n{fence}\n"


def _longest_run(text: str) -> int:
    return max((len(one) for one in re.findall("`+", text)), default=0)
