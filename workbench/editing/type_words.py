"""The types a person chooses from, in words, and types said in words as types."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple


class TypeWord(NamedTuple):
    """A type, what it holds in plain words, and whether it still waits for something to be typed behind it."""

    text: str
    about: str
    open: bool = False


TYPES: tuple[TypeWord, ...] = (
    TypeWord("str", "text"),
    TypeWord("int", "a whole number"),
    TypeWord("float", "a number"),
    TypeWord("bool", "yes or no"),
    TypeWord("list[str]", "several texts"),
    TypeWord("one of ", "one of a few words: type them, with commas", True),
    TypeWord("list of ", "several of something", True),
    TypeWord("optional ", "something that may be missing", True),
    TypeWord("date", "a day"),
    TypeWord("datetime", "a day and a time"),
    TypeWord("time", "a time of day"),
    TypeWord("Decimal", "an exact number, such as an amount of money"),
    TypeWord("dict[str, str]", "texts by name"),
    TypeWord("dict[str, Any]", "anything by name"),
    TypeWord("list[int]", "several whole numbers"),
    TypeWord("list[float]", "several numbers"),
    TypeWord("Any", "whatever it is"),
    TypeWord("dspy.Image", "a picture"),
    TypeWord("dspy.Audio", "a sound"),
    TypeWord("dspy.File", "a file, such as a PDF"),
    TypeWord("dspy.Code", "program text"),
    TypeWord("dspy.History", "the conversation so far"),
    TypeWord("list[dspy.Tool]", "tools that the model may call"),
    TypeWord("dspy.ToolCalls", "calls of tools"),
    TypeWord("dspy.Reasoning", "the model's own reasoning"),
)

_WORDS = {"text": "str", "whole number": "int", "number": "float", "yes or no": "bool", "day": "date", "texts": "str"}
_PREFIX = re.compile(r"(list of|several|optional|one of)\s+(.*)", re.IGNORECASE | re.DOTALL)


def choices(own: Sequence[str]) -> tuple[TypeWord, ...]:
    """The types to choose from: the models and enums of the text first, then the others."""
    mine = [TypeWord(one, "a model or enum of yours") for one in own] + [
        TypeWord(f"list[{one}]", f"several {one}") for one in own
    ]
    return (*TYPES[:4], *mine, *TYPES[4:])


def matching(typed: str, own: Sequence[str]) -> tuple[TypeWord, ...]:
    """The types whose name or words have every typed word in them; all of them while nothing is typed."""
    head = _PREFIX.fullmatch(typed)
    if head is not None and head[1].lower() != "one of":
        return tuple(
            TypeWord(f"{head[1]} {one.text}", f"{head[1]} {one.about}", one.open) for one in matching(head[2], own)
        )
    words = typed.lower().split()
    return tuple(one for one in choices(own) if all(word in f"{one.text} {one.about}".lower() for word in words))


def type_said(words: str) -> str:
    """The type that a text means: `one of bug, wish` is `Literal["bug", "wish"]`; a type is itself."""
    said = " ".join(words.split()) if _PREFIX.fullmatch(words.strip()) else words.strip()
    head = _PREFIX.fullmatch(said)
    if head is None:
        return _WORDS.get(said.lower(), said)
    kind, rest = head[1].lower(), head[2].strip()
    if kind == "one of":
        values = [one.strip().strip("\"'") for one in re.split(r",|\bor\b", rest)]
        return f"Literal[{', '.join(json.dumps(one, ensure_ascii=False) for one in values if one)}]"
    return f"Optional[{type_said(rest)}]" if kind == "optional" else f"list[{type_said(rest)}]"
