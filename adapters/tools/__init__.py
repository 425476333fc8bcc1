"""Tool turns: calls by the model, results, and the continued conversation.

The rules are those of weakincentives' conversation runner, with an exception: a call that cannot be made (unknown tool,
bad JSON) is a failed result for the model and does not end the run.
"""

from __future__ import annotations

from adapters.tools.arguments import ArgumentsError, decode, validate
from adapters.tools.tools import (
    LONGEST_RESULT,
    DeadlineExceededError,
    RunTool,
    ToolResult,
    Tools,
    ToolState,
    ToolValidationError,
    described,
    request_tools,
    text_of,
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
