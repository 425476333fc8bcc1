"""A `response_format` that is a schema on the wire, and a class where litellm writes what goes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.requests.strict_schema import strict_schema


class ClassFormat(dict[str, Any]):
    """A `response_format` as OpenAI's API gets it, which knows the schema of the class that it was made of.

    dspy hands a pydantic class to litellm, and litellm makes of it for each provider what that one takes: a text for
    Bedrock, a tool for older models of Anthropic. Of a schema it makes something else.
    """

    def __init__(self, name: str, schema: Mapping[str, Any]) -> None:
        described = {"name": name, "strict": True, "schema": strict_schema(schema)}
        super().__init__({"type": "json_schema", "json_schema": described})
        self.of_class = {"name": name, "schema": schema}
