"""Tool turns: what a model asks tools for, what they answer, and how the conversation goes on.

The rules are those of weakincentives' conversation runner, but for one: a call that cannot be made (unknown tool, bad
JSON) is a failed result that goes back to the model and ends nothing.
"""

from __future__ import annotations

from adapters.tools.arguments import ArgumentsError, decode, validate
from adapters.tools.results import ToolResult, text_of
from adapters.tools.tools import (
    LONGEST_RESULT,
    DeadlineExceededError,
    RunTool,
    Tools,
    ToolState,
    ToolValidationError,
    described,
    request_tools,
)

__all__ = [
    "LONGEST_RESULT",
    "ArgumentsError",
    "DeadlineExceededError",
    "RunTool",
    "ToolResult",
    "ToolState",
    "ToolValidationError",
    "Tools",
    "decode",
    "described",
    "request_tools",
    "text_of",
    "validate",
]
