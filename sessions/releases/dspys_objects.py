"""Convert our signatures and values to objects of the installed dspy, with its types instead of ours."""

from __future__ import annotations

import functools
import importlib
import operator
import types
from typing import Any, Literal, Union, get_args, get_origin

import dspy

from adapters.signatures.notation import is_source
from adapters.signatures.signature import MISSING, Signature
from adapters.types.code import Code

MARKERS_OF_A_FETCH = ("data:", "http://", "https://")
"""Prefixes of image addresses that dspy puts into a prompt unchanged; it would open any other as a file."""


OF_A_STRING = "StringSignature"
"""dspy's name for a signature without a name."""


class NotShownError(Exception):
    """dspy cannot represent this fixture; the message says why."""


class NoPromptError(Exception):
    """dspy cannot make a prompt of the case; the message says why."""


def dspys_signature(ours: Signature, text: str = "") -> Any:
    """Build a `dspy.Signature` from ours, with dspy's types instead of ours.

    It is built as a class because `make_signature` up to 2.6.27 rejects `X | Y` in a dict of fields, but not in a
    class. `text` is its source; string notation is also parsed by dspy, so that it rejects what it does not support
    (`str | None` up to 2.6.27): NoPromptError. This is safe: our parser has accepted the text, so it names no module
    to import.
    """
    if text and not is_source(text):
        try:
            dspy.Signature(text)
        except Exception as error:  # it may raise anything for a text
            what = f"this string notation ({type(error).__name__}: {error}); write"
            if "BitOr" in str(error):
                what = "`X | Y` in string notation; write Optional[X] or Union[X, Y], or"
            raise NoPromptError(f"it does not accept {what} the signature as a class") from error
    fields: dict[str, Any] = {}
    annotations: dict[str, Any] = {}
    for name, field in ours.fields.items():
        given = {"desc": field.desc, "prefix": field.prefix}
        given = {key: value for key, value in given.items() if value is not None}
        if field.default is not MISSING:
            given["default"] = field.default
        made = dspy.InputField(**given) if field.role == "input" else dspy.OutputField(**given)
        if field.constraints is not None:
            made.json_schema_extra["constraints"] = field.constraints
        if not field.type_was_given:
            made.json_schema_extra["IS_TYPE_UNDEFINED"] = True
        fields[name] = made
        annotations[name] = dspys_type(field.annotation)
    namespace = {"__module__": __name__, "__doc__": ours.instructions, "__annotations__": annotations, **fields}
    return types.new_class(OF_A_STRING, (dspy.Signature,), exec_body=lambda body: body.update(namespace))


def dspys_type(annotation: object) -> Any:
    """Replace our types in an annotation with dspy's, also inside `list[…]`, `X | None` and similar."""
    if isinstance(annotation, type) and annotation.__module__.startswith("adapters.types."):
        return _dspys_class(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal or not arguments:
        return annotation
    inner = tuple([dspys_type(one) for one in arguments])
    if all(new is old for new, old in zip(inner, arguments, strict=True)):
        return annotation
    if origin is Union:
        return Union[inner]  # noqa: UP007  (made at run time)
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(inner)
    return functools.reduce(operator.or_, inner) if origin is types.UnionType else origin[inner]


def dspys_value(value: Any) -> Any:
    """Replace our objects in a value with dspy's, without running dspy's validators, which open files."""
    if type(value).__module__.startswith("adapters.types."):
        members = {name: dspys_value(getattr(value, name)) for name in type(value).model_fields}
        url = members.get("url")
        if isinstance(url, str) and not url.startswith(MARKERS_OF_A_FETCH):
            raise NotShownError(f"dspy would open {url[:80]!r} as a file")
        return _dspys_class(type(value)).model_construct(**members)
    if isinstance(value, dict):
        return {key: dspys_value(item) for key, item in value.items()}
    return [dspys_value(item) for item in value] if isinstance(value, list) else value


def _dspys_class(ours: type) -> Any:
    if issubclass(ours, Code) and ours is not Code:
        return _dspys_class(Code)[ours.language]
    name = ours.__name__
    for module in ("dspy", "dspy.adapters.types", "dspy.adapters.types." + ours.__module__.rpartition(".")[2]):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise NotShownError(f"it has no dspy.{name}, which is of later releases")
