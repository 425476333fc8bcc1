"""Custom types with dspy's names, fields, methods and serialised form, each loaded on first use.

They follow dspy 3.4.1 (MIT licence, Copyright (c) 2023 Stanford Future Data Systems; the licence is in
`schema_texts.json`). Unlike dspy's, they never open a file, fetch a URL or call a function by themselves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.types.base import History, Type
    from adapters.types.code import Code
    from adapters.types.decision import Choice, Noul, Score
    from adapters.types.media import Audio, File, Image
    from adapters.types.native import Citations, Document, Reasoning
    from adapters.types.tools import Tool, ToolCallResults, ToolCalls

__all__ = ["Audio", "Choice", "Citations", "Code", "Document", "File", "History", "Image", "Noul", "Reasoning", "Score"]
__all__ += ["Tool", "ToolCallResults", "ToolCalls", "Type"]
_HOMES = {
    "base": "History Type",
    "code": "Code",
    "decision": "Choice Noul Score",
    "media": "Audio File Image",
    "native": "Citations Document Reasoning",
    "tools": "Tool ToolCallResults ToolCalls",
}
_HOME_OF = {name: f"adapters.types.{home}" for home, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adapters.types' has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
