"""Makers of fixes: from a parse result and the place of a cause, the changes that would help."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin

from adapters.replies.flag import MORE_TOKENS, Fix, describe_field, raise_limit, retype_field, use_adapter
from adapters.replies.flags.strange_replies import LAST_TOKENS, NEXT_TURN, STOP_TOKENS, made_up_input
from adapters.replies.flags.values_refused import given_value, list_to_write
from adapters.replies.flags.wrong_places import known_keys, nearly
from adapters.replies.repairs import says_nothing
from adapters.signatures.signature import Signature, allows_none, without_none
from adapters.signatures.type_names import walk, written
from adapters.types.recognition import is_named

if TYPE_CHECKING:
    from adapters.prompts.text import Prompt
    from adapters.replies.reading import Reading

LONGEST_WORD = 40
MOST_IN_A_WORD = 3
MOST_WORDS = 5
SENTENCE_ENDS = (".", "!", "?")
SCALARS = (int, float, bool, date, datetime, time)
LONGEST_COPY = 500
LONGEST_INPUT = 20_000
MANY_WORDS = 5
COPIED = 0.8
"""The share of many words that are those of an input if they were copied with slips."""
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[]+)")
_WORD = re.compile(r"\w+")
_TWO_WORDS = re.compile(r"\w\W+\w")


class Target(NamedTuple):
    """A declared output or member of a class inside it, and the value that the reply gives for it."""

    name: str
    annotation: Any
    given: Any
    owner: str = ""
    """The class that declares a member; "" for an output."""
    has_bounds: bool = False
    """True for a member with constraints such as `ge`, which its model enforces."""

    @property
    def label(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


FixMaker = Callable[["Reading", Target | None], Iterable[Fix]]
"""A maker of fixes for the place of a cause; None for a whole reply."""


def target_at(reading: Reading, place: str | None) -> Target | None:
    """Return the output at a place, or the innermost member of a class on the path to it."""
    steps = _STEP.findall(place) if place else ()
    declared = reading.signature.output_fields.get(steps[0][1]) if steps else None
    if declared is None:
        return None
    found, kind = reading.fields.get(declared.name), declared.annotation
    given = None if found is None else given_value(found, kind)
    target = Target(declared.name, kind, given)
    for index, key in steps[1:]:
        inside = without_none(kind)
        if index:
            given = given[int(index)] if isinstance(given, list) and int(index) < len(given) else None
            kind = (*get_args(inside), None)[0]
            continue
        given = given.get(key) if isinstance(given, dict) else None
        members = known_keys(inside)
        if members is None or key not in members:
            return target
        kind = members[key]
        fields = getattr(inside, "model_fields", {})
        name = next((name for name, one in fields.items() if key in (one.alias, one.validation_alias)), key)
        target = Target(name, kind, given, inside.__name__, name in fields and bool(fields[name].metadata))
    return target


def copied_from(reading: Reading, target: Target | None) -> str:
    """Return the input whose words the reply gives for a choice or a number; "" if they are its own."""
    prompt = reading.ended.prompt
    if prompt is None or target is None or not isinstance(target.given, str):
        return ""
    kind, given = without_none(target.annotation), _folded(target.given[:LONGEST_COPY])
    is_choice = get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, Enum | bool))
    is_worded = kind in (int, float) and not any(map(str.isdigit, given))
    if not (is_choice or is_worded) or _TWO_WORDS.search(given) is None:
        return ""
    inputs: dict[str, str] | None = reading.detected.get(copied_from)
    if inputs is None:
        inputs = reading.detected[copied_from] = _inputs(reading, prompt)
    found = (name for name, text in inputs.items() if _is_copy(given, text))
    return next(found, "")


def _inputs(reading: Reading, prompt: Prompt) -> dict[str, str]:
    """Return the texts of the inputs in a prompt, without upper case and line breaks."""
    found: dict[str, str] = {}
    for one in prompt.messages:
        for text, _, name in one.segments if one.turn in ("system", "inputs") else ():
            if name is not None and name in reading.signature.input_fields:
                found[name] = f"{found.get(name, '')} {text}"
    return {name: _folded(text[:LONGEST_INPUT]) for name, text in found.items()}


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _is_copy(given: str, text: str) -> bool:
    at = text.find(given)
    if at >= 0 and not _WORD.match(text, max(at - 1, 0)):
        return True
    words = _WORD.findall(given)
    is_long = len(words) >= MANY_WORDS
    # Words are looked for first: to split an input takes longer.
    if sum(map(text.__contains__, words)) < (COPIED if is_long else 1) * len(words):
        return False
    there = _WORD.findall(text)
    if f" {' '.join(words)}" in f" {' '.join(there)}":
        return True
    return is_long and sum(map(set(there).__contains__, words)) >= COPIED * len(words)


def _values_at(reading: Reading, target: Target, cause: str) -> list[Any]:
    """Return the values that the reply gives for a member in all places with a cause."""
    paths = [flag.path for flag in reading.flags if flag.name == cause and flag.path]
    there = [target_at(reading, path) for path in paths] if len(paths) > 1 else []
    return [one.given for one in there if one and one.label == target.label] or [target.given]


def use(adapter: str) -> FixMaker:
    """Offer another adapter for the column."""
    names, fixes = (adapter, f"{adapter}adapter"), (use_adapter(adapter),)
    return lambda reading, target: () if reading.adapter.lower() in names else fixes


def for_a_bare_value(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer other adapters where the whole reply is a value, not the first letter of one."""
    text = reading.completion.strip()
    for make in (use("chat"), use("json")) if len(text) > 1 and text.isalnum() else ():
        yield from make(reading, target)


def describe(words: str) -> FixMaker:
    """Offer to add `words` to a description: of the place, or for a whole reply, of the first output."""

    def make(reading: Reading, target: Target | None) -> Iterator[Fix]:
        if target is not None:
            yield describe_field(target.name, words, target.owner)
        elif reading.fields:
            yield describe_field(next(iter(reading.fields)), words)

    return make


def spelled(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to say in the description how the name is spelled."""
    if target is None:
        return
    if not target.owner and reading.fields[target.name].state == "read":  # the name of something inside it
        yield describe_field(target.name, "Use exactly the JSON keys of the schema.")
    else:
        yield describe_field(target.name, f"Its name in the reply is exactly `{target.name}`.", target.owner)


def answer_directly(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer a sentence against tool calls in the text, where the signature has no tools."""
    if not _has_tools(reading.signature):
        yield from describe("Answer directly; call no tool.")(reading, target)


def more_tokens(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer a higher token limit, except for a whole value such as null or a single character."""
    text = reading.completion.strip()
    limit, reason = reading.ended.limit, reading.ended.finish_reason
    is_whole = text == "null" or (len(text) == 1 and reason is None)
    if not is_whole and reason in (None, "length") and not reading.ended.refusal:
        yield raise_limit() if limit is None or limit < MORE_TOKENS else raise_limit(2 * limit)


def more_tokens_to_answer(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer a higher token limit where the thoughts have no end."""
    if "</think>" not in reading.completion:
        yield from more_tokens(reading, target)


def as_rejected(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to describe what the type said against the value."""
    found = [
        flag for flag in reading.flags if flag.name == "value-rejected" and target_at(reading, flag.path) == target
    ]
    if target is not None and found:
        said = found[0].message.rpartition(": ")[2]
        yield describe_field(target.name, f"{said[:1].upper()}{said[1:]}", target.owner)


def a_text(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to say in the description that the output is a text."""
    is_container = target is None or isinstance(target.given, list | dict)
    yield from describe("A text, not a list or object." if is_container else "A text in quotes.")(reading, target)


def extra_keys(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to accept JSON keys that are not outputs."""
    change = {"options": {"allow_extra_keys": True}}
    yield Fix("adapter", "Accept and ignore other JSON keys in this column.", change)


def penalty(reading: Reading, target: Target | None) -> Iterator[Fix]:
    yield Fix("sampling", "Set `frequency_penalty` to 0.5.", {"params": {"frequency_penalty": 0.5}})


def stop_at_inputs(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to stop where the model makes up an input."""
    label = made_up_input(reading.signature, reading.completion)
    if label is not None:
        stop = f"\n{label.group()}"
        yield Fix("sampling", f"Set `stop` to {stop!r}.", {"params": {"stop": [stop]}})


def stop_at_token(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to end the reply at the stop token before another turn, or else at its text's end."""
    text = target.given if target is not None and isinstance(target.given, str) else ""
    telling = NEXT_TURN.search(text) or LAST_TOKENS.search(text)
    text = text if telling is None else telling[0]
    found = min([(text.find(one), one) for one in STOP_TOKENS if one in text], default=None)
    if found is not None:
        yield Fix("sampling", f"Set `stop` to {found[1]}.", {"params": {"stop": [found[1]]}})


def native_tools(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer native tool calls, which only signatures with tools can use."""
    if _has_tools(reading.signature):
        change = {"options": {"use_native_function_calling": True}}
        yield Fix("native", "Let the model call tools natively.", change)


@lru_cache(maxsize=256)
def _has_tools(signature: Signature) -> bool:
    kinds = [one for field in signature.fields.values() for one in walk(field.annotation)]
    return any(is_named(one, "Tool") or is_named(one, "ToolCalls") for one in kinds)


def fallback(reading: Reading, target: Target | None) -> Iterator[Fix]:
    if reading.form == "markers" and not reading.ok:
        yield Fix("fallback", "Retry with the JSON adapter after a parse error.", {"fallback": True})


def optional(reading: Reading, target: Target | None) -> Iterator[Fix]:
    if target is None or isinstance(target.given, list | dict) or copied_from(reading, target):
        return
    if not allows_none(target.annotation):
        fix = retype_field(target.name, f"{written(target.annotation)} | None", owner=target.owner)
        # The type alone does not turn a word into null.
        if says_nothing(target.given):
            words = "null if there is none."
            fix = Fix("type", f"{fix.message[:-1]}, and describe it: {words}", {**fix.change, "description": words})
        yield fix


def as_text(reading: Reading, target: Target | None) -> Iterator[Fix]:
    if target is not None and without_none(target.annotation) in SCALARS:
        given = _values_at(reading, target, "not-a-number")
        words = dict.fromkeys([one for one in given if isinstance(one, str) and one.isalpha()])
        if 1 < len(words) <= MOST_WORDS and all(isinstance(one, str) and one in words for one in given):
            kind = f"{written(target.annotation)} | Literal[{', '.join(map(repr, words))}]"
            yield retype_field(target.name, kind, owner=target.owner)
        # pydantic raises TypeError for a text with the bounds of a number
        if not target.has_bounds and not _is_prose(target.given):
            text = "str | None" if allows_none(target.annotation) else "str"
            message = f"Give `{target.label}` the type {text} and convert the text in your program."
            yield retype_field(target.name, text, message, target.owner)


def _is_prose(given: object) -> bool:
    """Return whether a value is a sentence or placeholder without a digit."""
    if not isinstance(given, str) or any(one.isdigit() for one in given):
        return False
    return given.strip().startswith("{") or len(given.split()) > MOST_WORDS


def fractional(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer float where a whole number is expected."""
    if target is not None and without_none(target.annotation) is int:
        yield retype_field(target.name, written(target.annotation).replace("int", "float"), owner=target.owner)


def list_example(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to describe a list, by an example of its items' type."""
    if target is not None:
        yield describe_field(
            target.name, f"A JSON list, {list_to_write(target.annotation, target.given)}.", target.owner
        )


def a_list(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer to describe a list where the type is one, and an empty dict where the reply has nothing."""
    if target is None:
        return
    kind = get_origin(without_none(target.annotation))
    if kind is list:
        yield from list_example(reading, target)
    elif kind is dict and says_nothing(target.given):
        yield describe_field(target.name, "A JSON object, {} if there is none.", target.owner)


def as_list(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer a list of the type where the reply has a list."""
    given = None if target is None else target.given
    if target is not None and not target.owner and (steps := reading.fields[target.name].coercions):
        given = steps[-1].before if isinstance(given, str) else given  # a list that became a text
    if target is not None and isinstance(given, list) and get_origin(target.annotation) is None:
        yield retype_field(target.name, f"list[{written(target.annotation)}]", owner=target.owner)


def allow_value(reading: Reading, target: Target | None) -> Iterator[Fix]:
    """Offer a Literal extended by the reply's disallowed words, or a number's type in its place."""
    if target is None or target.given is None or copied_from(reading, target):
        return
    literal, is_list = target.annotation, get_origin(target.annotation) is list and isinstance(target.given, list)
    values = target.given if is_list else _values_at(reading, target, "value-not-allowed")
    if is_list:
        (literal,) = get_args(literal)
    is_enum = isinstance(literal, type) and issubclass(literal, Enum)
    if get_origin(literal) is not Literal and not is_enum:
        return
    allowed = [one.value for one in literal] if is_enum else get_args(literal)
    if is_enum and any(type(one) is not str for one in allowed):
        return
    if not is_list and all(type(one) in (int, float) for one in values) and all(type(one) is str for one in allowed):
        yield retype_field(target.name, "float" if float in map(type, values) else "int", owner=target.owner)
        return
    texts = [one for one in values if isinstance(one, str) and len(one.split()) <= MOST_IN_A_WORD]
    texts = [one for one in texts if "{" not in one and one[-1:] not in SENTENCE_ENDS]
    if len(texts) < len(values):
        return
    known = [one for one in allowed if isinstance(one, str)]
    words = [one for one in dict.fromkeys(texts) if one not in allowed and 0 < len(one) <= LONGEST_WORD]
    words = [one for one in words if nearly(one, known) is None]
    if not words or len(words) > MOST_WORDS:
        return
    kind = f"Literal[{', '.join(map(repr, [*allowed, *words]))}]"
    told = f"Allow {', '.join(map(repr, words))} in `{literal.__name__ if is_enum else target.label}`."
    if is_enum:
        yield Fix("type", told, {"class": literal.__name__, "values": words})
        return
    yield retype_field(target.name, f"list[{kind}]" if is_list else kind, told, target.owner)
