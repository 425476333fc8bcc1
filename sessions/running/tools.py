"""Describe a session's tools to a model and answer its calls: by handler, canned result or person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.late_dataclasses import dataclass, field, replace
from adapters.lm.chunk_filters import json_without_secrets
from adapters.tools.tools import LONGEST_RESULT, RunTool, ToolResult, Tools
from sessions.file import file_format
from sessions.file.json_values import JSON
from sessions.file.typed_values import typed
from sessions.model.session import Case, Session, Tool

if TYPE_CHECKING:
    from adapters.running.runs import Run

MOST_TURNS = 20

Ask = Callable[[Tool, Mapping[str, Any]], Any]
"""A function that asks a person for the result of a call while the run waits."""
Handler = Callable[..., Any]
"""A user's function, called with the arguments by name."""


class NoResultError(LookupError):
    """Raised if no canned result matches the arguments."""


def described_tools(session: Session) -> tuple[RunTool, ...]:
    """Return the tools as a prompt needs them, without answers. Raises `adapters.errors.SignatureError`.

    An agent has none: its instructions describe the tools, and its steps call them.
    """
    return tuple([RunTool(one.name, one.description, one.schema()) for one in session.offered_tools])


def canned_result(tool: Tool, arguments: Mapping[str, object]) -> Any:
    """Return the result of the entry with these arguments, else of an entry without arguments.

    Raises `NoResultError`; an entry with `error` instead of `result` raises `RuntimeError` with that text.
    """
    exact = next((one for one in tool.results if one.get("arguments") == arguments), None)
    chosen = exact or next((one for one in tool.results if one.get("arguments") is None), None)
    if chosen is None:
        raise NoResultError("there is no result for these arguments")
    if "error" in chosen:
        raise RuntimeError(str(chosen["error"]))
    return chosen.get("result")


@dataclass
class Typed:
    """The session of a run, with results typed by a person added as canned results.

    A call's results are kept only if the session can be saved with them (`adapters.tools.ToolState`).
    """

    session: Session
    asked: list[tuple[str, Mapping[str, Any], Any]] = field(default_factory=list)

    def snapshot(self) -> tuple[Session, int]:
        return self.session, len(self.asked)

    def commit(self, result: ToolResult) -> Sequence[Exception]:
        changed = self.session
        for name, arguments, value in self.asked:
            entry = {"arguments": dict(arguments), "result": typed(value)}
            tools = [replace(one, results=(entry, *one.results)) if one.name == name else one for one in changed.tools]
            changed = replace(changed, tools=tuple(tools))
        try:
            file_format.data_of_session(changed)
        except Exception as error:  # a value that is not JSON, or a secret
            return [error]
        self.session = changed
        self.asked.clear()
        return []

    def restore(self, snapshot: tuple[Session, int]) -> None:
        self.session, kept = snapshot
        del self.asked[kept:]


def run_tools(
    session: Session,
    *,
    ask: Ask | None = None,
    handlers: Mapping[str, Handler] | None = None,
    most_characters: int = LONGEST_RESULT,
) -> tuple[Tools, Typed]:
    """Return the session's tools for a run, and the session as the run changes it.

    The handler with the tool's name answers first, then a canned result, then the person behind `ask`. A result of more
    than `most_characters` fails. Raises `adapters.errors.SignatureError` for an invalid argument line.
    """
    state = Typed(session)
    known = handlers or {}

    def answer_of(tool: Tool) -> Callable[[Mapping[str, Any]], Any] | None:
        handler = known.get(tool.name)
        if handler is not None:
            return lambda arguments: handler(**arguments)
        if ask is None and not tool.results:
            return None

        def answer(arguments: Mapping[str, object]) -> Any:
            current = next((one for one in state.session.tools if one.name == tool.name), tool)
            try:
                return canned_result(current, arguments)
            except NoResultError:
                if ask is None:
                    raise
            value = json_without_secrets(ask(current, arguments))  # the session keeps it
            state.asked.append((tool.name, arguments, value))
            return value

        return answer

    tools = tuple(
        replace(one, answer=answer_of(tool))
        for one, tool in zip(described_tools(session), session.offered_tools, strict=True)
    )
    return Tools(tools, MOST_TURNS, state, most_characters), state


def history_of(case: Case, run: Run) -> tuple[dict[str, JSON], ...]:
    """Convert a run to turns of a `History`: inputs with the first tool calls, further turns, the answer."""
    turns = [dict(turn) for turn in run.tool_turns]
    answer = {name: typed(value) for name, value in run.values.items()}
    if answer:
        turns.append(answer)
    if turns:
        turns[0] = {**case.inputs, **turns[0]}
    return tuple(turns)
