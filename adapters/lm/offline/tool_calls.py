"""What the offline models do with tools offered in the prompt: call the first one once, then answer."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from adapters.lm.offline.samples import Sampler
from adapters.lm.offline.task import Task, WantedOutput

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
