"""`Type`: the base of every custom type, with dspy's hooks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol, Self, get_args

import pydantic

from adapters.types.schema_texts import SCHEMA_TEXTS

START = "<<CUSTOM-TYPE-START-IDENTIFIER>>"
END = "<<CUSTOM-TYPE-END-IDENTIFIER>>"
"""What stands around the JSON of content parts inside of a message's text until they are expanded (dspy's markers)."""


class NativeLM(Protocol):
    """What `adapt_to_native_lm_feature` asks of a model; `dspy.LM` has all of it."""

    model: str
    model_type: str
    kwargs: dict[str, Any]
    supports_reasoning: bool


class Type(pydantic.BaseModel):
    # Subclasses define `format`: a list of content parts (OpenAI's chat API), or text or JSON for the message itself.
    __doc__ = SCHEMA_TEXTS["Type"]

    def format(self) -> Any:
        raise NotImplementedError

    @classmethod
    def description(cls) -> str:
        """What the prompt says about this type; empty for nothing."""
        return ""

    @classmethod
    def extract_custom_type_from_annotation(cls, annotation: Any) -> list[Any]:
        """The classes below this one in an annotation: `list[dict[str, Tool]]` → [Tool]."""
        if isinstance(annotation, type) and issubclass(annotation, cls):
            return [annotation]
        return [found for arg in get_args(annotation) for found in cls.extract_custom_type_from_annotation(arg)]

    @pydantic.model_serializer()
    def serialize_model(self) -> Any:
        formatted = self.format()
        if isinstance(formatted, list):
            return f"{START}{json.dumps(formatted, ensure_ascii=False)}{END}"
        return formatted

    @classmethod
    def adapt_to_native_lm_feature(
        cls, signature: Any, field_name: str, lm: NativeLM, lm_kwargs: dict[str, Any]
    ) -> Any:
        """The signature without `field_name` when the model gives this type natively; may add to `lm_kwargs`."""
        return signature

    @classmethod
    def is_streamable(cls) -> bool:
        return False

    @classmethod
    def parse_stream_chunk(cls, chunk: Any) -> Any:
        """What a provider's stream chunk holds for this type, or None."""
        return None

    @classmethod
    def parse_lm_response(cls, response: str | Mapping[str, Any]) -> Self | None:
        """The value a model's response holds for this type beside its text, or None."""
        return None
