"""The pieces of a reply under `[[ ## field ## ]]` markers, as dspy's ChatAdapter cuts them.

Rule: `dspy.adapters.chat_adapter.ChatAdapter.parse`, of which two things surprise: every kind of line break becomes
`\\n`, and the rest of an indented marker's line starts as many characters too early as the marker is indented.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from adapters.values.coercion import RULES

MARKER = re.compile(r"\[\[ ## (\w+) ## \]\]")
BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
UNUSUAL_BREAKS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
BREAKS = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")


class Section(NamedTuple):
    """One marker with what follows: `name`, where marker and value stand, and the value's text as dspy has it.

    `on_marker_line` says that the value begins on the marker's own line; `is_plain` that `text` is the reply's own.
    """

    name: str
    marker_start: int
    marker_end: int
    start: int
    end: int
    text: str
    on_marker_line: bool
    is_plain: bool


def sections(completion: str) -> list[Section]:
    """Every marker that begins a line, with the text up to the next."""
    unusual = any(map(completion.__contains__, UNUSUAL_BREAKS))
    heads: list[tuple[str, int, int, int]] = []
    for match in MARKER.finditer(completion):
        line_start = _line_start(completion, match.start())
        if line_start >= 0:
            heads.append((match.group(1), line_start, match.start(), match.end()))
    found: list[Section] = []
    for index, (name, line_start, marker_start, marker_end) in enumerate(heads):
        section_end = heads[index + 1][1] if index + 1 < len(heads) else len(completion)
        line_end, body_start = _line_end(completion, marker_end, unusual)
        rest_start = line_start + (marker_end - marker_start)
        found.append(
            _section(
                completion, name, (marker_start, marker_end), (rest_start, line_end), (body_start, section_end), unusual
            )
        )
    return found


def _section(
    completion: str, name: str, marker: tuple[int, int], rest: tuple[int, int], body: tuple[int, int], unusual: bool
) -> Section:
    rest_text = completion[rest[0] : rest[1]]
    remainder = rest_text.strip()
    body_text = completion[body[0] : body[1]]
    if remainder:
        start = rest[0] + len(rest_text) - len(rest_text.lstrip())
        kept = body_text.rstrip()
        end = body[0] + len(kept) if kept else start + len(remainder)
        raw = completion[start:end]
        return Section(
            name, *marker, start, end, RULES["join_marker_line"](raw, None) if kept else remainder, True, False
        )
    stripped = body_text.strip()
    start = body[0] + len(body_text) - len(body_text.lstrip()) if stripped else max(marker[1], body[0])
    text = "\n".join(stripped.splitlines()) if unusual else stripped
    return Section(name, *marker, start, start + len(stripped), text, False, not unusual)


def _line_start(completion: str, position: int) -> int:
    """Where the line of the marker at `position` begins; -1 when more than white space stands before it."""
    start = position
    while start > 0:
        character = completion[start - 1]
        if character in BREAKS:
            return start
        if not character.isspace():
            return -1
        start -= 1
    return 0


def _line_end(completion: str, position: int, unusual: bool) -> tuple[int, int]:
    """Where the line ends, and where the next one begins."""
    if not unusual:
        end = completion.find("\n", position)
        return (end, end + 1) if end >= 0 else (len(completion), len(completion))
    match = BREAK.search(completion, position)
    return match.span() if match else (len(completion), len(completion))
