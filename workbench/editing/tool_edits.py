"""Edit a session's tools with pure functions.

They return a new `State`, or the same if nothing changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from adapters.errors import SignatureError
from adapters.signatures.signature import Field
from sessions.model.session import Tool
from workbench.editing import field_values
from workbench.editing.field_values import ABSENT, NotAValue
from workbench.editing.row_edits import drafted
from workbench.state.document import Place, State

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Function names that providers accept."""

FIELDS: tuple[Field, ...] = (
    Field("name", "input", str, "what the model calls it by"),
    Field("description", "input", str, "what it does, for the model"),
    Field("arguments", "input", str, "a line such as  query: str, limit: int = 5  — or a JSON Schema"),
    Field("default", "input", Any, "the result of every call that has none below; without it you are asked"),
    Field(
        "results",
        "input",
        list[dict[str, Any]],
        'for certain arguments: {"arguments": {…}, "result": …}, or "error" in place of "result"',
    ),
)
"""Fields of a tool's form."""


def values_of(tool: Tool) -> Mapping[str, Any]:
    """Return the tool's values for `FIELDS`, with `default` and `results` only if it has them."""
    place = _default_at(tool.results)
    others = [dict(one) for index, one in enumerate(tool.results) if index != place]
    default = {} if place is None else {"default": tool.results[place]["result"]}
    values = {"name": tool.name, "description": tool.description, "arguments": _arguments_text(tool)}
    return values | default | ({"results": others} if others else {})


def set_text(state: State, place: Place, text: str) -> State:
    """Set a field of a tool from typed text; an invalid text stays as a draft."""
    tool = state.session.tools[place.row]
    if problem_of(state, place.row, place.field, text):
        return drafted(state, place, text)
    made = _replace_field(tool, place.field, text)
    changed = state if made == tool else _replace_tool(state, place.row, made)
    kept = values_of(made).get(place.field, ABSENT)
    is_text = place.field in ("name", "description", "arguments")
    shown = field_values.shown(kept, "text" if is_text else "json")
    return drafted(changed, place, None if shown == text else text)


def clear(state: State, place: Place) -> State:
    """Clear a field of a tool, except its name."""
    return state if place.field == "name" else set_text(state, place, "")


def problem_of(state: State, row: int, field: str, text: str) -> str:
    """Return why a text is invalid for a field of the tool at `row`, or ""."""
    if field == "name":
        if not NAME.fullmatch(text):
            return "expected letters, digits, _ and -, at most 64 of them, for example search_orders"
        others = [one.name for index, one in enumerate(state.session.tools) if index != row]
        return f"a tool named {text} already exists" if text in others else ""
    if field == "arguments":
        return _problem_of_arguments(text)
    value = field_values.read_json(text) if field in ("default", "results") else text
    if isinstance(value, NotAValue):
        return value.message
    return _problem_of_results(value) if field == "results" and value is not ABSENT else ""


def keep_result(state: State, name: str, arguments: Mapping[str, Any], result: Any) -> State:
    """Store `result` as the tool's result for calls with these arguments."""
    from sessions.file.typed_values import typed

    row = next((index for index, one in enumerate(state.session.tools) if one.name == name), None)
    if row is None:
        return state
    tool = state.session.tools[row]
    kept = {"arguments": dict(arguments), "result": typed(result)}
    others = [one for one in tool.results if one.get("arguments") != kept["arguments"]]
    return _replace_tool(state, row, replace(tool, results=(kept, *others)))


def _arguments_text(tool: Tool) -> str:
    given: Any = tool.parameters
    if isinstance(given, str):
        return given
    return json.dumps(dict(given), ensure_ascii=False, indent=2) if given else ""


def _default_at(results: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the default result: the first entry without arguments, if its only key is `result`."""
    found = next((index for index, one in enumerate(results) if one.get("arguments") is None), None)
    return found if found is not None and set(results[found]) == {"result"} else None


def _replace_field(tool: Tool, field: str, text: str) -> Tool:
    """Return the tool with a field set from a valid text."""
    if field == "name":
        return replace(tool, name=text)
    if field == "description":
        return replace(tool, description=text)
    if field == "arguments":
        parameters = json.loads(text) if text.lstrip().startswith("{") else text
        return replace(tool, parameters=parameters)
    value = field_values.read_json(text)
    place = _default_at(tool.results)
    default = [] if place is None else [tool.results[place]]
    others = [one for index, one in enumerate(tool.results) if index != place]
    if field == "default":
        default = [] if value is ABSENT else [{"result": value}]
    else:
        others = [] if value is ABSENT else value
    return replace(tool, results=(*others, *default))


def _problem_of_arguments(text: str) -> str:
    if text.lstrip().startswith("{"):
        value = field_values.read_json(text)
        if isinstance(value, NotAValue):
            return f"line {value.line}, column {value.column}: {value.message}"
        kind = value.get("type", "object")
        return "" if kind == "object" else 'a JSON Schema of arguments has "type": "object"'
    from adapters.tools.arguments import schema_of_line

    try:
        schema_of_line(text)
    except SignatureError as error:
        return f"column {error.column}: {error.message}" + (f" ({error.hint})" if error.hint else "")
    return ""


def _problem_of_results(value: Any) -> str:
    hint = 'write [{"arguments": {"query": "x"}, "result": "found"}]'
    if not isinstance(value, list):
        return f"expected a list; {hint}"
    for number, one in enumerate(value, 1):
        if not isinstance(one, dict) or not ({"result", "error"} & set(one)):
            return f'entry {number} has neither "result" nor "error"; {hint}'
        if not isinstance(one.get("arguments", {}), dict | None):
            return f'"arguments" of entry {number} must be an object; {hint}'
    return ""


def _replace_tool(state: State, row: int, tool: Tool) -> State:
    tools = (*state.session.tools[:row], tool, *state.session.tools[row + 1 :])
    return replace(state, session=replace(state.session, tools=tools))
