"""JSONAdapter's `response_format`: a strict JSON schema of the outputs, if the model supports it."""

from __future__ import annotations

from typing import Any, get_origin

import pydantic
from pydantic_core import PydanticUndefined

from adapters.requests.capabilities import Capabilities
from adapters.requests.strict_schema import ClassFormat
from adapters.signatures.signature import MISSING, Signature
from adapters.types.recognition import is_named

NAME = "DSPyProgramOutputs"
JSON_OBJECT: dict[str, Any] = {"type": "json_object"}


def response_format(signature: Signature, capabilities: Capabilities, native_tools: bool) -> dict[str, Any] | None:
    """Choose JSONAdapter's `response_format` before the call; None for a model without it.

    Rule: `dspy.adapters.json_adapter.JSONAdapter._prepare_response_format`. dspy passes a pydantic class, and its
    client sends the class's schema converted by `strict_schema`.
    """
    if "response_format" not in capabilities.params:
        return None
    outputs = signature.output_fields.values()
    has_tool_calls = any(is_named(field.annotation, "ToolCalls") for field in outputs)
    open_ended = any(get_origin(field.annotation) is dict for field in outputs)
    if open_ended or (not native_tools and has_tool_calls) or not capabilities.response_schema:
        return dict(JSON_OBJECT)
    try:
        # Raises ValueError and pydantic's schema errors for types without a JSON schema.
        fields: dict[str, Any] = {}
        for name, field in signature.output_fields.items():
            if not (native_tools and is_named(field.annotation, "ToolCalls")):
                fields[name] = (field.annotation, PydanticUndefined if field.default is MISSING else field.default)
        model = pydantic.create_model(NAME, __config__=pydantic.ConfigDict(extra="forbid"), **fields)
        schema: dict[str, Any] = model.model_json_schema()
        for property_schema in schema.get("properties", {}).values():
            property_schema.pop("json_schema_extra", None)
        _make_strict(schema)
    except (ValueError, pydantic.errors.PydanticInvalidForJsonSchema, pydantic.errors.PydanticSchemaGenerationError):
        return dict(JSON_OBJECT)
    return ClassFormat(NAME, schema)


def _make_strict(schema: dict[str, Any]) -> None:
    if schema.get("type") == "object":
        properties = schema.get("properties")
        schema["properties"] = properties if properties is not None else {}
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
        for child in schema["properties"].values():
            if isinstance(child, dict):
                _make_strict(child)
    if schema.get("type") == "array" and isinstance(schema.get("items"), dict):
        _make_strict(schema["items"])
    for key in ("$defs", "definitions"):
        for child in schema.get(key, {}).values():
            _make_strict(child)
