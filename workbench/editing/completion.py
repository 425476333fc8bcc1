"""Suggest types and field options, described in words or completed in a signature's text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple


class TypeWord(NamedTuple):
    """A type, its content in plain words, and whether more must be typed after it."""

    text: str
    about: str
    open: bool = False


TYPES: tuple[TypeWord, ...] = (
    TypeWord("str", "text"),
    TypeWord("int", "a whole number"),
    TypeWord("float", "a number"),
    TypeWord("bool", "yes or no"),
    TypeWord("list[str]", "several texts"),
    TypeWord("one of ", "one of a few words (a Literal): type them, with commas", True),
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
_BARE = re.compile(r"[^\[\](){},|]*[^\s\[\](){},|](,[^\[\](){},|]+)+")
"""Words with commas between them: the values of a choice."""
_PREFIX = re.compile(r"(list of|several|optional|one of)\s+(.*)", re.IGNORECASE | re.DOTALL)


def choices(own: Sequence[str]) -> tuple[TypeWord, ...]:
    """Return the types to choose from; `own`, the text's models and enums, follow the first four."""
    mine = [TypeWord(one, "a model or enum of yours") for one in own] + [
        TypeWord(f"list[{one}]", f"several {one}") for one in own
    ]
    return (*TYPES[:4], *mine, *TYPES[4:])


def matching(typed: str, own: Sequence[str]) -> tuple[TypeWord, ...]:
    """Return the types whose name or description contains every typed word."""
    head = _PREFIX.fullmatch(typed)
    if head is not None and head[1].lower() != "one of":
        return tuple(
            TypeWord(f"{head[1]} {one.text}", f"{head[1]} {one.about}", one.open) for one in matching(head[2], own)
        )
    if _BARE.fullmatch(typed) and head is None:
        return (TypeWord(f"one of {typed.strip()}", type_said(typed)),)
    words = typed.lower().split()
    return tuple(one for one in choices(own) if all(word in f"{one.text} {one.about}".lower() for word in words))


def type_said(words: str) -> str:
    """Convert words to a type: `one of bug, wish` or `bug, wish` → `Literal["bug", "wish"]`; types stay unchanged."""
    said = words.strip()
    if _BARE.fullmatch(said) and not _PREFIX.fullmatch(said):
        said = f"one of {said}"
    head = _PREFIX.fullmatch(" ".join(said.split()))
    if head is None:
        return _WORDS.get(said.lower(), said)
    kind, rest = head[1].lower(), head[2].strip()
    if kind == "one of":
        values = [one.strip().strip("\"'") for one in re.split(r",|\bor\b", rest)]
        return f"Literal[{', '.join(json.dumps(one, ensure_ascii=False) for one in values if one)}]"
    return f"Optional[{type_said(rest)}]" if kind == "optional" else f"list[{type_said(rest)}]"


MOST = 8
LOOKED_BACK = 4_000
"""Number of characters to inspect before the cursor, enough for the call of a field."""


class Candidate(NamedTuple):
    """A replacement for the word before the cursor, with a description."""

    text: str
    about: str = ""


class Completion(NamedTuple):
    """Candidates to replace the last `length` characters before the cursor."""

    length: int
    candidates: tuple[Candidate, ...]


FIELD_OPTIONS = (
    Candidate('desc=""', "what the model is told about it"),
    Candidate("default=", "the value where none is given"),
    Candidate("ge=", "at least"),
    Candidate("le=", "at most"),
    Candidate("gt=", "more than"),
    Candidate("lt=", "less than"),
    Candidate("min_length=", "so many characters or entries at least"),
    Candidate("max_length=", "so many characters or entries at most"),
    Candidate("multiple_of=", "a multiple of this number"),
    Candidate('prefix=""', "dspy's name for it, unused by the chat adapters"),
)
MEMBER_OPTIONS = (
    Candidate('description=""', "what the model is told about it"),
    *(one for one in FIELD_OPTIONS if not one.text.startswith(("desc", "prefix"))),
    Candidate("default_factory=list", "an empty list where none is given"),
    Candidate('pattern=""', "a regular expression that a text must match"),
    Candidate('alias=""', "another name in the JSON"),
)
VALUES = (Candidate("dspy.InputField()", "goes in"), Candidate("dspy.OutputField()", "is to come out"))
MEMBER_VALUES = (
    Candidate("pydantic.Field()", "with a description or limits"),
    Candidate("None", "where none is given"),
)
BASES = (
    Candidate("dspy.Signature", "what goes in and what comes out"),
    Candidate("pydantic.BaseModel", "a group of values"),
    Candidate("Enum", "one of a few values"),
)

_WORD = re.compile(r"[\w.]*$")
_CALL = re.compile(r"\b(?:dspy\.)?(InputField|OutputField|Field)\s*\(")
_ARGUMENT = re.compile(r"[(,]\s*$")
_ANNOTATION = re.compile(r"(?:^|\n)[ \t]+\w+[ \t]*:[^=#\"'\n]*$")
_SHORT = re.compile(r"(?:^|,|->)\s*\w+\s*:[^,\n]*$")
_VALUE = re.compile(r"(?:^|\n)[ \t]+\w+[ \t]*:[^=#\"'\n]*=[ \t]*$")
_BASE = re.compile(r"(?:^|\n)class[ \t]+\w+\([^)\n]*$")


def complete(text: str, offset: int, own: Callable[[], Sequence[str]], *, asked: bool = False) -> Completion | None:
    """Return completions at `offset`, or None if none fit.

    Without a word before the cursor there are completions only if `asked`. `own` returns the models and enums of the
    text; it is called only where a type can be written.
    """
    before = text[max(0, offset - LOOKED_BACK) : offset]
    found = _WORD.search(before)
    word = found[0] if found is not None else ""
    head = before[: len(before) - len(word)]
    if not (word or asked) or word[:1].isdigit():
        return None
    known = _known(head, text, own)
    start = word.lower()
    fitting = tuple(
        one
        for one in known
        if one.text.lower().startswith(start) or one.text.rpartition(".")[2].lower().startswith(start)
    )
    if not fitting or (word and any(one.text == word for one in fitting)):
        return None
    return Completion(len(word), fitting[:MOST])


def _known(head: str, text: str, own: Callable[[], Sequence[str]]) -> tuple[Candidate, ...]:
    """Return everything that can follow `head`."""
    call = _open_call(head)
    if call:
        return (MEMBER_OPTIONS if call == "Field" else FIELD_OPTIONS) if _ARGUMENT.search(head) else ()
    if _BASE.search(head):
        return BASES
    if _VALUE.search(head):
        header = head[max(head.rfind("\nclass "), 0) :].lstrip("\n").partition("\n")[0]
        return VALUES if "Signature" in header else MEMBER_VALUES
    is_short = "class " not in text and "->" in text
    if _ANNOTATION.search(head) or (is_short and _SHORT.search(head)):
        types = [Candidate(one.text, one.about) for one in choices(own()) if not one.open]
        return (*types, Candidate('Literal[""]', "one of a few words"), Candidate("Optional[str]", "may be missing"))
    return ()


def _open_call(head: str) -> str:
    """Return the field function (`InputField`, …) whose call is unclosed at the end of `head`, or ""."""
    calls = list(_CALL.finditer(head))
    if not calls:
        return ""
    depth, quote = 0, ""
    for character in head[calls[-1].end() - 1 :]:
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        else:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(character, 0)
            if depth == 0:
                return ""
    return "" if quote else calls[-1][1]
