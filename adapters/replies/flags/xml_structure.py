"""Flags for replies parsed as XML: parse errors, ignored parts, conversions of elements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, get_origin
from xml.etree import ElementTree

from adapters.replies.flag import Flag, line, named, place, shown
from adapters.replies.flags.wrong_places import known_keys, name_flags
from adapters.replies.reading import Detector, sought
from adapters.replies.repairs import names_by_case
from adapters.replies.sections import is_only_thoughts, only_mentions_tags
from adapters.signatures.signature import without_none
from adapters.types.recognition import schema_by_name

if TYPE_CHECKING:
    from adapters.replies.reading import Extract, FieldReading, Reading, ReadingError
    from adapters.values.plain_json import Step

ATTRIBUTES = re.compile(r"<([^\s/>]+)\s+([^\s=/>]+)\s*=")
TAG = re.compile(r"<([^\s/>!?]+)")
NAME = re.compile(r"[^\s<>/]+")
A_TAG = re.compile(r"<(/?)([^\s<>/!?]++)[^<>]*+(?<!/)>")
BARE = "a bare &"
CUT_TAG = re.compile(r"</?(?:[A-Za-z][\w.:-]*)?\Z")
LONGEST_TAG = 100
MOST_EXPLAINED = 50
LONGEST = 200_000
"""Characters of a reply in which the tag that is still open is looked for."""
ENTITY = re.compile(r"&#?\w{1,30};")


def xml_structure(reading: Reading) -> Iterator[Flag | Detector]:
    """Yield flags for a reply parsed as XML."""
    error = reading.error
    if error is not None and error.field is None:
        yield from _why_no_xml(reading, error)
        return
    may_be_causes = not reading.ok and "<" in reading.completion
    yield from sought(reading, _ignored, may_be_causes)
    yield from sought(reading, _nested, may_be_causes)
    for field in reading.fields.values():
        step: Extract | Step | None = field.extract
        if step is None or not step.rule.startswith("xml"):
            step = next((one for one in field.coercions if one.rule.startswith("xml")), None)
        if step is not None:
            yield from _field(reading, field, step.after)


def _why_no_xml(reading: Reading, error: ReadingError) -> tuple[Flag, ...]:
    text, at = reading.completion, error.start
    if is_only_thoughts(text.strip()):  # `empty-reply` says so
        return ()
    if error.type == "UnicodeEncodeError":
        return (Flag("lone-surrogate", "The reply contains an unpaired surrogate, which XML does not allow."),)
    if at is None:
        return ()
    where = place(reading, at)
    if text.rfind("<think>", 0, at) > text.rfind("</think>", 0, at):
        where += ", inside <think>"
    found: Flag | None = None
    if "declaration" in error.message or text.startswith("<?xml", at):
        said = f"The reply begins with an <?xml …?> declaration ({where}), which dspy cannot parse"
        found = Flag("xml-declaration", said)
    elif "undefined entity" in error.message:
        entity = ENTITY.match(text, at)
        said = f"{entity.group() if entity else 'An entity'} ({where}) is an HTML entity; XML has only &amp; &lt; &gt; "
        found = Flag("xml-entity-unknown", f"{said}&quot; and &apos;")
    elif only_mentions_tags(text):
        return ()
    elif text.startswith("&", at) and error.message.endswith(BARE) and not text.startswith("<&", max(0, at - 1)):
        found = Flag("xml-ampersand", f"A bare & ({where}) begins an entity in XML; it must be written `&amp;`")
    elif at > (begin := text.rfind("<")) >= at - LONGEST_TAG and (cut := CUT_TAG.match(text.rstrip(), begin)):
        said = f"The reply ends within the tag {shown(cut.group())[1:-1]} ({place(reading, begin)})"
        found = Flag("xml-cut-off", said)
    elif "mismatched tag" in error.message and at >= len(text.rstrip()):
        opened = _open_tags(text, at)
        first = opened[0] if opened else None
        tag = "every tag is" if first is None else f"{_tag_at(reading, first)} is"
        is_whole = first is not None and _holds_output(reading, first)
        said = f"{tag} not closed" if is_whole else f"The reply ends ({where}) before {tag} closed"
        found = Flag("xml-tag-not-closed" if is_whole else "xml-cut-off", said)
    elif "mismatched tag" in error.message:
        found = Flag("xml-tag-not-closed", _not_closed(reading, at))
    elif "no element found" in error.message or "unclosed" in error.message:
        found = Flag("xml-cut-off", "The reply ends before every tag is closed")
    elif "unbound prefix" in error.message:
        found = Flag("xml-namespace", f"A tag has a prefix, which XML takes for a namespace ({where})")
    elif text[max(0, at - 2) : at + 1] == "]]>":
        found = Flag("xml-cdata-end", f"XML does not allow ]]> in text ({where})")
    elif at < len(text) and text[at] < " " and text[at] not in "\t\r\n":
        found = Flag("xml-control-character", f"XML does not allow the character {text[at]!a} ({where})")
    elif "<" in text[max(0, at - 1) : at + 1]:
        found = Flag("xml-less-than", f"A bare < ({where}) begins a tag in XML; it must be written `&lt;`")
    elif text.startswith("&", at):
        found = Flag("xml-ampersand", f"A bare & ({where}) begins an entity in XML; it must be written `&amp;`")
    if found is None:
        return ()
    return (Flag(found.name, f"{found.message}; the whole reply is one XML document, so all of it was refused."),)


def _holds_output(reading: Reading, opening: re.Match[str]) -> bool:
    """Return whether an output's tag is open while another is closed: the reply was not cut off in it."""
    ends = [f"</{name}>" for name in reading.fields] if opening.group(2) in reading.fields else ()
    return any(reading.completion.find(one, opening.end()) >= 0 for one in ends)


def _not_closed(reading: Reading, at: int) -> str:
    """Name the tag that is open where a tag of another name is closed, at the offset of that name."""
    text = reading.completion
    closing, opened = NAME.match(text, at), _open_tags(text, at - 2)
    if closing is None or opened is None:
        return f"A tag is opened and not closed, or closed in another order ({place(reading, at)})"
    where = f"</{shown(closing.group())[1:-1]}> ({place(reading, at - 2)})"
    if opened:
        return f"{_tag_at(reading, opened[-1])} is not closed before {where}"
    name = closing.group()
    own = text.find(f"</{name}>", 0, at - 2)
    if own >= 0 and text[own + len(name) + 3 : at - 2].strip():
        return (
            f"The text of <{name}> contains </{name}> ({place(reading, own)}), which ends it; so {where} closes nothing"
        )
    return f"{where} closes no open tag"


def _tag_at(reading: Reading, opening: re.Match[str]) -> str:
    return f"<{shown(opening.group(2))[1:-1]}> ({place(reading, opening.start())})"


def _open_tags(text: str, end: int) -> list[re.Match[str]] | None:
    """Return the tags open at an offset; None if not known."""
    if end > LONGEST or "<!" in text[:end]:  # in a comment or CDATA, tags do not count
        return None
    opened: list[re.Match[str]] = []
    for match in A_TAG.finditer(text, 0, end):
        if not match.group(1):
            opened.append(match)
        elif opened:
            opened.pop()
    return opened


def _ignored(reading: Reading) -> Iterator[Flag]:
    completion, spans = reading.completion, reading.spans
    is_plain = "unknown" not in reading.kinds and "=" not in completion
    if is_plain and not any(completion[one.start : one.end].strip() for one in spans if one.kind == "ignored"):
        return
    lower = names_by_case(reading.signature)
    ignored: dict[str, int] = {}
    attributed: set[str] = set()
    is_inside = False
    for span in spans:
        text = completion[span.start : span.end]
        if span.kind == "marker":
            is_whole = text.rstrip().endswith("/>") or (text.startswith("<") and "</" in text)
            is_inside = not is_inside and not is_whole
            attributes = ATTRIBUTES.match(text) if "=" in text else None
            if attributes and span.field and attributes.group(1) != "entry" and span.field not in attributed:
                attributed.add(span.field)
                yield Flag(
                    "xml-attributes-ignored",
                    f"{shown(attributes.group(2))[1:-1]}=… in the tag of `{span.field}` ({line(reading, span.start)}) "
                    "was ignored: only the text between the tags is parsed.",
                    span.field,
                )
        elif span.kind == "ignored" and not is_inside and text.strip():
            if text.strip().startswith("```"):
                yield Flag(
                    "fence-dropped", f"The code fence around the tags ({line(reading, span.start)}) was dropped."
                )
            if text.strip().strip("`").removeprefix("xml").strip():
                yield Flag("text-around-dropped", f"Text outside the output tags was dropped: {shown(text.strip())}.")
        elif span.kind == "unknown":
            tag = TAG.match(text)
            name = tag.group(1) if tag else ""
            if len(ignored) < MOST_EXPLAINED and name not in ignored:
                yield from _unknown(reading, name, text, span.start, lower)
            ignored.setdefault(name, span.start)
    unknown = [name for name in ignored if name.rpartition(":")[2].casefold() not in lower]
    yield from name_flags(reading, unknown)
    if ignored:
        yield Flag("unknown-tag-ignored", f"Tags other than the output fields were ignored: {named(list(ignored))}.")


def _unknown(reading: Reading, name: str, text: str, start: int, lower: Mapping[str, str]) -> Iterator[Flag]:
    opening = text[: text.find(">") + 1]
    meant = lower.get(name.rpartition(":")[2].casefold())
    if meant is not None and ("xmlns" in opening or ":" in name):
        yield Flag(
            "xml-namespace",
            f"The tag <{shown(name)[1:-1]}> ({line(reading, start)}) has a namespace, so it is not `{meant}`.",
            meant,
        )
    elif meant is not None:
        yield Flag(
            "tag-in-another-case",
            f"The tag <{shown(name)[1:-1]}> ({line(reading, start)}) is not `{meant}`: tag names are case-sensitive.",
            meant,
        )
    hidden = [one for one in reading.lacking if f"<{one}>" in text]
    if hidden and meant is None:
        yield Flag(
            "tag-around-everything",
            f"<{shown(name)[1:-1]}> ({line(reading, start)}) surrounds {named(hidden)}; only tags at the top level "
            "are parsed, so the fields inside were ignored.",
        )


def _nested(reading: Reading) -> Iterator[Flag]:
    missing = [name for name in reading.lacking[:20] if f"<{name}>" in reading.completion]
    for field in reading.fields.values() if missing else ():
        raw = field.raw
        if raw is None or "<" not in raw:
            continue
        for name in missing:
            if f"<{name}>" in raw:
                yield Flag(
                    "field-inside-another",
                    f"<{name}> is inside <{field.name}>, so it belongs to `{field.name}` and `{name}` was not found.",
                    name,
                )


def _field(reading: Reading, field: FieldReading, after: object) -> Iterator[Flag | Detector]:
    name, raw = field.name, field.raw or ""
    annotation = reading.signature.output_fields[name].annotation
    if after is None:
        yield Flag("empty-tag-became-none", f"<{name}> is empty, which means None here, not an empty text.", name)
    if annotation is str:
        if isinstance(after, list):
            yield Flag(
                "repeated-tag-became-list-text",
                f"<{name}> occurs {len(after)} times; as `{name}` is a text, the value is a Python list as text: "
                f"{shown(field.value)}.",
                name,
            )
        elif "<" in raw:
            yield Flag(
                "markup-kept-in-text",
                f"`{name}` contains tags: they stay in the text, rewritten (<br/> becomes <br />), and its white space "
                "is not stripped.",
                name,
            )
        return
    schema = schema_by_name(annotation) if isinstance(after, list) else {}
    if isinstance(after, list) and any(one.get("type") == "array" for one in (schema, *schema.get("anyOf", ()))):
        yield partial(_list, name=name, raw=raw, after=after)
    if field.state == "failed" and isinstance(after, dict) and "<" in raw:
        inner = without_none(annotation)
        known = known_keys(inner)
        if get_origin(inner) is not dict and (known is None or not known.keys() >= after.keys()):
            said = f"The tags inside <{name}> were parsed as an object with the keys {named(list(after))}"
            yield Flag("tags-read-as-object", f"{said}, which `{name}` does not accept.", name)


def _tags_at_the_top(text: str) -> set[str]:
    """Return the tags of the top-level elements in the first `LONGEST` characters of XML."""
    if len(text) <= LONGEST:
        return {one.tag for one in ElementTree.XML(f"<r>{text}</r>")}
    parser: Any = ElementTree.XMLPullParser(("start", "end"))
    parser.feed(f"<r>{text[:LONGEST]}")
    depth, found = 0, set[str]()
    for event, element in parser.read_events():
        if event == "start":
            depth += 1
            if depth == 2:
                found.add(element.tag)
        else:
            depth -= 1
    return found


def _list(reading: Reading, name: str, raw: str, after: list[Any]) -> Iterator[Flag]:
    if "<" not in raw:
        if len(after) == 1 and isinstance(after[0], str) and ("," in after[0] or "\n" in after[0]):
            yield Flag(
                "text-became-one-item",
                f"`{name}` is a list, and {shown(after[0])} became its only item: items need <item> tags of their own.",
                name,
            )
        return
    if raw.count("<") == raw.count("<item>") + raw.count("</item>"):
        return
    if all(match[1] == "item" for match in TAG.finditer(raw)):
        return
    try:
        children = _tags_at_the_top(raw)
    except (ElementTree.ParseError, ValueError):
        return
    others = sorted(children - {"item"})
    if others and "item" in children:
        yield Flag(
            "children-dropped",
            f"`{name}` has <item> tags, so its other children were dropped: {named(others)}.",
            name,
        )
    elif others and any(isinstance(item, str) and "<" in item for item in after):
        yield Flag(
            "children-kept-as-text",
            f"The children of <{name}> are not called <item> but {named(others)}, so they became one item with the "
            "tags in it.",
            name,
        )
