"""`ToolCallResults`: what the called tools gave back, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pydantic

from adapters.types.tool_calls import ToolCalls


class ToolCallResults(pydantic.BaseModel):
    # No docstring: dspy's has none, and a docstring would become part of the JSON schema.
    class ToolCallResult(pydantic.BaseModel):
        call_id: str | None = None
        name: str
        value: Any
        is_error: bool = False

    tool_call_results: list[ToolCallResult]

    @classmethod
    def from_tool_calls_and_values(
        cls,
        tool_calls: Sequence[ToolCalls.ToolCall] | ToolCalls,
        values: Sequence[Any],
        is_errors: Sequence[bool] | None = None,
    ) -> ToolCallResults:
        """One result a call, in order. Raises ValueError when the lengths differ."""
        calls = tool_calls.tool_calls if isinstance(tool_calls, ToolCalls) else tool_calls
        if len(calls) != len(values):
            raise ValueError("`tool_calls` and `values` must have the same length.")
        errors = [False] * len(calls) if is_errors is None else is_errors
        if len(errors) != len(calls):
            raise ValueError("`is_errors` must have the same length as `tool_calls` when provided.")
        return cls(
            tool_call_results=[
                cls.ToolCallResult(call_id=call.id, name=call.name, value=value, is_error=is_error)
                for call, value, is_error in zip(calls, values, errors, strict=True)
            ]
        )

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if isinstance(data, list):
            return {"tool_call_results": data}
        if isinstance(data, dict):
            if "tool_call_results" in data:
                return data
            if "name" in data and "value" in data:
                return {"tool_call_results": [data]}
        raise ValueError(f"Received invalid value for `dspy.ToolCallResults`: {data}")
