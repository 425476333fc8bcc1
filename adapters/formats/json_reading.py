"""How JSONAdapter (and BAMLAdapter) read a reply: one JSON object, repaired if need be.

Rule: `dspy.adapters.json_adapter.JSONAdapter.parse`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from adapters.json_text.json_document import (
    Member,
    align,
    embedded_object,
    first_braces,
    first_object,
    members,
    opens_object,
)
from adapters.json_text.repaired_json import NOT_JSON, load_valid_json, repair_object
from adapters.replies.reading import Extract, Reading, Span
from adapters.replies.reading_builder import Findings, partition, reason
from adapters.signatures.signature import Signature
from adapters.values.coercion import RULES
from adapters.values.steps import Step

RULES["first_object"] = lambda before, annotation: first_object(before)


@dataclass(frozen=True)
class Document:
    """The object a reply was read as: `start` to `end` of the reply, its members' places if valid, the steps to it."""

    values: dict[str, Any]
    start: int
    end: int
    members: Sequence[Member] | None
    steps: tuple[Step, ...]


def read_json(signature: Signature, completion: str, adapter: str, error_name: str) -> Reading:
    """The reading of a reply as one JSON object. `error_name` is the adapter that dspy's value errors name."""
    found = Findings(adapter, signature, completion)
    try:
        document, searched = _document(completion)
    except Exception as error:  # json_repair's ValueError and RecursionError leak from dspy; both are verdicts
        found.fail(error)
        found.complete("JSONAdapter")
        return found.reading(partition((), len(completion)))
    if document is None:
        place, said = _syntax_error(completion)
        message = "LM response cannot be serialized to a JSON object."
        found.fail(found.parse_error(message, searched, None, "JSONAdapter"), None, place, said)
        found.complete("JSONAdapter")
        return found.reading(partition((), len(completion)))
    searched = (document.start, document.end)
    partial = {name: value for name, value in document.values.items() if name in signature.output_fields}
    spans, places = _spans(signature, completion, document)
    for name, value in list(partial.items()):
        place = places.get(name)
        refused = found.coerce(name, value, place, *_first_step(document, name, value, place))
        if refused is None:
            partial[name] = found.fields[name].value
        elif isinstance(refused, ValueError):
            message = f"Failed to parse field {name}: {refused}"
            failure = found.parse_error(message, searched, dict(partial), error_name)
            failure.__cause__ = refused
            found.fail(failure, name, place, f"{name}: {reason(refused)}")
        else:
            found.fail(refused, name, place)
    found.complete("JSONAdapter", searched)
    return found.reading(partition(spans, len(completion)))


def _document(completion: str) -> tuple[Document | None, tuple[int, int]]:
    """The object, and the part of the reply that was searched last (what dspy's error shows)."""
    everything = (0, len(completion))
    document, is_object = _load(completion, everything)
    if is_object:
        return document, everything
    place = first_braces(completion)
    if place is None:
        return None, everything
    inner, is_object = _load(completion, place)
    if not is_object or inner is None:
        return None, place
    step = Step("first_object", completion, completion[place[0] : place[1]])
    return Document(inner.values, *place, inner.members, (step, *inner.steps)), place


def _load(completion: str, place: tuple[int, int]) -> tuple[Document | None, bool]:
    start, end = place
    text = completion if place == (0, len(completion)) else completion[start:end]
    found = members(text)
    if found is not None:
        moved = found if start == 0 else [_moved(one, start) for one in found]
        return Document({one.key: one.value for one in found}, start, end, moved, ()), True
    if not opens_object(text) and load_valid_json(text) is not NOT_JSON:
        return None, False
    repaired, inside = repair_object(text)
    if not isinstance(repaired, dict):
        return None, False
    if inside is None:
        inside = embedded_object(text, repaired)
    places = None if inside is None else [_moved(one, start) for one in inside]
    return Document(repaired, start, end, places, (Step("json_repair", text, repaired),)), True


def _moved(member: Member, by: int) -> Member:
    return Member(
        member.key, member.key_start + by, member.key_end + by, member.start + by, member.end + by, member.value
    )


def _first_step(
    document: Document, name: str, value: Any, place: tuple[int, int] | None
) -> tuple[list[Step], Extract | None]:
    """From the reply to the field's JSON value: a valid member from its own text, a repaired one from the whole."""
    if place is not None and not (document.steps and document.steps[-1].rule == "json_repair"):
        return [], Extract("json", *place, value)
    *before, repair = document.steps
    return [*before, Step(repair.rule, repair.before, value, path=name)], None


Places = dict[str, tuple[int, int]]


def _spans(signature: Signature, completion: str, document: Document) -> tuple[list[Span], Places]:
    if document.members is not None:
        return _valid_spans(signature, document, document.members)
    aligned = align(completion, document.start, document.end, document.values)
    if aligned is None:
        return [Span(document.start, document.end, "repaired")], {}
    spans: list[Span] = []
    places: Places = {}
    for one in aligned:
        if one.key not in signature.output_fields:
            spans.append(Span(one.key_start, max(one.end, one.key_end), "unknown"))
            continue
        spans.append(Span(one.key_start, one.start, "marker", one.key))
        if one.end > one.start:
            spans.append(Span(one.start, one.end, "value" if one.certain else "repaired", one.key))
            places[one.key] = (one.start, one.end)
    return spans, places


def _valid_spans(signature: Signature, document: Document, found: Sequence[Member]) -> tuple[list[Span], Places]:
    spans: list[Span] = []
    places: Places = {}
    last = {one.key: one for one in found}
    for one in found:
        if one.key not in signature.output_fields:
            spans.append(Span(one.key_start, one.end, "unknown"))
        elif last[one.key] is not one:
            spans.append(Span(one.key_start, one.end, "duplicate", one.key))
        else:
            spans.append(Span(one.key_start, one.start, "marker", one.key))
            spans.append(Span(one.start, one.end, "value", one.key))
            places[one.key] = (one.start, one.end)
    return spans, places


def _syntax_error(completion: str) -> tuple[tuple[int, int] | None, str]:
    """Where the reply stops being JSON, and in words what is wrong; a reply that begins as an object has one."""
    none = "no JSON object in the reply"
    try:
        json.loads(completion)
    except json.JSONDecodeError as error:
        place = error.pos, min(error.pos + 1, len(completion))
        if not completion.lstrip().startswith("{"):
            return place, none
        if error.pos >= len(completion.rstrip()):
            return place, "the JSON object is not closed: the reply ends in the middle of it"
        if error.msg == "Extra data":
            return place, "the JSON object has ended before this, and dspy reads one object alone"
        return place, f"the JSON object breaks here: {error.msg[:1].lower()}{error.msg[1:]}"
    except (ValueError, RecursionError):
        return None, none
    return None, none
