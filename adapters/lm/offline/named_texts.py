"""Choose texts for fields from the inputs, by field name, format and examples."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from adapters.late_dataclasses import dataclass, field
from adapters.lm.offline.source import Source, shortened
from adapters.lm.protocol import Object

Path = tuple[str, ...]
"""The path to a value: the output, then keys; `item` for the entries of a list."""

Kind = Literal["share", "amount", "day", "person", "people", "code", "thought"]

# Parts of names; kinds in `_WORDS` also match whole words of a name.
_PARTS: Mapping[Kind, str] = {
    "share": "confidence|score|probab|certain|similar|relevan|accuracy|ratio|fraction",
    "amount": "price|total|amount|cost|sum|fee|tax|balance|salary|revenue|net|gross|weight|height|length",
    "day": "_at$",
    "person": "name|person|author|customer|client|vendor|supplier|seller|buyer|company|organi[sz]ation|city|country|"
    "place|location|product|item|brand|title_of|entity|who|where|owner|assignee|sender|recipient|signature|attendee|"
    "speaker",
    "people": "names|people|persons|entities|compan|places|cities|countries|authors|speakers|attendees|topics|tags|"
    "keywords|labels|parties",
    "code": "_no$",
    "thought": "reasoning|rationale|thought|explanation|justification|why|analysis",
}
_WORDS: Mapping[Kind, str] = {
    "day": "date|day|due|deadline|since|until|birthday|born|on",
    "code": "id|number|code|sku|ref|reference|key|identifier|version",
}
_SUGGEST = {
    kind: re.compile(f"{parts}|(?:^|_)(?:{_WORDS[kind]})(?:$|_)" if kind in _WORDS else parts, re.IGNORECASE)
    for kind, parts in _PARTS.items()
}

# Parts of a name, the pattern of such a text, and a default when the inputs have none.
_SHAPES = (
    (("mail",), r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[\w.-]*\w", "ada@example.org"),
    (("url", "link", "website"), r"https?://[^\s<>\"')\]]+", "https://example.org"),
    (("phone",), r"\+?\d[\d ()-]{6,}\d", "+1 555 0100"),
)
_CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
_OF_FORMAT = {
    "time": "09:30:00",
    "duration": "PT1H30M",
    "uuid": "7d444840-9dc0-4e1f-8c5d-1f2a3b4c5d6e",
    "uri": "https://example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "email": "ada@example.org",
}


def suggests(name: str, *kinds: Kind) -> bool:
    """Return whether a field's name suggests a value of one of these kinds."""
    return any(_SUGGEST[kind].search(name) for kind in kinds)


@dataclass(eq=False)
class Texts:
    """Finds texts for fields; each find is used in turn, so that items differ."""

    _source: Source
    _examples: Sequence[Object]
    _taken: Counter[str] = field(default_factory=Counter)

    def turn(self, kind: str) -> int:
        """Return the number of earlier requests for this kind."""
        self._taken[kind] += 1
        return self._taken[kind] - 1

    def next(self, kind: str, found: Sequence[str]) -> str:
        """Return the next of `found`, cycling; `""` if it is empty."""
        return found[self.turn(kind) % len(found)] if found else ""

    def date(self) -> str:
        return self.next("date", self._source.dates) or "2024-05-17"

    def of_format(self, format_: str, hint: str) -> str:
        """Return a text in a JSON Schema format, or `code` in the hint's language."""
        if format_ == "date":
            return self.date()
        if format_ == "date-time":
            return f"{self.date()}T09:30:00"
        if format_ != "code":
            return _OF_FORMAT.get(format_, "text")
        language = re.search(r"Programming language: (\w+)", hint)
        name = language.group(1) if language else "python"
        said = json.dumps(shortened(self._source.best_sentence(hint), 60))
        body = f"def answer():\n    return {said}" if name == "python" else f"return {said};"
        return f"```{name}\n{body}\n```"

    def of_name(self, path: Path, hint: str) -> str:
        """Return a text for the field at `path`; `hint` describes its purpose."""
        source, name = self._source, path[-1]
        inside = path[-2] if name == "item" and len(path) > 1 else name
        told = [value for example in self._examples if (value := _value_at(example, path)) is not None]
        texts = [one for one in told if isinstance(one, str) and len(one) <= 20 and " " not in one]
        code = next((one for one in texts if re.search(r"\d", one)), None)
        if code is not None:  # an example's code, such as `4.5` or `INV-2044`
            shape = re.sub(r"\d+", r"\\d+", re.sub(r"[^\W\d_]+", r"[A-Za-z]+", re.escape(code)))
            if like_it := self.next(shape, source.matches(rf"(?<![\w.-]){shape}(?![\w-])")):
                return like_it
        if len(path) == 1 and suggests(name, "thought"):
            sentence = source.best_sentence(hint)
            said = next((name for name, text in source.inputs.items() if sentence[:20] in text), "text")
            thought = f"The {said.replace('_', ' ')} says: {sentence.rstrip('.')}. That settles it."
            return thought if sentence else "There is little to go by."
        for parts, shape, other in _SHAPES:
            if any(part in inside for part in parts):
                return self.next(parts[0], source.matches(shape)) or other
        if "currency" in inside:
            named = source.matches(r"\b(EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD)\b")
            return (*named, *(code for sign, code in _CURRENCIES.items() if sign in source.text), "EUR")[0]
        if suggests(inside, "code"):
            return self.next("code", source.codes) or "A-1024"
        if suggests(inside, "day"):
            return self.date()
        in_a_word = len(path) == 1 and bool(told) and max(len(str(one)) for one in told) <= 30
        is_name = suggests(inside, "person") or in_a_word or (name == "item" and suggests(inside, "people"))
        if is_name and source.names:
            best = source.best_sentence(f"{inside} {hint}") if in_a_word else ""
            fitting = [one for one in source.names if one in best and one not in source.question]
            return fitting[0] if fitting else self.next("name", source.names)
        if inside in ("title", "subject", "headline", "heading"):
            return shortened(source.best_sentence(inside), 60).rstrip(".")
        words = inside.replace("_", " ")
        avoid: tuple[str, ...] = ()
        for _ in range(self.turn(f"sentence {words} {hint}")):
            avoid = (*avoid, source.best_sentence(f"{words} {hint}", avoid))
        return source.best_sentence(f"{words} {hint}", avoid) or f"A short {words}."


def _value_at(example: Object, path: Path) -> Any:
    """Return an example's value at `path`, or None."""
    value: Any = example.get(path[0])
    for key in path[1:]:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and value:
            value = value[0] if not key.isdigit() or int(key) >= len(value) else value[int(key)]
        else:
            return None
    return value
