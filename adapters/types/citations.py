"""`Citations`: quoted text with its place in the documents that were given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pydantic

from adapters.types.base import NativeLM, Type
from adapters.types.native import citations_plan
from adapters.types.schema_texts import SCHEMA_TEXTS


class Citations(Type):
    __doc__ = SCHEMA_TEXTS["Citations"]

    class Citation(Type):
        __doc__ = SCHEMA_TEXTS["Citations.Citation"]

        type: str = "char_location"
        cited_text: str
        document_index: int
        document_title: str | None = None
        start_char_index: int
        end_char_index: int
        supported_text: str | None = None

        def format(self) -> dict[str, Any]:
            citation = {
                "type": self.type,
                "cited_text": self.cited_text,
                "document_index": self.document_index,
                "start_char_index": self.start_char_index,
                "end_char_index": self.end_char_index,
            }
            if self.document_title:
                citation["document_title"] = self.document_title
            if self.supported_text:
                citation["supported_text"] = self.supported_text
            return citation

    citations: list[Citation]

    @classmethod
    def from_dict_list(cls, citations_dicts: Sequence[Mapping[str, Any]]) -> Citations:
        """From plain citations. Raises pydantic's ValidationError for one that lacks a field."""
        return cls(citations=[cls.Citation(**item) for item in citations_dicts])

    @classmethod
    def description(cls) -> str:
        return (
            "Citations with quoted text and source references. "
            "Include the exact text being cited and information about its source."
        )

    def format(self) -> list[dict[str, Any]]:
        return [citation.format() for citation in self.citations]

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        if isinstance(data, cls):
            return data
        if isinstance(data, list) and all(isinstance(item, dict) and "cited_text" in item for item in data):
            return {"citations": [cls.Citation(**item) for item in data]}
        if isinstance(data, dict):
            if isinstance(data.get("citations"), list):
                given = data["citations"]
                return {"citations": [cls.Citation(**item) if isinstance(item, dict) else item for item in given]}
            if "citations" not in data and "cited_text" in data:
                return {"citations": [cls.Citation(**data)]}
        raise ValueError(f"Received invalid value for `Citations`: {data}")

    def __iter__(self) -> Iterator[Citation]:  # type: ignore[override]
        return iter(self.citations)

    def __len__(self) -> int:
        return len(self.citations)

    def __getitem__(self, index: int) -> Citation:
        return self.citations[index]

    @classmethod
    def adapt_to_native_lm_feature(
        cls, signature: Any, field_name: str, lm: NativeLM, lm_kwargs: dict[str, Any]
    ) -> Any:
        return signature.delete(field_name) if citations_plan(lm.model).removes_field else signature

    @classmethod
    def is_streamable(cls) -> bool:
        return True

    @classmethod
    def parse_stream_chunk(cls, chunk: Any) -> Citations | None:
        try:
            citation = chunk.choices[0].delta.provider_specific_fields.get("citation")
            return cls.from_dict_list([citation]) if citation else None
        except Exception:  # as dspy: a provider's chunk of any other shape holds no citation
            return None

    @classmethod
    def parse_lm_response(cls, response: str | Mapping[str, Any]) -> Citations | None:
        """The response's `citations`, or None. Raises what `from_dict_list` raises for a malformed one."""
        if isinstance(response, dict) and isinstance(response.get("citations"), list):
            return cls.from_dict_list(response["citations"])
        return None
