"""Custom types with dspy's names, fields, methods and serialised form.

They follow dspy 3.4.1 (MIT licence, Copyright (c) 2023 Stanford Future Data Systems; the licence is in
`schema_texts.json`). Unlike dspy's, none opens a file, fetches a URL or calls a function on its own.
"""

from adapters.types.base import History, Type
from adapters.types.code import Code
from adapters.types.decision import Choice, Noul, Score
from adapters.types.media import Audio, File, Image
from adapters.types.native import Citations, Document, Reasoning
from adapters.types.recognition import (
    custom_types_in,
    is_builtin,
    is_custom_type,
    is_decision_type,
    is_kind_of,
    is_named,
)
from adapters.types.tools import Tool, ToolCallResults, ToolCalls

__all__ = [
    "Audio",
    "Choice",
    "Citations",
    "Code",
    "Document",
    "File",
    "History",
    "Image",
    "Noul",
    "Reasoning",
    "Score",
    "Tool",
    "ToolCallResults",
    "ToolCalls",
    "Type",
    "custom_types_in",
    "is_builtin",
    "is_custom_type",
    "is_decision_type",
    "is_kind_of",
    "is_named",
]
