"""Calls of `dspy.InputField` and `dspy.OutputField`, as dspy makes pydantic fields of them."""

from __future__ import annotations

import ast
import difflib
import inspect
import warnings
from collections.abc import Callable
from typing import Any

import pydantic
from pydantic.fields import FieldInfo

from adapters.signatures.read.known_names import FieldMaker
from adapters.signatures.read.source_text import SourceText
from adapters.signatures.signature import CONSTRAINT_WORDS, constraint_text

_WITHOUT_EFFECT = ("format", "parser", "json_schema_extra")
_OF_DSPY = ("desc", "prefix")
_SHOWN = {"desc": 'desc="..."', "description": 'description="..."', "prefix": 'prefix="Name:"'}
_OF_PYDANTIC = frozenset(inspect.signature(pydantic.Field).parameters) - {"extra"}


def make_field(
    maker: FieldMaker,
    node: ast.Call,
    source: SourceText,
    read: Callable[[ast.expr], Any],
    factory: Callable[[ast.expr], Any],
) -> FieldInfo:
    """The pydantic field of one call; `read` and `factory` give the values of its arguments. Raises SignatureError."""
    if node.args:
        raise source.error(node.args[0], "InputField and OutputField take only named arguments", 'desc="..."')
    arguments: dict[str, Any] = {}
    for one in node.keywords:
        if one.arg is None:
            raise source.error(one.value, "**arguments are not read", "write the arguments out")
        if one.arg not in _WITHOUT_EFFECT and (one.arg in _OF_DSPY or one.arg in _OF_PYDANTIC):
            arguments[one.arg] = factory(one.value) if one.arg == "default_factory" else read(one.value)
            if one.arg in _SHOWN:
                check_shown(one.arg, one.value, arguments[one.arg], source)
    extra: dict[str, Any] = {name: arguments.pop(name) for name in list(arguments) if name in _OF_DSPY}
    extra["__dspy_field_type"] = maker.role
    if "description" in arguments and "desc" not in extra:
        extra["desc"] = arguments["description"]
    constraints = constraint_text(arguments)
    if constraints is not None:
        extra["constraints"] = constraints
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return pydantic.Field(**arguments, json_schema_extra=extra)  # type: ignore[no-any-return]
    except (TypeError, ValueError, RuntimeError) as error:
        raise source.error(node, str(error).partition("\n")[0]) from None


def check_shown(argument: str, node: ast.expr, value: Any, source: SourceText) -> None:
    """Raises SignatureError where `value` of desc, description or prefix cannot be shown as dspy shows it.

    A description may be any data, for dspy prints it. A class or function prints where it was made, so it may not.
    """
    printable = isinstance(value, str) if argument == "prefix" else not callable(value)
    if not printable:
        raise source.error(node, f"{argument} must be a text, not {type(value).__name__}", _SHOWN[argument])


def without_effect(node: ast.Call) -> tuple[str, ...]:
    """A note for every argument that dspy takes and forgets."""
    notes: list[str] = []
    for one in node.keywords:
        if one.arg is None or one.arg in _OF_DSPY:
            continue
        if one.arg in _WITHOUT_EFFECT:
            notes.append(f"`{one.arg}` has no effect in dspy")
        elif one.arg not in _OF_PYDANTIC:
            near = difflib.get_close_matches(one.arg, [*_OF_DSPY, *CONSTRAINT_WORDS, *_OF_PYDANTIC], n=1)
            notes.append(f"`{one.arg}` has no effect in dspy" + (f"; did you mean {near[0]}?" if near else ""))
    return tuple(notes)
