"""Flags for each place inside a value that the type rejects, and the JSON keys that it drops."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args, get_origin

from pydantic import AliasChoices, AliasPath, BaseModel
from typing_extensions import is_typeddict

from adapters.replies.flag import Flag, shown
from adapters.replies.repairs import DECIMAL_COMMA, says_nothing
from adapters.signatures.signature import Field
from adapters.types.recognition import ByIdentity, first_errors, is_custom_type, schema_by_name

if TYPE_CHECKING:
    from adapters.replies.reading import Reading


MOST_VALUES = 10_000
MOST_KEYS = 100
LIST_TYPES = (list, set, frozenset, tuple)


def extra_keys(annotation: object, value: object, by_name: bool = False) -> list[str]:
    """Return the keys dropped when validating `value` as `annotation`, each once.

    Values of one type are looked at together, because lists of thousands of models are common.
    """
    found: dict[str, None] = {}
    shape_of = _shape_by_name if by_name else _shape
    waiting: list[tuple[Any, list[Any]]] = [(annotation, [value])]
    for kind, values in waiting:
        shape = shape_of(kind)
        if shape is None or len(found) >= MOST_KEYS:
            continue
        container, item, known, inner = shape
        inside: list[Any] = [one for one in values if isinstance(one, container)]
        if known is None:
            parts = inside if container is list else map(dict.values, inside)
            waiting.append((item, [*islice(chain.from_iterable(parts), MOST_VALUES)]))
        elif inside:
            dropped = set().union(*inside).difference(known)
            if dropped:
                found.update(dict.fromkeys(str(key) for one in inside for key in one if key in dropped))
            waiting += [(type_, [one[key] for one in inside if key in one]) for key, type_ in inner]
    return list(found)


def is_anywhere_in(annotation: object, test: Callable[[object], bool]) -> bool:
    """Return whether `test` is true of a type, or of one inside its lists, dicts, unions and `Annotated`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return is_anywhere_in(arguments[0], test)
    if arguments and origin in (*LIST_TYPES, dict, Union, types.UnionType):
        return any(is_anywhere_in(one, test) for one in arguments)
    return test(annotation)


may_drop_keys: ByIdentity[bool] = ByIdentity(
    lambda annotation: is_anywhere_in(annotation, lambda one: known_keys(one) is not None)
)
"""Test whether a type has a class that reads some JSON keys and drops others; cached by annotation."""


def _known_keys(annotation: object, by_name: bool) -> dict[str, Any] | None:
    if not isinstance(annotation, type):
        return None
    if issubclass(annotation, BaseModel):
        if is_custom_type(annotation) or annotation.model_config.get("extra", "ignore") != "ignore":
            return None
        config = annotation.model_config
        names_too = by_name or config.get("populate_by_name") or config.get("validate_by_name")
        known: dict[str, Any] = {}
        for name, info in annotation.model_fields.items():
            aliases = _aliases(info.validation_alias or info.alias)
            if not aliases or names_too:
                known[name] = info.annotation
            known.update(dict.fromkeys(aliases, info.annotation))
        return known
    if is_typeddict(annotation) or dataclasses.is_dataclass(annotation):
        return dict(getattr(annotation, "__annotations__", {}))
    return None


known_keys: ByIdentity[dict[str, Any] | None] = ByIdentity(lambda annotation: _known_keys(annotation, by_name=False))
"""The keys that a class reads, with their types.

None for custom types, for models that keep or reject other keys, and for types that are not such classes.
"""
known_keys_and_names: ByIdentity[dict[str, Any] | None] = ByIdentity(
    lambda annotation: _known_keys(annotation, by_name=True)
)
"""The same where field names count beside their aliases."""


class Shape(NamedTuple):
    """Values that may lose keys to their type: those of a `container`'s items, or of objects with `known` keys."""

    container: type[list[Any]] | type[dict[Any, Any]]
    item: Any = None
    known: Mapping[str, Any] | None = None
    inner: tuple[tuple[str, Any], ...] = ()
    """The known keys whose values may lose keys, with their types."""


def _shape_of(kind: Any, known_of: ByIdentity[dict[str, Any] | None]) -> Shape | None:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _shape_of(arguments[0], known_of)
    if origin in (Union, types.UnionType):
        members = [one for one in arguments if one is not type(None)]
        return _shape_of(members[0], known_of) if len(members) == 1 else None
    if arguments and (origin in LIST_TYPES or origin is dict):
        item = arguments[-1] if origin is dict else arguments[0]
        return Shape(dict if origin is dict else list, item) if may_drop_keys(item) else None
    known = known_of(kind)
    if known is None:
        return None
    return Shape(dict, None, known, tuple([(key, one) for key, one in known.items() if may_drop_keys(one)]))


_shape: ByIdentity[Shape | None] = ByIdentity(lambda kind: _shape_of(kind, known_keys))
_shape_by_name: ByIdentity[Shape | None] = ByIdentity(lambda kind: _shape_of(kind, known_keys_and_names))


def _aliases(alias: object) -> list[str]:
    if isinstance(alias, str):
        return [alias]
    if isinstance(alias, AliasPath):
        return [str(alias.path[0])]
    if isinstance(alias, AliasChoices):
        return [name for choice in alias.choices for name in _aliases(choice)]
    return []


NO_LETTER = re.compile(r"[\W_]")
LIKENESS = 0.75
MOST_NAMES = 100
MOST_PLACES = 50
MOST_NAMED = 5
LONGEST_NUMBER = 60
DAY = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|\d{1,2}\.? [A-Za-z]{3,9} \d{4}")

CALCULATION = re.compile(
    r"\A(?!(?s:.*)[a-z] [a-z]+ [a-z])(?s:.*?)"
    r"(?:(?<!:\d)\d(?P<gap>\s*)[*×+](?P=gap)[\d(]|\)(?:\s*[*/×]\s*|\s+-\s+)[\d(])"
)
"""A text with an operator between numbers, unlike a sentence, a time with an offset, a phone number or `*4* (good)`."""
MORE_THAN_WORDS = re.compile(r"[$€£¥₹%]|\d\s*/\s*\d")
REPR = re.compile(r"(?:[A-Z]\w*\()?\w+=['\"\d\[]")
QUOTED = re.compile(r"'([^']*)'")
SCALAR_KINDS: Mapping[tuple[str, ...], str] = {
    ("int_", "float_", "decimal_"): "a number",
    ("bool_",): "true or false",
    ("date", "time"): "a date or time",
}
"""Beginnings of pydantic's errors for scalars, with what each expects."""
LISTS = ("list_type", "tuple_type", "set_type")
OBJECTS = ("dict_type", "model_type", "model_attributes_type")

IN_WORDS = "it is in words"
NUMBER_SIGNS: Mapping[str, re.Pattern[str]] = {
    "it is a calculation": CALCULATION,
    "it has a currency": re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY|dollars?|euros?)\b", re.IGNORECASE),
    "it has a percent sign": re.compile(r"%|\bper ?cent\b", re.IGNORECASE),
    "it has a decimal comma": re.compile(rf"\A{DECIMAL_COMMA.pattern}\Z"),
    "it is a fraction": re.compile(r"\d\s*/\s*\d"),
    "it is a range": re.compile(r"\d\s*(?:-|–|to)\s*\d"),
    "its digits are grouped": re.compile(r"\d[,' ]\d{3}(?!\d)"),
    "it has words or a unit": re.compile(r"\d.*[A-Za-z]|[A-Za-z].*\d"),
    IN_WORDS: re.compile(
        r"\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|"
        r"half|dozen|hundred|thousand|million|billion)\b",
        re.IGNORECASE,
    ),
}


ANY_SIGN = re.compile("|".join([one.pattern for one in NUMBER_SIGNS.values()]), re.IGNORECASE)


@lru_cache(maxsize=256)
def _quoted(said: str) -> Mapping[str, str]:
    """Return the allowed texts that pydantic lists, by their letters."""
    return {_letters(one): one for one in QUOTED.findall(said)}


def nearly(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate probably meant by a name: other case, plural, abbreviation or slip."""
    return _nearest(_letters(name), {_letters(one): one for one in candidates})


def nearly_right(reading: Reading, names: Iterable[str], unknown: Iterable[str]) -> dict[str, str]:
    """Map `names` to unknown names probably meant for them, among the first `MOST_NAMES` unknown names."""
    key = nearly_right, tuple(names), tuple(islice(unknown, MOST_NAMES))
    known: dict[str, str] | None = reading.detected.get(key)
    if known is None:
        left, known = {_letters(one): one for one in key[2]}, {}
        for name in key[1] if left else ():
            meant = _nearest(_letters(name), left)
            if meant is not None:
                known[name] = meant
                del left[_letters(meant)]
        reading.detected[key] = known
    return dict(known)


@lru_cache(maxsize=4096)
def _letters(name: str) -> str:
    return NO_LETTER.sub("", name).casefold()


_set_of: Callable[[str], frozenset[str]] = lru_cache(maxsize=4096)(frozenset)
"""Return the different letters of a name."""


def _nearest(wanted: str, by_letters: Mapping[str, str]) -> str | None:
    if wanted in by_letters:
        return by_letters[wanted]
    own, size = _set_of(wanted), len(wanted)
    alike = [  # enough letters are the same, in whatever order
        one
        for one in by_letters
        if size >= (enough := LIKENESS * (size + len(one)) / 2) <= len(one)
        and len(own - _set_of(one)) <= size - enough
        and sum(map(min, map(wanted.count, own), map(one.count, own))) >= enough
    ]
    close = get_close_matches(wanted, alike, n=1, cutoff=LIKENESS) if alike else ()
    if close:
        return by_letters[close[0]]
    for letters, one in by_letters.items():
        if letters[:1] == wanted[:1] and _is_within(wanted, letters):
            return one
    return None


def _is_within(one: str, other: str) -> bool:
    """Return whether the letters of one of two names are in the other, in their order."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    at = 0
    for letter in short:
        at = long.find(letter, at) + 1
        if not at:
            return False
    return len(short) >= 3


def name_flags(reading: Reading, unknown: Iterable[str]) -> Iterator[Flag]:
    """Flag markers or tags that were probably meant for outputs that are missing."""
    for name, seen in nearly_right(reading, reading.lacking, unknown).items():
        said = f"{shown(seen)} was probably meant for `{name}`; names must match exactly."
        yield Flag("name-nearly-right", said, name)


def wrong_places(field: Field, given: object, refused: object, is_explained: bool) -> list[Flag]:
    """Return a flag for every place inside a value that the field's type rejects.

    The places are known from `refused` if that is pydantic's error. Skips the whole value if a flag already explains it
    (`is_explained`), unless a number has a currency, a percent sign or a fraction.
    """
    try:
        problems = first_errors(field.annotation, given, MOST_PLACES, known=refused)
    except Exception:  # a user's type may raise in its own hooks
        return []
    found: list[Flag] = []
    taken: dict[tuple[int | str, ...], list[str]] = {}
    for problem in _with_unions_once(problems) if len(problems) > 1 else problems:
        loc, kind, given_there = problem["loc"], problem["type"], problem["input"]
        key, path = "", field.name
        if loc:
            key = str(loc[-1])
            path += "".join([f"[{step}]" if isinstance(step, int) else f".{step}" for step in loc])
        elif is_explained:
            is_number = isinstance(given_there, str) and kind.startswith(("int_", "float_"))
            if not is_number or MORE_THAN_WORDS.search(given_there[:LONGEST_NUMBER]) is None:
                continue
        found.append(_flag(field, path, kind, key, given_there, problem["msg"], taken.setdefault(loc[:-1], [])))
    return found


def _with_unions_once(problems: Sequence[Any]) -> Iterator[Any]:
    """Yield the problems, the JSON keys that all classes of a union miss as one."""
    lacking: dict[int, dict[str, list[str]]] = {}
    told: set[int] = set()
    for one in problems:
        if one["type"] == "missing" and len(one["loc"]) > 1 and isinstance(one["input"], dict):
            *_, kind, key = map(str, one["loc"])
            lacking.setdefault(id(one["input"]), {}).setdefault(kind, []).append(key)
    for one in problems:
        keys = lacking.get(id(one["input"]), {}) if one["type"] == "missing" else {}
        if len(keys) < 2 or any(nearly(key, one["input"]) for names in keys.values() for key in names):
            yield one
        elif id(one["input"]) not in told:
            told.add(id(one["input"]))
            needs = [f"{kind} needs {', '.join(map('`{}`'.format, names))}" for kind, names in keys.items()]
            yield {**one, "type": "union", "loc": one["loc"][:-2], "msg": "; ".join(needs)}


def _flag(field: Field, path: str, kind: str, key: str, given: object, said: str, taken: list[str]) -> Flag:
    """Describe one rejected place; `taken` are the JSON keys of its object that are known to be meant for others."""
    name = field.name
    if kind == "missing":
        known = known_keys_of(field.annotation)
        others = {one: inside for one, inside in given.items() if one not in known} if isinstance(given, dict) else {}
        meant = nearly(key, [one for one in others if one not in taken])
        under = next((one for one, inside in others.items() if isinstance(inside, dict) and key in inside), None)
        if under is not None:
            said = f"`{path}` is one level too deep in the reply, under {shown(under)}."
            return Flag("key-missing", said, name, path)
        if meant is None:
            named = "" if taken else ", ".join(map(shown, islice(others, MOST_NAMED)))
            instead = f", which has {named} instead" if named else ""
            return Flag("key-missing", f"`{path}` is missing from the object in the reply{instead}.", name, path)
        taken.append(meant)
        message = f"`{path}` is missing; the reply has {shown(meant)}, which was probably meant for it."
        return Flag("key-nearly-right", message, name, path)
    head = f"`{path}` is {shown(given)}"
    if kind == "union":
        return Flag("key-missing", f"{head}, which is none of its types: {said}.", name, path)
    if given is None:
        return Flag("null-not-allowed", f"`{path}` is null, which its type does not allow.", name, path)
    if kind in ("literal_error", "enum"):
        near = _nearest(_letters(given), _quoted(said)) if isinstance(given, str) else None
        hint = f" It is nearest to {near!r}." if near not in (None, given) else ""
        expected = said.removeprefix("Input should be ")
        return Flag("value-not-allowed", f"{head}, but only {expected} is allowed.{hint}", name, path)
    wanted = next((words for kinds, words in SCALAR_KINDS.items() if kind.startswith(kinds)), "")
    if wanted and says_nothing(given):
        return Flag("null-not-allowed", f"`{path}` {nothing(given)}, where {wanted} is expected.", name, path)
    if kind.startswith(("int_", "float_", "decimal_")) and isinstance(given, str):
        told, why = given[:LONGEST_NUMBER], "it is text"
        if ANY_SIGN.search(told):
            found = next((words for words, sign in NUMBER_SIGNS.items() if sign.search(told)), why)
            why = why if found == IN_WORDS and len(given) > LONGEST_NUMBER else found
        return Flag("not-a-number", f"{head}, which is not a plain number: {why}.", name, path)
    if kind.startswith("bool_"):
        return Flag("not-true-or-false", f"{head}, which is neither true nor false.", name, path)
    if kind.startswith(("date", "time")):
        order = "; write it as YYYY-MM-DD" if isinstance(given, str) and DAY.search(given) else ""
        return Flag("date-not-read", f"{head}, which is not an ISO 8601 date or time{order}.", name, path)
    if kind == "string_unicode":
        return Flag("lone-surrogate", f"{head}, which has one half of a character (an unpaired surrogate).", name, path)
    if kind == "string_type":
        return Flag("text-expected", f"{head}, where a text is expected.", name, path)
    if kind in (*LISTS, *OBJECTS):
        wanted = "a list" if kind in LISTS else "an object"
        if says_nothing(given):
            return Flag("another-shape", f"`{path}` {nothing(given)}, where {wanted} is expected.", name, path)
        if isinstance(given, list) and path.endswith("]"):
            return Flag("another-shape", f"`{path}` is a list of its own, where {wanted} is expected.", name, path)
        if isinstance(given, str) and REPR.match(given):
            wanted += " in JSON, not as Python prints it,"
        return Flag("another-shape", f"{head}, where {wanted} is expected.", name, path)
    if kind == "extra_forbidden":
        return Flag("value-rejected", f"{head}: no JSON key {shown(key)} is allowed.", name, path)
    return Flag("value-rejected", f"{head}: {said[:1].lower()}{said[1:]}.", name, path)


def nothing(given: str) -> str:
    """Describe an empty text, or a text that says that there is no value."""
    words = "words" if " " in given.strip() else "a word"
    return "is empty" if not given.strip() else f"is {shown(given)}, {words} for no value"


def _keys_of_schema(annotation: object) -> frozenset[str]:
    found: set[str] = set()
    waiting: list[Any] = [schema_by_name(annotation)]
    for one in waiting:
        if isinstance(one, dict):
            found.update(one.get("properties", ()))
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return frozenset(found)


known_keys_of: ByIdentity[frozenset[str]] = ByIdentity(_keys_of_schema)
"""The JSON keys that any object of a type may have."""
