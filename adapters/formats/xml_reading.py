"""Parse replies for XMLAdapter: each output is read from the top-level elements with its name.

Rule: `dspy.adapters.xml_adapter.XMLAdapter.parse`. A single unescaped `&` or `<` is a parse error.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple
from xml.parsers import expat

import pydantic

from adapters.errors import Pieces
from adapters.formats.chat import info_of
from adapters.formats.xml_values import ROOT, elements_to_value, group_children, name_of
from adapters.replies.reading import Extract, Reading, Span
from adapters.replies.reading_builder import Findings
from adapters.signatures.signature import Signature
from adapters.types.recognition import schema_by_name
from adapters.values.coercion import RULES, coerce
from adapters.values.plain_json import Step

_TAG = re.compile(r"""<(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""")
ROOT_OPEN = b"<r>"
ROOT_CLOSE = b"</r>"
MOST_REPEATS = 1_000
"""The same element in a row this often has spans of its own; more, between the first and the last, have one for all."""
MOST_PLACED = 10_000
"""Elements and rows of repeats that have spans of their own; the rest of the reply has one."""
LONG = 1_000_000
"""Characters at the beginning of a reply, or in a tag, beyond which something may be left out."""
_LONG_TAG = re.compile(r"""<([^\s<>/"']++)(?:[^<>"']++|"[^"]*+"|'[^']*+')*+>""")


class Element(NamedTuple):
    """A top-level element: its range with tags and its inner range, in code points.

    `name` is the tag, or the key of `<entry key="…">`.
    """

    name: str
    start: int
    inner_start: int
    inner_end: int
    end: int


Placed = tuple[list[Element], set[str]]
"""The first elements, and the names of the rest."""


def elements(text: str, root: ElementTree.Element) -> Placed:
    """Find the first top-level elements of a well-formed fragment, and the names of the rest (`MOST_PLACED`).

    `root` is the parsed fragment.
    """
    children = iter(root)
    placed = _plain_elements(text, children)
    if placed is None:
        placed = _elements_by_expat(text)
        children = islice(root, len(placed), None)
    return placed, {child.tag if child.tag != "entry" else name_of(child) for child in children}


def _plain_elements(text: str, children: Iterator[ElementTree.Element]) -> list[Element] | None:
    """Find the elements by their tags, three times faster than the parser; return None if that is ambiguous.

    Comments, CDATA, processing instructions, namespaces, and elements inside an element of the same name are ambiguous.
    """
    if is_ambiguous(text):
        return None
    placed: list[Element] = []
    position = counted = 0
    for child in children:
        tag = child.tag
        if tag.startswith("{") or (len(child) and len(list(islice(child.iter(tag), 2))) > 1):
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
        name = name_of(child)
        placed.append(Element(name, start, inner_start, inner_end, position))
        size = position - start
        times = repeats(text, text[start:position], position) if position > counted else 0
        counted = max(counted, position + times * size)
        if times > MOST_REPEATS:  # the last one is placed by itself, as its end is that of the field
            position = start + times * size
            inner = (inner_start + size, inner_end + position - start - size)
            if not text[inner_start:inner_end].strip():
                inner = (start + size, start + size)
            placed.append(Element(name, start + size, *inner, position))
            next(islice(children, times - 1, times - 1), None)
        if len(placed) >= MOST_PLACED:
            break
    return placed


def repeats(text: str, piece: str, start: int) -> int:
    """Count how often `piece` follows itself from `start`; larger steps keep 10 MB fast."""
    times, step = 0, 1
    while step:
        if text.startswith(piece * step, start + times * len(piece)):
            times, step = times + step, 2 * step
        else:
            step //= 2
    return times


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
            if len(found) >= MOST_PLACED:
                parser.StartElementHandler = parser.EndElementHandler = None

    parser.StartElementHandler = start_element
    parser.EndElementHandler = end_element
    parser.Parse(ROOT_OPEN + data + ROOT_CLOSE, True)
    shift = len(ROOT_OPEN)
    placed: list[Element] = []
    at = counted = 0  # bytes, and the characters that start in them
    for name, *offsets in found:
        places: list[int] = []
        for offset in offsets:
            counted += len(data[at : offset - shift].translate(None, _CONTINUATION))
            at = offset - shift
            places.append(counted)
        start, inner_end = places
        inner_start = _tag_end(text, start)
        if text[inner_start - 2] == "/":
            inner_end = end = inner_start
        else:
            end = text.index(">", inner_end) + 1
        placed.append(Element(name, start, inner_start, inner_end, end))
    return placed


_BREAK = re.compile(r"\r\n?|\n")


def _tag_end(text: str, start: int) -> int:
    """Return the offset after the `>` that ends the tag at `start`, ignoring `>` in attributes."""
    return _TAG.match(text, start).end()  # type: ignore[union-attr]


_CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that do not start a character."""


MOST_BRANCHES = 64
USUAL_SPACE = 64
"""Characters at an element's end to strip first, which avoids copying a long value."""

LONGEST_ENTITY = 40

_VISIBLE = re.compile(r"\S")
_ENTITY_BEGUN = re.compile(r"&#?[\w.:-]*")


def rule_name(branch: int) -> str:
    """Return the name of a step: `xml` for the field's schema (0), `xml_2` for branch 2 of its `anyOf`."""
    return "xml" if branch == 0 else f"xml_{branch}"


def read_xml(found: Findings) -> Reading:
    """Parse a reply as XML."""
    signature, completion = found.signature, found.completion
    try:
        root, placed = _tree(completion, signature)
    except ElementTree.ParseError as error:
        offset, words = _fault(completion, error)
        failure = found.parse_error("XMLAdapter", f"Failed to parse XML: {error}")
        failure.__cause__ = error
        found.fail(failure, None, (offset, min(offset + 1, len(completion))), f"not well-formed XML: {words}")
        return found.reading("XMLAdapter")
    except Exception as error:  # an unpaired surrogate raises UnicodeEncodeError, which dspy does not catch
        found.fail(error)
        return found.reading("XMLAdapter")
    grouped = group_children([child for child in root if child.tag == "entry" or child.tag in signature.output_fields])
    spans, places = _spans(signature, completion, *(placed or elements(completion, root)))
    for name in signature.output_fields:
        if name in grouped:
            _read_field(found, name, grouped[name], places[name])
    return found.reading("XMLAdapter", spans)


def _tree(completion: str, signature: Signature) -> tuple[ElementTree.Element, Placed | None]:
    """Parse a reply, or only what is needed of a long one; if that is cut, return its first elements, too."""
    document, part = f"<{ROOT}>{completion}</{ROOT}>", needed(completion, (*signature.output_fields, "entry"))
    if part is None:
        return ElementTree.fromstring(document), None
    try:
        root = ElementTree.fromstring(f"<{ROOT}>{part.text}</{ROOT}>")
    except (ElementTree.ParseError, ValueError):  # it is cut within an element, or not well-formed
        return ElementTree.fromstring(document), None
    children = iter(root)
    first = _plain_elements(completion, children) if part.is_cut else None
    if part.is_cut and (first is None or len(first) < MOST_PLACED):
        return ElementTree.fromstring(document), None
    check(document)
    return root, None if first is None else (first, {"", *(name_of(child) for child in children)})


def _fault(completion: str, error: ElementTree.ParseError) -> tuple[int, str]:
    """Return place and words of a fault; expat itself points behind a bare `&`."""
    line, column = error.position
    start = -len(f"<{ROOT}>") if line == 1 else next(islice(_BREAK.finditer(completion), line - 2, None)).end()
    offset, said = max(0, min(start + column, len(completion))), str(error).split(":", 1)[0]
    if not said.startswith("not well-formed"):
        return offset, said
    ampersand = completion.rfind("&", max(0, offset - LONGEST_ENTITY), offset)
    is_control = completion[offset : offset + 1] < " " and not completion[offset : offset + 1].isspace()
    if ampersand >= 0 and not is_control and _ENTITY_BEGUN.fullmatch(completion, ampersand, offset):
        return ampersand, "a bare &"
    return offset, "a character that is not allowed there"


def _read_field(found: Findings, name: str, given: list[ElementTree.Element], place: Element) -> None:
    field = found.signature.output_fields[name]
    inner = (place.inner_start, place.inner_end)
    extract: Extract | None = None
    steps: list[Step] = []
    value: object = None
    failure: ValueError | None = None
    validator_of = found.validator_of
    try:
        schema = schema_by_name(field.annotation)
        definitions = schema.get("$defs", {})
        for index, candidate in enumerate([schema, *schema.get("anyOf", [])]):
            try:
                value = elements_to_value(given, candidate, definitions)
                extract = Extract(rule_name(index), place.start, place.end, value, name)
                steps = []
                try:
                    typed = coerce(value, field.annotation, steps, validator_of)
                except pydantic.ValidationError:
                    typed = validator_of(field.annotation).validate_python(value, by_name=True)
                    steps = [Step("pydantic_by_name", value, typed)]
                found.keep(name, typed, inner, steps, extract)
                return
            except ValueError as error:
                failure = error
    except Exception as error:  # dspy catches only ValueError, so other errors are the verdict
        found.keep_failure(name, inner, steps, error, extract)
        found.fail(error, name, inner)
        return
    assert failure is not None
    found.keep_failure(name, inner, steps, failure, extract)
    found.refused[name] = value
    told = found.told(name, failure, by_name=True)
    message = Pieces(("Failed to parse field ", info_of(field), " with value ", value, ": ", told))
    verdict = found.parse_error("XMLAdapter", message)
    verdict.__cause__ = failure
    found.fail(verdict, name, inner, found.why(name, failure, by_name=True))


def _spans(
    signature: Signature, completion: str, given: Sequence[Element], rest: Container[str]
) -> tuple[list[Span], dict[str, Element]]:
    """Return the spans of the top-level elements, and an element per field from its first to its last."""
    spans: list[Span] = []
    places: dict[str, Element] = {}
    for one in given:
        name = one.name
        if name not in signature.output_fields:
            spans.append(Span(one.start, one.end, "unknown"))
            continue
        first, last = _strip_space(completion, one)
        if first == last:
            spans.append(Span(one.start, one.end, "marker", name))
        else:
            spans.append(Span(one.start, one.inner_start, "marker", name))
            spans.append(Span(one.inner_start, first, "ignored"))
            spans.append(Span(first, last, "value", name))
            spans.append(Span(last, one.inner_end, "ignored"))
            spans.append(Span(one.inner_end, one.end, "marker", name))
        places[name] = _extended(places.get(name), Element(name, one.start, first, last, one.end))
    if rest:
        start, end = given[-1].end, len(completion.rstrip())
        fields = [name for name in signature.output_fields if name in rest]
        spans.append(Span(start, end, "value", fields[0]) if fields else Span(start, end, "unknown"))
        for name in fields:  # one that begins here has no text of its own
            inner_start = start if name in places else end
            places[name] = _extended(places.get(name), Element(name, start, inner_start, end, end))
    return [span for span in spans if span.end > span.start], places


def _extended(known: Element | None, one: Element) -> Element:
    """Join the elements of a field; the inner range is from the first element with content to the last."""
    if known is None:
        return one
    if one.inner_start == one.inner_end:
        return known._replace(end=one.end)
    if known.inner_start == known.inner_end:
        return one._replace(start=known.start)
    return Element(known.name, known.start, known.inner_start, one.inner_end, one.end)


def _strip_space(completion: str, one: Element) -> tuple[int, int]:
    """Return an element's inner range without white space at its ends, unless it contains markup."""
    start, end = one.inner_start, one.inner_end
    if completion.find("<", start, end) >= 0:
        return start, end
    first = _VISIBLE.search(completion, start, end)
    if first is None:
        return start, start
    tail = max(first.start(), end - USUAL_SPACE)
    kept = len(completion[tail:end].rstrip())
    if not kept:
        tail = first.start()
        kept = len(completion[tail:end].rstrip())
    return first.start(), tail + kept


def _replay(index: int, before: str, annotation: object) -> dict[str, object]:
    schema = schema_by_name(annotation)
    candidate = [schema, *schema.get("anyOf", [])][index]
    root = ElementTree.fromstring(f"<{ROOT}>{before}</{ROOT}>")
    grouped = group_children(root)
    definitions = schema.get("$defs", {})
    return {name: elements_to_value(given, candidate, definitions) for name, given in grouped.items()}


for _index in range(MOST_BRANCHES):
    RULES[rule_name(_index)] = partial(_replay, _index)


class Needed(NamedTuple):
    """The part of a fragment for which a tree is needed; `is_cut` if other elements may follow it."""

    text: str
    is_cut: bool


def is_ambiguous(text: str) -> bool:
    """Return whether a text has more than elements: comments, CDATA, instructions or namespaces."""
    return "<!" in text or "<?" in text or "xmlns" in text


def needed(text: str, names: Iterable[str]) -> Needed | None:
    """Return the part of a long fragment without the attributes of its first tag and what follows the fields.

    A tree takes twice as long as `check` of the same text, which has the same verdict.
    `names` are the tags of fields. None if nothing can be left out.
    """
    if len(text) <= 2 * LONG or is_ambiguous(text):
        return None
    last = max([text.rfind(f"<{name}") for name in names])
    end = text.find("<", last + LONG)
    if 0 <= end <= len(text) // 2:
        return Needed(text[:end], True)
    start = text.find("<")
    tag = _LONG_TAG.match(text, start) if start >= 0 else None
    if tag is None or tag.end() - start <= LONG or tag[1] == "entry":
        return None
    ending = "/>" if text.endswith("/>", start, tag.end()) else ">"
    return Needed(f"{text[:start]}<{tag[1]}{ending}{text[tag.end() :]}", False)


def check(document: str) -> None:
    """Raise the error of `ElementTree.fromstring` if a document is not well-formed."""
    try:
        expat.ParserCreate(None, "}").Parse(document, True)
    except expat.ExpatError as error:
        refused = ElementTree.ParseError(str(error))
        refused.code, refused.position = error.code, (error.lineno, error.offset)
        raise refused from None
