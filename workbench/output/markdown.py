"""Write Markdown reports that fit into a comment; untrusted text becomes code, so that it is not markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from adapters.display.blocks import Beside, Block, Folded, Heading, Items, Note, Passage, Table, text_of
from workbench.output import display

SIZE_LIMIT = 60_000
"""The most characters of a report. A GitHub comment holds 65,536 characters, a step summary a megabyte."""


def bounded(head: str, sections: Sequence[str], more: str) -> str:
    """Join the head and the sections that fit; `more` counts the others as `{}` and says where they are."""
    parts, size = [head], len(head)
    for number, section in enumerate(sections):
        if size + len(section) > SIZE_LIMIT:
            return "".join([*parts, f"\n{more.format(len(sections) - number)}\n"])
        parts.append(section)
        size += len(section)
    return "".join(parts)


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


def _lines(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Note():
                yield from (code(block.text), "")
            case Heading():
                yield from (f"### {_shown(block.text)}", "")
            case Items():
                yield from [f"- {code(text_of(one))}" for one in block.items]
                yield ""
            case Table():
                # `|` ends a cell even within code.
                shown = [[_shown(text_of(one)) for one in row] for row in (block.head, *block.rows)]
                head, *rows = [[one.replace("|", "\\|") for one in row] for row in shown]
                yield from (f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))
                yield ""
            case Passage():
                yield from ([_shown(block.title), ""] if block.title else [])
                yield fenced("".join([one.text for one in block.pieces]))
            case Folded():
                yield from (f"… {_shown(block.title.text)}", "")
            case Beside():
                for one in block.columns:
                    yield from _lines((Heading(one.title), *one.blocks))


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
