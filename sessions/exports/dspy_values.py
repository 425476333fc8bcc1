"""Values for dspy as Python source: plain data as it stands, custom types as the calls that make dspy's own."""

from __future__ import annotations

from typing import Any

import pydantic

from sessions.exports.exported import ExportError
from sessions.exports.python_source import literal, quoted

EXPERIMENTAL = ("Citations", "Document")
TOOL_STUB = """def {name}(**arguments):
    {doc}# A tool is described here and not run: put your function in its place.
    raise NotImplementedError("a tool without a function")"""
NOT_RUN = "not_run"
NOT_DESCRIBED = "not_described"
"""The stub of a tool whose description is the empty text: dspy takes the function's docstring in its place."""


class ValueSource:
    """Writes values; `needs` are the modules and `tools` the stubs of functions that what was written uses."""

    def __init__(self) -> None:
        self.needs: set[str] = set()
        self.tools: set[str] = set()

    def write(self, value: Any, indent: str = "") -> str:
        """An expression for `value`. Raises ExportError for an object of no type that dspy has."""
        if isinstance(value, pydantic.BaseModel):
            return self._custom(value, indent)
        inner = indent + "    "
        if isinstance(value, dict) and _has_objects(value):
            entries = [f"{quoted(str(key))}: {self.write(one, inner)}" for key, one in value.items()]
            return "{" + "".join(f"\n{inner}{one}," for one in entries) + f"\n{indent}}}"
        if isinstance(value, list | tuple) and _has_objects(value):
            return "[" + "".join(f"\n{inner}{self.write(one, inner)}," for one in value) + f"\n{indent}]"
        if isinstance(value, dict | list | tuple | str | int | float) or value is None:
            return literal(value, indent)
        raise ExportError(f"a value of the type {type(value).__name__} cannot be written as source")

    def _custom(self, value: pydantic.BaseModel, indent: str) -> str:
        cls = type(value)
        if not cls.__module__.startswith("adapters.types."):
            raise ExportError(f"dspy has no type {cls.__name__}, so that a value of it cannot be written for it")
        arguments = {
            name: getattr(value, name)
            for name, info in cls.model_fields.items()
            if name != "func" and getattr(value, name) != info.get_default(call_default_factory=True)
        }
        function = []
        if cls.__name__ == "Tool":
            function = [NOT_DESCRIBED if arguments.get("desc") == "" else NOT_RUN]
            self.tools.update(function)
            arguments = {name: arguments[name] for name in ("name", "desc", "args") if name in arguments}
        written = [f"{name}={self.write(one, indent + '    ')}" for name, one in arguments.items()]
        return _call(self._head(cls), function + written, indent)

    def _head(self, cls: type) -> str:
        outer = cls.__qualname__.partition(".")[0].partition("[")[0]
        if outer in EXPERIMENTAL:
            self.needs.add("dspy.experimental")
            return f"dspy.experimental.{cls.__qualname__}"
        language = getattr(cls, "language", None)
        if outer == "Code" or cls.__name__.startswith("Code"):
            return f"dspy.Code[{quoted(str(language))}]"
        return f"dspy.{cls.__qualname__}"


def stub(name: str) -> str:
    """A function that a tool of dspy's can be made of."""
    return TOOL_STUB.format(name=name, doc='""  ' if name == NOT_DESCRIBED else "")


def _call(head: str, arguments: list[str], indent: str) -> str:
    if any("\n" in one for one in arguments):
        return f"{head}(" + "".join(f"\n{indent}    {one}," for one in arguments) + f"\n{indent})"
    return f"{head}({', '.join(arguments)})"


def _has_objects(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_objects(one) for one in value.values())
    if isinstance(value, list | tuple):
        return any(_has_objects(one) for one in value)
    return not isinstance(value, str | int | float) and value is not None
