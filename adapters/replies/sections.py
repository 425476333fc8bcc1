"""Split a reply at its `[[ ## field ## ]]` markers as dspy's ChatAdapter does.

Rule: `dspy.adapters.chat_adapter.ChatAdapter.parse`, with two surprises: every kind of line break becomes `\\n`, and
after a marker indented by n characters, the rest of its line starts n characters too early.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import NamedTuple

from adapters.values.coercion import RULES

MARKER = re.compile(r"\[\[ ## (\w+) ## \]\]")
BREAK = re.compile("\r\n|[\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
UNUSUAL_BREAKS = "\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
BREAKS = frozenset("\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029")
BLANKS = "\t\x1f \xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u202f\u205f\u3000"
"""All white space within a line."""


_LIKE = re.compile(
    r"\[(?!\[{3})(?=\\?\[|[ \t]{0,4}#)(?P<opening>(?:\\?\[){0,2})[ \t]{0,4}(?P<left>#{0,4})[ \t]{0,4}[`\"'*]{0,3}"
    r"(?P<name>\w[\w \\-]{0,80}?)[`\"'*]{0,3}[ \t]{0,4}(?P<right>#{0,4})[ \t]{0,4}\\?\](?P<closing>(?:\\?\]){0,2})"
    r"[*_`~:]{0,4}"
)
_OPENING = re.compile(r"\[[ \t]{0,4}[\[\\#]")
_DECORATION = re.compile(r"(?:[ \t*_>`~•\-\\\ufeff\u200b]|\d{1,2}[.)]){1,12}\Z")
_MOST_DECORATION = 24


class MarkerLike(NamedTuple):
    """A marker or lookalike; `start` and `end` include its decoration, such as `**` or `1.`."""

    name: str
    start: int
    end: int
    begins_line: bool
    has_hashes: bool
    """True if it has double brackets and `#` on both sides: only its place or spacing keeps it from being a marker."""


@lru_cache(maxsize=4096)
def sound(name: str) -> str:
    """Normalize a name: drop case, spaces, hyphens, underscores and Markdown's backslashes."""
    return re.sub(r"[\s_\\-]+", "", name).casefold()


def markers_like(text: str, names: Container[str]) -> Iterator[MarkerLike]:
    """Yield markers and lookalikes such as `[[[ answer ### ]]]`.

    Without `#`, as in `[[ answer ]]`, they must begin a line and the normalized name must be in `names`: other double
    brackets are links.
    """
    for match in _LIKE.finditer(text):
        opening, left, name, right, closing = match.groups()
        doubled, hashes = bool(opening and closing), bool(left or right)
        if not hashes and (not doubled or sound(name) not in names):
            continue
        begin, end = match.span()
        if begin and text[begin - 1] != "\n":
            window = max(0, begin - _MOST_DECORATION)
            decoration = _DECORATION.search(text, text.rfind("\n", window, begin) + 1 or window, begin)
            begin = begin if decoration is None else decoration.start()
        begins_line = begin == 0 or text[begin - 1] == "\n"
        if hashes or begins_line:
            yield MarkerLike(name, begin, end, begins_line, doubled and bool(left and right))


def may_hold_lookalikes(
    text: str, found: Sequence[Section], names: Mapping[str, str], has_only_markers: bool = False
) -> bool:
    """Return whether a text may contain lookalikes of markers; fast, may return True without any."""
    if not has_only_markers and text.count("[") != 2 * len(found):
        openings = islice(_OPENING.finditer(text), len(found) + 1)  # a loop may have written millions
        if len([*openings]) != len(found):
            return True
    exact = names.values()
    for name, begin, _, _, _, _, on_marker_line, _ in found:
        if on_marker_line or (begin and text[begin - 1] != "\n"):
            return True
        if name not in exact and sound(name) in names:
            return True
    return False


def begins_with_marker(text: str, start: int) -> bool:
    """Return whether a marker or lookalike, and so no JSON list, begins at `start`."""
    match = _LIKE.match(text, start)
    return match is not None and bool(
        match["left"] or match["right"] or (match["opening"] and match["name"][0].isalpha())
    )


class Section(NamedTuple):
    """A marker and its value: their offsets, and the value's text as dspy has it.

    `on_marker_line`: the value begins on the marker's own line; `is_plain`: `text` is copied from the reply unchanged.
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
    """Return every marker that begins a line, with the text up to the next marker."""
    unusual = any(map(completion.__contains__, UNUSUAL_BREAKS))
    found: list[Section] = []
    for (name, line_start, marker_start, marker_end), (_, section_end, _, _) in pairwise(_heads(completion)):
        if line_start == marker_start and not unusual and completion.startswith("\n", marker_end):
            if section_end - marker_end == 1:
                found.append(Section(name, marker_start, marker_end, section_end, section_end, "", False, True))
                continue
            body = completion[marker_end + 1 : section_end]
            text = body.strip()
            start = marker_end + 1 + (len(body) - len(body.lstrip()) if text else 0)
            found.append(Section(name, marker_start, marker_end, start, start + len(text), text, False, True))
            continue
        line_end, body_start = _line_end(completion, marker_end, unusual)
        rest_start = line_start + (marker_end - marker_start)
        found.append(
            _section(
                completion, name, (marker_start, marker_end), (rest_start, line_end), (body_start, section_end), unusual
            )
        )
    return found


def _heads(completion: str) -> Iterator[tuple[str, int, int, int]]:
    """Yield each marker that begins a line: name, start of the line, start, end; then the end of the reply."""
    names: dict[str, str] = {}  # millions of markers share their names
    for match in MARKER.finditer(completion):
        start, end = match.span()
        line_start = start if not start or completion[start - 1] == "\n" else _line_start(completion, start)
        if line_start >= 0:
            name = match[1]
            yield names.setdefault(name, name), line_start, start, end
    yield "", len(completion), len(completion), len(completion)


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
    """Return the start of the marker's line; -1 if anything but white space precedes it."""
    start, width = position, 64
    while start > 0:
        start = max(0, position - width)
        before = completion[start:position].rstrip(BLANKS)
        if before:
            return start + len(before) if before[-1] in BREAKS else -1
        width *= 8
    return 0


def _line_end(completion: str, position: int, unusual: bool) -> tuple[int, int]:
    """Return the end of the line and the start of the next."""
    if not unusual:
        end = completion.find("\n", position)
        return (end, end + 1) if end >= 0 else (len(completion), len(completion))
    match = BREAK.search(completion, position)
    return match.span() if match else (len(completion), len(completion))


THOUGHTS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<mm:think>", "</mm:think>"),
    ("<seed:think>", "</seed:think>"),
    ("Thinking...", "\n...done thinking."),
)
"""The beginning and end of thoughts that a server left in the text."""
ENDS_OF_THOUGHTS = tuple([end for _, end in THOUGHTS])


def is_only_thoughts(text: str) -> bool:
    """Return whether nothing is before or after the thoughts of a text; their beginning may be missing."""
    if not text.endswith(ENDS_OF_THOUGHTS):
        return False
    return any(text.endswith(end) and text.find(begin) < 1 for begin, end in THOUGHTS)


def without_thinking(text: str) -> str | None:
    """Return the text after the end of the last thoughts; None without it."""
    may_end = "/" in text or "...done" in text
    ends = [text.rfind(end) + len(end) for end in ENDS_OF_THOUGHTS if end in text] if may_end else ()
    return text[max(ends) :].strip() if ends else None


USED_TAG = re.compile(r"(?:^|[^\w\s])[ \t]*<[A-Za-z]|<[A-Za-z][\w.:-]*+>\w", re.MULTILINE)
"""A tag at the beginning of a line, behind a sign such as a colon, or right before a word."""


def only_mentions_tags(text: str) -> bool:
    """Return whether a text only mentions tags in its sentences."""
    return "<" not in text or ("</" not in text and USED_TAG.search(text) is None)
