"""`Tool`: a function a model may call, as its name, description and arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from decimal import Decimal
from typing import Any, get_origin, get_type_hints

import pydantic
import pydantic_core

from adapters.types.base import Type
from adapters.types.schema_texts import SCHEMA_TEXTS


def no_function(**arguments: object) -> object:
    """Stands in the place of the function of a tool that is only described, as a session's tools are."""
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
        # A reply that pydantic validates is no person's constructor call: without `func` dspy leaks a TypeError.
        if isinstance(data, dict) and "func" not in data:
            raise TypeError("Tool.__init__() missing 1 required positional argument: 'func'")
        return handler(data)

    def _infer(self, func: Callable[..., object], arg_desc: dict[str, str] | None) -> None:
        """Infer missing arguments from the function's name, docstring and type hints (dspy's rules)."""
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
                args[name]["default"] = _jsonable(default)
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
        """The tool as an entry of `tools` in an OpenAI chat request; arguments without a default are required."""
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


def _jsonable(value: object) -> object:
    # A number fits float and Decimal arguments alike; pydantic would give text.
    if isinstance(value, Decimal):
        return float(value)
    try:
        return pydantic_core.to_jsonable_python(value)
    except Exception:  # as dspy: a default that is no JSON stays what it is
        return value


def _resolve_references(schema: dict[str, Any]) -> dict[str, object]:
    """A JSON schema with its `$ref`s replaced by what they name. Raises RecursionError for a recursive model."""
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
