"""Convert XML elements to JSON values, guided by a field's schema.

Rule: `dspy.adapters.xml_adapter.XMLAdapter._elements_to_value`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

ROOT = "dspy_root"
SCALARS = frozenset({"string", "number", "integer", "boolean"})


def _is_scalar(schema: Mapping[str, object]) -> bool:
    """Test whether an element without children is parsed as plain text."""
    return schema.get("type") in SCALARS and "anyOf" not in schema and "$ref" not in schema


def name_of(element: ElementTree.Element) -> str:
    """Return the name of a field or JSON key: the tag, or the key of `<entry key="…">`."""
    return element.attrib.get("key", "entry") if element.tag == "entry" else element.tag


def group_children(given: Iterable[ElementTree.Element]) -> dict[str, list[ElementTree.Element]]:
    """Group elements, such as an element's children, by name."""
    children: dict[str, list[ElementTree.Element]] = defaultdict(list)
    for child in given:
        children[child.attrib.get("key", child.tag) if child.tag == "entry" else child.tag].append(child)
    return children


def elements_to_value(
    given: list[ElementTree.Element], schema: Mapping[str, Any], definitions: Mapping[str, Any]
) -> object:
    """Convert a field's elements to a JSON value, guided by its schema (`XMLAdapter.elements_to_value`)."""
    if "$ref" in schema:
        schema = definitions.get(schema["$ref"].rsplit("/", 1)[-1], schema)
    first = given[0]
    if len(given) == 1 and not len(first) and _is_scalar(schema):
        return _text_of(first)
    if choices := schema.get("anyOf"):
        if {"type": "null"} in choices and not len(first) and not _text_of(first):
            return None
        # Choose the first branch of a union that is not null and, if there are child elements, not text
        real = [choice for choice in choices if choice.get("type") != "null"]
        nested = (choice for choice in real if choice.get("type") != "string") if len(first) else iter(())
        schema = next(nested, real[0])
    kind = schema.get("type")
    if kind == "array":
        return _list_value(given, schema.get("items", {}), definitions)
    if kind == "string" and len(first):
        return (first.text or "") + _markup(first)
    if len(first):
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        if not isinstance(others, dict):
            others = {}
        return {
            name: elements_to_value(items, properties.get(name, others), definitions)
            for name, items in group_children(first).items()
        }
    if kind == "object" and not _text_of(first):
        return {}
    values = [_text_of(one) for one in given]
    return values[0] if len(values) == 1 else values


def _markup(element: ElementTree.Element) -> str:
    """Write the XML between an element's tags: at once, unless its children declare namespaces of their own."""
    if not any(len(child) or child.keys() or "{" in child.tag for child in element):
        # As `ElementTree.tostring` writes them, in a tenth of the time.
        pieces: list[str] = []
        for child in element:
            tag, text, tail = child.tag, child.text, child.tail
            pieces.append(f"<{tag}>{_escaped(text)}</{tag}>" if text else f"<{tag} />")
            if tail:
                pieces.append(_escaped(tail))
        return "".join(pieces)
    parent = ElementTree.Element(ROOT)
    parent.extend(element)
    written = ElementTree.tostring(parent, encoding="unicode")
    if written.startswith(f"<{ROOT}>"):
        return written[len(f"<{ROOT}>") : -len(f"</{ROOT}>")]
    return "".join([ElementTree.tostring(child, encoding="unicode") for child in element])


def _escaped(text: str) -> str:
    """Do what `html.escape` does, whose module holds two thousand names of characters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _text_of(element: ElementTree.Element) -> str:
    """Return the stripped text before the element's first child."""
    return (element.text or "").strip()


def _list_value(given: list[ElementTree.Element], member: Mapping[str, Any], definitions: Mapping[str, Any]) -> object:
    """Read the items of a list: the `<item>` children of a single element, else the elements themselves.

    A single element without children may contain a JSON list, which is returned as text.
    """
    if len(given) == 1:
        text = _text_of(given[0])
        if not len(given[0]) and (not text or text.startswith("[")):
            return text or []
        given = group_children(given[0]).get("item") or given
    if not any(map(len, given)):
        if _is_scalar(member):
            return [_text_of(one) for one in given]
        known = definitions.get(member.get("$ref", "").rsplit("/", 1)[-1], member)
        if known.get("type") == "object" and "anyOf" not in known:
            return [_text_of(one) or {} for one in given]
    return [elements_to_value([one], member, definitions) for one in given]
