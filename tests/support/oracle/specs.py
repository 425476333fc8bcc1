"""Live `dspy.Signature` classes, models and enums from the specs in the corpus.

Types stand as text in the specs. They are evaluated, in a closed namespace: the specs are this project's own files.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import types
import typing
import uuid
from collections.abc import Mapping
from functools import cache
from typing import Any

import dspy
import pydantic
import typing_extensions
from dspy.adapters.types.citation import Citations
from dspy.adapters.types.document import Document
from dspy.adapters.types.reasoning import Reasoning
from dspy.adapters.types.tool import ToolCallResults, ToolCalls

from adapters.signatures.signature import Signature

Namespace = dict[str, Any]

COMMON: Mapping[str, Any] = {
    **{one.__name__: one for one in (str, int, float, bool, list, dict, tuple, set, frozenset, bytes, complex, object)},
    **{
        name: getattr(typing, name)
        for name in ("Any", "Literal", "Optional", "Union", "Annotated", "List", "Dict", "Tuple", "Set")
    },
    "datetime": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "Decimal": decimal.Decimal,
    "UUID": uuid.UUID,
    "Field": pydantic.Field,
    "HttpUrl": pydantic.HttpUrl,
    "PositiveInt": pydantic.PositiveInt,
    "NoneType": type(None),
}

DSPY_TYPES: Mapping[str, Any] = {
    "Type": dspy.Type,
    "Image": dspy.Image,
    "Audio": dspy.Audio,
    "File": dspy.File,
    "Code": dspy.Code,
    "History": dspy.History,
    "Tool": dspy.Tool,
    "ToolCalls": ToolCalls,
    "ToolCallResults": ToolCallResults,
    "Reasoning": Reasoning,
    "Citations": Citations,
    "Citation": Citations.Citation,
    "ToolCall": ToolCalls.ToolCall,
    "Document": Document,
}


@dataclasses.dataclass(frozen=True)
class Built:
    """One spec, live: the class dspy works with, the signature ours works with, and the names its values may use."""

    theirs: Any
    ours: Signature
    namespace: Namespace


def dspy_namespace() -> Namespace:
    return {**COMMON, **DSPY_TYPES, "dspy": types.SimpleNamespace(**DSPY_TYPES)}


def own_namespace() -> Namespace:
    """The same names, standing for this project's own types."""
    import adapters.types as own

    mine = {name: getattr(own, name) for name in DSPY_TYPES if hasattr(own, name)}
    mine |= {"ToolCall": own.ToolCalls.ToolCall, "Citation": own.Citations.Citation}
    return {**COMMON, **mine, "dspy": types.SimpleNamespace(**mine)}


def evaluate(text: str, namespace: Namespace) -> Any:
    return eval(text, {"__builtins__": {}}, namespace)  # noqa: S307


def build(spec: Mapping[str, Any]) -> Built:
    """The signature of a spec, its custom types being dspy's own. One object per spec."""
    return _build(json.dumps(spec), False)


def build_with_own_types(spec: Mapping[str, Any]) -> Built:
    """The same with the custom types of this project."""
    return _build(json.dumps(spec), True)


@cache
def _build(text: str, own_types: bool) -> Built:
    spec = json.loads(text)
    namespace = own_namespace() if own_types else dspy_namespace()
    add_models(spec.get("models", ()), namespace)
    theirs = _signature(spec, namespace)
    return Built(theirs, Signature.from_dspy(theirs), namespace)


def _signature(spec: Mapping[str, Any], namespace: Namespace) -> Any:
    if spec.get("string"):
        signature = dspy.Signature(spec["string"])
        if spec.get("prepend_reasoning"):
            signature = signature.prepend("reasoning", dspy.OutputField(desc="${reasoning}"), str)
        return signature
    fields = {}
    for one in spec["fields"]:
        make = dspy.InputField if one["role"] == "input" else dspy.OutputField
        arguments = dict(one.get("constraints") or {})
        if one["desc"] is not None:
            arguments["desc"] = one["desc"]
        if "default" in one:
            from oracle.tagged import decode

            arguments["default"] = decode(one["default"], namespace)
        if one.get("default_factory") == "list":
            arguments["default_factory"] = list
        fields[one["name"]] = (evaluate(one["type"], namespace), make(**arguments))
    if spec["instructions"] is None:
        return dspy.Signature(fields)
    return dspy.Signature(fields, spec["instructions"])


def add_models(models: typing.Iterable[Mapping[str, Any]], namespace: Namespace) -> None:
    """Build the models of a spec, in order, into the namespace."""
    for model in models:
        namespace[model["name"]] = _MAKERS[model["kind"]](model, namespace)
    for made in list(namespace.values()):
        if isinstance(made, type) and issubclass(made, pydantic.BaseModel) and not made.__pydantic_complete__:
            made.model_rebuild(_types_namespace=namespace)


def _type_of(text: str, namespace: Namespace) -> Any:
    try:
        return evaluate(text, namespace)
    except NameError:  # a model that mentions itself or a later one
        return text


def _model(spec: Mapping[str, Any], namespace: Namespace) -> Any:
    fields: dict[str, Any] = {}
    for one in spec["fields"]:
        arguments = dict(one.get("constraints") or {})
        if one.get("desc") is not None:
            arguments["description"] = one["desc"]
        if one.get("alias") is not None:
            arguments["alias"] = one["alias"]
        if "default" in one:
            arguments["default"] = one["default"]
        fields[one["name"]] = (_type_of(one["type"], namespace), pydantic.Field(**arguments))
    config: Any = spec.get("config")
    return pydantic.create_model(
        spec["name"], __config__=config, __doc__=spec.get("doc"), __module__=__name__, **fields
    )


def _enum(spec: Mapping[str, Any], namespace: Namespace) -> Any:
    members = [(name, enum.auto() if value == {"$auto": True} else value) for name, value in spec["members"].items()]
    functional: Any = enum.IntEnum if spec["base"] == "IntEnum" else enum.Enum
    mixin = {"type": str} if spec["base"] == "str, Enum" else {}
    made = functional(spec["name"], members, **mixin)
    if spec.get("doc"):
        made.__doc__ = spec["doc"]
    return made


def _typed_dict(spec: Mapping[str, Any], namespace: Namespace) -> Any:
    fields = {one["name"]: evaluate(one["type"], namespace) for one in spec["fields"]}
    return typing_extensions.TypedDict(spec["name"], fields)  # type: ignore[operator]


def _dataclass(spec: Mapping[str, Any], namespace: Namespace) -> Any:
    return dataclasses.make_dataclass(
        spec["name"],
        [
            (one["name"], evaluate(one["type"], namespace))
            if "default" not in one
            else (one["name"], evaluate(one["type"], namespace), dataclasses.field(default=one["default"]))
            for one in spec["fields"]
        ],
    )


def _custom_type(spec: Mapping[str, Any], namespace: Namespace) -> Any:
    template, description = spec.get("format_text"), spec.get("description_text") or ""
    blocks = spec.get("format_blocks")

    def format(self: Any) -> Any:
        return blocks if template is None else template.format(**dict(self))

    def describe(cls: Any) -> str:
        return str(description)

    body: dict[str, Any] = {
        "__annotations__": {one["name"]: evaluate(one["type"], namespace) for one in spec["fields"]},
        "__module__": __name__,
        "format": format,
        "description": classmethod(describe),
    }
    body |= {one["name"]: one["default"] for one in spec["fields"] if "default" in one}
    return type(spec["name"], (namespace["Type"],), body)


_MAKERS = {"model": _model, "enum": _enum, "typeddict": _typed_dict, "dataclass": _dataclass, "type": _custom_type}
