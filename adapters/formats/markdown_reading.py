"""Parses replies for MarkdownAdapter: a labelled fence, else the whole text, else the first JSON value in it.

The order and the errors are those of weakincentives' structured output (`notes` of the result name the path
taken); the values are then coerced as in all adapters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from adapters.json_text.json_document import Member, members
from adapters.json_text.repair_limits import TooLargeError
from adapters.json_text.repaired_json import NOT_JSON, load_valid_json
from adapters.replies.reading import Reading, Span
from adapters.replies.reading_builder import Findings, partition, reason
from adapters.signatures.signature import Signature
from adapters.values.coercion import RULES
from adapters.values.steps import Step

ADAPTER = "MarkdownAdapter"
FENCE = re.compile(r"```json\s*\n(.*?)```", re.IGNORECASE | re.DOTALL)
OPENING = re.compile(r"[{\[]")
WORK_FACTOR = 16
"""How many times the reply's length may be spent on looking for a JSON value in it."""
MOST_OPENINGS = 1_000
"""How many brackets may turn out not to open a JSON value: each costs a look at all the lines before it."""


class Located(NamedTuple):
    """A JSON value in the reply: by which rule it was found, and where."""

    rule: str
    value: object
    start: int
    end: int


class NothingFound(ValueError):  # noqa: N818
    """No JSON value was found; the message says where it was expected."""


def read_markdown(found: Findings, allow_extra_keys: bool, array: bool) -> Reading:
    """Parse a reply that should be a fenced block of JSON."""
    signature, completion = found.signature, found.completion
    try:
        located = locate(completion)
        values = _json_fields(signature, located, array)
    except (ValueError, RecursionError) as error:
        found.fail(found.parse_error(reason(error), adapter_name=ADAPTER), None, None, reason(error))
        found.complete(ADAPTER)
        return found.reading(partition((), len(completion)))
    unknown = [name for name in values if name not in signature.output_fields]
    if unknown and not allow_extra_keys:
        message = f"Extra keys not permitted: {unknown}"
        found.fail(found.parse_error(message, adapter_name=ADAPTER), message=message)
    text = completion[located.start : located.end]
    given = members(text) if not array or isinstance(located.value, dict) else None
    spans, places = _spans(signature, located, given, array)
    first = Step(located.rule, completion, text)
    for name, value in values.items():
        if name not in signature.output_fields:
            continue
        place = places.get(name)
        steps = [first, Step("json", text, value, path="" if value is located.value else name)]
        refused = found.coerce(name, value, place, steps)
        if refused is not None:
            message = f"{name}: {reason(refused)}"
            failure = found.parse_error(message, adapter_name=ADAPTER)
            failure.__cause__ = refused
            found.fail(failure, name, place, message)
    found.complete(ADAPTER)
    return found.reading(partition(spans, len(completion)))


def locate(completion: str) -> Located:
    """The JSON value of a reply. Raises NothingFound, TooLargeError, and RecursionError for deep nesting."""
    fence = FENCE.search(completion)
    if fence is not None:
        value = load_valid_json(fence.group(1).strip())
        if value is NOT_JSON:
            raise NothingFound("the fenced block is not valid JSON")
        return Located("json_fence", value, *_stripped(completion, *fence.span(1)))
    value = load_valid_json(completion.strip())
    if value is not NOT_JSON:
        return Located("strip", value, *_stripped(completion, 0, len(completion)))
    return _scan(completion)


def _scan(completion: str) -> Located:
    decode = json.JSONDecoder().raw_decode
    budget = WORK_FACTOR * len(completion) + 1000
    for number, match in enumerate(OPENING.finditer(completion)):
        try:
            value, end = decode(completion, match.start())
        except json.JSONDecodeError as error:
            budget -= error.pos - match.start()
            if budget < 0 or number >= MOST_OPENINGS:
                raise TooLargeError("too many openings of JSON values that never end") from error
            continue
        return Located("first_json", value, match.start(), end)
    raise NothingFound("no JSON object or array in the reply")


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    inner = text[start:end]
    stripped = inner.strip()
    lead = start + len(inner) - len(inner.lstrip()) if stripped else start
    return lead, lead + len(stripped)


def _json_fields(signature: Signature, located: Located, array: bool) -> Mapping[str, object]:
    value = located.value
    if array:
        (name,) = signature.output_fields
        if isinstance(value, list):
            return {name: value}
        if isinstance(value, dict) and name not in value and isinstance(value.get("items"), list):
            return {name: value["items"]}
        if not isinstance(value, dict):
            raise NothingFound(f"expected an array at the top, got {_kind(value)}")
        return value
    if not isinstance(value, dict):
        raise NothingFound(f"expected an object at the top, got {_kind(value)}")
    return value


def _kind(value: object) -> str:
    names = {type(None): "null", list: "an array", dict: "an object", str: "a string", bool: "true or false"}
    return names.get(type(value), "a number")


def _spans(
    signature: Signature, located: Located, given: list[Member] | None, array: bool
) -> tuple[list[Span], dict[str, tuple[int, int]]]:
    if given is None:
        (name,) = signature.output_fields
        return [Span(located.start, located.end, "value", name)], {name: (located.start, located.end)}
    spans: list[Span] = []
    places: dict[str, tuple[int, int]] = {}
    last = {member.key: member for member in given}
    only = next(iter(signature.output_fields)) if array else None
    for member in given:
        wrapped = only is not None and member.key == "items" and only not in last
        name = only if wrapped and only is not None else member.key
        key_start, start, end = (located.start + one for one in (member.key_start, member.start, member.end))
        if name not in signature.output_fields:
            spans.append(Span(key_start, end, "unknown"))
        elif last[member.key] is not member:
            spans.append(Span(key_start, end, "duplicate", name))
        else:
            spans += [Span(key_start, start, "marker", name), Span(start, end, "value", name)]
            places[name] = (start, end)
    return spans, places


def _fence_text(before: str) -> str:
    located = locate(before)
    return before[located.start : located.end]


RULES["json_fence"] = lambda before, annotation: _fence_text(before)
RULES["first_json"] = lambda before, annotation: _fence_text(before)
