"""Write the good reply to a task, as its adapter does, with values made from the inputs.

The values are always the same for a task.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.offline.named_texts import Path, Texts, suggests
from adapters.lm.offline.source import Source, choose, readable, shortened, words_of
from adapters.lm.offline.task import Schema, Task, WantedOutput, labelled
from adapters.lm.protocol import Object, ProviderError

LARGEST = 10_000
"""Maximum parts of a reply's values: nested models or lists with a minimum length may ask for millions."""

MAX_DEPTH = 6
"""Depth at which recursive types lose their optional parts."""

_USUAL = {"age": 34, "year": 2024, "percent": 40, "hour": 9, "minute": 30, "rating": 4, "priority": 2, "month": 5}


class Sampler:
    """Creates values for JSON schemas; the inputs' text decides open choices, else `seed`."""

    def __init__(self, source: Source, seed: str, examples: Sequence[Object] = ()) -> None:
        self._source = source
        self._seed = seed
        self._texts = Texts(source, examples)
        self._left = LARGEST
        self._definitions: Mapping[str, Schema] = {}

    def value(self, name: str, schema: Schema, description: str = "") -> Any:
        """Return a plain JSON value of `schema` for the output `name`. Raises ProviderError if it is too large."""
        self._definitions = schema.get("$defs", {})
        return self._of(schema, (name,), description)

    def _of(self, schema: Schema, path: Path, hint: str) -> Any:
        self._left -= 1
        if self._left < 0:
            raise ProviderError(
                f"An offline model writes no reply of more than {LARGEST:,} values, and the type of `{path[0]}` asks "
                "for that.",
                "model",
            )
        if "$ref" in schema:
            name = str(schema["$ref"]).rsplit("/", 1)[-1]
            schema = {**self._definitions.get(name, {}), **{key: one for key, one in schema.items() if key != "$ref"}}
            if "$ref" in schema or len(path) > 4 * MAX_DEPTH:
                return None
        hint = f"{hint} {schema.get('description', '')}".strip()
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self._one_of(list(schema["enum"]), path)
        for key in ("anyOf", "oneOf"):
            if schema.get(key):
                return self._of(self._branch(schema[key], path), path, hint)
        if schema.get("allOf"):
            merged = {key: one for part in schema["allOf"] for key, one in part.items()}
            merged |= {key: one for key, one in schema.items() if key != "allOf"}
            return self._of(merged, path, hint)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        if kind == "object" or "properties" in schema:
            return self._object(schema, path, hint)
        if kind == "array":
            fixed = schema.get("prefixItems", ())
            found = [self._of(one, (*path, str(place)), hint) for place, one in enumerate(fixed)]
            inner = schema.get("items")
            if not isinstance(inner, Mapping):
                return found
            least, most = int(schema.get("minItems", 0)), int(schema.get("maxItems", 2))
            recursive = least == 0 and len(path) > MAX_DEPTH
            count = 0 if recursive else max(least, min(2, most))
            while len(found) < count:
                found.append(self._of(inner, (*path, "item"), hint))
            if schema.get("uniqueItems"):
                found = [one for place, one in enumerate(found) if one not in found[:place]]
            return found
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
        # Text is easily mistaken for a list or a number where those are allowed too.
        other = [one for one in real if one.get("type") != "string"] if len(real) == len(branches) else real
        return (other or real)[0]

    def _one_of(self, choices: Sequence[Any], path: Path) -> Any:
        """Return the first choice that the text mentions, else any."""
        text = words_of(f"{self._source.text} {self._source.question}")
        told = [one for one in choices if isinstance(one, str) and words_of(one.replace("_", " ")) & text]
        return told[0] if told else choices[choose(f"{self._seed}{path}", len(choices))]

    def _object(self, schema: Schema, path: Path, hint: str) -> Any:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if properties:
            required = schema.get("required", ())
            deep = len(path) > MAX_DEPTH
            return {
                name: self._of(one, (*path, name), "")
                for name, one in properties.items()
                if name in required or not deep
            }
        values = schema.get("additionalProperties")
        inner = values if isinstance(values, Mapping) else {"type": "string"}
        keys = [one.lower().replace(" ", "_") for one in self._source.names[:2]] or ["first", "second"]
        told = schema.get("propertyNames")
        if told:
            keys = list(dict.fromkeys(str(self._of(told, (*path, "key"), "")) for _ in range(2)))
        return {key: self._of(inner, (*path, key), hint) for key in keys[: schema.get("maxProperties", 2)]}

    def _integer(self, schema: Schema, path: Path) -> int:
        low, high = _bounds(schema, 1)
        name = path[-1].lower()
        years = "year" in name
        whole = [int(one) for one in self._source.numbers if one == int(one) and (1900 < one < 2100) == years]
        fitting = [one for one in whole if low <= one <= high]
        if fitting:
            found = fitting[self._texts.turn("integer") % len(fitting)]
        else:
            found = next((number for word, number in _USUAL.items() if word in name), 3)
        return int(_fit(found, low, high, schema.get("multipleOf"), whole=True))

    def _number(self, schema: Schema, path: Path) -> float:
        low, high = _bounds(schema, 0)
        fitting = [one for one in self._source.numbers if low <= one <= high]
        if suggests(path[-1], "share") or (not fitting and not suggests(path[-1], "amount")):
            found = round(0.72 + choose(f"{self._seed}{path}", 25) / 100, 2)
        elif fitting:
            found = fitting[self._texts.turn("number") % len(fitting)]
        else:
            found = 12.5
        return float(_fit(found, low, high, schema.get("multipleOf"), whole=False))

    def _string(self, schema: Schema, path: Path, hint: str) -> str:
        format_ = schema.get("format")
        if format_:
            return self._texts.of_format(str(format_), hint)
        if schema.get("pattern"):
            return example_of(str(schema["pattern"])) or "A1"
        found = self._texts.of_name(path, hint)
        longest = schema.get("maxLength")
        if longest is not None:
            found = shortened(found, int(longest))[: int(longest)]
        shortest = int(schema.get("minLength", 0))
        while len(found) < min(shortest, 10_000):
            found = f"{found} {found or 'text'}"
        return found[:longest] if longest is not None else found


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
    """Move `number` between the bounds, and to a multiple if required."""
    found = min(max(number, low), high)
    if whole:
        found = math.ceil(found) if found < number or found == low else math.floor(found)
    if multiple:
        found = math.floor(found / multiple) * multiple
        if found < low:
            found += multiple
    return found


MOST_LETTERS = 500
"""Maximum length of a regular expression to create a text for."""
MAX_REPEAT = 40
LONGEST = 10_000
"""Maximum length of a text for a regular expression: nested counts can ask for any length."""

_TOKEN = re.compile(
    r"\\(?P<escape>\D)|\[(?P<negated>\^?)(?P<members>\]?(?:\\.|[^\]\\])*)\]|(?P<open>\((?:\?:|\?P<\w+>|(?!\?)))|"
    r"(?P<close>\))|(?P<or>\|)|(?P<anchor>[\^$])|(?P<any>\.)|(?P<literal>[^\\\[(*+?{])|"
    r"(?:[*+?]|\{(?P<least>\d*)(?:,\d*)?\})(?P<count>[?+]?)",
    re.DOTALL,
)
_ESCAPES = {"d": "40", "w": "a0_Z", "s": " ", "D": "a -_Z", "W": "- ", "S": "a0-_Z", "n": "\n", "t": "\t"}
_ESCAPES |= dict.fromkeys("bBAZ", "")


def example_of(pattern: str) -> str | None:
    """Build a text that the regular expression accepts, without running it.

    Covers what schemas use: anchors, literals, classes, groups, alternatives (the first is taken) and counts. None for
    anything else, such as a lookaround or a backreference.
    """
    if len(pattern) > MOST_LETTERS:
        return None
    groups: list[list[list[str]]] = [[[]]]  # for each open group its alternatives, each a list of pieces
    at = 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            return None
        at, pieces = token.end(), groups[-1][-1]
        if token.lastgroup == "open":
            groups.append([[]])
        elif token.lastgroup == "or":
            groups[-1].append([])
        elif token.lastgroup == "close" and len(groups) > 1:
            first, *_ = groups.pop()
            groups[-1][-1].append("".join(first))
        elif token.lastgroup == "count" and pieces:
            pieces[-1] *= min(int(token["least"] or 1) or 1, MAX_REPEAT)
            if len(pieces[-1]) > LONGEST:
                return None
        elif token.lastgroup in ("close", "count"):
            return None
        else:
            pieces.append(_letter(token))
    return "".join(groups[0][0]) if len(groups) == 1 else None


def _letter(token: re.Match[str]) -> str:
    """Return the text for a literal, escape, class or anchor."""
    if token["escape"]:
        return _ESCAPES.get(token["escape"], token["escape"])[:1]
    if token["members"]:
        members = re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), token["members"], flags=re.DOTALL)
        return next((char for char in "a0 -_Z" if char not in members), "~") if token["negated"] else members[:1]
    return {"anchor": "", "any": "a"}.get(token.lastgroup or "", token[0])


def good_text(task: Task, seed: str = "") -> str:
    """Write a reply with the task's outputs; `seed` varies the values."""
    if task.example is not None:
        return task.example
    source = Source(_material(task.inputs))
    if task.adapter is None:
        return source.best_sentence("answer") or "Hello."
    # From the inputs alone, so that the same inputs give the same values under every adapter.
    seed = json.dumps([*((name, readable(text)) for name, text in task.inputs.items()), seed])
    sampler = Sampler(source, seed, task.examples)
    said = labelled(next(iter(task.inputs.values()), ""), [one.name for one in task.wanted]) if task.verbatim else {}
    return task.write({one.name: _output(one, task, sampler, said.get(one.name)) for one in task.wanted})


def _output(wanted: WantedOutput, task: Task, sampler: Sampler, said: str | None) -> Any:
    if wanted.name in task.known:
        return task.known[wanted.name]
    if said is not None:
        if task.takes(wanted.name, said):
            return said
        sampler = Sampler(Source({wanted.name: said}), wanted.name)
    if "tool_calls" in (wanted.schema.get("properties") or {}) or wanted.name == "tool_calls":
        for text in () if RESULTS in task.inputs else task.inputs.values():
            found = _TOOL.search(text)
            if found is None:
                continue
            try:
                schemas = ast.literal_eval(found.group(2))
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(schemas, dict):
                needed = {
                    str(key): one for key, one in schemas.items() if isinstance(one, Mapping) and "default" not in one
                }
                args = {key: sampler.value(key, one, str(one.get("description", ""))) for key, one in needed.items()}
                return {"tool_calls": [{"name": found.group(1), "args": args}]}
        return {"tool_calls": []}
    value = sampler.value(wanted.name, wanted.schema, wanted.description)
    if task.reply in ("json", "fenced json") and wanted.schema.get("format") == "code":
        return re.sub(r"\A```\w*\n(.*)\n```\Z", r"\1", value, flags=re.DOTALL)
    return value


RESULTS = "tool_call_results"

_TOOL = re.compile(
    r"([A-Za-z0-9_-]{1,64})(?:, whose description is <desc>.{0,2000}?</desc>)?\. It takes arguments (\{.{0,4000}?\})\.",
    re.DOTALL,
)


def _material(inputs: Mapping[str, str]) -> Mapping[str, str]:
    """Return the inputs to answer from, without tool descriptions and results' metadata."""
    if RESULTS in inputs:
        results = inputs[RESULTS]
        try:
            read, _ = json.JSONDecoder().raw_decode(results[results.index("{") :])
            values = [str(one["value"]) for one in (read["tool_call_results"] if isinstance(read, dict) else read)]
        except (ValueError, KeyError, TypeError, RecursionError):
            return inputs
        return {**inputs, RESULTS: "\n\n".join(values)}
    return {name: text for name, text in inputs.items() if _TOOL.search(text) is None} or inputs
