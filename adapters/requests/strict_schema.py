"""JSONAdapter's `response_format`: a JSON schema of the outputs, strict if the model supports it.

dspy's client converts adapters' schemas to OpenAI's strict form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_origin

from adapters.requests.capabilities import Capabilities
from adapters.signatures.signature import MISSING, Signature

NAME = "DSPyProgramOutputs"
JSON_OBJECT: dict[str, Any] = {"type": "json_object"}


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with every property required and objects closed.

    Removes null defaults, and expands a lone `allOf` and every `$ref` with siblings. Raises ValueError for an
    unresolvable `$ref`, RecursionError for a `$ref` with siblings that contains itself. Rule:
    `dspy.clients.legacy_requests._strict_json_schema`.
    """
    strict: dict[str, Any] = _strict(dict(schema), schema, ())
    return strict


def _strict(schema: object, root: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    """Convert recursively; `within` are the references being expanded, outermost first."""
    if not isinstance(schema, dict):
        return schema
    out = dict(schema)
    for key in ("$defs", "definitions"):
        if isinstance(out.get(key), dict):
            out[key] = {name: _strict(one, root, within) for name, one in out[key].items()}
    if out.get("type") == "object" and "additionalProperties" not in out:
        out["additionalProperties"] = False
    if isinstance(out.get("properties"), dict):
        out["required"] = list(out["properties"])
        out["properties"] = {name: _strict(one, root, within) for name, one in out["properties"].items()}
    if isinstance(out.get("items"), dict):
        out["items"] = _strict(out["items"], root, within)
    if isinstance(out.get("anyOf"), list):
        out["anyOf"] = [_strict(one, root, within) for one in out["anyOf"]]
    if isinstance(out.get("allOf"), list):
        if len(out["allOf"]) == 1:
            out.update(_strict(out.pop("allOf")[0], root, within))
        else:
            out["allOf"] = [_strict(one, root, within) for one in out["allOf"]]
    if "default" in out and out["default"] is None:
        del out["default"]
    reference = out.get("$ref")
    if isinstance(reference, str) and len(out) > 1:
        if reference in within:
            raise RecursionError(f"the schema of {reference!r} contains itself, with its own description or default")
        if not reference.startswith("#/"):
            raise ValueError(f"Unexpected $ref format {reference!r}; only internal references are supported")
        node: Any = root
        for part in reference[2:].split("/"):
            node = node.get(part) if isinstance(node, dict) else None
            if node is None:
                raise ValueError(f"Could not resolve $ref {reference!r}")
        meant = _strict(node, root, (*within, reference))
        if isinstance(meant, dict):
            out = {**meant, **{key: value for key, value in out.items() if key != "$ref"}}
    return out


class ClassFormat(dict[str, Any]):
    """A `response_format` for OpenAI's API that remembers the schema of its class.

    dspy passes a pydantic class to litellm, which converts it for each provider: to text for Bedrock, to a tool for
    older Anthropic models. It would convert a schema differently.
    """

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        described = {"name": name, "strict": True, "schema": strict_schema(schema)}
        super().__init__({"type": "json_schema", "json_schema": described})
        self.of_class = {"name": name, "schema": schema}


def response_format(signature: Signature, capabilities: Capabilities, native_tools: bool) -> dict[str, Any] | None:
    """Choose JSONAdapter's `response_format` before the call; None for a model without it.

    Rule: `dspy.adapters.json_adapter.JSONAdapter._prepare_response_format`. dspy passes a pydantic class, and its
    client sends the class's schema converted by `strict_schema`.
    """
    if "response_format" not in capabilities.params:
        return None
    import pydantic  # which takes long to load, and most requests need no schema
    from pydantic_core import PydanticUndefined

    from adapters.types.recognition import is_named

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
