"""Values of the types that are asked for, made from the inputs. The same task gives the same values, always."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.errors import ProviderError
from adapters.lm.offline.patterns import example_of
from adapters.lm.offline.source import Source, choose, shortened, structure_in, words_of
from adapters.lm.offline.wanted_types import Schema

LARGEST = 10_000
"""Parts of one reply's values: small types may ask for millions, by models in models or by lists of a least length."""

MAX_DEPTH = 6
"""How deep recursive types are filled in before what is optional in them is left out."""

Path = tuple[str, ...]

_SHARE = re.compile(r"confidence|score|probab|certain|similar|relevan|accuracy|ratio|fraction", re.IGNORECASE)
_AMOUNT = re.compile(
    r"price|total|amount|cost|sum|fee|tax|balance|salary|revenue|net|gross|weight|height|length", re.IGNORECASE
)
_COUNT = re.compile(
    r"(^|_)(n|no|num|number|count|quantity|qty|age|year|month|day|hours?|minutes?|seconds?|days|size|rank|rating|stars|"
    r"level|index|position|page|line|port|steps?|guests|people|persons|priority|percent|lat|lon|latitude|longitude)($|_)|"
    r"^(n_|num_|total_)|_count$|_at_least$",
    re.IGNORECASE,
)
_YES = re.compile(
    r"^(is|has|was|are|can|should|must|needs|requires|contains|allow)_|^(ok|valid|urgent|active|enabled|true)$|ed$"
)
_DAY = re.compile(r"(^|_)(date|day|due|deadline|since|until|birthday|born|on)($|_)|_(on|at)$", re.IGNORECASE)
_PERSON = re.compile(
    r"name|person|author|customer|client|vendor|supplier|seller|buyer|company|organi[sz]ation|city|country|place|"
    r"location|product|item|brand|title_of|entity|who|where|owner|assignee|sender|recipient|signature|attendee|speaker",
    re.IGNORECASE,
)
_NAMING = re.compile(
    r"names|people|persons|entities|compan|places|cities|countries|authors|speakers|attendees|topics|tags|keywords|labels|parties",
    re.IGNORECASE,
)
_CODE = re.compile(r"(^|_)(id|number|code|sku|ref|reference|key|identifier|version)($|_)|_id$|_no$", re.IGNORECASE)
_EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]+\.[\w.-]*\w"
_THOUGHT = re.compile(r"reasoning|rationale|thought|explanation|justification|why|analysis", re.IGNORECASE)


# Lists that usually hold more of what they stand in, whose shape nested XML does not show.
_OF_ITSELF = frozenset({"children", "replies", "subtasks", "nodes", "branches"})


class Sampler:
    """Makes values; each kind of find in the source is used up in order, so that two items differ."""

    def __init__(self, source: Source, seed: str, examples: Sequence[Mapping[str, Any]] = ()) -> None:
        self._source = source
        self._seed = seed
        self._examples = examples
        self._taken: Counter[str] = Counter()
        self._left = LARGEST

    def value(self, name: str, schema: Schema, description: str = "") -> Any:
        """A value of `schema` for the output `name`, as plain JSON. Raises ProviderError for one that is too large."""
        definitions = schema.get("$defs", {})
        return self._of(schema, (name,), definitions, description)

    def _of(self, schema: Schema, path: Path, definitions: Mapping[str, Schema], hint: str) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ProviderError(
                f"An offline model writes no reply of more than {LARGEST:,} values, and the type of `{path[0]}` asks "
                "for that.",
                "model",
            )
        if "$ref" in schema:
            name = str(schema["$ref"]).rsplit("/", 1)[-1]
            schema = {**definitions.get(name, {}), **{key: one for key, one in schema.items() if key != "$ref"}}
            if "$ref" in schema or len(path) > 4 * MAX_DEPTH:
                return None
        hint = f"{hint} {schema.get('description', '')}".strip()
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._one_of(list(schema["enum"]), path)
        for key in ("anyOf", "oneOf"):
            if schema.get(key):
                return self._of(self._branch(schema[key], path), path, definitions, hint)
        if schema.get("allOf"):
            merged = {key: one for part in schema["allOf"] for key, one in part.items()}
            return self._of(
                {**merged, **{key: one for key, one in schema.items() if key != "allOf"}}, path, definitions, hint
            )
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if "unknown" in schema:
            return self._unknown(schema, path, hint)
        if kind == "object" or "properties" in schema:
            return self._object(schema, path, definitions, hint)
        if kind == "array":
            return self._array(schema, path, definitions, hint)
        if kind == "boolean":
            return choose(f"{self._seed}{path}", 3) > 0
        if kind == "integer":
            return self._integer(schema, path)
        if kind == "number":
            return self._number(schema, path)
        if kind == "null":
            return None
        return self._string(schema, path, hint)

    def _branch(self, branches: Sequence[Schema], path: Path) -> Schema:
        real = [one for one in branches if one.get("type") != "null"] or list(branches)
        if len(path) > MAX_DEPTH and len(real) < len(branches):
            return {"type": "null"}
        known = [one for one in real if "unknown" not in one] or real
        # Text where a list or a number would do as well is easily taken for one of those.
        other = [one for one in known if one.get("type") != "string"] if len(real) == len(branches) else known
        return (other or known)[0]

    def _one_of(self, choices: Sequence[Any], path: Path) -> Any:
        """A choice the text speaks of, else any."""
        text = words_of(f"{self._source.text} {self._source.question}")
        told = [one for one in choices if isinstance(one, str) and words_of(one.replace("_", " ")) & text]
        return told[0] if told else choices[choose(f"{self._seed}{path}", len(choices))]

    def _unknown(self, schema: Schema, path: Path, hint: str) -> Any:
        """The type is not told: what the examples have in this place, else what its name suggests."""
        seen = [value for example in self._examples if (value := _dig(example, path)) is not None]
        if seen:
            return seen[self._turn(".".join(path)) % len(seen)]
        name = path[-1]
        if _YES.search(name):
            return True
        if _DAY.search(name):
            return self._date()
        if _SHARE.search(name) or _AMOUNT.search(name):
            return self._number({}, path)
        if _COUNT.search(name):
            return self._integer({}, path)
        return self._string({}, path, hint)

    def _object(self, schema: Schema, path: Path, definitions: Mapping[str, Schema], hint: str) -> Any:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if set(properties) >= {"name", "args"} and len(properties) <= 3:
            return self._tool_call()
        if properties:
            required = schema.get("required", ())
            deep = len(path) > MAX_DEPTH
            return {
                name: self._of(one, (*path, name), definitions, "")
                for name, one in properties.items()
                if name in required or not deep
            }
        values = schema.get("additionalProperties")
        inner = values if isinstance(values, Mapping) else {"type": "string"}
        keys = [one.lower().replace(" ", "_") for one in self._source.names[:2]] or ["first", "second"]
        if "keys" in schema:
            keys = list(dict.fromkeys(str(self._of(schema["keys"], (*path, "key"), definitions, "")) for _ in range(2)))
        return {key: self._of(inner, (*path, key), definitions, hint) for key in keys[: schema.get("maxProperties", 2)]}

    def _array(self, schema: Schema, path: Path, definitions: Mapping[str, Schema], hint: str) -> list[Any]:
        fixed = schema.get("prefixItems", ())
        found = [self._of(one, (*path, str(place)), definitions, hint) for place, one in enumerate(fixed)]
        inner = schema.get("items")
        if not isinstance(inner, Mapping):
            return found
        least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 2))
        recursive = least == 0 and (len(path) > MAX_DEPTH or ("unknown" in inner and path[-1] in _OF_ITSELF))
        count = 0 if recursive else max(least, min(2, most))
        while len(found) < count:
            found.append(self._of(inner, (*path, "item"), definitions, hint))
        if schema.get("uniqueItems"):
            found = [one for place, one in enumerate(found) if one not in found[:place]]
        return found

    def _tool_call(self) -> dict[str, Any]:
        """A call of the first tool that the inputs describe."""
        text = "\n".join(self._source.inputs.values())
        named = re.search(r"(\w+), whose description is", text) or re.search(r"[\"']name[\"']: ?[\"'](\w+)[\"']", text)
        arguments = re.search(r"It takes arguments (\{.*?\})(?:\.\s|\.?$)", text, re.MULTILINE)
        names = re.findall(r"[\"'](\w+)[\"']: \{", arguments.group(1)) if arguments else []
        said = shortened(self._source.question or self._source.text, 60)
        return {"name": named.group(1) if named else "search", "args": dict.fromkeys(names or ["query"], said)}

    def _integer(self, schema: Schema, path: Path) -> int:
        low, high = _bounds(schema, 1)
        name = path[-1].lower()
        years = "year" in name
        usual = {
            "age": 34,
            "year": 2024,
            "percent": 40,
            "hour": 9,
            "minute": 30,
            "rating": 4,
            "priority": 2,
            "month": 5,
        }
        whole = [int(one) for one in self._source.numbers if one == int(one) and (1900 < one < 2100) == years]
        fitting = [one for one in whole if low <= one <= high]
        if fitting:
            found = fitting[self._turn("integer") % len(fitting)]
        else:
            found = next((number for word, number in usual.items() if word in name), 3)
        return int(_fit(found, low, high, schema.get("multipleOf"), whole=True))

    def _number(self, schema: Schema, path: Path) -> float:
        low, high = _bounds(schema, 0)
        fitting = [one for one in self._source.numbers if low <= one <= high]
        if _SHARE.search(path[-1]) or (not fitting and not _AMOUNT.search(path[-1])):
            found = round(0.72 + choose(f"{self._seed}{path}", 25) / 100, 2)
        elif fitting:
            found = fitting[self._turn("number") % len(fitting)]
        else:
            found = 12.5
        return float(_fit(found, low, high, schema.get("multipleOf"), whole=False))

    def _string(self, schema: Schema, path: Path, hint: str) -> str:
        format_ = schema.get("format")
        if format_:
            return self._formatted(str(format_), hint)
        if schema.get("pattern"):
            return example_of(str(schema["pattern"])) or "A1"
        found = self._text(path, hint)
        longest = schema.get("maxLength")
        if longest is not None:
            found = shortened(found, int(longest))[: int(longest)]
        shortest = int(schema.get("minLength", 0))
        while len(found) < min(shortest, 10_000):
            found = f"{found} {found or 'text'}"
        return found[:longest] if longest is not None else found

    def _text(self, path: Path, hint: str) -> str:
        source = self._source
        name = path[-1]
        inside = path[-2] if name == "item" and len(path) > 1 else name
        shaped = self._shaped(path)
        if shaped:
            return shaped
        if len(path) == 1 and _THOUGHT.search(name):
            return self._thought(hint)
        if "email" in inside or "mail" == inside:
            return self._next("email", source.matches(_EMAIL)) or "ada@example.org"
        if "url" in inside or "link" in inside or "website" in inside:
            return self._next("url", source.matches(r"https?://[^\s<>\"')\]]+")) or "https://example.org"
        if "phone" in inside:
            return self._next("phone", source.matches(r"\+?\d[\d ()-]{6,}\d")) or "+1 555 0100"
        if "currency" in inside:
            return self._currency()
        if _CODE.search(inside):
            return self._next("code", source.codes) or "A-1024"
        if _DAY.search(inside):
            return self._date()
        short = self._short_answers(path)
        if (_PERSON.search(inside) or short or (name == "item" and _NAMING.search(inside))) and source.names:
            return self._name(inside, hint, short)
        if inside in ("title", "subject", "headline", "heading"):
            return shortened(source.best_sentence(inside), 60).rstrip(".")
        sentence = self._next_sentence(f"{inside.replace('_', ' ')} {hint}")
        return sentence or f"A short {inside.replace('_', ' ')}."

    def _shaped(self, path: Path) -> str:
        """What the text has of the shape of an example's code or number, such as `4.5` or `INV-2044`."""
        told = [value for example in self._examples if isinstance(value := _dig(example, path), str)]
        codes = [one for one in told if len(one) <= 20 and re.search(r"\d", one) and " " not in one]
        if not codes:
            return ""
        shape = re.sub(r"\d+", r"\\d+", re.sub(r"[^\W\d_]+", r"[A-Za-z]+", re.escape(codes[0])))
        return self._next(shape, self._source.matches(rf"(?<![\w.-]){shape}(?![\w-])"))

    def _name(self, inside: str, hint: str, short: bool) -> str:
        """A name from the sentence that answers best, when the examples answer in a word; else the next name."""
        if short:
            sentence = self._source.best_sentence(f"{inside} {hint}")
            asked = self._source.question
            fitting = [one for one in self._source.names if one in sentence and one not in asked]
            if fitting:
                return fitting[0]
        return self._next("name", self._source.names) or "Ada"

    def _short_answers(self, path: Path) -> bool:
        """Whether the examples answer this with a few words."""
        if len(path) > 1:
            return False
        told = [str(value) for example in self._examples if (value := _dig(example, path)) is not None]
        return bool(told) and max(len(one) for one in told) <= 30

    def _thought(self, hint: str) -> str:
        sentence = self._source.best_sentence(hint)
        said = next((name for name, text in self._source.inputs.items() if sentence and sentence[:20] in text), "text")
        return (
            f"The {said.replace('_', ' ')} says: {sentence.rstrip('.')}. That settles it."
            if sentence
            else "There is little to go by."
        )

    def _next_sentence(self, hint: str) -> str:
        turn = self._turn(f"sentence {hint}")
        avoid: tuple[str, ...] = ()
        for _ in range(turn):
            avoid = (*avoid, self._source.best_sentence(hint, avoid))
        return self._source.best_sentence(hint, avoid)

    def _currency(self) -> str:
        text = self._source.text
        signs = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
        named = re.search(r"\b(EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD)\b", text)
        return named.group(1) if named else next((code for sign, code in signs.items() if sign in text), "EUR")

    def _date(self) -> str:
        return self._next("date", self._source.dates) or "2024-05-17"

    def _formatted(self, format_: str, hint: str) -> str:
        fixed = {
            "time": "09:30:00",
            "duration": "PT1H30M",
            "uuid": "7d444840-9dc0-4e1f-8c5d-1f2a3b4c5d6e",
            "uri": "https://example.org",
            "ipv4": "192.0.2.1",
            "ipv6": "2001:db8::1",
            "email": "ada@example.org",
            "binary": "text",
        }
        if format_ == "date":
            return self._date()
        if format_ == "date-time":
            return f"{self._date()}T09:30:00"
        if format_ == "code":
            language = re.search(r"Programming language: (\w+)", hint) or re.search(r"(python)", "python")
            said = json.dumps(shortened(self._source.best_sentence(hint), 60))
            name = language.group(1) if language else "python"
            body = f"def answer():\n    return {said}" if name == "python" else f"return {said};"
            return f"```{name}\n{body}\n```"
        return fixed.get(format_, "text")

    def _next(self, kind: str, found: Sequence[str]) -> str:
        return found[self._turn(kind) % len(found)] if found else ""

    def _turn(self, kind: str) -> int:
        self._taken[kind] += 1
        return self._taken[kind] - 1


def _bounds(schema: Schema, step: int) -> tuple[float, float]:
    low = float(schema.get("minimum", -math.inf))
    high = float(schema.get("maximum", math.inf))
    small = step or 0.01
    if "exclusiveMinimum" in schema:
        low = max(low, float(schema["exclusiveMinimum"]) + small)
    if "exclusiveMaximum" in schema:
        high = min(high, float(schema["exclusiveMaximum"]) - small)
    return low, high


def _fit(number: float, low: float, high: float, multiple: float | None, whole: bool) -> float:
    """`number` moved between the bounds, and to a multiple where one is asked for."""
    found = min(max(number, low), high)
    if whole:
        found = math.ceil(found) if found < number or found == low else math.floor(found)
    if multiple:
        found = math.floor(found / multiple) * multiple
        if found < low:
            found += multiple
    return found


def _dig(example: Mapping[str, Any], path: Path) -> Any:
    """The value at `path` of an example, whose fields may be JSON or XML in text form; None when it has none."""
    value: Any = example.get(path[0])
    if isinstance(value, str) and len(path) > 1:
        value = _structure(value)
    for key in path[1:]:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and value:
            value = value[0] if not key.isdigit() or int(key) >= len(value) else value[int(key)]
        else:
            return None
    return value


def _structure(text: str) -> Any:
    value = structure_in(text)
    if value is not None:
        return value
    try:
        return _of_element(ElementTree.fromstring(text))
    except (ElementTree.ParseError, RecursionError):
        return None


def _of_element(element: ElementTree.Element) -> Any:
    children = list(element)
    if not children:
        return element.text or ""
    if all(child.tag == "item" for child in children):
        return [_of_element(child) for child in children]
    return {child.tag: _of_element(child) for child in children}
