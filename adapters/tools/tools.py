"""The tools of a run: their descriptions for the model, their handlers, and the text of their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from adapters.late_dataclasses import dataclass, field, is_dataclass
from adapters.late_dataclasses import fields as fields_of
from adapters.values.value_text import serialize_for_json

if TYPE_CHECKING:
    from adapters.types.tools import Tool

LONGEST_RESULT = 100_000
"""Maximum characters (about 25,000 tokens) that a tool call may send to a model without asking anyone."""


class ToolValidationError(ValueError):
    """Raised by a tool that rejects its arguments; the model receives the message."""


class DeadlineExceededError(Exception):
    """Raised by a tool that has too little time; ends the run."""


Answer = Callable[[Mapping[str, Any]], Any]
"""A function of the validated arguments; returns a value, a `ToolResult`, or an awaitable of either.

An exception becomes a failed result.
"""


@dataclass(frozen=True)
class RunTool:
    """A tool of a run; `parameters` is the arguments' JSON Schema, `answer` its handler."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    answer: Answer | None = None


class Invocation(Protocol):
    """An executed call (`adapters.running.events.ToolInvoked`)."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> Mapping[str, Any]: ...

    @property
    def result(self) -> ToolResult: ...


class ToolState(Protocol):
    """State that tools change; a call's changes last only if `commit` accepts them."""

    def snapshot(self) -> Any: ...

    def commit(self, invocation: Invocation) -> Sequence[Exception]:
        """Accept the call's changes, or return the reasons against it."""
        ...

    def restore(self, snapshot: Any) -> None: ...


@dataclass(frozen=True)
class Tools:
    """The tools of a run, limits on turns and results, and changed state.

    A result longer than `most_characters` fails: the model receives the reason and can ask for less.
    """

    tools: tuple[RunTool, ...] = ()
    most_turns: int = 20
    state: ToolState | None = None
    most_characters: int = LONGEST_RESULT

    def find(self, name: str) -> RunTool | None:
        return next((one for one in self.tools if one.name == name), None)


def described(tool: RunTool) -> Tool:
    """Convert a tool to a value for a `Tool` input, as dspy writes it.

    dspy treats arguments without a default as required, so optional arguments get the default null.
    """
    from adapters.types.tools import Tool

    properties = tool.parameters.get("properties")
    needed = tool.parameters.get("required")
    args = dict(properties) if isinstance(properties, Mapping) else {}
    for name, schema in args.items():
        if isinstance(needed, list) and name not in needed and isinstance(schema, Mapping) and "default" not in schema:
            args[name] = {**schema, "default": None}
    return Tool(name=tool.name, desc=tool.description, args=args)


def request_tools(tools: Iterable[RunTool]) -> list[dict[str, Any]]:
    """Return `tools` of an OpenAI chat request, each with its whole schema."""
    return [
        {
            "type": "function",
            "function": {
                "name": one.name,
                "description": one.description,
                "parameters": {"type": "object", "properties": {}, **one.parameters},
            },
        }
        for one in tools
    ]


@dataclass(frozen=True)
class ToolResult:
    """A tool's result: `message` for the model, and `value`; a failed result has no value."""

    message: str = ""
    value: Any = None
    success: bool = True
    exclude_value_from_context: bool = False

    @classmethod
    def failed(cls, message: str) -> ToolResult:
        return cls(message, success=False)


def text_of(result: ToolResult) -> str:
    """Return the message, an empty line and the value, without missing or excluded parts.

    A value with a `render` method renders itself. Objects become JSON (dataclasses without None), other lists their
    items separated by empty lines, bytes UTF-8, and anything else its `str`.
    """
    if result.exclude_value_from_context or result.value is None:
        return result.message
    value = _value_text(result.value)
    return f"{result.message}\n\n{value}" if result.message else value


def _value_text(value: object) -> str:
    render = getattr(value, "render", None)
    if callable(render) and not isinstance(value, type):
        return str(render())
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if _is_object(value):
        return _json(value)
    if isinstance(value, Sequence):
        if not value:
            return "[]"
        return _json(value) if all(_is_object(item) for item in value) else "\n\n".join(map(_value_text, value))
    return str(value)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type))


def _json(value: object) -> str:
    return json.dumps(_plain(value), ensure_ascii=False)


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((one.name, getattr(value, one.name)) for one in fields_of(value))
        return {name: _plain(item) for name, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return serialize_for_json(value)
