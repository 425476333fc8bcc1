"""Convert typed signatures to chat messages, and replies to typed values, as dspy 3.4.1 does, recording every step.

This module exports the public names and loads each on first use. Start with `read_signature`, `render`, `read` and
`run`; `docs/library.md` has examples.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.errors import AdapterParseError as AdapterParseError
    from adapters.errors import RunError as RunError
    from adapters.errors import SignatureError as SignatureError
    from adapters.formats.baml import BAMLAdapter as BAMLAdapter
    from adapters.formats.base import Adapter as Adapter
    from adapters.formats.base import Callback as Callback
    from adapters.formats.chat import ChatAdapter as ChatAdapter
    from adapters.formats.json import JSONAdapter as JSONAdapter
    from adapters.formats.markdown import MarkdownAdapter as MarkdownAdapter
    from adapters.formats.two_step import TwoStepAdapter as TwoStepAdapter
    from adapters.formats.xml import XMLAdapter as XMLAdapter
    from adapters.library import Comparison as Comparison
    from adapters.library import RunOptions as RunOptions
    from adapters.library import compare as compare
    from adapters.library import make_adapter as make_adapter
    from adapters.library import open_model as open_model
    from adapters.library import read as read
    from adapters.library import read_signature as read_signature
    from adapters.library import render as render
    from adapters.library import run as run
    from adapters.lm.protocol import LM as LM
    from adapters.lm.protocol import Chunk as Chunk
    from adapters.lm.protocol import Completion as Completion
    from adapters.lm.protocol import ProviderError as ProviderError
    from adapters.prompts.field_descriptions import get_field_description_string as get_field_description_string
    from adapters.prompts.field_descriptions import translate_field_type as translate_field_type
    from adapters.prompts.text import Message as Message
    from adapters.prompts.text import Prompt as Prompt
    from adapters.prompts.text import Text as Text
    from adapters.replies.reading import Reading as Reading
    from adapters.replies.reading import Span as Span
    from adapters.requests.capabilities import Capabilities as Capabilities
    from adapters.running.runs import Attempt as Attempt
    from adapters.running.runs import Run as Run
    from adapters.signatures.signature import Field as Field
    from adapters.signatures.signature import InputField as InputField
    from adapters.signatures.signature import OutputField as OutputField
    from adapters.signatures.signature import Signature as Signature
    from adapters.types import Audio as Audio
    from adapters.types import Citations as Citations
    from adapters.types import Code as Code
    from adapters.types import Document as Document
    from adapters.types import File as File
    from adapters.types import History as History
    from adapters.types import Image as Image
    from adapters.types import Reasoning as Reasoning
    from adapters.types import Tool as Tool
    from adapters.types import ToolCallResults as ToolCallResults
    from adapters.types import ToolCalls as ToolCalls
    from adapters.types import Type as Type
    from adapters.values.coercion import find_enum_member as find_enum_member
    from adapters.values.coercion import format_field_value as format_field_value
    from adapters.values.coercion import parse_value as parse_value
    from adapters.values.value_text import serialize_for_json as serialize_for_json

_HOMES = {
    "adapters.formats.baml": ("BAMLAdapter",),
    "adapters.formats.base": ("Adapter", "Callback"),
    "adapters.requests.capabilities": ("Capabilities",),
    "adapters.formats.chat": ("ChatAdapter",),
    "adapters.values.coercion": ("find_enum_member", "format_field_value", "parse_value"),
    "adapters.errors": ("AdapterParseError", "RunError", "SignatureError"),
    "adapters.prompts.field_descriptions": ("get_field_description_string", "translate_field_type"),
    "adapters.formats.json": ("JSONAdapter",),
    "adapters.formats.markdown": ("MarkdownAdapter",),
    "adapters.lm.protocol": ("LM", "Chunk", "Completion", "ProviderError"),
    "adapters.library": (
        *("Comparison", "RunOptions", "compare", "make_adapter", "open_model", "read", "read_signature", "render"),
        "run",
    ),
    "adapters.replies.reading": ("Reading", "Span"),
    "adapters.running.runs": ("Attempt", "Run"),
    "adapters.signatures.signature": ("Field", "InputField", "OutputField", "Signature"),
    "adapters.prompts.text": ("Message", "Prompt", "Text"),
    "adapters.formats.two_step": ("TwoStepAdapter",),
    "adapters.types": (
        "Audio",
        "Citations",
        "Code",
        "Document",
        "File",
        "History",
        "Image",
        "Reasoning",
        "Tool",
        "ToolCallResults",
        "ToolCalls",
        "Type",
    ),
    "adapters.values.value_text": ("serialize_for_json",),
    "adapters.formats.xml": ("XMLAdapter",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adapters' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
