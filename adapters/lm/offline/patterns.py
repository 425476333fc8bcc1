"""A short text that a regular expression accepts, made from the expression's own pieces and never by running it.

Covers what schemas use: anchors, literals, classes, groups, alternatives and counts. Lookarounds and backreferences
are not understood.
"""

from __future__ import annotations

MAX_REPEAT = 40
_CLASSES = {
    "d": "4",
    "w": "a",
    "s": " ",
    "D": "a",
    "W": "-",
    "S": "a",
    "n": "\n",
    "t": "\t",
    "b": "",
    "A": "",
    "Z": "",
    "B": "",
}


def example_of(pattern: str) -> str | None:
    """A text for `pattern`, or None when it holds what is not understood."""
    if len(pattern) > 500:
        return None
    try:
        text, end = _alternatives(pattern, 0)
    except (IndexError, ValueError, RecursionError):
        return None
    return text if end == len(pattern) else None


def _alternatives(pattern: str, at: int) -> tuple[str, int]:
    first, at = _sequence(pattern, at)
    while at < len(pattern) and pattern[at] == "|":
        _, at = _sequence(pattern, at + 1)
    return first, at


def _sequence(pattern: str, at: int) -> tuple[str, int]:
    found = ""
    while at < len(pattern) and pattern[at] not in "|)":
        piece, at = _piece(pattern, at)
        count, at = _count(pattern, at)
        found += piece * count
    return found, at


def _piece(pattern: str, at: int) -> tuple[str, int]:
    char = pattern[at]
    if char in "^$":
        return "", at + 1
    if char == ".":
        return "a", at + 1
    if char == "\\":
        following = pattern[at + 1]
        if following.isdigit():
            raise ValueError("backreference")
        return _CLASSES.get(following, following), at + 2
    if char == "[":
        return _class(pattern, at + 1)
    if char == "(":
        at += 1
        if pattern.startswith("?:", at):
            at += 2
        elif pattern.startswith("?P<", at):
            at = pattern.index(">", at) + 1
        elif pattern.startswith("?", at):
            raise ValueError("lookaround")
        inner, at = _alternatives(pattern, at)
        if pattern[at] != ")":
            raise ValueError("unclosed group")
        return inner, at + 1
    if char in "*+?{":
        raise ValueError("nothing to repeat")
    return char, at + 1


def _class(pattern: str, at: int) -> tuple[str, int]:
    negated = pattern[at] == "^"
    at += negated
    members = ""
    while pattern[at] != "]" or not members:
        if pattern[at] == "\\":
            members += _CLASSES.get(pattern[at + 1], pattern[at + 1])
            at += 2
        else:
            members += pattern[at]
            at += 1
    if negated:
        return next(char for char in "a0 -_Z" if char not in members), at + 1
    return members[0], at + 1


def _count(pattern: str, at: int) -> tuple[int, int]:
    if at >= len(pattern) or pattern[at] not in "*+?{":
        return 1, at
    if pattern[at] == "{":
        end = pattern.index("}", at)
        least = int(pattern[at + 1 : end].partition(",")[0] or 0)
        count, at = min(least or 1, MAX_REPEAT), end + 1
    else:
        count, at = 1, at + 1
    return count, at + (at < len(pattern) and pattern[at] in "?+")
