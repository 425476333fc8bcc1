"""A short text that a regular expression accepts, made from the expression's own pieces and never by running it.

Covers what schemas use: anchors, literals, classes, groups, alternatives (the first is taken) and counts. Lookarounds
and backreferences are not understood.
"""

from __future__ import annotations

import re

MOST_LETTERS = 500
MAX_REPEAT = 40
LONGEST = 10_000
"""Letters of the text: counts of counts ask for any number of them."""

_TOKEN = re.compile(
    r"\\(?P<escape>\D)|\[(?P<negated>\^?)(?P<members>\]?(?:\\.|[^\]\\])*)\]|(?P<open>\((?:\?:|\?P<\w+>|(?!\?)))|"
    r"(?P<close>\))|(?P<or>\|)|(?P<anchor>[\^$])|(?P<any>\.)|(?P<literal>[^\\\[(*+?{])|"
    r"(?:[*+?]|\{(?P<least>\d*)(?:,\d*)?\})(?P<count>[?+]?)",
    re.DOTALL,
)
_ESCAPES = {"d": "40", "w": "a0_Z", "s": " ", "D": "a -_Z", "W": "- ", "S": "a0-_Z", "n": "\n", "t": "\t"}
_ESCAPES |= dict.fromkeys("bBAZ", "")


def example_of(pattern: str) -> str | None:
    """A text for `pattern`, or None when it holds what is not understood."""
    if len(pattern) > MOST_LETTERS:
        return None
    groups: list[list[list[str]]] = [[[]]]  # of each open group the alternatives, of each of them the pieces
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        at, pieces = token.end(), groups[-1][-1]
        if token.lastgroup == "open":
            groups.append([[]])
        elif token.lastgroup == "or":
            groups[-1].append([])
        elif token.lastgroup == "close" and len(groups) > 1:
            first, *_ = groups.pop()
            groups[-1][-1].append("".join(first))
        elif token.lastgroup == "count" and pieces:
            pieces[-1] *= min(int(token["least"] or 1) or 1, MAX_REPEAT)
            if len(pieces[-1]) > LONGEST:
                return None
        elif token.lastgroup in ("close", "count"):
            return None
        else:
            pieces.append(_letter(token))
    return "".join(groups[0][0]) if len(groups) == 1 else None


def _letter(token: re.Match[str]) -> str:
    """The text for one literal, escape, class or anchor."""
    if token["escape"]:
        return _ESCAPES.get(token["escape"], token["escape"])[:1]
    if token["members"]:
        members = re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), token["members"], flags=re.DOTALL)
        return next((char for char in "a0 -_Z" if char not in members), "~") if token["negated"] else members[:1]
    return {"anchor": "", "any": "a"}.get(token.lastgroup or "", token[0])
