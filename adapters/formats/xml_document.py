"""Where the top-level elements of an XML reply stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple
from xml.etree import ElementTree
from xml.parsers import expat

_TAG = re.compile(r"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
ROOT_OPEN = b"<r>"
ROOT_CLOSE = b"</r>"


class Element(NamedTuple):
    """A top-level element: `start` to `end` with its tags, `inner_start` to `inner_end` without, in code points.

    `name` is the tag, or for `<entry key="…">` the key.
    """

    name: str
    start: int
    inner_start: int
    inner_end: int
    end: int


def elements(text: str, root: ElementTree.Element) -> list[Element]:
    """The top-level elements of a well-formed fragment, in order; `root` is the fragment as it was parsed."""
    return _plain_elements(text, root) or _elements_by_expat(text)


def _plain_elements(text: str, root: ElementTree.Element) -> list[Element] | None:
    """Found by their tags alone, which is three times as fast; None where tags alone do not tell.

    That is so for comments, CDATA, processing instructions, namespaces, and an element inside of one of its own name.
    """
    if "<!" in text or "<?" in text:
        return None
    placed: list[Element] = []
    position = 0
    for child in root:
        tag = child.tag
        if tag.startswith("{") or (len(child) and _occurs_within(child, tag)):
            return None
        start = text.index("<", position)
        inner_start = _tag_end(text, start)
        if text[inner_start - 2] == "/":
            inner_end = position = inner_start
        else:
            inner_end = text.index(f"</{tag}", inner_start)
            while text[inner_end + 2 + len(tag)] not in "> \t\r\n":
                inner_end = text.index(f"</{tag}", inner_end + 1)
            position = text.index(">", inner_end) + 1
        name = child.attrib.get("key", tag) if tag == "entry" else tag
        placed.append(Element(name, start, inner_start, inner_end, position))
    return placed


def _occurs_within(element: ElementTree.Element, tag: str) -> bool:
    descendants = element.iter(tag)
    next(descendants)
    return next(descendants, None) is not None


def _elements_by_expat(text: str) -> list[Element]:
    data = text.encode()
    found: list[tuple[str, int, int]] = []
    depth = 0
    opened: tuple[str, int] = ("", 0)
    parser = expat.ParserCreate(None, "}")

    def start_element(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth, opened
        if depth == 1:
            name = "{" + name if "}" in name else name
            opened = (attributes.get("key", name) if name == "entry" else name, parser.CurrentByteIndex)
        depth += 1

    def end_element(name: str) -> None:
        nonlocal depth
        depth -= 1
        if depth == 1:
            found.append((*opened, parser.CurrentByteIndex))

    parser.StartElementHandler = start_element
    parser.EndElementHandler = end_element
    parser.Parse(ROOT_OPEN + data + ROOT_CLOSE, True)
    shift = len(ROOT_OPEN)
    to_code_points = _CodePoints(data)
    placed: list[Element] = []
    for name, start_byte, close_byte in found:
        start = to_code_points(start_byte - shift)
        inner_start = _tag_end(text, start)
        if text[inner_start - 2] == "/":
            inner_end = end = inner_start
        else:
            inner_end = to_code_points(close_byte - shift)
            end = text.index(">", inner_end) + 1
        placed.append(Element(name, start, inner_start, inner_end, end))
    return placed


def error_offset(text: str) -> int:
    """The code point at which `text`, wrapped in a root element, stops being well-formed."""
    data = text.encode("utf-8", "surrogatepass")
    parser = expat.ParserCreate(None, "}")
    try:
        parser.Parse(ROOT_OPEN + data + ROOT_CLOSE, True)
    except expat.ExpatError:
        offset = max(0, min(parser.ErrorByteIndex - len(ROOT_OPEN), len(data)))
        return len(data[:offset].decode("utf-8", "replace"))
    return len(text)


def _tag_end(text: str, start: int) -> int:
    """Behind the `>` of the tag that begins at `start`; a `>` inside of an attribute does not count."""
    return _TAG.match(text, start).end()  # type: ignore[union-attr]


class _CodePoints:
    """Byte offsets of UTF-8 as code point offsets, asked for in any order."""

    STRIDE = 4096

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ascii = data.isascii()
        self._marks = [0]
        self._counts = [0]

    def __call__(self, offset: int) -> int:
        if self._ascii:
            return offset
        while self._marks[-1] + self.STRIDE <= offset:
            start = self._marks[-1]
            self._counts.append(self._counts[-1] + _characters(self._data[start : start + self.STRIDE]))
            self._marks.append(start + self.STRIDE)
        index = bisect_right(self._marks, offset) - 1
        return self._counts[index] + _characters(self._data[self._marks[index] : offset])


def _characters(data: bytes) -> int:
    """How many characters begin in a piece of UTF-8: every byte that is no continuation."""
    return len(data.translate(None, _CONTINUATION))


_CONTINUATION = bytes(range(0x80, 0xC0))
