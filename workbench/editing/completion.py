"""What can be written at a place of a signature's text: types, and the options of a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.editing.type_words import choices

MOST = 8
LOOKED_BACK = 4_000
"""Characters before the cursor that are looked at: a call of a field is not longer."""


class Candidate(NamedTuple):
    """A text to write in place of the word that was begun, and one line about it."""

    text: str
    about: str = ""


class Completion(NamedTuple):
    """What can be written, in place of the last `length` characters before the cursor."""

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
VALUES = (
    Candidate("dspy.InputField()", "goes in"),
    Candidate("dspy.OutputField()", "is to come out"),
)
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
    """What can be written at `offset`; None where nothing fits, or when nothing is begun and nobody `asked`.

    `own` gives the models and enums of the text, and is asked only where a type can stand.
    """
    before = text[max(0, offset - LOOKED_BACK) : offset]
    found = _WORD.search(before)
    word = found[0] if found is not None else ""
    head = before[: len(before) - len(word)]
    if not (word or asked) or word[:1].isdigit():
        return None
    known = _known(head, text, own)
    fitting = tuple(one for one in known if _fits(word, one.text))
    if not fitting or (word and any(one.text == word for one in fitting)):
        return None
    return Completion(len(word), fitting[:MOST])


def _fits(word: str, text: str) -> bool:
    names = (text.lower(), text.rpartition(".")[2].lower())
    return any(name.startswith(word.lower()) for name in names)


def _known(head: str, text: str, own: Callable[[], Sequence[str]]) -> tuple[Candidate, ...]:
    """Everything that can stand behind `head`."""
    call = _open_call(head)
    if call:
        return (MEMBER_OPTIONS if call == "Field" else FIELD_OPTIONS) if _ARGUMENT.search(head) else ()
    if _BASE.search(head):
        return BASES
    if _VALUE.search(head):
        return VALUES if "Signature" in _header(head) else MEMBER_VALUES
    is_short = "class " not in text and "->" in text
    if _ANNOTATION.search(head) or (is_short and _SHORT.search(head)):
        types = [Candidate(one.text, one.about) for one in choices(own()) if not one.open]
        return (*types, Candidate('Literal[""]', "one of a few words"), Candidate("Optional[str]", "may be missing"))
    return ()


def _header(head: str) -> str:
    """The line of the class that the end of `head` stands in."""
    start = max(head.rfind("\nclass "), 0)
    return head[start:].lstrip("\n").partition("\n")[0]


def _open_call(head: str) -> str:
    """The maker of the field whose call is open at the end of `head`; empty when none is."""
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
