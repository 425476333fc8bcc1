"""A session's tools in a run: how a model is told of them, and who answers: a handler, a canned result, or a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapters.lm.echoed_secrets import json_without_secrets
from adapters.prompts.prompt import prompt_of_dicts
from adapters.requests.request import Request
from adapters.tools import LONGEST_RESULT, RunTool, Tools
from adapters.tools.argument_line import schema_of_line
from adapters.tools.tools import Invocation
from sessions.file import file_format
from sessions.file.json_values import JSON
from sessions.file.typed_values import typed
from sessions.model.session import Case, Session, Tool

if TYPE_CHECKING:
    from adapters.running.runs import Run

MOST_TURNS = 20

Ask = Callable[[Tool, Mapping[str, Any]], Any]
"""Asks a person for the result of a call while the run waits."""
Handler = Callable[..., Any]
"""The user's own function, called with the arguments by name."""


class NoResultError(LookupError):
    """No canned result is for these arguments."""


def described_tools(session: Session) -> tuple[RunTool, ...]:
    """The tools as a prompt needs them, which nobody answers. Raises `adapters.errors.SignatureError`.

    None for an agent: its instructions describe them, and its steps call them.
    """
    return tuple([RunTool(one.name, one.description, schema_of(one)) for one in session.offered_tools])


def schema_of(tool: Tool) -> Mapping[str, Any]:
    """The JSON Schema of the arguments, also of those written as a line. Raises `adapters.errors.SignatureError`."""
    parameters: Any = tool.parameters
    return schema_of_line(parameters) if isinstance(parameters, str) else parameters


def canned_result(tool: Tool, arguments: Mapping[str, object]) -> Any:
    """The result of the entry with these arguments, else of the one without any. Raises `NoResultError`.

    An entry with `error` in place of `result` makes the call fail with that text (`RuntimeError`).
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
    """The session of a run, with the results that a person typed while it went on kept as canned ones.

    What a call changes stays only if the session can be saved with it (`adapters.tools.ToolState`).
    """

    session: Session
    asked: list[tuple[str, Mapping[str, Any], Any]] = field(default_factory=list)

    def snapshot(self) -> tuple[Session, int]:
        return self.session, len(self.asked)

    def commit(self, invocation: Invocation) -> Sequence[Exception]:
        changed = self.session
        for name, arguments, value in self.asked:
            changed = _result_added(changed, name, {"arguments": dict(arguments), "result": typed(value)})
        try:
            file_format.to_data(changed)
        except Exception as error:  # whatever a value that is no JSON, or a secret, runs into
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
    """The session's tools for a run, and what becomes of the session meanwhile.

    A handler of the tool's name answers first, then a canned result, then the person behind `ask`; a result of more
    than `most_characters` is a failed one. Raises
    `adapters.errors.SignatureError` for an argument line that cannot be read.
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
            value = json_without_secrets(ask(current, arguments))  # it is kept in the session
            state.asked.append((tool.name, arguments, value))
            return value

        return answer

    tools = tuple(
        [
            replace(one, answer=answer_of(tool))
            for one, tool in zip(described_tools(session), session.offered_tools, strict=True)
        ]
    )
    return Tools(tools, MOST_TURNS, state, most_characters), state


def history_of(case: Case, run: Run) -> tuple[dict[str, JSON], ...]:
    """The run as turns of a `History`: the inputs with the first tool calls, each further turn, and the answer."""
    turns = [dict(turn) for turn in run.tool_turns]
    answer = {name: typed(value) for name, value in run.values.items()}
    if answer:
        turns.append(answer)
    if turns:
        turns[0] = {**case.inputs, **turns[0]}
    return tuple(turns)


def continued(request: Request, before: Sequence[Any], recorded: Mapping[str, Any]) -> Request:
    """Today's request with the tool turns of a recorded one, whose conversation began with the messages `before`."""
    turns = prompt_of_dicts(recorded["messages"][len(before) :], "tools").messages
    params = dict(request.params)
    choice = params.get("tool_choice")
    if isinstance(choice, Mapping) and choice.get("type") == "function":
        params["tool_choice"] = "auto"
    prompt = replace(request.prompt, messages=(*request.prompt.messages, *turns))
    return replace(request, prompt=prompt, params=params)


def _result_added(session: Session, name: str, result: Mapping[str, object]) -> Session:
    tools = [replace(one, results=(result, *one.results)) if one.name == name else one for one in session.tools]
    return replace(session, tools=tuple(tools))
