"""Describe a live dspy signature as plain data: fields, texts, and types with their classes.

Classes are described rather than pickled or named, as they may be created at runtime or not importable elsewhere. If a
class is written in a file, the file is named too.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
import sys
import types
import typing
from typing import Any

from .plain_values import typed

_DETAILS = ("gt", "ge", "lt", "le", "multiple_of", "min_length", "max_length", "pattern")
_TEXTS_OF_FIELDS = ("title", "description", "alias")
_KNOWN_MODULES = ("datetime", "decimal", "uuid", "pathlib", "fractions", "ipaddress")
_MOST_FILES = 30
_UNION = getattr(types, "UnionType", None)


def signature(cls: Any, programs: Any = ()) -> dict[str, Any]:
    """Return `{"name", "instructions", "fields", "classes", "of", "predictor"}` and `"react"`, if any.

    `programs` are the modules around the predictor, innermost first: a ChainOfThought adds the reasoning field.
    """
    program = programs[0] if programs else None
    react: dict[str, Any] = {}
    for agent in programs[:2]:  # the predictor's owner is a ReAct itself, or the ChainOfThought that extracts
        if any(one.__name__ == "ReAct" for one in type(agent).__mro__) and hasattr(agent, "tools"):
            is_step = getattr(getattr(agent, "react", None), "signature", None) is cls
            tools = {str(name): str(one) for name, one in agent.tools.items()} if is_step else {}
            react = {"part": "react" if is_step else "extract", "tools": tools}
            react["of"] = _home(_written_as(agent.signature, False))
            break
    classes: dict[str, Any] = {}
    fields = [_signature_field(name, info, classes) for name, info in cls.fields.items()]
    is_cot = type(program).__name__ == "ChainOfThought" and bool(cls.output_fields)
    is_cot = is_cot and next(iter(cls.output_fields)) == "reasoning"
    written = _written_as(cls, is_cot)
    return {
        "name": cls.__name__,
        "instructions": cls.instructions,
        "fields": fields,
        "classes": classes,
        "of": _home(written),
        "as_written": written is not None and written.instructions == cls.instructions,
        "predictor": "ChainOfThought" if is_cot else "Predict",
        **({"react": react} if react else {}),
    }


def files(cls: Any, programs: Any) -> list[str]:
    """List the files that may contain the expression that made a signature.

    They are those of its module, of the calling modules, of the callers on the stack, and of the program itself.
    """
    names = [cls.__module__, *(one.__module__ for program in programs for one in type(program).__mro__), "__main__"]
    found = [getattr(sys.modules.get(one), "__file__", None) for one in names]
    frame = sys._getframe(1)
    while frame is not None:
        found.append(frame.f_code.co_filename)
        frame = frame.f_back  # type: ignore[assignment]
    own = __file__.rpartition("describing")[0]
    return [
        one
        for one in dict.fromkeys(found)
        if isinstance(one, str) and one.endswith(".py") and "-packages" not in one and not one.startswith(own)
    ][:_MOST_FILES]


def _signature_field(name: str, info: Any, classes: dict[str, Any]) -> dict[str, Any]:
    extra = info.json_schema_extra or {}
    described: dict[str, Any] = {
        "name": name,
        "role": extra.get("__dspy_field_type", "input"),
        "type": annotation(info.annotation, classes),
        "type_was_given": not extra.get("IS_TYPE_UNDEFINED", False),
        "constraints": extra.get("constraints"),
        "prefix": extra.get("prefix"),
        "desc": f"{extra['desc']}" if "desc" in extra else None,
    }
    described.update(_default(info))
    return described


def _default(info: Any) -> dict[str, Any]:
    """Return `{"default": …}` for plain data, `{"factory": name}` for list, dict and the like, else `{}`."""
    factory = getattr(info, "default_factory", None)
    if factory is not None:
        return {"factory": factory.__name__} if factory in (list, dict, set, str, int, float) else {}
    if info.is_required():
        return {}
    return {"default": typed(info.default)}


def annotation(given: Any, classes: dict[str, Any]) -> Any:
    """Return a type as data: a name, or an object.

    Objects are `{"class": KEY}`, `{"literal": […]}`, `{"union": […]}`, `{"generic": …, "arguments": […]}`,
    `{"annotated": …, "details": {…}}`, or `{"unknown": TEXT}` for other types.
    """
    if given is None or given is type(None):
        return "None"
    if given is Any or given is typing.Any:
        return "Any"
    if given is Ellipsis:
        return "..."
    origin, arguments = typing.get_origin(given), typing.get_args(given)
    if origin is not None:
        name = str(origin)
        if origin is typing.Literal or "Literal" in name:
            return {"literal": [typed(one) for one in arguments]}
        if origin is typing.Union or (_UNION is not None and origin is _UNION):
            return {"union": [annotation(one, classes) for one in arguments]}
        if hasattr(given, "__metadata__"):
            return {"annotated": annotation(given.__origin__, classes), "details": _details(given.__metadata__)}
        described = annotation(origin, classes)
        return {"generic": described, "arguments": [annotation(one, classes) for one in arguments]}
    if not isinstance(given, type):
        return {"unknown": str(given)}
    if given.__module__ == "builtins":
        return given.__name__
    return {"class": _class(given, classes)}


def _details(metadata: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in metadata:
        for name in _DETAILS:
            value = getattr(one, name, None)
            if isinstance(value, (int, float, str)):
                found[name] = value
        text = getattr(one, "description", None)
        if isinstance(text, str):
            found["description"] = text
    return found


def _class(cls: Any, classes: dict[str, Any]) -> str:
    """Describe a class in `classes`, once, and return its key."""
    key = f"{cls.__module__}:{cls.__qualname__}"
    if key in classes:
        return key
    described: dict[str, Any] = {"name": cls.__name__, "kind": "unknown"}
    classes[key] = described
    module = cls.__module__.partition(".")[0]
    if module == "dspy":
        described["kind"] = "dspy"
    elif issubclass(cls, enum.Enum):
        described["kind"] = "enum"
        described["base"] = next((one.__name__ for one in (str, int) if issubclass(cls, one)), None)
        described["members"] = [[name, typed(one.value)] for name, one in cls.__members__.items()]
    elif hasattr(cls, "model_fields"):
        described["kind"] = "model"
        described["fields"] = [_member(name, info, classes) for name, info in cls.model_fields.items()]
        described["settings"] = {
            name: value for name, value in dict(cls.model_config).items() if isinstance(value, (str, bool, int))
        }
    elif dataclasses.is_dataclass(cls):
        described["kind"] = "dataclass"
        hints = _hints(cls)
        described["fields"] = [
            {
                "name": one.name,
                "type": annotation(hints.get(one.name, one.type), classes),
                **({} if one.default is dataclasses.MISSING else {"default": typed(one.default)}),
            }
            for one in dataclasses.fields(cls)
        ]
    elif hasattr(cls, "__required_keys__"):
        described["kind"] = "typed dict"
        described["total"] = bool(cls.__total__)
        described["fields"] = [{"name": name, "type": annotation(one, classes)} for name, one in _hints(cls).items()]
    elif module in _KNOWN_MODULES:
        described.update(kind="known", module=cls.__module__)
    doc = cls.__dict__.get("__doc__")
    if isinstance(doc, str) and described["kind"] not in ("dspy", "known", "unknown"):
        is_own = not (described["kind"] == "dataclass" and doc.startswith(f"{cls.__name__}("))
        if is_own and doc != "An enumeration.":
            described["doc"] = inspect.cleandoc(doc)
    return key


def _member(name: str, info: Any, classes: dict[str, Any]) -> dict[str, Any]:
    """Describe a field of a model."""
    arguments = {key: getattr(info, key, None) for key in _TEXTS_OF_FIELDS}
    arguments.update(_details(info.metadata))
    extra = info.json_schema_extra
    if isinstance(extra, dict):
        arguments["json_schema_extra"] = _data(extra)
    if info.examples:
        arguments["examples"] = _data(list(info.examples))
    kept = {key: value for key, value in arguments.items() if value is not None}
    return {"name": name, "type": annotation(info.annotation, classes), "arguments": kept, **_default(info)}


def _data(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return None


def _hints(cls: Any) -> dict[str, Any]:
    try:
        return dict(typing.get_type_hints(cls))
    except Exception:  # a name that no longer exists
        return dict(getattr(cls, "__annotations__", {}))


def _written_as(cls: Any, is_cot: bool) -> Any:
    """Find the program's class that dspy derived `cls` from (with reasoning, with other instructions)."""
    if _home(cls) is not None:
        return cls
    faces = _faces(cls)
    if is_cot:
        faces = [one for one in faces if one[0] != "reasoning"]
    root = next((one for one in cls.__mro__ if one.__name__ == "Signature"), None)
    alike = [one for one in _below(root) if _home(one) is not None and _faces(one) == faces]
    same = [one for one in alike if one.instructions == cls.instructions]
    chosen = same or alike
    return chosen[0] if len(chosen) == 1 else None


def _below(cls: Any) -> list[Any]:
    found: list[Any] = []
    left = [] if cls is None else list(cls.__subclasses__())
    while left:
        one = left.pop()
        found.append(one)
        left.extend(one.__subclasses__())
    return found


def _faces(cls: Any) -> list[Any]:
    return [
        (name, (info.json_schema_extra or {}).get("__dspy_field_type"), info.annotation,
         (info.json_schema_extra or {}).get("desc"))
        for name, info in cls.fields.items()
    ]  # fmt: skip


def _home(cls: Any) -> Any:
    """Return `{"file", "class"}` of a top-level class of a module, or None for others."""
    if cls is None or cls.__module__.partition(".")[0] == "dspy" or "." in cls.__qualname__:
        return None
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    name = str(cls.__name__)
    if not isinstance(file, str) or getattr(module, name, None) is not cls:
        return None
    return {"file": file, "class": name}
