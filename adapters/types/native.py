"""`Reasoning`, `Citations` and `Document`: types that a model may return natively, apart from the reply's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import pydantic

from adapters.types.base import SCHEMA_TEXTS, NativeLM, Type


class Reasoning(Type):
    __doc__ = SCHEMA_TEXTS["Reasoning"]

    content: str

    def format(self) -> str:
        return f"{self.content}"

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: object) -> object:
        if isinstance(data, cls):
            return data
        if isinstance(data, str):
            return {"content": data}
        if isinstance(data, dict):
            if "content" not in data:
                raise ValueError("`content` field is required for `dspy.Reasoning`")
            if not isinstance(data["content"], str):
                raise ValueError(f"`content` field must be a string, but received type: {type(data['content'])}")
            return {"content": data["content"]}
        raise ValueError(f"Received invalid value for `dspy.Reasoning`: {data}")

    @classmethod
    def adapt_to_native_lm_feature(
        cls, signature: Any, field_name: str, lm: NativeLM, lm_kwargs: dict[str, object]
    ) -> object:
        """Ask for reasoning, unless `reasoning_effort` is None.

        GPT-5 through chat completions returns no reasoning, so the field stays in the prompt.
        """
        effort = {"reasoning_effort": "low", **lm.kwargs, **lm_kwargs}["reasoning_effort"]
        if effort is None or not lm.supports_reasoning or ("gpt-5" in lm.model and lm.model_type == "chat"):
            return signature
        lm_kwargs["reasoning_effort"] = effort
        return signature.delete(field_name)

    @classmethod
    def parse_lm_response(cls, response: str | Mapping[str, Any]) -> Reasoning | None:
        """Return the response's `reasoning_content`, or None.

        Raises TypeError for a plain text that contains this word, because dspy searches text for the key too.
        """
        if "reasoning_content" in response:
            return Reasoning(content=response["reasoning_content"])  # type: ignore[index]
        return None

    def __repr__(self) -> str:
        return f"{self.content!r}"

    def __str__(self) -> str:
        return self.content

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Reasoning):
            return self.content == other.content
        return isinstance(other, str) and self.content == other

    def __len__(self) -> int:
        return len(self.content)

    def __getitem__(self, key: int | slice) -> str:
        return self.content[key]

    def __contains__(self, item: str) -> bool:
        return item in self.content

    def __iter__(self) -> Iterator[str]:  # type: ignore[override]
        return iter(self.content)

    def __add__(self, other: object) -> object:
        if isinstance(other, Reasoning):
            return Reasoning(content=self.content + other.content)
        return self.content + other if isinstance(other, str) else NotImplemented

    def __radd__(self, other: object) -> object:
        return other + self.content if isinstance(other, str) else NotImplemented

    def __getattr__(self, name: str) -> object:
        """Return a method of `str` bound to the content."""
        if hasattr(str, name):
            return getattr(self.content, name)
        raise AttributeError(
            f"`{type(self).__name__}` object has no attribute '{name}'. It has those of a string; "
            "the text itself is `.content` or str(reasoning)."
        )


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

        def format(self) -> dict[str, object]:
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
        """Make citations from dicts. Raises pydantic's ValidationError if a field is missing."""
        return cls(citations=[cls.Citation(**item) for item in citations_dicts])

    @classmethod
    def description(cls) -> str:
        return (
            "Citations with quoted text and source references. "
            "Include the exact text being cited and information about its source."
        )

    def format(self) -> list[dict[str, object]]:
        return [citation.format() for citation in self.citations]

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: object) -> object:
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
        cls, signature: Any, field_name: str, lm: NativeLM, lm_kwargs: dict[str, object]
    ) -> object:
        """Leave the field to Anthropic's models, which cite natively."""
        return signature.delete(field_name) if lm.model.startswith("anthropic/") else signature

    @classmethod
    def parse_lm_response(cls, response: str | Mapping[str, object]) -> Citations | None:
        """Return the response's `citations`, or None. Raises pydantic's ValidationError if they are malformed."""
        if isinstance(response, dict) and isinstance(response.get("citations"), list):
            return cls.from_dict_list(response["citations"])
        return None


class Document(Type):
    __doc__ = SCHEMA_TEXTS["Document"]

    data: str
    title: str | None = None
    media_type: Literal["text/plain", "application/pdf"] = "text/plain"
    context: str | None = None

    def format(self) -> list[dict[str, object]]:
        source = "base64" if self.media_type == "application/pdf" else "text"
        block: dict[str, object] = {
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
    def validate_input(cls, data: object) -> object:
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
