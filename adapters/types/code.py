"""`Code` and `Code["java"]`: a program as text, without its markdown fence."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import pydantic

from adapters.types.base import SCHEMA_TEXTS, Type

FENCE = "```"


class Code(Type):
    __doc__ = SCHEMA_TEXTS["Code"]

    code: str

    language: ClassVar[str] = "python"

    def format(self) -> str:
        return f"{self.code}"

    @pydantic.model_serializer()
    def serialize_model(self) -> object:
        return self.format()

    @classmethod
    def description(cls) -> str:
        return (
            "Code represented in a string, specified in the `code` field. If this is an output field, the code "
            f"field should follow the markdown code block format, e.g. \n```{cls.language.lower()}\n{{code}}\n```"
            f"\nProgramming language: {cls.language}"
        )

    @pydantic.model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: object) -> object:
        if isinstance(data, cls):
            return data
        if isinstance(data, str):
            return {"code": strip_fence(data)}
        if isinstance(data, dict):
            if "code" not in data:
                raise ValueError("`code` field is required for `dspy.Code`")
            if not isinstance(data["code"], str):
                raise ValueError(f"`code` field must be a string, but received type: {type(data['code'])}")
            return {"code": strip_fence(data["code"])}
        raise ValueError(f"Received invalid value for `dspy.Code`: {data}")

    def __class_getitem__(cls, language: object) -> type[Code]:
        """Return the class for a language, always the same class for the same language."""
        return _code_in(cls, language) if isinstance(language, str) else _make_code_in(cls, language)


def strip_fence(text: str) -> str:
    """Return the content of the first markdown code block, or the text if there is none.

    Rule: dspy's `_filter_code`, whose two patterns take quadratic time. The first fence decides: if no line end or
    closing fence follows it, none follows a later fence.
    """
    opening = text.find(FENCE)
    if opening < 0:
        return text
    inside = opening + len(FENCE)
    line_end = text.find("\n", inside)
    closing = text.find(FENCE, line_end + 1) if line_end >= 0 else -1
    if closing >= 0:
        return text[line_end + 1 : closing].strip()
    closing = text.find(FENCE, inside)
    return text[inside:closing].strip() if closing >= 0 else text


def _make_code_in(base: type[Code], language: Any) -> type[Code]:
    made = pydantic.create_model(f"{base.__name__}_{language}", __base__=base)
    made.language = language
    return made


_code_in = lru_cache(maxsize=256)(_make_code_in)
