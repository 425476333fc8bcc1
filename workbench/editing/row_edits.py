"""Edit the rows of a session: its demos, the turns of a case's history, its tools and its variants.

Like the other edits, these functions return a new `State`, or the same if nothing changes. A row's drafts move with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from adapters.errors import SignatureError
from adapters.late_dataclasses import replace
from adapters.signatures.signature import Field, Signature
from sessions.model import variants
from sessions.model.session import Demo, Tool, Variant
from workbench.editing import field_values
from workbench.editing.field_values import ABSENT, NotAValue
from workbench.state.document import Place, State

NOTHING: Mapping[str, Any] = MappingProxyType({})


def add(state: State, kind: str, at: int, values: Mapping[str, Any] = NOTHING) -> State:
    """Insert a new demo, turn, tool or variant (`kind`); `values` are those of a demo or turn."""
    return _reordered(state, kind, [*range(at), None, *range(at, _count(state, kind))], values)


def duplicate(state: State, kind: str, row: int) -> State:
    """Copy a row below itself; a copied tool gets a free name, a variant a free tag."""
    return _reordered(state, kind, [*range(row + 1), row, *range(row + 1, _count(state, kind))])


def delete(state: State, kind: str, row: int) -> State:
    return _reordered(state, kind, [one for one in range(_count(state, kind)) if one != row])


def move(state: State, kind: str, row: int, to: int) -> State:
    """Move a row to index `to` of the list after the move."""
    count = _count(state, kind)
    if row == to or not (0 <= row < count and 0 <= to < count):
        return state
    order = [one for one in range(count) if one != row]
    order.insert(to, row)
    return _reordered(state, kind, order)


def insert_demos(state: State, at: int, demos: Sequence[Demo]) -> State:
    if not demos:
        return state
    made = _reordered(state, "demo", [*range(at), *[None] * len(demos), *range(at, _count(state, "demo"))])
    there = made.session.demos
    return made.with_session(demos=(*there[:at], *demos, *there[at + len(demos) :]))


def drafted(state: State, place: Place, text: str | None) -> State:
    """Keep a text that is not a value yet as the draft of its place; None removes the draft."""
    if state.drafts.get(place) == text:
        return state
    others = {key: one for key, one in state.drafts.items() if key != place}
    return replace(state, drafts=MappingProxyType(others if text is None else {**others, place: text}))


def free_name(wanted: str, taken: Iterable[str], between: str = " ") -> str:
    """Return `wanted`, or if it is taken the same with the next free number: `case 1` → `case 2`."""
    found = re.fullmatch(rf"(.*?)(?:{between}(\d{{1,9}}))?", wanted, re.DOTALL)
    stem, number = (found[1], int(found[2] or 1)) if found is not None else (wanted, 1)
    known = frozenset(taken)
    while wanted in known:
        number += 1
        wanted = f"{stem}{between}{number}"
    return wanted


def hash_of_original(state: State, of: str) -> str:
    """Hash the text that a variant replaces; "" without one, or for a signature that cannot be read."""
    signature = _signature(state)
    original = None if signature is None else variants.original_of(signature, of)
    return "" if original is None else Variant.hash_of(original)


def _signature(state: State) -> Signature | None:
    try:
        return state.session.signature.read()
    except (SignatureError, ValueError, RecursionError):
        return None


def _count(state: State, kind: str) -> int:
    session = state.session
    rows = {"demo": session.demos, "history": state.case.history, "tool": session.tools, "variant": session.variants}
    return len(rows[kind])


def _reordered(state: State, kind: str, order: Sequence[int | None], values: Mapping[str, Any] = NOTHING) -> State:
    """Return the rows in the order of their old indexes; None is a new row."""
    drafts: dict[Place, str] = {}
    for place, text in state.drafts.items():
        if place.kind != kind or (kind == "history" and place.case != state.case.name):
            drafts[place] = text
        else:
            drafts |= {place._replace(row=row): text for row, old in enumerate(order) if old == place.row}
    session = state.session
    if kind == "demo":
        demos = [Demo(values) if old is None else session.demos[old] for old in order]
        session = replace(session, demos=tuple(demos))
    elif kind == "history":
        turns = state.case.history
        history = tuple(values if old is None else turns[old] for old in order)
        off = frozenset(row for row, old in enumerate(order) if old in state.case.turns_off)
        session = session.replace_case(replace(state.case, history=history, turns_off=off))
    elif kind == "tool":
        tools: list[Tool] = []
        for old in order:
            tool = Tool("tool", parameters="") if old is None else session.tools[old]
            if old is None or tool in tools:
                taken = [one.name for one in (*session.tools, *tools)]
                tool = replace(tool, name=free_name(tool.name, taken, "_"))
            tools.append(tool)
        session = replace(session, tools=tuple(tools))
    else:
        made: list[Variant] = []
        tags = variants.tags(session)
        for old in order:
            if old is None:
                signature, of = _signature(state), variants.INSTRUCTIONS
                text = "" if signature is None else signature.instructions
                made.append(Variant(free_name("v1", tags, ""), of, text, hash_of_original(state, of)))
            else:
                known = session.variants[old]
                made.append(replace(known, tag=free_name(known.tag, tags, "")) if known in made else known)
        session = replace(session, variants=tuple(made))
    return replace(state, session=session, drafts=MappingProxyType(drafts))


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
    given: Any = tool.parameters
    if not isinstance(given, str):
        given = json.dumps(dict(given), ensure_ascii=False, indent=2) if given else ""
    values = {"name": tool.name, "description": tool.description, "arguments": given}
    default, others = _split(tool.results)
    if default:
        values["default"] = default[0]["result"]
    if others:
        values["results"] = others
    return values


def set_text(state: State, place: Place, text: str) -> State:
    """Set a field of a tool from typed text; an invalid text stays as a draft."""
    tool = state.session.tools[place.row]
    if problem_of(state, place.row, place.field, text):
        return drafted(state, place, text)
    made = _replace_field(tool, place.field, text)
    tools = tuple([made if index == place.row else one for index, one in enumerate(state.session.tools)])
    return drafted(state if made == tool else state.with_session(tools=tools), place, None)


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

    tools = list(state.session.tools)
    row = next((index for index, one in enumerate(tools) if one.name == name), None)
    if row is None:
        return state
    kept = {"arguments": dict(arguments), "result": typed(result)}
    others = [one for one in tools[row].results if one.get("arguments") != kept["arguments"]]
    tools[row] = replace(tools[row], results=(kept, *others))
    return state.with_session(tools=tuple(tools))


def _split(results: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[dict[str, Any]]]:
    """Split off the default result: the first entry without arguments, if its only key is `result`."""
    first = next((index for index, one in enumerate(results) if one.get("arguments") is None), 0)
    default = [one for one in results[first : first + 1] if set(one) == {"result"}]
    return default, [dict(one) for index, one in enumerate(results) if not default or index != first]


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
    default, others = _split(tool.results)
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
        return f"column {error.column}: {error.with_hint}"
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
