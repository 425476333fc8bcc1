"""`Type`, the base of all custom types, with dspy's hooks; `History`, the turns of a conversation.

The docstrings of dspy's types reach the model, as descriptions in JSON schemas and in BAML's comments. They are stored
as data (with dspy's MIT licence), so that prompts equal dspy's byte for byte.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, Self

import pydantic

from adapters.types.recognition import END, START

NOTICE = "Experimental: "
"""Prefix that dspy's decorator `experimental` adds to a docstring after it is compiled."""


def _load() -> dict[str, str]:
    data = json.loads(Path(__file__).with_name("schema_texts.json").read_text(encoding="utf-8"))
    texts = {name: "\n".join(lines) for name, lines in data["texts"].items()}
    if sys.version_info < (3, 13):
        return texts
    for name, text in texts.items():
        notice, gap, docstring = text.partition("\n\n") if text.lstrip(" ").startswith(NOTICE) else ("", "", text)
        # Python 3.13 and later convert tabs to spaces and remove the common indentation
        first, *rest = docstring.expandtabs().split("\n")
        margin = min((len(line) - len(line.lstrip(" ")) for line in rest if line.strip(" ")), default=0)
        texts[name] = notice.lstrip(" ") + gap + "\n".join([first.lstrip(" "), *(line[margin:] for line in rest)])
    return texts


SCHEMA_TEXTS: Mapping[str, str] = MappingProxyType(_load())
"""The `__doc__` of dspy 3.4.1's types by qualified name, as it is under this version of Python."""


class NativeLM(Protocol):
    """The attributes of a model that `adapt_to_native_lm_feature` reads; `dspy.LM` has them all."""

    model: str
    model_type: str
    kwargs: dict[str, Any]
    supports_reasoning: bool


class Type(pydantic.BaseModel):
    # Subclasses define `format`: a list of content parts (OpenAI's chat API), or text or JSON to put into the message.
    __doc__ = SCHEMA_TEXTS["Type"]

    def format(self) -> object:
        raise NotImplementedError

    @classmethod
    def description(cls) -> str:
        """Return the prompt's text about this type, or ""."""
        return ""

    @pydantic.model_serializer()
    def serialize_model(self) -> object:
        formatted = self.format()
        if isinstance(formatted, list):
            return f"{START}{json.dumps(formatted, ensure_ascii=False)}{END}"
        return formatted

    @classmethod
    def adapt_to_native_lm_feature(
        cls, signature: object, field_name: str, lm: NativeLM, lm_kwargs: dict[str, object]
    ) -> object:
        """Return the signature without `field_name` if the model returns this type natively; may add to `lm_kwargs`."""
        return signature

    @classmethod
    def parse_lm_response(cls, response: str | Mapping[str, object]) -> Self | None:
        """Return the value of this type in a model's response, apart from the text, or None."""
        return None


class History(pydantic.BaseModel):
    __doc__ = SCHEMA_TEXTS["History"]

    messages: list[dict[str, Any]]

    model_config = pydantic.ConfigDict(frozen=True, str_strip_whitespace=True, validate_assignment=True, extra="forbid")
