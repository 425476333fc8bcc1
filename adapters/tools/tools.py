"""Tools of a run, and the fields that describe them to a model, as in `dspy.ReActV2`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, get_args, get_origin

from adapters.late_dataclasses import dataclass, field, is_dataclass
from adapters.late_dataclasses import fields as fields_of
from adapters.signatures.signature import InputField, OutputField, Signature
from adapters.types.recognition import is_named
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


class ToolState(Protocol):
    """State that tools change; a call's changes last only if `commit` accepts them."""

    def snapshot(self) -> Any: ...

    def commit(self, result: ToolResult) -> Sequence[Exception]:
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
    if isinstance(value, Sequence) and not _is_object(value):
        if not value:
            return "[]"
        if not all(map(_is_object, value)):
            return "\n\n".join(map(_value_text, value))
    elif not _is_object(value):
        return str(value)
    return json.dumps(_plain(value), ensure_ascii=False)


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type))


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        pairs = ((one.name, getattr(value, one.name)) for one in fields_of(value))
        return {name: _plain(item) for name, item in pairs if item is not None}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return serialize_for_json(value)


CALLS_DESCRIPTION = "the tools to call now; an empty list once the other outputs are final"


@lru_cache(maxsize=1024)
def tool_input_field(signature: Signature) -> str | None:
    """Return the first input annotated Tool or list[Tool]."""
    for name, one in signature.input_fields.items():
        inner = get_args(one.annotation)[:1] if get_origin(one.annotation) is list else (one.annotation,)
        if any(is_named(kind, "Tool") for kind in inner):
            return name
    return None


@lru_cache(maxsize=1024)
def tool_output_field(signature: Signature) -> str | None:
    """Return the first output annotated ToolCalls."""
    return next((name for name, one in signature.output_fields.items() if is_named(one.annotation, "ToolCalls")), None)


@lru_cache(maxsize=256)
def add_tool_fields(signature: Signature) -> tuple[Signature, tuple[str, ...]]:
    """Add the two fields to the signature if missing; also return the added names."""
    from adapters.types.tools import Tool, ToolCalls

    added: list[str] = []
    asked = signature
    if tool_input_field(asked) is None:
        added.append(_free_name("tools", asked))
        asked = asked.append(added[-1], InputField(), list[Tool])
    if tool_output_field(asked) is None:
        added.append(_free_name("tool_calls", asked))
        asked = asked.append(added[-1], OutputField(desc=CALLS_DESCRIPTION), ToolCalls)
    return asked, tuple(added)


@lru_cache(maxsize=256)
def add_calls_output(signature: Signature, name: str, annotation: object = None) -> Signature:
    """Append an output `name` for the calls, unless the signature has it."""
    from adapters.types.tools import ToolCalls

    if name in signature.output_fields:
        return signature
    return signature.append(name, OutputField(desc=CALLS_DESCRIPTION), annotation or ToolCalls)


def set_tool_input(signature: Signature, inputs: Mapping[str, Any], tools: Sequence[RunTool]) -> dict[str, Any]:
    """Put `tools` into the signature's tool input, unless it has a value."""
    name = tool_input_field(signature)
    values = dict(inputs)
    if name is not None and not values.get(name):
        made = [described(one) for one in tools]
        is_list = get_origin(signature.input_fields[name].annotation) is list
        values[name] = made if is_list else made[0]
    return values


@lru_cache(maxsize=256)
def without(signature: Signature, names: tuple[str, ...]) -> Signature:
    """Remove those of `names` that the signature has."""
    for name in names:
        if name in signature.fields:
            signature = signature.without(name)
    return signature


def _free_name(name: str, signature: Signature) -> str:
    while name in signature.fields:
        name = f"session_{name}"
    return name
