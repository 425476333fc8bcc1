"""Convert typed signatures to chat messages, and replies to typed values, as dspy 3.4.1 does, recording every step.

This module exports the public names and loads each on first use. Start with `read_signature`, `render`, `read` and
`run`; `docs/library.md` has examples.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.errors import AdapterParseError, RunError, SignatureError
    from adapters.formats.baml import BAMLAdapter
    from adapters.formats.base import Adapter, Callback
    from adapters.formats.chat import ChatAdapter
    from adapters.formats.json import JSONAdapter
    from adapters.formats.markdown import MarkdownAdapter
    from adapters.formats.two_step import TwoStepAdapter
    from adapters.formats.xml import XMLAdapter
    from adapters.library import (
        Comparison,
        RunOptions,
        compare,
        make_adapter,
        open_model,
        read,
        read_signature,
        render,
        run,
    )
    from adapters.lm.protocol import LM, Chunk, Completion, ProviderError
    from adapters.prompts.field_descriptions import get_field_description_string, translate_field_type
    from adapters.prompts.text import Message, Prompt, Text
    from adapters.replies.reading import Reading, Span
    from adapters.requests.capabilities import Capabilities
    from adapters.running.runs import Attempt, Run
    from adapters.signatures.signature import Field, InputField, OutputField, Signature
    from adapters.types import (
        Audio,
        Citations,
        Code,
        Document,
        File,
        History,
        Image,
        Reasoning,
        Tool,
        ToolCallResults,
        ToolCalls,
        Type,
    )
    from adapters.values.coercion import find_enum_member, format_field_value, parse_value
    from adapters.values.value_text import serialize_for_json

__all__ = ["Adapter", "AdapterParseError", "Attempt", "Audio", "BAMLAdapter", "Callback", "Capabilities", "ChatAdapter"]
__all__ += ["Chunk", "Citations", "Code", "Comparison", "Completion", "Document", "Field", "File", "History", "Image"]
__all__ += ["LM", "InputField", "JSONAdapter", "MarkdownAdapter", "Message", "OutputField", "Prompt", "ProviderError"]
__all__ += ["Reading", "Reasoning", "Run", "RunError", "RunOptions", "Signature", "SignatureError", "Span", "Text"]
__all__ += ["Tool", "ToolCallResults", "ToolCalls", "TwoStepAdapter", "Type", "XMLAdapter", "compare"]
__all__ += ["find_enum_member", "format_field_value", "get_field_description_string", "make_adapter", "open_model"]
__all__ += ["parse_value", "read", "read_signature", "render", "run", "serialize_for_json", "translate_field_type"]

_HOMES = {
    "errors": "AdapterParseError RunError SignatureError",
    "formats.baml": "BAMLAdapter",
    "formats.base": "Adapter Callback",
    "formats.chat": "ChatAdapter",
    "formats.json": "JSONAdapter",
    "formats.markdown": "MarkdownAdapter",
    "formats.two_step": "TwoStepAdapter",
    "formats.xml": "XMLAdapter",
    "library": "Comparison RunOptions compare make_adapter open_model read read_signature render run",
    "lm.protocol": "LM Chunk Completion ProviderError",
    "prompts.field_descriptions": "get_field_description_string translate_field_type",
    "prompts.text": "Message Prompt Text",
    "replies.reading": "Reading Span",
    "requests.capabilities": "Capabilities",
    "running.runs": "Attempt Run",
    "signatures.signature": "Field InputField OutputField Signature",
    "types": "Audio Citations Code Document File History Image Reasoning Tool ToolCallResults ToolCalls Type",
    "values.coercion": "find_enum_member format_field_value parse_value",
    "values.value_text": "serialize_for_json",
}
_HOME_OF = {name: f"adapters.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adapters' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
