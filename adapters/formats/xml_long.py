"""Leave out of a long XML reply what no value is made of.

A tree takes twice as long as the parser's check of the same text, which has the same verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

LONG = 1_000_000
"""Characters at the beginning of a reply, or in a tag, beyond which something may be left out."""
TAG = re.compile(r"""<([^\s<>/"']++)(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")


class Needed(NamedTuple):
    """The part of a fragment that a tree is needed of; `is_cut` if other elements may follow it."""

    text: str
    is_cut: bool


def is_ambiguous(text: str) -> bool:
    """Return whether a text has more than elements: comments, CDATA, instructions or namespaces."""
    return "<!" in text or "<?" in text or "xmlns" in text


def needed(text: str, names: Iterable[str]) -> Needed | None:
    """Return the part of a long fragment without the attributes of its first tag and what follows the fields.

    `names` are the tags of fields. None if nothing can be left out.
    """
    if len(text) <= 2 * LONG or is_ambiguous(text):
        return None
    last = max([text.rfind(f"<{name}") for name in names])
    end = text.find("<", last + LONG)
    if 0 <= end <= len(text) // 2:
        return Needed(text[:end], True)
    start = text.find("<")
    tag = TAG.match(text, start) if start >= 0 else None
    if tag is None or tag.end() - start <= LONG or tag[1] == "entry":
        return None
    ending = "/>" if text.endswith("/>", start, tag.end()) else ">"
    return Needed(f"{text[:start]}<{tag[1]}{ending}{text[tag.end() :]}", False)


def check(document: str) -> None:
    """Raise for a document that is not well-formed what `ElementTree.fromstring` raises."""
    try:
        expat.ParserCreate(None, "}").Parse(document, True)
    except expat.ExpatError as error:
        refused = ElementTree.ParseError(str(error))
        refused.code, refused.position = error.code, (error.lineno, error.offset)
        raise refused from None
