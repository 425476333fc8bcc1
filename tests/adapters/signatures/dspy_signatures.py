"""dspy's own reading of a signature, and the comparison with ours field by field. Sources are executed here alone."""

from __future__ import annotations

import itertools
import json
import sys
import types
import warnings
from typing import Any

import dspy
from dspy.adapters.utils import get_annotation_name
from pydantic import TypeAdapter

from adapters.signatures.signature import Field, Signature
from adapters.signatures.type_names import name_of

_numbers = itertools.count()


def of_string(text: str) -> type[dspy.Signature]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dspy.Signature(text)


def of_source(text: str, name: str) -> type[dspy.Signature]:
    """The class that the source declares when Python runs it, as a module of its own."""
    module = types.ModuleType(f"executed_signature_{next(_numbers)}")
    sys.modules[module.__name__] = module
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, module.__name__, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
    return getattr(module, name)  # type: ignore[no-any-return]


def schema(annotation: Any) -> str:
    """The JSON schema with the order of its keys, or the kind of error that pydantic answers with."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return json.dumps(TypeAdapter(annotation).json_schema())
        except Exception as error:
            return type(error).__name__


def _shown(info: Any) -> str:
    """The field as pydantic prints it, for dspy puts that into its errors; without functions, which are not ours.

    dspy's types are named as ours.
    """
    text = str(info).replace("dspy.adapters.types.", "adapters.types.")
    return "" if "Validator" in text or "NotRun" in text else text


def plain(value: Any, annotation: Any) -> str:
    try:
        return json.dumps(TypeAdapter(annotation).dump_python(value, mode="json", warnings=False), sort_keys=True)
    except Exception:
        return repr(value)


def face_of_dspy(cls: type[dspy.Signature]) -> dict[str, Any]:
    """Everything about a live signature that a prompt or a reading can show."""
    fields = {}
    for name, info in cls.model_fields.items():
        extra: Any = info.json_schema_extra
        fields[name] = {
            "role": extra["__dspy_field_type"],
            "type": get_annotation_name(info.annotation),
            "schema": schema(info.annotation),
            "desc": extra["desc"],
            "prefix": extra["prefix"],
            "constraints": extra.get("constraints"),
            "type_was_given": not extra.get("IS_TYPE_UNDEFINED", False),
            "shown": _shown(info),
            "required": info.is_required(),
            "fallback": None
            if info.is_required()
            else plain(info.get_default(call_default_factory=True), info.annotation),
        }
    return {"instructions": cls.instructions, "name": cls.__name__, "order": list(cls.model_fields), "fields": fields}


def face(signature: Signature) -> dict[str, Any]:
    """The same of ours."""
    return {
        "instructions": signature.instructions,
        "name": signature.name,
        "order": [one.name for one in signature.fields_in_order],
        "fields": {one.name: _field(one) for one in signature.fields_in_order},
    }


def _field(one: Field) -> dict[str, Any]:
    return {
        "role": one.role,
        "type": name_of(one.annotation),
        "schema": schema(one.annotation),
        "desc": one.desc if one.desc is not None else f"${{{one.name}}}",
        "prefix": one.shown_prefix,
        "constraints": one.constraints,
        "type_was_given": one.type_was_given,
        "shown": _shown(one.info),
        "required": one.is_required,
        "fallback": None if one.is_required else plain(one.fallback(), one.annotation),
    }
