"""The tools of a run: their descriptions for the model, and their handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from adapters.tools.results import ToolResult

if TYPE_CHECKING:
    from adapters.types.tools import Tool

LONGEST_RESULT = 100_000
"""Maximum characters (about 25,000 tokens) that a tool call may send to a model without asking anyone."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


def _no_parameters() -> Mapping[str, Any]:
    return NOTHING


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
    parameters: Mapping[str, Any] = field(default_factory=_no_parameters)
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
