"""Write the good reply to a task, as its adapter does."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from adapters.lm.offline.samples import Sampler
from adapters.lm.offline.source import Source, readable
from adapters.lm.offline.task import Task, WantedOutput, labelled


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
        return _calls(task, sampler)
    if task.reply == "prose" and "unknown" in wanted.schema and not task.examples:
        # Only the type's name is known: lay out in words what the next model will need.
        return Source(task.inputs).details(f"{wanted.name} {wanted.description}")
    value = sampler.value(wanted.name, wanted.schema, wanted.description)
    if task.reply in ("json", "fenced json") and wanted.schema.get("format") == "code":
        return re.sub(r"\A```\w*\n(.*)\n```\Z", r"\1", value, flags=re.DOTALL)
    return value


RESULTS = "tool_call_results"

_TOOL = re.compile(
    r"([A-Za-z0-9_-]{1,64})(?:, whose description is <desc>.{0,2000}?</desc>)?\. It takes arguments (\{.{0,4000}?\})\.",
    re.DOTALL,
)


def _calls(task: Task, sampler: Sampler) -> dict[str, Any]:
    """Call the first tool described in dspy's wording; no tool once there are results."""
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
