"""The outputs of a task: an example's where the inputs are the same, copied out where that is asked, else sampled."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from adapters.lm.offline import replies
from adapters.lm.offline.samples import Sampler
from adapters.lm.offline.source import Source, readable, structure_in
from adapters.lm.offline.task import Task, WantedOutput
from adapters.lm.offline.wanted_types import Schema, is_vague
from adapters.lm.offline.writing import Raw


def outputs_of(task: Task, seed: str = "") -> dict[str, Any]:
    """Every output by name; another `seed` gives other ones. Text from an example in its own format is `Raw`."""
    source = Source(material(task.inputs))
    # Of the inputs alone, so that the same inputs get the same values under every adapter.
    seed = json.dumps([*((name, readable(text)) for name, text in task.inputs.items()), seed])
    sampler = Sampler(source, seed, task.examples)
    if task.format == "free":
        return {"answer": source.best_sentence("answer") or "Hello."}
    text = next(iter(task.inputs.values()), "")
    labelled = replies.from_prose(text, [one.name for one in task.wanted]) if task.verbatim else {}
    return {one.name: _output(one, task, sampler, labelled.get(one.name)) for one in task.wanted}


def _output(wanted: WantedOutput, task: Task, sampler: Sampler, labelled: str | None) -> Any:
    if wanted.name in task.known:
        known = task.known[wanted.name]
        return Raw(known) if isinstance(known, str) and task.format != "json" else known
    if labelled is not None:
        copied = _copied_out(labelled, wanted.schema)
        if copied is not None:
            return copied
        sampler = Sampler(Source({wanted.name: labelled}), wanted.name)
    if task.format == "prose" and is_vague(wanted.schema) and not task.examples:
        # Of the type only its name is told: what the next model will need is laid out in words.
        return Source(task.inputs).details(f"{wanted.name} {wanted.description}")
    if asks_for_calls(wanted):
        return calls(task, sampler)
    value = sampler.value(wanted.name, wanted.schema, wanted.description)
    if wanted.schema.get("format") == "code" and task.format in ("json", "block"):
        return re.sub(r"\A```\w*\n(.*)\n```\Z", r"\1", value, flags=re.DOTALL)
    if task.format in ("json", "block") and wanted.is_numbered:
        return int(value)
    return value


def _copied_out(text: str, schema: Schema) -> Any:
    """What `text` says, as a value of `schema`; None when it does not say one."""
    if not schema or (schema.get("type") == "string" and "format" not in schema):
        return text
    if schema.get("enum"):
        return next(
            (one for one in schema["enum"] if re.search(rf"(?<!\w){re.escape(str(one))}(?!\w)", text, re.IGNORECASE)),
            None,
        )
    if schema.get("type") == "boolean":
        found = re.search(r"\b(true|false|yes|no)\b", text, re.IGNORECASE)
        return None if found is None else found.group(1).lower() in ("true", "yes")
    if schema.get("type") in ("integer", "number"):
        found = re.search(r"-?\d+(?:\.\d+)?", text)
        if found is None:
            return None
        return int(float(found.group(0))) if schema["type"] == "integer" else float(found.group(0))
    for choice in schema.get("anyOf", ()):
        if choice.get("type") == "null" and text.strip() in ("None", "null"):
            return Raw("None")
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null" and (value := _copied_out(text, choice)) is not None:
            return value
    return _structured(text, schema)


def _structured(text: str, schema: Schema) -> Any:
    """A list or object that stands in the text as JSON or as Python prints it, if it is one of the schema's."""
    if schema.get("type") not in ("array", "object") and "properties" not in schema and "$ref" not in schema:
        return None
    value = structure_in(text)
    return value if value is not None and _fits(value, schema, schema.get("$defs", {})) else None


def _fits(value: Any, schema: Schema, definitions: Mapping[str, Schema]) -> bool:
    """Whether a value has the shape of a schema as far as that is told: kinds, required keys, choices."""
    if "$ref" in schema:
        target = definitions.get(str(schema["$ref"]).rsplit("/", 1)[-1])
        return target is None or _fits(value, target, definitions)
    if schema.get("enum"):
        return value in schema["enum"]
    for key in ("anyOf", "oneOf"):
        if schema.get(key):
            return any(_fits(value, one, definitions) for one in schema[key])
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        if not isinstance(value, dict) or not set(schema.get("required", ())) <= set(value):
            return False
        properties: Mapping[str, Schema] = schema.get("properties", {})
        return all(_fits(value[name], one, definitions) for name, one in properties.items() if name in value)
    if kind == "array":
        items = schema.get("items")
        inner = items if isinstance(items, Mapping) else {}
        return isinstance(value, list) and all(_fits(one, inner, definitions) for one in value)
    told = _KINDS.get(str(kind))
    return told is None or (isinstance(value, told) and isinstance(value, bool) == (kind == "boolean"))


_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


RESULTS = "tool_call_results"

_TOOL = re.compile(
    r"([A-Za-z0-9_-]{1,64})(?:, whose description is <desc>.{0,2000}?</desc>)?\. It takes arguments (\{.{0,4000}?\})\.",
    re.DOTALL,
)


def asks_for_calls(wanted: WantedOutput) -> bool:
    """Whether the output is dspy's `ToolCalls`."""
    return "tool_calls" in (wanted.schema.get("properties") or {}) or wanted.name == "tool_calls"


def calls(task: Task, sampler: Sampler) -> dict[str, Any]:
    """The value of that output: nothing once there are results, or where no tool is described as dspy writes one."""
    described = None if RESULTS in task.inputs else _first_tool(task)
    if described is None:
        return {"tool_calls": []}
    name, schemas = described
    needed = {key: one for key, one in schemas.items() if isinstance(one, Mapping) and "default" not in one}
    args = {key: sampler.value(key, schema, str(schema.get("description", ""))) for key, schema in needed.items()}
    return {"tool_calls": [{"name": name, "args": args}]}


def material(inputs: Mapping[str, str]) -> Mapping[str, str]:
    """The inputs that an answer is made of: no descriptions of tools, and of results only what the tools said."""
    if RESULTS in inputs:
        return {**inputs, RESULTS: _said(inputs[RESULTS])}
    rest = {name: text for name, text in inputs.items() if _TOOL.search(text) is None}
    return rest or inputs


def _said(results: str) -> str:
    try:
        read, _ = json.JSONDecoder().raw_decode(results[results.index("{") :])
        values = [str(one["value"]) for one in (read["tool_call_results"] if isinstance(read, dict) else read)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return results
    return "\n\n".join(values)


def _first_tool(task: Task) -> tuple[str, Mapping[str, Any]] | None:
    for text in task.inputs.values():
        found = _TOOL.search(text)
        if found is None:
            continue
        try:
            schemas = ast.literal_eval(found.group(2))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(schemas, dict):
            return found.group(1), {str(key): one for key, one in schemas.items()}
    return None
