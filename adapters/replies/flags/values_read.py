"""Flags for values that parsed to something surprising."""

from __future__ import annotations

import datetime
import json
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import Enum
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from pydantic import BaseModel

from adapters.replies.flag import Flag, named, shown
from adapters.replies.flags.wrong_places import (
    extra_keys,
    is_anywhere_in,
    known_keys_of,
    may_drop_keys,
    nearly,
)
from adapters.replies.reading import Detector
from adapters.signatures.signature import CONSTRAINT_WORDS, Field
from adapters.types.code import strip_fence
from adapters.types.recognition import ByIdentity, is_named
from adapters.values.plain_json import parts_of

if TYPE_CHECKING:
    from adapters.replies.reading import FieldReading, Reading
    from adapters.values.plain_json import Step

METADATA = ("gt", "ge", "lt", "le", "min_length", "max_length", "multiple_of")
WORDS = {words: name for name, words in CONSTRAINT_WORDS.items() if name in METADATA}
ONE = re.compile(rf"({'|'.join(sorted(map(re.escape, WORDS), key=len, reverse=True))})([^,]+)")


def _constraints_of(field: Field) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for match in ONE.finditer(field.constraints or ""):
        try:
            found[WORDS[match.group(1)]] = Decimal(match.group(2).strip())
        except InvalidOperation:
            continue
    for one in field.metadata:
        for name in METADATA:
            limit = getattr(one, name, None)
            if limit is not None:
                found.setdefault(name, limit)
    return found


constraints_of: ByIdentity[Mapping[str, Any]] = ByIdentity(_constraints_of)
"""A field's constraints by pydantic's names, from prompt and live dspy signature."""


def constraint_flags(field: Field, value: object) -> Iterator[Flag]:
    """Flag each constraint that the value breaks."""
    for name, limit in constraints_of(field).items():
        if _is_broken(name, limit, value):
            yield Flag(
                "constraint-not-enforced",
                f"{shown(value)} breaks a constraint of `{field.name}` ({CONSTRAINT_WORDS[name]}{limit}): dspy shows "
                "constraints to the model, but never checks them.",
                field.name,
            )


def _is_broken(name: str, limit: Any, value: Any) -> bool:
    if name in ("min_length", "max_length"):
        if not isinstance(value, str | list | tuple | dict | set):
            return False
        return bool(len(value) < limit if name == "min_length" else len(value) > limit)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    try:
        if name == "multiple_of":
            return bool(limit) and Decimal(str(value)) % Decimal(str(limit)) != 0
        broken = {"gt": value <= limit, "ge": value < limit, "lt": value >= limit, "le": value > limit}
    except InvalidOperation:  # the number is too large, or nan
        return False
    return bool(broken[name])


PYTHON_WORDS = ("True", "False", "None")
PLAIN_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")
ANY_NUMBER = re.compile(rf"{PLAIN_NUMBER.pattern}|NaN|-?Infinity")
ESCAPED_PATH = re.compile(r'(?:^|["\'(=\s])[A-Za-z]:\\[bfnrtu][^\s"\']*')
HALF = re.compile("[\ud800-\udfff]")
DOUBLED = "\\\\"
FORMULA = re.compile(
    r"\\(?=[bfnrt][aehior])(?:frac|beta|theta|tau|times|rho|right|nabla|begin|forall|text(?:bf|it)?)\b"
)
BEGINNINGS, NABLA = "\b\f\r\t", "\nabla"
"""Characters that JSON makes of the beginnings of formulas, and of one that begins like a line break."""
JSON_RULES = frozenset(("json", "json_repair"))
ESCAPED_FORMULA = re.compile(rf"(?<!\\)(?:\\\\)*{FORMULA.pattern}")
END_OF_OBJECT = re.compile(r'"\s*,\s*"\w{1,60}"\s*:\s*"[^"]*+"\}\Z')
NO_ESCAPE = re.compile(r"""(?<!\\)(?:\\\\)*\\[^"'\\/bfnrtu\s]""")
"""An escape that JSON does not have; \\' is one of JavaScript."""
ESCAPED_WORD = re.compile(r"(?<!\\)\\[bft][a-z]{2,}")
"""A word whose backslash and first letter are an escape of JSON, seldom written before a word."""
MOST_NAMES = 5
LONGEST_OBJECT = 20_000
MOMENTS = (datetime.datetime, datetime.date, datetime.time)
TEXT_OR_WHOLE = (str, int)
PLAIN = (str, int, float, type(None))
OF_TYPE = ("pydantic", "pydantic_by_name")
WITHOUT_TEXT = (int, float, type(None))
"""Types of values that hold no text."""


def values_read(reading: Reading) -> Iterator[Flag | Detector]:
    """Yield flags for every field that parsed."""
    has_backslashes, outputs = "\\" in reading.completion, reading.signature.output_fields
    is_ascii = reading.completion.isascii()
    for field in reading.fields.values():
        if field.state != "read" or field.name not in outputs:
            continue
        one, value, coercions = outputs[field.name], field.value, field.coercions
        annotation = one.annotation
        if has_backslashes and field.place is not None:
            yield from _escapes(field, field.place)
        if (has_backslashes or not is_ascii) and may_hold_half_characters(field, is_ascii):
            yield from _half_characters(field)
        if annotation is str:
            may_end_in_json = reading.form in ("markers", "xml") and type(value) is str and value[-2:] == '"}'
            if coercions or type(value) is not str or value[:1] == "{" or may_end_in_json:
                yield from _text(field, reading.form == "xml")
        else:
            if type(value) is str:
                yield from _union(field, annotation)
            if coercions:
                yield partial(_by_steps, field=field)
            if is_named(annotation, "Code"):
                yield from _code(reading, field)
            if not isinstance(value, TEXT_OR_WHOLE) and may_hold_floats(annotation):
                yield partial(_numbers, field=field)
            if not isinstance(value, PLAIN) and field.place and field.place[1] - field.place[0] <= LONGEST_OBJECT:
                yield from _repeated_keys(field, next((one.before for one in coercions if one.rule in OF_TYPE), value))
        if constraints_of(one):
            yield from constraint_flags(one, value)
        if coercions and may_drop_keys(annotation):
            yield from _dropped(one, coercions)


def may_hold_half_characters(field: FieldReading, is_ascii: bool) -> bool:
    """Return, quickly, whether a value may hold an unpaired surrogate, written as an escape or as it is."""
    value = field.value
    if isinstance(value, str):  # which says so at once, unlike the escapes of a long reply
        return not value.isascii() and _has_half(value)
    if isinstance(value, WITHOUT_TEXT):
        return False
    text, (start, end) = field.completion, field.place or (0, len(field.completion))
    at = text.find("\\", start, end)
    if at >= 0 and (text.find("\\ud", at, end) >= 0 or text.find("\\uD", at, end) >= 0):
        return True
    return not is_ascii and _has_half(text[start:end])


def _has_half(text: str) -> bool:
    try:
        text.encode("utf-16-le")  # five times as quick as a search
    except UnicodeEncodeError:
        return True
    return False


def _half_characters(field: FieldReading) -> Iterator[Flag]:
    """Flag a text in a value that has one half of a character of two."""
    texts = [one for one in parts_of(field.value) if isinstance(one, str)]
    found = next((match for match in map(HALF.search, texts) if match is not None), None)
    if found is not None:
        half = f"\\u{ord(found.group()):04x}"
        said = f"`{field.name}` has {half}, one half of a character (an unpaired surrogate), which UTF-8 cannot write."
        yield Flag("lone-surrogate", said, field.name)


def _dropped(field: Field, coercions: Sequence[Step]) -> Iterator[Flag]:
    """Flag JSON keys that a value's type dropped, and those that nearly have the name of an optional key."""
    validated = next((step for step in coercions if step.rule.startswith("pydantic")), None)
    if validated is not None and isinstance(validated.before, dict | list):
        lost = extra_keys(field.annotation, validated.before, validated.rule == "pydantic_by_name")
        if lost:
            taken = [map(str, one) for one in parts_of(validated.before) if isinstance(one, dict)]
            free = sorted(known_keys_of(field.annotation).difference(*taken))
            for key in lost[:MOST_NAMES]:
                if (meant := nearly(key, free)) is not None:
                    said = f"`{field.name}` has the JSON key {shown(key)}, probably meant for {shown(meant)}"
                    yield Flag("key-nearly-right", f"{said}, which is empty.", field.name)
            yield Flag(
                "extra-keys-of-value-dropped",
                f"`{field.name}` has JSON keys that its type lacks; they were dropped: {named(lost)}.",
                field.name,
            )


def _text(field: FieldReading, is_xml: bool) -> Iterator[Flag]:
    name, value = field.name, field.value
    if type(value) is str and value[-2:] == '"}' and "{" not in value and (end := END_OF_OBJECT.search(value)):
        said = f"`{name}` ends with the end of a JSON object without its beginning: {shown(end.group())}."
        yield Flag("value-holds-the-end", said, name)
    if type(value) is str and value[:1] == "{" and value[-1:] == "}" and len(value) <= LONGEST_OBJECT:
        if name in _object(value):
            said = f"The text `{name}` contains a JSON object with the key {shown(name)}: the model answered in JSON."
            yield Flag("json-in-a-text-field", said, name)
    step = next((step for step in field.coercions if step.rule == "str"), None)
    if step is None:
        return
    before = step.before
    if before is None:
        yield Flag(
            "null-became-text", f"JSON null became the text 'None' in `{name}`, as str() writes it in Python.", name
        )
    elif isinstance(before, bool):
        yield Flag("bool-became-text", f"JSON {str(before).lower()} became the text '{before}' in `{name}`.", name)
    elif isinstance(before, list | dict) and not is_xml:
        kind = "list" if isinstance(before, list) else "object"
        yield Flag(
            "python-text-of-a-value",
            f"`{name}` is a text, so the JSON {kind} became Python notation: {shown(field.value)}.",
            name,
        )
    elif field.raw is not None and field.raw.strip() != field.value and ANY_NUMBER.fullmatch(field.raw.strip()):
        yield Flag(
            "number-rewritten", f"The number {shown(field.raw)[1:-1]} became the text {shown(field.value)}.", name
        )


def _repeated_keys(field: FieldReading, given: Any) -> Iterator[Flag]:
    """Flag a JSON key that an object inside a value has more than once, with other values."""
    raw, waiting = field.raw or "", [given]
    written = raw.count(":")
    if not written or (type(given) is list and set(map(type, given)) == {dict} and sum(map(len, given)) >= written):
        return  # lists of texts and of objects are common: their keys are counted at once
    for one in waiting:
        if type(one) is dict:
            waiting.extend(one.values())
        elif type(one) is list:
            waiting.extend(one)
    keys = sum([len(one) for one in waiting if type(one) is dict])
    if written <= keys or raw.count('":') + raw.count('" :') <= keys:
        return
    found: list[tuple[str, Any]] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        known = dict(pairs)
        if len(known) < len(pairs):
            found.extend([(key, known[key]) for key, value in pairs if value != known[key]][:1])
        return known

    try:
        json.loads(raw, object_pairs_hook=members)
    except (ValueError, RecursionError):
        return
    for key, value in found[:1]:
        said = f"An object in `{field.name}` has the JSON key {shown(key)} more than once; only the last value counts"
        yield Flag("duplicate-key-last-wins", f"{said} ({shown(value)}).", field.name)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _escapes(field: FieldReading, place: tuple[int, int]) -> Iterator[Flag]:
    at, first = field.completion.find("\\", *place), field.extract
    rules = [step.rule for step in (first, *field.coercions) if step is not None] if at >= 0 else ()
    if JSON_RULES.isdisjoint(rules):
        return
    raw = field.completion[slice(*place)]
    text = first.after if first is not None and first.rule == "json" else None
    may_hold_formula = type(text) is not str or any(map(text.__contains__, BEGINNINGS)) or NABLA in text
    found = None
    if may_hold_formula and FORMULA.search(raw, at - place[0]):  # quicker, and seldom finds one
        found = ESCAPED_FORMULA.search(raw)
    if found is None and may_hold_formula and "json_repair" in rules and NO_ESCAPE.search(raw):
        found = ESCAPED_WORD.search(raw)  # the model writes each backslash once
    if found is None and ":" in raw and ":\\" in raw:
        paths = ESCAPED_PATH.finditer(raw)
        found = next(
            (one for one in paths if one.start() == 0 or one.group()[0] in "\"'(=" or one.group().count("\\") > 1),
            None,
        )
    if found is None or DOUBLED in found.group():
        return
    written = shown(found.group().strip()).replace(DOUBLED, DOUBLED[0])
    yield Flag(
        "backslash-is-an-escape",
        f"{written} in `{field.name}` contains a JSON escape: \\n is a line break, \\t a tab, "
        "…; a backslash itself must be written \\\\.",
        field.name,
    )


def _union(field: FieldReading, annotation: object) -> Iterator[Flag]:
    value = field.value
    if get_origin(annotation) not in (Union, types.UnionType):
        return
    members = get_args(annotation)
    if str not in members or type(None) not in members:
        return
    if value.strip().lower() in ("none", "null"):
        yield Flag(
            "none-stays-text",
            f"`{field.name}` is the text {shown(value)}, not None: text stays text where text is allowed.",
            field.name,
        )
    elif len(members) > 2 and (PLAIN_NUMBER.fullmatch(value.strip()) or value.strip().lower() in ("true", "false")):
        yield Flag(
            "text-wins-in-union",
            f"`{field.name}` is the text {shown(value)}: where text and None are both allowed, text never becomes "
            "another type.",
            field.name,
        )


def _by_steps(reading: Reading, field: FieldReading) -> Iterator[Flag]:
    name = field.name
    unwrapped = [step for step in field.coercions if step.rule in ("unwrap", "unquote")]
    if unwrapped:
        yield Flag(
            "literal-unwrapped",
            f"{shown(unwrapped[0].before)} was unwrapped to {shown(unwrapped[-1].after)}, which `{name}` allows.",
            name,
        )
    for step in field.coercions:
        if step.rule == "enum_by_name" and isinstance(step.after, Enum):
            yield Flag(
                "enum-by-name",
                f"{shown(step.before)} is the name of a member of {type(step.after).__name__}; its value is "
                f"{shown(step.after.value)}.",
                name,
            )
        elif step.rule == "literal_eval" and type(step.before) is str:
            text = step.before.strip()
            if step.after is Ellipsis:
                said = (
                    f"{shown(text)} in `{name}` became Python's Ellipsis object, as it was parsed as a Python literal."
                )
                yield Flag("ellipsis", said, name)
            elif text not in PYTHON_WORDS:
                said = (
                    f"{shown(text)} in `{name}` is not JSON, but a Python literal, which makes it {shown(step.after)}."
                )
                yield Flag("python-literal", said, name)
        elif step.rule == "json_repair" and not step.path:
            if type(step.before) is str and step.before.strip().startswith("(") and not isinstance(step.after, list):
                yield Flag("brackets-dropped", f"The brackets of {shown(step.before)} in `{name}` were dropped.", name)
        elif step.rule == "pydantic" and type(step.before) is not type(field.value):
            yield from _validated(name, field, step)


def _validated(name: str, field: FieldReading, step: Step) -> Iterator[Flag]:
    before, value = step.before, field.value
    if isinstance(value, bool) and not isinstance(before, bool):
        yield Flag("bool-from-a-word", f"{shown(before)} in `{name}` counts as {value}.", name)
    elif isinstance(before, bool) and isinstance(value, int | float) and not isinstance(value, bool):
        yield Flag("number-from-bool", f"{str(before).lower()} in `{name}` counts as the number {value}.", name)
    elif isinstance(value, int | float) and type(before) is str and not PLAIN_NUMBER.fullmatch(before.strip()):
        yield Flag("unusual-number", f"{shown(before)} in `{name}` was parsed as the number {shown(value)}.", name)
    elif isinstance(value, MOMENTS) and isinstance(before, int | float):
        yield Flag(
            "date-from-number",
            f"{shown(before)} in `{name}` was taken as seconds since 1970 (or since midnight), which gives {value}.",
            name,
        )
    elif isinstance(value, Decimal) and isinstance(before, float):
        texts = (step.before for step in field.coercions if step.rule == "json" and type(step.before) is str)
        try:
            written = Decimal((next(texts, field.raw) or "").strip().strip('"'))
        except InvalidOperation:
            return
        if written.is_finite() and written != value:
            said = f"`{name}` is a Decimal that was parsed as a float first: {written} lost digits and is {value}."
            yield Flag("decimal-through-float", said, name)
    elif type(value) is int and type(before) is float:
        yield Flag("unusual-number", f"{shown(field.raw)} in `{name}` was parsed as the whole number {value}.", name)


may_hold_floats: ByIdentity[bool] = ByIdentity(
    lambda annotation: is_anywhere_in(
        annotation,
        lambda one: (
            one not in (str, int, bool, type(None)) and not (isinstance(one, type) and issubclass(one, BaseModel))
        ),
    )
)
"""Test whether a value of this type can contain a float; cached by annotation."""


def _numbers(reading: Reading, field: FieldReading) -> Iterator[Flag]:
    parts = (field.value,) if type(field.value) is float else parts_of(field.value)
    found = [one for one in parts if isinstance(one, float) and not isfinite(one)]
    if found:
        yield Flag(
            "not-a-finite-number",
            f"`{field.name}` contains {found[0]}: nan, inf and numbers too large for a float are accepted.",
            field.name,
        )


def _code(reading: Reading, field: FieldReading) -> Iterator[Flag]:
    name = field.name
    validated = field.coercions[-1] if field.coercions else None
    given = validated.before if validated is not None else None
    if isinstance(given, dict):  # the object of the type's own schema, which is no program
        given = given.get("code")
    elif reading.form in ("markers", "xml") and any(step.rule in ("json", "literal_eval") for step in field.coercions):
        yield Flag(
            "code-was-evaluated",
            f"The program in `{name}` is also a JSON or Python literal, so its value was taken: {shown(given)}.",
            name,
        )
    if type(given) is not str or "```" not in given:
        return
    kept = strip_fence(given)
    opening, _, rest = given.partition("```")
    info = rest.partition("\n")[0].strip()
    if " " in info and "```" not in info:
        yield Flag(
            "code-on-the-fence-line",
            f"{shown(info)} is on the line that opens the fence of `{name}`; the whole line is dropped.",
            name,
        )
    elif opening.strip() or given.count("```") > 2 or not given.rstrip().endswith("```"):
        yield Flag(
            "only-the-first-fence",
            f"`{name}` keeps only the text between the first ``` and the next: {shown(kept)}.",
            name,
        )
