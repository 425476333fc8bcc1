"""`Reasoning`: the model's thoughts as text, which may come natively, apart from the reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pydantic

from adapters.types.base import NativeLM, Type, reasoning_plan
from adapters.types.schema_texts import SCHEMA_TEXTS


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
        plan = reasoning_plan(lm.supports_reasoning, {**lm.kwargs, **lm_kwargs}, lm.model, lm.model_type)
        lm_kwargs.update(plan.params)
        return signature.delete(field_name) if plan.removes_field else signature

    @classmethod
    def parse_lm_response(cls, response: str | Mapping[str, Any]) -> Reasoning | None:
        """The response's `reasoning_content`, or None.

        Raises TypeError for a plain text that contains these letters: dspy looks for the key in the text too.
        """
        if "reasoning_content" in response:
            return Reasoning(content=response["reasoning_content"])  # type: ignore[index]
        return None

    @classmethod
    def parse_stream_chunk(cls, chunk: Any) -> str | None:
        try:
            content = chunk.choices[0].delta.reasoning_content
        except Exception:  # as dspy: a provider's chunk of any other shape holds no reasoning
            return None
        return content  # type: ignore[no-any-return]

    @classmethod
    def is_streamable(cls) -> bool:
        return True

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
        """The methods of `str`, on the content."""
        if hasattr(str, name):
            return getattr(self.content, name)
        raise AttributeError(
            f"`{type(self).__name__}` object has no attribute '{name}'. It has those of a string; "
            "the text itself is `.content` or str(reasoning)."
        )
