"""`Document`: a text or PDF that a model can cite (Anthropic's citations)."""

from __future__ import annotations

from typing import Any, Literal

import pydantic

from adapters.types.base import Type
from adapters.types.schema_texts import SCHEMA_TEXTS


class Document(Type):
    __doc__ = SCHEMA_TEXTS["Document"]

    data: str
    title: str | None = None
    media_type: Literal["text/plain", "application/pdf"] = "text/plain"
    context: str | None = None

    def format(self) -> list[dict[str, Any]]:
        source = "base64" if self.media_type == "application/pdf" else "text"
        block: dict[str, Any] = {
            "type": "document",
            "source": {"type": source, "media_type": self.media_type, "data": self.data},
            "citations": {"enabled": True},
        }
        if self.title:
            block["title"] = self.title
        if self.context:
            block["context"] = self.context
        return [block]

    @classmethod
    def description(cls) -> str:
        return (
            "A document containing text content that can be referenced and cited. "
            "Include the full text content and optionally a title for proper referencing."
        )

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if isinstance(data, str):
            return {"data": data}
        if isinstance(data, dict):
            return data
        raise ValueError(f"Received invalid value for `Document`: {data}")

    def __str__(self) -> str:
        title = f"'{self.title}': " if self.title else ""
        return f"Document({title}{len(self.data)} chars)"
