"""`Tool`: a function that a model may call; `ToolCalls`: requested calls, in dspy's shape or a provider's."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any, get_origin, get_type_hints

import pydantic
import pydantic_core

from adapters.json_text.json_loading import load_json
from adapters.types.base import SCHEMA_TEXTS, Type
from adapters.types.recognition import type_adapter


class ToolCalls(Type):
    # No docstring: dspy's has none, and a docstring would become part of the JSON schema.
    class ToolCall(Type):
        id: str | None = None
        name: str
        args: dict[str, Any] = pydantic.Field(json_schema_extra={"additionalProperties": True})

        @classmethod
        def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, object]:
            return _drop_property("id", super().__get_pydantic_json_schema__(core_schema, handler), handler)

        def format(self) -> dict[str, object]:
            return {"name": self.name, "args": self.args}

    tool_calls: list[ToolCall]
    tool_call_results: Any | None = None

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> dict[str, object]:
        schema = super().__get_pydantic_json_schema__(core_schema, handler)
        return _drop_property("tool_call_results", schema, handler)

    @classmethod
    def from_dict_list(cls, tool_calls_dicts: Sequence[Mapping[str, object]]) -> ToolCalls:
        """Make calls from {"name", "args"} or a provider's {"function": {"name", "arguments": text}}.

        Raises ValueError (such as pydantic's ValidationError) for a call without a name or with invalid arguments.
        """
        return cls(tool_calls=[cls.ToolCall(**_call_fields(item)) for item in tool_calls_dicts])

    @classmethod
    def description(cls) -> str:
        return (
            "Tool calls must be a JSON object with `tool_calls`, a list of calls. "
            "Each call must include `name` and `args`. "
            'Example: {"tool_calls": [{"name": "search", "args": {"query": "cats"}}]}'
        )

    def format(self) -> dict[str, object]:
        return {"tool_calls": [call.format() for call in self.tool_calls]}

    @pydantic.model_serializer()
    def serialize_model(self) -> object:
        data = self.format()
        results = self.tool_call_results
        if results is not None:
            data["tool_call_results"] = type_adapter(type(results)).dump_python(results, mode="json")
        return data

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: object) -> object:
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


def _drop_property(name: str, schema: object, handler: Any) -> dict[str, object]:
    resolved: dict[str, Any] = handler.resolve_ref_schema(schema)
    if isinstance(resolved.get("properties"), dict):
        resolved["properties"].pop(name, None)
    if isinstance(resolved.get("required"), list):
        resolved["required"] = [required for required in resolved["required"] if required != name]
    return resolved


def _is_call(data: Mapping[str, object]) -> bool:
    return ("name" in data and ("args" in data or "arguments" in data)) or "function" in data


def _call_fields(data: object) -> dict[str, Any]:
    """Return the fields of a `ToolCall` from any provider's shape (dspy's `_normalize_tool_call_dict`)."""
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
        values: Sequence[object],
        is_errors: Sequence[bool] | None = None,
    ) -> ToolCallResults:
        """Pair each call with its result, in order. Raises ValueError if the lengths differ."""
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
    def validate_input(cls, data: object) -> object:
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


def no_function(**arguments: object) -> object:
    """Placeholder for the function of a tool that is only described, such as a session's tools."""
    raise NotImplementedError("this tool is only described: it has a name and arguments, and no function to call")


class Tool(Type):
    __doc__ = SCHEMA_TEXTS["Tool"]

    func: Callable  # type: ignore[type-arg]  # dspy's own annotation, which BAMLAdapter prints
    name: str | None = None
    desc: str | None = None
    args: dict[str, Any] | None = None
    arg_types: dict[str, Any] | None = None
    arg_desc: dict[str, str] | None = None
    has_kwargs: bool = False

    def __init__(
        self,
        func: Callable[..., object] = no_function,
        name: str | None = None,
        desc: str | None = None,
        args: dict[str, object] | None = None,
        arg_types: dict[str, object] | None = None,
        arg_desc: dict[str, str] | None = None,
    ) -> None:
        told = {"func": func, "name": name, "desc": desc, "args": args, "arg_types": arg_types, "arg_desc": arg_desc}
        super().__init__(**told)
        if func is no_function:
            if name is None:
                raise TypeError("a tool needs a function or a name: Tool(func), or Tool(name=…, desc=…, args=…)")
            self.args, self.arg_types = args or {}, arg_types or {}
        else:
            self._infer(func, arg_desc)

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _validate_described(cls, data: object, handler: pydantic.ModelWrapValidatorHandler[Tool]) -> Tool:
        # For a reply without `func`, dspy raises TypeError; only users' own code may omit it.
        if isinstance(data, dict) and "func" not in data:
            raise TypeError("Tool.__init__() missing 1 required positional argument: 'func'")
        return handler(data)

    def _infer(self, func: Callable[..., object], arg_desc: dict[str, str] | None) -> None:
        """Infer missing attributes from the function's name, docstring and type hints (dspy's rules)."""
        annotated = func if inspect.isfunction(func) or inspect.ismethod(func) else func.__call__  # type: ignore[operator]
        signature = inspect.signature(annotated)
        available = get_type_hints(annotated)
        hints = {name: available.get(name, Any) for name in signature.parameters}
        args: dict[str, Any] = {}
        for name, hint in hints.items():
            if name == "return":
                continue
            origin = get_origin(hint) or hint
            if isinstance(origin, type) and issubclass(origin, pydantic.BaseModel):
                args[name] = _resolve_references(hint.model_json_schema())
            else:
                args[name] = _resolve_references(pydantic.TypeAdapter(hint).json_schema())
            default = signature.parameters[name].default
            if default is not inspect.Parameter.empty:
                # A number fits both float and Decimal arguments; pydantic would return text.
                args[name]["default"] = float(default) if isinstance(default, Decimal) else default
                with suppress(Exception):  # as dspy: a default that is not JSON stays unchanged
                    args[name]["default"] = pydantic_core.to_jsonable_python(args[name]["default"])
            if arg_desc and name in arg_desc:
                args[name]["description"] = arg_desc[name]
        self.name = self.name or getattr(func, "__name__", type(func).__name__)
        self.desc = self.desc or getattr(func, "__doc__", None) or getattr(annotated, "__doc__", "")
        self.args = self.args if self.args is not None else args
        self.arg_types = self.arg_types if self.arg_types is not None else hints
        self.has_kwargs = any(one.kind == one.VAR_KEYWORD for one in signature.parameters.values())

    def format(self) -> str:
        return str(self)

    def format_as_litellm_function_call(self) -> dict[str, object]:
        """Write the tool as an entry of `tools` in an OpenAI chat request; arguments without a default are required."""
        args = self.args or {}
        return {
            "type": "function",
            "function": {
                "name": self.name,
                "description": self.desc,
                "parameters": {
                    "type": "object",
                    "properties": self.args,
                    "required": [name for name, schema in args.items() if "default" not in schema],
                },
            },
        }

    def __repr__(self) -> str:
        return f"Tool(name={self.name}, desc={self.desc}, args={self.args})"

    def __str__(self) -> str:
        desc = f", whose description is <desc>{self.desc}</desc>.".replace("\n", "  ") if self.desc else "."
        return f"{self.name}{desc} It takes arguments {self.args}."


def _resolve_references(schema: dict[str, Any]) -> dict[str, object]:
    """Resolve the `$ref`s of a JSON schema. Raises RecursionError for a recursive model."""
    if "$defs" not in schema:
        return schema

    def resolved(node: object) -> Any:
        if isinstance(node, list):
            return [resolved(child) for child in node]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            return resolved(schema["$defs"][node["$ref"].split("/")[-1]])
        return {key: resolved(child) for key, child in node.items()}

    plain: dict[str, object] = resolved(schema)
    plain.pop("$defs", None)
    return plain
