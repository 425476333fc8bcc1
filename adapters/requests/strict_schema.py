"""A JSON schema as OpenAI's strict structured outputs take it, which is how dspy's client sends an adapter's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Every property required, objects closed, null defaults gone, a lone `allOf` or `$ref` with siblings written out.

    Raises ValueError for a `$ref` that leads nowhere, RecursionError for one that leads into itself with siblings.
    Rule: `dspy.clients.legacy_requests._strict_json_schema`.
    """
    strict: dict[str, Any] = _strict(dict(schema), schema, ())
    return strict


def _strict(schema: Any, root: Mapping[str, Any], within: tuple[str, ...]) -> Any:
    """`within` are the references being unravelled, the outermost first."""
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
            raise RecursionError(f"the schema of {reference!r} holds itself, with a description or default of its own")
        meant = _strict(_resolved(root, reference), root, (*within, reference))
        if isinstance(meant, dict):
            out = {**meant, **{key: value for key, value in out.items() if key != "$ref"}}
    return out


def _resolved(root: Mapping[str, Any], reference: str) -> Any:
    if not reference.startswith("#/"):
        raise ValueError(f"Unexpected $ref format {reference!r}; only internal references are supported")
    node: Any = root
    for part in reference[2:].split("/"):
        node = node.get(part) if isinstance(node, dict) else None
        if node is None:
            raise ValueError(f"Could not resolve $ref {reference!r}")
    return node


class ClassFormat(dict[str, Any]):
    """A `response_format` as OpenAI's API gets it, which knows the schema of the class that it was made of.

    dspy hands a pydantic class to litellm, and litellm makes of it for each provider what that one takes: a text for
    Bedrock, a tool for older models of Anthropic. Of a schema it makes something else.
    """

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        described = {"name": name, "strict": True, "schema": strict_schema(schema)}
        super().__init__({"type": "json_schema", "json_schema": described})
        self.of_class = {"name": name, "schema": schema}
