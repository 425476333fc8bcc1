"""The tools of a run: how each is described to the model, and who answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from adapters.tools.results import ToolResult

if TYPE_CHECKING:
    from adapters.types.tools import Tool

LONGEST_RESULT = 100_000
"""Characters, about 25,000 tokens: what one call of a tool may send to a model that nobody was asked about."""

NOTHING: Mapping[str, Any] = MappingProxyType({})


def _no_parameters() -> Mapping[str, Any]:
    return NOTHING


class ToolValidationError(ValueError):
    """Raised by a tool that refuses its arguments; the model is told."""


class DeadlineExceededError(Exception):
    """Raised by a tool that was given too little time; ends the run."""


Answer = Callable[[Mapping[str, Any]], Any]
"""Takes the checked arguments; gives a value or a `ToolResult`, or an awaitable of one.

Whatever it raises is a failed result.
"""


@dataclass(frozen=True)
class RunTool:
    """A tool as a run uses it. `parameters` is the JSON Schema of its arguments; `answer` None: nobody answers."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=_no_parameters)
    answer: Answer | None = None


class Invocation(Protocol):
    """A call that was made (`adapters.running.events.ToolInvoked`)."""

    @property
    def name(self) -> str: ...

    @property
    def arguments(self) -> Mapping[str, Any]: ...

    @property
    def result(self) -> ToolResult: ...


class ToolState(Protocol):
    """State that tool turns change. A turn's changes stay only when `commit` accepts them."""

    def snapshot(self) -> Any: ...

    def commit(self, invocation: Invocation) -> Sequence[Exception]:
        """Takes over what the call has changed; returns why it cannot be."""
        ...

    def restore(self, snapshot: Any) -> None: ...


@dataclass(frozen=True)
class Tools:
    """The tools of a run, how many turns they may take, what they change, and how long a result may be.

    A result of more than `most_characters` is a failed one: the model is told so and can ask for less.
    """

    tools: tuple[RunTool, ...] = ()
    most_turns: int = 20
    state: ToolState | None = None
    most_characters: int = LONGEST_RESULT

    def find(self, name: str) -> RunTool | None:
        return next((one for one in self.tools if one.name == name), None)


def described(tool: RunTool) -> Tool:
    """The tool as a value for a signature's `Tool` input, as dspy writes it into a prompt.

    dspy takes an argument without a default for a required one, so what is optional gets the default null.
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
    """`tools` of an OpenAI chat request, each with its whole schema."""
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
