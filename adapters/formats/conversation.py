"""The turns of a History input as messages (after `dspy.adapters.base.Adapter.format_conversation_history`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapters.prompts.prompt import Message, message_of
from adapters.prompts.text import Text
from adapters.signatures.signature import Field, Signature
from adapters.types import ToolCallResults, ToolCalls, is_named
from adapters.values.value_text import serialize_for_json

if TYPE_CHECKING:
    from adapters.requests.adapter_protocol import RequestedAdapter

TOOL_RESULTS = Signature.make((Field("tool_call_results", "input", ToolCallResults),))


def history_messages(
    adapter: RequestedAdapter, signature: Signature, field: str, inputs: dict[str, Any]
) -> tuple[Message, ...]:
    """Render a user and an assistant message per turn, with tool calls between; removes `field` from `inputs`.

    `signature` lacks the history field. A turn with an input carries the reminder of the output format, so that a
    provider's prompt cache recognises the original request.
    """
    turns = inputs[field].messages if field in inputs else None
    if turns is None:
        return ()
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        messages.extend(_turn_messages(adapter, signature, turn, f"history {number}"))
    del inputs[field]
    return tuple(messages)


def _turn_messages(
    adapter: RequestedAdapter, signature: Signature, values: Mapping[str, object], turn: str
) -> list[Message]:
    calls_field, calls = _tool_calls(values)
    results = _tool_results(calls)
    messages: list[Message] = []
    has_input = any(name in values for name in signature.input_fields)
    asked = adapter.format_user_message_content(signature, values, main_request=has_input)
    if asked:
        messages.append(message_of("user", turn, asked))
    if adapter.use_native_function_calling and calls is not None:
        return messages + _native_messages(adapter, signature, values, turn, calls, results)
    answers = values
    if calls_field is not None and calls is not None and results is not None:
        answers = {**values, calls_field: calls.model_copy(update={"tool_call_results": None})}
    answer = adapter.format_assistant_message_content(signature, answers)
    if answer:
        messages.append(message_of("assistant", turn, answer))
    if results is not None:
        given = adapter.format_user_message_content(TOOL_RESULTS, {"tool_call_results": results})
        messages.append(message_of("user", turn, given))
    return messages


def _native_messages(
    adapter: RequestedAdapter, signature: Signature, values: Mapping[str, object], turn: str, calls: Any, results: Any
) -> list[Message]:
    shown = signature
    for name, field in signature.output_fields.items():
        if is_named(field.annotation, "ToolCalls") or values.get(name) is None:
            shown = shown.delete(name)
    content = adapter.format_assistant_message_content(shown, values) if shown.output_fields else ""
    if results is not None:
        call_ids = [call.id for call in calls.tool_calls]
        if call_ids != [result.call_id for result in results.tool_call_results] or not all(call_ids):
            results = None
    messages: list[Message] = []
    if content or results is not None:
        extra = {} if results is None else {"tool_calls": [_openai_tool_call(call) for call in calls.tool_calls]}
        messages.append(Message("assistant", turn, (Text.of(content),) if content else (), False, extra))
    if results is not None:
        for result in results.tool_call_results:
            text = Text.of(_result_text(result.value), "value")
            extra = {"tool_call_id": result.call_id, "name": result.name}
            messages.append(Message("tool", turn, (text,), False, extra))
    return messages


def _tool_calls(values: Mapping[str, object]) -> tuple[str | None, Any]:
    for name, value in values.items():
        if is_named(type(value), "ToolCalls"):
            return name, value
        if isinstance(value, dict) and "tool_calls" in value:
            return name, ToolCalls.model_validate(value)
    return None, None


def _tool_results(calls: Any) -> object:
    if calls is None or calls.tool_call_results is None:
        return None
    results = calls.tool_call_results
    return results if is_named(type(results), "ToolCallResults") else ToolCallResults.model_validate(results)


def _result_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(serialize_for_json(value), ensure_ascii=False)


def _openai_tool_call(call: Any) -> dict[str, object]:
    arguments = json.dumps(serialize_for_json(call.args), ensure_ascii=False)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}
