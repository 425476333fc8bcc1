"""`ToolCalls`: the calls a model asks for, in dspy's shape or a provider's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pydantic

from adapters.json_text.repaired_json import load_json
from adapters.types.base import Type
from adapters.types.pydantic_schema import type_adapter


class ToolCalls(Type):
    # No docstring: dspy's has none, and a docstring would become part of the JSON schema.
    class ToolCall(Type):
        id: str | None = None
        name: str
        args: dict[str, Any] = pydantic.Field(json_schema_extra={"additionalProperties": True})

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
            return _without_property("id", super().__get_pydantic_json_schema__(core_schema, handler), handler)

        def format(self) -> dict[str, Any]:
            return {"name": self.name, "args": self.args}

    tool_calls: list[ToolCall]
    tool_call_results: Any | None = None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, Any]:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        return _without_property("tool_call_results", schema, handler)

    @classmethod
    def from_dict_list(cls, tool_calls_dicts: Sequence[Mapping[str, Any]]) -> ToolCalls:
        """From plain calls: {"name", "args"}, or a provider's {"function": {"name", "arguments": text}}.

        Raises ValueError (pydantic's ValidationError is one) for a call without a name or with broken arguments.
        """
        return cls(tool_calls=[cls.ToolCall(**_call_fields(item)) for item in tool_calls_dicts])

    @classmethod
    def description(cls) -> str:
        return (
            "Tool calls must be a JSON object with `tool_calls`, a list of calls. "
            "Each call must include `name` and `args`. "
            'Example: {"tool_calls": [{"name": "search", "args": {"query": "cats"}}]}'
        )

    def format(self) -> dict[str, Any]:
        return {"tool_calls": [call.format() for call in self.tool_calls]}

    @pydantic.model_serializer()
    def serialize_model(self) -> Any:
        data = self.format()
        results = self.tool_call_results
        if results is not None:
            data["tool_call_results"] = type_adapter(type(results)).dump_python(results, mode="json")
        return data

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if isinstance(data, list) and all(isinstance(item, dict) and _is_call(item) for item in data):
            return {"tool_calls": [cls.ToolCall(**_call_fields(item)) for item in data]}
        if isinstance(data, dict):
            if isinstance(data.get("tool_calls"), list):
                calls = [cls.ToolCall(**_call_fields(i)) if isinstance(i, dict) else i for i in data["tool_calls"]]
                kept = {"tool_call_results": data["tool_call_results"]} if "tool_call_results" in data else {}
                return {"tool_calls": calls, **kept}
            if "tool_calls" not in data and _is_call(data):
                return {"tool_calls": [cls.ToolCall(**_call_fields(data))]}
        raise ValueError(f"Received invalid value for `dspy.ToolCalls`: {data}")


def _without_property(name: str, schema: Any, handler: Any) -> dict[str, Any]:
    resolved: dict[str, Any] = handler.resolve_ref_schema(schema)
    if isinstance(resolved.get("properties"), dict):
        resolved["properties"].pop(name, None)
    if isinstance(resolved.get("required"), list):
        resolved["required"] = [required for required in resolved["required"] if required != name]
    return resolved


def _is_call(data: Mapping[str, Any]) -> bool:
    return ("name" in data and ("args" in data or "arguments" in data)) or "function" in data


def _call_fields(data: Any) -> dict[str, Any]:
    """The fields of a `ToolCall` from any of the shapes providers use (dspy's `_normalize_tool_call_dict`)."""
    if not isinstance(data, Mapping):
        raise ValueError(f"Received invalid tool call value for `dspy.ToolCalls`: {data}")
    if "function" in data:
        function = data.get("function") or {}
        if not isinstance(function, dict):
            raise ValueError(f"Received invalid function value for `dspy.ToolCalls`: {function}")
        arguments = function.get("arguments", {})
        name = function.get("name") or data.get("name")
    else:
        arguments = data.get("args", data.get("arguments", {}))
        name = data.get("name")
    if isinstance(arguments, str):
        arguments = load_json(arguments)
    elif not isinstance(arguments, dict):
        arguments = {}
    return {"id": data.get("id") or data.get("call_id"), "name": name, "args": arguments}
