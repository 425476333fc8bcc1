"""Flags for values that failed to parse, with the reason."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel

from adapters.replies.flag import Flag, named, shown
from adapters.replies.flags.json_repaired import has_open_quote, is_invented
from adapters.replies.flags.json_text import first_opening, valid_object_at, without_fences
from adapters.replies.flags.wrong_places import CALCULATION, MOST_KEYS, known_keys, nothing, wrong_places
from adapters.replies.repairs import BOTH, DECIMAL_COMMA, GROUPED, says_nothing
from adapters.signatures.signature import without_none
from adapters.types.recognition import ByIdentity, type_adapter

if TYPE_CHECKING:
    from adapters.replies.reading import FieldReading, Reading

NUMBER = re.compile(r"[-+]?\d[\d_.,' ]*")
FRACTION = re.compile(r"[-+]?\d*\.\d+(?:[eE][-+]?\d+)?")
EXPONENT = re.compile(r"[-+]?\d*\.?\d+[eE][-+]?\d+")
TRUTH = re.compile(r"\b(true|false|yes|no)\b", re.IGNORECASE)
JOINED_BY = re.compile(r"\b(?:and|or)\b")
DIGITS = 4300
SCALARS, LISTS = (bool, int, float), (list, set, tuple)
MOST_TEXT = 2_000


def values_refused(reading: Reading) -> Iterator[Flag]:
    """Yield flags for every field that was found but could not be coerced."""
    outputs = reading.signature.output_fields
    for field in reading.fields.values():
        if field.state == "failed" and field.name in outputs:
            first = field.coercions[0] if field.coercions else None
            if first is not None and first.rule == "json_repair" and is_invented(reading, field, first):
                continue  # `value-invented` says so
            declared = outputs[field.name]
            given = given_value(field, declared.annotation)
            found = list(_of_field(field, expected(declared.annotation), given))
            refused = None  # or the error with which the type refused exactly this value
            is_made_up = bool(field.coercions) and given is not field.coercions[-1].after
            error, failure = reading.error, reading.exception
            if error is not None and failure is not None and error.field == field.name and not is_made_up:
                # XML is refused twice, the second time by the names of aliased fields.
                refused = failure.__cause__ if reading.form != "xml" else None
            wrong = wrong_places(declared, given, refused, is_explained=bool(found))
            is_object = isinstance(given, dict) and reading.form != "xml"  # whose tags inside others are told of
            inside = [one for one in reading.lacking if one in given] if is_object else ()
            if inside and not set(inside) <= (known_keys(expected(declared.annotation).inner) or {}).keys():
                said = f"{named(inside)} {'is' if len(inside) == 1 else 'are'} inside `{field.name}`, not beside it."
                yield Flag("field-inside-another", said, field.name)
            if found:
                told = [one.name for one in wrong if one.path == field.name]
                is_told = "not-a-number" in told or "null-not-allowed" in told
                yield from [one for one in found if not (is_told and one.name == "words-around-value")]
            yield from wrong


def given_value(field: FieldReading, annotation: Any) -> Any:
    """Return the rejected value: the text itself if json_repair made up a list or object from it."""
    if not field.coercions:
        return field.raw if field.extract is None else field.extract.after
    last = field.coercions[-1]
    is_made = last.rule == "json_repair" and not last.path and isinstance(last.after, list | dict)
    if not is_made or type(last.before) is not str:
        return last.after
    kind, text = without_none(annotation), without_fences(last.before)
    is_plain = get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, bool | int | float | Enum))
    begins = "{" if isinstance(last.after, dict) else "["
    is_written = (text[:1] == begins and not is_plain) or valid_object_at(text, first_opening(text)) >= 0
    return last.after if is_written else last.before.strip()


Kind = Literal["enum", "model", "literal", "scalar", "list", "other"]


class Expected(NamedTuple):
    """A type without None, by the kind of value that it expects."""

    kind: Kind
    inner: Any
    is_optional: bool
    allowed: tuple[Any, ...]
    """The values of a Literal."""
    words: re.Pattern[str] | None
    """Its texts, as they stand in another text."""


def _expected(annotation: Any) -> Expected:
    inner = without_none(annotation)
    is_class, origin, allowed = isinstance(inner, type), get_origin(inner), tuple[Any, ...]()
    kind: Kind = "other"
    if is_class and issubclass(inner, Enum):
        kind = "enum"
    elif is_class and issubclass(inner, BaseModel):
        kind = "model"
    elif origin is Literal:
        kind, allowed = "literal", get_args(inner)
    elif inner in SCALARS:
        kind = "scalar"
    elif (origin or inner) in LISTS:
        kind = "list"
    texts = sorted([one for one in allowed[:100] if isinstance(one, str) and one], key=len, reverse=True)
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, texts))})\b") if texts else None
    return Expected(kind, inner, inner is not annotation, allowed, words)


expected: ByIdentity[Expected] = ByIdentity(_expected)


def _of_field(field: FieldReading, wanted: Expected, given: Any) -> Iterator[Flag]:
    kind, inner, is_optional, _, _ = wanted
    name, raw = field.name, (field.raw or "").strip()
    text = (given.strip() if isinstance(given, str) else raw)[:MOST_TEXT]
    if kind == "enum":
        yield from _enum(name, inner, given, text, is_optional)
    elif kind == "model":
        if isinstance(given, dict):
            yield from _model(name, inner, given)
    elif kind == "other":
        return
    elif isinstance(given, dict) and (key := _key_of_value(inner, given)) is not None:
        said = f"`{name}` is an object in the reply; its value is one level too deep, under {shown(key)}."
        yield Flag("value-wrapped", said, name)
    elif kind == "list":
        yield from _list(name, inner, given)
    elif isinstance(given, list) and not has_open_quote(raw) and _are_accepted(inner, given):
        yield Flag(
            "value-wrapped", f"`{name}` is a list in the reply, {shown(given)}; a single value is expected.", name
        )
    elif kind == "literal":
        yield from _literal(name, wanted, given, text, raw[:MOST_TEXT])
    elif not isinstance(given, dict):
        yield from _scalar(name, inner, raw)


def _key_of_value(annotation: Any, given: dict[str, Any]) -> str | None:
    """Return the only key under which an object has a value of the type."""
    found = [key for key, inside in islice(given.items(), MOST_KEYS) if _accepts(annotation, inside)]
    return found[0] if len(found) == 1 else None


def _are_accepted(annotation: Any, values: list[Any]) -> bool:
    return bool(values) and all(_accepts(annotation, one) for one in values[:MOST_KEYS])


def _accepts(annotation: Any, value: object) -> bool:
    is_text = isinstance(value, str) and (annotation in (int, float) or value in ("true", "false", "True", "False"))
    try:
        type_adapter(annotation).validate_python(value, strict=not is_text)
    except Exception:  # a user's type may raise in its own hooks
        return False
    return True


def _enum(name: str, annotation: type[Enum], given: object, text: str, is_optional: bool) -> Iterator[Flag]:
    values = [member.value for member in annotation]
    allowed = ", ".join(shown(value) for value in values[:5])
    if isinstance(given, list | dict):
        yield Flag(
            "enum-from-a-container",
            f"`{name}` got {shown(given)}; an Enum accepts a single plain value: {allowed}.",
            name,
        )
        return
    bare = text.strip("\"'`")
    if bare != text and bare in values:
        yield Flag("enum-in-quotes", f"{text} is in quotes; the value of an Enum must be the bare word {bare}.", name)
    elif is_optional and text in annotation.__members__:
        yield Flag(
            "enum-name-in-optional",
            f"{shown(text)} is the name of a member; `{name}` is Optional, where only values count: {allowed}.",
            name,
        )
    elif any(not isinstance(value, str) and str(value) == bare for value in values):
        yield Flag(
            "enum-value-is-no-text",
            f"{shown(bare)} is text, but the values of `{name}` are not ({allowed}); in a text format write a name: "
            f"{', '.join(list(annotation.__members__)[:5])}.",
            name,
        )
    elif (meant := _in_other_case(bare, [*values, *annotation.__members__])) is not None:
        yield _other_case(name, given, text, meant)


def _literal(name: str, wanted: Expected, given: object, text: str, raw: str) -> Iterator[Flag]:
    if wanted.is_optional and raw.startswith(("Literal[", "str[")):
        yield Flag(
            "literal-wrapper-in-optional",
            f"{shown(raw)} is unwrapped for a plain Literal, but `{name}` is optional.",
            name,
        )
        return
    if has_open_quote(raw):
        yield Flag("quote-not-closed", f"The quote at the start of {shown(raw)} is not closed.", name)
        return
    meant = _in_other_case(text.strip("\"'`.!* "), wanted.allowed)
    if meant is not None:
        yield _other_case(name, given, text, meant)
        return
    word = wanted.words
    inside = set(word.findall(text)) if word is not None else ()
    if word is not None and len(inside) > 1 and not re.search(r"\w", JOINED_BY.sub("", word.sub("", text))):
        said = f"{shown(text)} is more than one of the allowed values; `{name}` takes exactly one."
        yield Flag("several-allowed-values", said, name)
    elif inside:
        yield Flag(
            "words-around-value",
            f"{shown(text)} is more than the value: `{name}` must match exactly, without other words.",
            name,
        )


def _in_other_case(bare: str, allowed: Sequence[Any]) -> str | None:
    """Return the allowed text that a word is apart from its case, or None."""
    folded = bare.casefold()
    for one in allowed:
        if isinstance(one, str) and one.casefold() == folded:
            return one
    return None


def _other_case(name: str, given: object, text: str, meant: str) -> Flag:
    said = f"{shown(given)} is not {shown(meant)}: `{name}` must match exactly."
    if given is None:
        said = f"{text} without quotes is read as null; `{name}` takes the text {shown(meant)}."
    return Flag("value-in-another-case", said, name)


def _scalar(name: str, annotation: object, text: str) -> Iterator[Flag]:
    if len(text) > DIGITS and text.lstrip("+-").isdigit():
        yield Flag("number-too-long", f"`{name}` has {len(text):,} digits; Python reads at most {DIGITS:,}.", name)
        return
    text = text[:MOST_TEXT].strip('"')
    if annotation is not bool and GROUPED.fullmatch(text):
        yield Flag(
            "digits-grouped",
            f"{shown(text)} groups its digits; `{name}` must be a plain number ({re.sub('[^0-9.+-]', '', text)}).",
            name,
        )
    elif annotation is not bool and DECIMAL_COMMA.fullmatch(text):
        said = f"`{name}` is {shown(text)}, which is not a plain number: it has a decimal comma."
        yield Flag("not-a-number", said, name)
    elif annotation is not bool and CALCULATION.search(text):
        said = f"`{name}` is {shown(text)}, which is not a plain number: it is a calculation."
        yield Flag("not-a-number", said, name)
    elif annotation is int and FRACTION.fullmatch(text):
        yield Flag(
            "fraction-for-a-whole-number",
            f"{shown(text)} has a fraction, but `{name}` is an int: dspy neither rounds nor truncates.",
            name,
        )
    elif annotation is not bool and EXPONENT.fullmatch(text):
        return
    elif annotation is bool and BOTH.match(text):
        yield Flag("not-true-or-false", f"{shown(text)} is both true and false; `{name}` takes one of them.", name)
    elif (TRUTH if annotation is bool else NUMBER).search(text):
        word = "True or False" if annotation is bool else "the number"
        yield Flag(
            "words-around-value",
            f"{shown(text)} is more than {word} alone: text is not searched for a value.",
            name,
        )


def list_to_write(annotation: object, given: object) -> str:
    """Return words for a JSON list: an example of the type, or empty."""
    if says_nothing(given):
        return "or [] if there is none"
    item = (*get_args(without_none(annotation)), str)[0]
    if get_origin(item) in LISTS:
        return "like [[…], […]]"
    examples = {str: '["a", "b"]', int: "[1, 2]", float: "[1.5, 2.0]", bool: "[true, false]"}
    return f"like {examples.get(item, '[{…}, {…}]')}"


def _list(name: str, annotation: object, given: object) -> Iterator[Flag]:
    if says_nothing(given):
        said = f"`{name}` {nothing(given)}, where a list is expected; an empty list is []."
        yield Flag("list-expected", said, name)
    elif isinstance(given, str):
        yield Flag(
            "list-expected",
            f"`{name}` must be a JSON list {list_to_write(annotation, given)}; {shown(given)} is text: lines, "
            "bullets and commas do not make a list.",
            name,
        )
    elif isinstance(given, list) and get_args(annotation)[:1] == (str,):
        other = next((one for one in given if not isinstance(one, str)), None)
        if other is not None or None in given:
            yield Flag(
                "items-are-no-text",
                f"`{name}` is a list of texts, but its item {shown(other)} is not a text: inside a list nothing is "
                "converted to text.",
                name,
            )


def _model(name: str, annotation: type[BaseModel], given: dict[str, Any]) -> Iterator[Flag]:
    known = known_keys(annotation)
    if known is None:
        return
    if len(given) == 1:
        (only,) = given
        if only not in known and isinstance(given[only], dict):
            yield Flag(
                "value-wrapped",
                f"`{name}` is wrapped in {{{shown(only)}: …}}; the object itself is wanted, with the keys "
                f"{named(list(known))}.",
                name,
            )
    swapped = [one for one in annotation.model_fields if one in given and one not in known]
    if swapped:
        aliases = [key for key in known if key not in annotation.model_fields]
        yield Flag(
            "alias-expected",
            f"`{name}` is parsed by its aliases ({named(aliases)}), but the reply has field names: {named(swapped)}.",
            name,
        )
    for key, kind in known.items():
        inside = given.get(key)
        if isinstance(kind, type) and issubclass(kind, Enum) and isinstance(inside, str):
            if inside in kind.__members__ and all(member.value != inside for member in kind):
                yield Flag(
                    "enum-name-inside-model",
                    f"{shown(inside)} in `{name}.{key}` is the name of a member; inside a model only values count: "
                    f"{', '.join(shown(member.value) for member in list(kind)[:5])}.",
                    name,
                )
