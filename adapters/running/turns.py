"""Execute a tool turn: calls, results, and the messages that return them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from adapters.errors import RunError
from adapters.formats.base import Adapter
from adapters.formats.conversation import tool_results_signature
from adapters.late_dataclasses import dataclass, replace
from adapters.lm import interruption
from adapters.lm.chunk_filters import text_without_secrets
from adapters.lm.protocol import Completion
from adapters.prompts.text import Message, Text
from adapters.requests.request import Request
from adapters.running import events
from adapters.running.model_calls import Lifecycle, StopError
from adapters.tools.arguments import ArgumentsError, decode, validate
from adapters.tools.tools import DeadlineExceededError, RunTool, ToolResult, Tools, ToolValidationError, text_of
from adapters.types.tools import ToolCallResults, ToolCalls


@dataclass(frozen=True)
class Call:
    """A call as the model made it; native `arguments` are JSON text, others an object."""

    id: str
    name: str
    arguments: Any


def calls_of(adapter: Adapter, request: Request, completion: Completion, turn: int) -> tuple[Call, ...]:
    """Return the calls in a reply, native first; `turn` (0-based) numbers calls without id."""
    if completion.tool_calls:
        calls = []
        for index, native in enumerate(completion.tool_calls):
            function = native.get("function") or {}
            name, arguments = str(function.get("name") or ""), function.get("arguments")
            calls.append(Call(str(native.get("id") or f"call_{turn}_{index}"), name, arguments))
        return tuple(calls)
    if request.calls_field is None or not completion.text:
        return ()
    reading = adapter.read(request.asked, completion.text)
    field = reading.fields.get(request.calls_field)
    value = reading.values.get(request.calls_field, None if field is None else field.value)
    if not isinstance(value, ToolCalls):
        return ()
    return tuple(
        Call(one.id or f"call_{turn}_{index}", one.name, one.args) for index, one in enumerate(value.tool_calls)
    )


def answered(
    adapter: Adapter, request: Request, completion: Completion, calls: Sequence[Call], tools: Tools, life: Lifecycle
) -> Request:
    """Execute `calls` in order and return the request that follows. Raises StopError."""
    turn = f"tools {len(life.tool_turns) + 1}"
    told = [_invoked(call, tools, life) for call in calls]
    results = [
        {"call_id": one.call_id, "name": one.name, "value": one.rendered_output, "is_error": not one.result.success}
        for one in told
    ]
    if completion.tool_calls:
        messages = _native_messages(completion, calls, told, turn)
    else:
        # The unchanged reply and the results, written as in dspy's History, with the reminder.
        remind = getattr(adapter, "user_message_output_requirements", None)
        reminder = (remind(request.asked) if remind is not None else None) or ""
        given = adapter.format_user_message_content(
            tool_results_signature(), {"tool_call_results": ToolCallResults.model_validate(results)}, suffix=reminder
        )
        messages = [
            Message("assistant", turn, (Text.of(completion.text, "value"),)),
            Message("user", turn, (Text.of(given),)),
        ]
    made = [
        {"id": one.call_id, "name": one.name, "args": one.arguments if isinstance(one.arguments, Mapping) else {}}
        for one in told
    ]
    life.tool_turns.append({"tool_calls": {"tool_calls": made, "tool_call_results": results}})
    return request.with_turns(messages)


def _invoked(call: Call, tools: Tools, life: Lifecycle) -> events.ToolInvoked:
    """Execute a call, emit its event, and keep or undo its changes."""
    life.check(f"Deadline expired before executing tool '{call.name}'.", "tool")
    began = life.seconds()
    before = None if tools.state is None else tools.state.snapshot()
    tool = tools.find(call.name)
    arguments, result = _result(call, tool, life)
    result = _without_secrets(result)
    length, most = len(_rendered(result)), tools.most_characters
    if tool is not None and length > most:  # models may charge by the character
        result = ToolResult.failed(
            f"Tool '{tool.name}' gave {length:,} characters, and the limit is {most:,}. Ask it for less."
        )
    invocation = events.ToolInvoked(
        **life.now(),
        name=call.name,
        call_id=call.id,
        arguments=arguments,
        result=result,
        rendered_output=_rendered(result),
        duration_ms=(life.seconds() - began) * 1000,
    )
    if tools.state is not None:
        try:
            failures = list(tools.state.commit(result))
        except Exception as error:  # a user's own state may raise anything: undo the tool's changes
            failures = [error]
        if failures:
            tools.state.restore(before)
            reasons = "; ".join(str(one) or type(one).__name__ for one in failures)
            message = text_without_secrets(f"Reducer errors prevented applying tool result: {reasons}")
            undone = replace(result, message=message)
            invocation = replace(invocation, result=undone, rendered_output=_rendered(undone), rolled_back=True)
    life.emit(invocation)
    return invocation


def _result(call: Call, tool: RunTool | None, life: Lifecycle) -> tuple[Any, ToolResult]:
    """Return the arguments, validated as far as possible, and the result of the call."""
    if tool is None:
        return call.arguments, ToolResult.failed(f"Unknown tool '{call.name}' requested by provider.")
    try:
        arguments = decode(call.arguments)
    except ArgumentsError as error:
        return call.arguments, ToolResult.failed(str(error))
    try:
        arguments = validate(tool.parameters, arguments)
    except ArgumentsError as error:
        return arguments, ToolResult.failed(f"Tool validation failed: {error}")
    answer = tool.answer
    if answer is None:
        return arguments, ToolResult.failed(f"Tool '{tool.name}' does not have a registered handler.")
    try:
        value = interruption.call(lambda: _awaited(answer(arguments)), life.interrupted, f"tool {tool.name}")
    except interruption.InterruptedCallError as interrupted:
        life.stop_for(interrupted.reason, f"Tool '{tool.name}' exceeded the deadline.", "tool")
    except DeadlineExceededError as error:
        message = text_without_secrets(str(error)) or f"Tool '{tool.name}' exceeded the deadline."
        raise StopError(RunError(message, "tool", life.number)) from error
    except ToolValidationError as error:
        return arguments, ToolResult.failed(f"Tool validation failed: {error}")
    except BaseException as error:  # includes SystemExit and the like from a user's handler
        return arguments, ToolResult.failed(
            f"Tool '{tool.name}' execution failed: {str(error) or type(error).__name__}"
        )
    return arguments, value if isinstance(value, ToolResult) else ToolResult(value=value)


def _awaited(value: object) -> Any:
    """Return a tool's result; awaits async functions in an event loop of this thread."""
    if not isinstance(value, Awaitable):
        return value
    import asyncio  # few tools need it

    return asyncio.run(asyncio.wait_for(value, None))


def _without_secrets(result: ToolResult) -> ToolResult:
    """Remove API keys from a result before it reaches a model or the screen.

    A value that contains a key becomes text without the key; other values are unchanged.
    """
    shown = _rendered(ToolResult(value=result.value))
    clean = text_without_secrets(shown)
    value = result.value if clean == shown else clean
    return replace(result, message=text_without_secrets(result.message), value=value)


def _rendered(result: ToolResult) -> str:
    try:
        return text_of(result)
    except Exception as error:  # a value's own `render`
        return f"{result.message}\n\n(the value cannot be written: {type(error).__name__})".strip()


def _native_messages(
    completion: Completion, calls: Sequence[Call], told: Sequence[events.ToolInvoked], turn: str
) -> list[Message]:
    asked = []
    for call in calls:
        given = call.arguments
        text = given if isinstance(given, str) else json.dumps({} if given is None else given, ensure_ascii=False)
        asked.append({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text or "{}"}})
    content = (Text.of(completion.text, "value"),) if completion.text else ()
    messages = [Message("assistant", turn, content, False, {"tool_calls": asked})]
    for one in told:
        messages.append(
            Message("tool", turn, (Text.of(one.rendered_output, "value"),), False, {"tool_call_id": one.call_id})
        )
    return messages
