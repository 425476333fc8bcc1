"""Guess the intended reply: correct misspelt names and rejected values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

from typing import NamedTuple

from adapters.replies.forms import FORMS
from adapters.replies.sections import sound
from adapters.signatures.signature import Signature


class Guess(NamedTuple):
    """A suggested correction: its description and the corrected reply."""

    message: str
    mended: str


def names_by_sound(signature: Signature) -> dict[str, str]:
    """Map normalized names (without case, spaces, hyphens, underscores) to output fields."""
    return {sound(name): name for name in signature.output_fields}


GROUPED = re.compile(r"[-+]?\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
TRUTH = re.compile(r"\W*(true|false|yes|no)\b", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(.*\S)\s*$")
LONGEST = 20_000


def value_guesses(reading: Reading) -> Iterator[Guess]:
    """Yield replies in which the value of the field that failed is corrected."""
    error = reading.error
    if error is None or error.field is None or error.start is None or error.end is None:
        return
    field = reading.signature.output_fields.get(error.field)
    raw = reading.completion[error.start : error.end]
    if field is None or not raw or len(raw) > LONGEST:
        return
    is_json = reading.form in ("json", "fenced json")
    given = _json(raw)
    for message, value in _meant(error.field, field.annotation, given, raw):
        text = value if isinstance(value, str) and not is_json else json.dumps(value, ensure_ascii=False, default=str)
        if reading.form == "xml":
            text = FORMS["xml"].of_text(text)
        yield Guess(message, reading.completion[: error.start] + text + reading.completion[error.end :])


def _json(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw


def _meant(name: str, annotation: object, given: object, raw: str) -> Iterator[tuple[str, Any]]:
    inner = _drop_none(annotation)
    text = given if isinstance(given, str) else raw
    bare = text.strip().strip("\"'`*. ")
    if isinstance(given, dict) and len(given) == 1:
        (key,) = given
        yield f"`{name}` is probably wrapped in {key!a}; by itself it parses as", given[key]
    if get_origin(inner) is Literal or (isinstance(inner, type) and issubclass(inner, Enum)):
        yield from _choice(name, inner, bare)
    elif inner is bool and (match := TRUTH.match(text)):
        word = "True" if match.group(1).lower() in ("true", "yes") else "False"
        yield f"{text[:40]!a} probably means {word}, which parses as", word
    elif inner in (int, float):
        yield from _number(text.strip())
    elif get_origin(inner) is list or inner is list:
        lines = [match.group(1) for line in text.splitlines() if (match := BULLET.match(line))]
        parts = lines or [part.strip() for part in text.split(",") if part.strip()]
        if isinstance(given, list) and get_args(inner)[:1] == (str,):
            parts = [one if isinstance(one, str) else json.dumps(one) for one in given]
        yield f"As a JSON list `{name}` parses as", parts


def _drop_none(annotation: object) -> Any:
    members = [one for one in get_args(annotation) if one is not type(None)]
    is_optional = len(members) == 1 and type(None) in get_args(annotation)
    return members[0] if is_optional else annotation


def _choice(name: str, annotation: Any, bare: str) -> Iterator[tuple[str, Any]]:
    if get_origin(annotation) is Literal:
        allowed = {str(one): one for one in get_args(annotation)}
    else:
        allowed = {str(member.value): member.value for member in annotation}
        allowed |= {member.name: member.value for member in annotation if member.name not in allowed}
        allowed |= {str(member): member.value for member in annotation if str(member) not in allowed}
    wrapped = re.fullmatch(r"(?:Literal|str)\[(.*)\]", bare, re.DOTALL)
    bare = wrapped.group(1).strip("\"' ") if wrapped else bare
    for word, value in allowed.items():
        if sound(word) == sound(bare):
            yield f"{bare[:40]!a} probably means {value!a}, which parses as", value
            if not isinstance(value, str) and isinstance(annotation, type):
                yield f"By the name of its member `{name}` parses as", annotation(value).name
            return


def _number(text: str) -> Iterator[tuple[str, Any]]:
    grouped = GROUPED.search(text)
    if grouped:
        plain = re.sub(r"[,' ]", "", grouped.group())
        yield f"{grouped.group()[:40]!a} groups its digits; without separators it parses as", _json(plain)
        return
    found = NUMBER.findall(text[:2000])
    if len(found) == 1:
        yield f"The only number in {text[:40]!a} parses as", _json(found[0])
