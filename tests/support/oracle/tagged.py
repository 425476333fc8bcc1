"""Values that JSON cannot hold, written with `$` tags in the corpus."""

from __future__ import annotations

import base64
import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import dspy

Namespace = Mapping[str, Any]


class Opaque:
    """An object that nothing can serialise, with a given `str()`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def decode(value: Any, namespace: Namespace) -> Any:
    """The value that a tagged JSON value stands for; model classes and custom types come from the namespace."""
    if isinstance(value, list):
        return [decode(item, namespace) for item in value]
    if not isinstance(value, dict):
        return value
    for tag, make in _MAKERS.items():
        if tag in value:
            return make(value, namespace)
    return {key: decode(item, namespace) for key, item in value.items()}


def _model(value: Any, names: Namespace) -> Any:
    fields = decode(value["value"], names)
    return names[value["$model"]].model_validate({**fields, **value.get("extra", {})}, by_alias=True, by_name=True)


def _tool(value: Any, names: Namespace) -> Any:
    spec = value["$tool"]

    def called(**arguments: Any) -> None:
        return None

    return names["Tool"](called, name=spec["name"], desc=spec.get("desc"), args=spec["args"])


def _tool_calls(value: Any, names: Namespace) -> Any:
    made = names["ToolCalls"].from_dict_list(value["$toolcalls"])
    if value.get("results") is not None:
        made = made.model_copy(update={"tool_call_results": decode(value["results"], names)})
    return made


def _tool_results(value: Any, names: Namespace) -> Any:
    return names["ToolCallResults"].model_validate({"tool_call_results": decode(value["$toolresults"], names)})


def _constructed(name: str) -> Callable[[Any, Namespace], Any]:
    return lambda value, names: names[name](**decode(value["$" + name.lower()], names))


_MAKERS: Mapping[str, Callable[[Any, Namespace], Any]] = {
    "$model": _model,
    "$enum": lambda value, names: names[value["$enum"][0]][value["$enum"][1]],
    "$dataclass": lambda value, names: names[value["$dataclass"]](**decode(value["value"], names)),
    "$dt": lambda value, names: datetime.datetime.fromisoformat(value["$dt"]),
    "$date": lambda value, names: datetime.date.fromisoformat(value["$date"]),
    "$time": lambda value, names: datetime.time.fromisoformat(value["$time"]),
    "$timedelta": lambda value, names: datetime.timedelta(seconds=value["$timedelta"]),
    "$decimal": lambda value, names: decimal.Decimal(value["$decimal"]),
    "$uuid": lambda value, names: uuid.UUID(value["$uuid"]),
    "$bytes": lambda value, names: base64.b64decode(value["$bytes"]),
    "$tuple": lambda value, names: tuple(decode(value["$tuple"], names)),
    "$set": lambda value, names: set(decode(value["$set"], names)),
    "$dict": lambda value, names: {decode(key, names): decode(item, names) for key, item in value["$dict"]},
    "$int": lambda value, names: int(value["$int"]),
    "$float": lambda value, names: float(value["$float"]),
    "$repeat": lambda value, names: "".join(text * count for text, count in value["$repeat"]),
    "$opaque": lambda value, names: Opaque(value["$opaque"]),
    "$toolcalls": _tool_calls,
    "$toolresults": _tool_results,
    "$tool": _tool,
    "$history": lambda value, names: names["History"](messages=decode(value["$history"], names)),
    "$reasoning": lambda value, names: names["Reasoning"](content=value["$reasoning"]),
    "$citations": lambda value, names: names["Citations"](citations=value["$citations"]),
    "$example": lambda value, names: dspy.Example(**decode(value["$example"], names)),
    **{f"${name.lower()}": _constructed(name) for name in ("Image", "Audio", "File", "Code", "Document")},
}
