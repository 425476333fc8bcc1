"""Find sentences, names, numbers and dates in the inputs to answer with."""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from adapters.replies.forms import leaves

MAX_TEXT = 20_000
"""Maximum characters read of each input."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_COMMON = frozenset(
    "the and for are was were with that this from have has had what which who whom whose when where why how does did "
    "can could should would will shall may might must not but you your our their its his her they them there here into "
    "about than then also any all some each one two".split()
)
# Control characters and unpaired surrogates: no tokenizer writes them.
_UNSPEAKABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_QUESTION = re.compile(r"question|query|ask|prompt|request|instruction", re.IGNORECASE)


class Source:
    """The texts of the inputs by name."""

    def __init__(self, inputs: Mapping[str, str]) -> None:
        self.inputs = {name: _UNSPEAKABLE.sub(" ", text[:MAX_TEXT]) for name, text in inputs.items()}

    @cached_property
    def question(self) -> str:
        """Return the input that asks something, or `""`."""
        named = [text for name, text in self.inputs.items() if _QUESTION.search(name)]
        asking = [text for text in self.inputs.values() if text.strip().endswith("?")]
        return (named or asking or [""])[0]

    @cached_property
    def text(self) -> str:
        """Return all inputs except the question, longest first, else the question."""
        others = [readable(text) for text in self.inputs.values() if text != self.question or not self.question]
        return "\n".join(sorted(others, key=len, reverse=True)) or self.question

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Return sentences of at most 160 characters."""
        found: list[str] = []
        unwrapped = re.sub(r"(?<![.!?:;\n])\n(?=[a-z])", " ", self.text)
        for line in re.split(r"\n+|(?<=[.!?…])\s+", unwrapped):
            sentence = " ".join(line.split()).strip(" -*•>|\"'")
            if "[[ ##" not in sentence and len(sentence.split()) >= 2 and sentence not in found:
                found.append(shortened(sentence, 160))
        return tuple(found)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return capitalised names, first those that do not merely begin a sentence."""
        inside, leading = [], []
        for match in re.finditer(r"\b[A-Z][\w'’&.-]*[a-z]\w*(?: (?:(?:of|the|and|&) )?[A-Z][\w'’&-]*\w)*", self.text):
            before = self.text[: match.start()].rstrip(" \"'([*-•")
            name = match.group(0).rstrip(".")
            begins = not before or before[-1] in ".!?:\n" or "\n" in self.text[len(before) : match.start()]
            words = name.split(" ")
            if begins and len(words) == 1:
                leading.append(name)
            else:
                inside.append(" ".join(words[1:]) if begins and words[0].lower() in _COMMON else name)
        return tuple(dict.fromkeys(one for one in (*inside, *leading) if one.lower() not in _COMMON))

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Return numbers that are not parts of dates, times or codes."""
        plain = re.findall(
            r"(?<![\w.,:/-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w:/-])|(?<![\w.,:/-])\d+(?:\.\d+)?(?![\w:/-])", self.text
        )
        return tuple(float(one.replace(",", "")) for one in plain if len(one) < 16)

    @cached_property
    def dates(self) -> tuple[str, ...]:
        return tuple(re.findall(r"(?<!\d)(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?!\d)", self.text))

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Return tokens that mix letters and digits, such as `INV-2044`."""
        return self.matches(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")

    def matches(self, pattern: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(match.group(0) for match in re.finditer(pattern, self.text)))

    def best_sentence(self, hint: str, avoid: tuple[str, ...] = ()) -> str:
        """Return the sentence sharing most words with the question and `hint`, else the text's start."""
        asked = words_of(f"{self.question} {hint}")
        candidates = [one for one in self.sentences if one not in avoid] or list(self.sentences)
        if not candidates:
            return shortened(" ".join(self.text.split()).replace("[[ ##", ""), 120)
        common = Counter(word for one in self.sentences for word in words_of(one))
        # A word that appears in few sentences counts more.
        score = {one: sum(1 / common[word] for word in words_of(one) & asked) for one in candidates}
        return max(candidates, key=lambda one: score[one])


def words_of(text: str) -> frozenset[str]:
    """Return the significant words of `text`, cut to six letters to drop endings."""
    return frozenset(word.lower()[:6] for word in _WORD.findall(text) if word.lower() not in _COMMON)


def shortened(text: str, length: int) -> str:
    """Cut `text` at a word before `length` characters."""
    if len(text) <= length:
        return text
    cut = text[:length].rsplit(" ", 1)[0]
    return (cut or text[:length]).rstrip(",;:. ")


def choose(seed: str, count: int) -> int:
    """Choose a number below `count` by `seed` alone."""
    return int.from_bytes(sha256(seed.encode("utf-8", "surrogatepass")).digest()[:8], "big") % count


def readable(text: str) -> str:
    """Return the strings of JSON or Python data, a line each, or the text unchanged."""
    value = structure_in(text)
    if value is None:
        return text
    return _UNSPEAKABLE.sub(" ", "\n".join([str(one) for one in leaves(value) if one is not None]))


def structure_in(text: str) -> Any:
    """Parse a list or object in JSON or Python notation; None for other text."""
    text = text.strip()
    if text[:1] not in ("[", "{") or len(text) > MAX_TEXT:
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
        return value if isinstance(value, list | dict) else None
    return None
