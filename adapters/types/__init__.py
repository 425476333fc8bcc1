"""Custom types with dspy's names, fields, methods and serialised form, each loaded on first use.

They follow dspy 3.4.1 (MIT licence, Copyright (c) 2023 Stanford Future Data Systems; the licence is in
`schema_texts.json`). Unlike dspy's, they never open a file, fetch a URL or call a function by themselves.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adapters.types.base import History as History
    from adapters.types.base import Type as Type
    from adapters.types.code import Code as Code
    from adapters.types.decision import Choice as Choice
    from adapters.types.decision import Noul as Noul
    from adapters.types.decision import Score as Score
    from adapters.types.media import Audio as Audio
    from adapters.types.media import File as File
    from adapters.types.media import Image as Image
    from adapters.types.native import Citations as Citations
    from adapters.types.native import Document as Document
    from adapters.types.native import Reasoning as Reasoning
    from adapters.types.recognition import custom_types_in as custom_types_in
    from adapters.types.recognition import is_builtin as is_builtin
    from adapters.types.recognition import is_custom_type as is_custom_type
    from adapters.types.recognition import is_decision_type as is_decision_type
    from adapters.types.recognition import is_kind_of as is_kind_of
    from adapters.types.recognition import is_named as is_named
    from adapters.types.tools import Tool as Tool
    from adapters.types.tools import ToolCallResults as ToolCallResults
    from adapters.types.tools import ToolCalls as ToolCalls

_HOMES = {
    "base": ("History", "Type"),
    "code": ("Code",),
    "decision": ("Choice", "Noul", "Score"),
    "media": ("Audio", "File", "Image"),
    "native": ("Citations", "Document", "Reasoning"),
    "recognition": (
        *("custom_types_in", "is_builtin", "is_custom_type", "is_decision_type", "is_kind_of", "is_named"),
    ),
    "tools": ("Tool", "ToolCallResults", "ToolCalls"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'adapters.types' has no attribute {name!r}")
    return getattr(import_module(f"adapters.types.{_HOME_OF[name]}"), name)
