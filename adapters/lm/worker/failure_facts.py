"""Collect the facts of a failed call as plain JSON; the parent process explains them.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

MAX_BODY = 20_000
"""Maximum characters kept of an error's body."""

REFUSED = "UnsupportedParamsError"
"""The type of litellm's error for parameters that it does not send to a provider."""

Message = dict[str, Any]


class UnfinishedStreamError(Exception):
    """A stream that ended without a finish reason."""

    def __init__(self, anything: bool, content_type: str) -> None:
        super().__init__("the stream ended without a finish reason")
        self.anything = anything
        self.content_type = content_type


def facts_of(error: BaseException) -> Message:
    """Return the facts of a failure as plain JSON."""
    chain: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in chain and len(chain) < 12:
        chain.append(one)
        one = one.__cause__ or one.__context__
    owners = [owner for cause in reversed(chain) for owner in (getattr(cause, "response", None), cause)]
    statuses = [getattr(owner, "status_code", None) for owner in owners]
    facts: Message = {
        "types": [cls.__name__ for cls in type(error).__mro__ if cls.__module__ != "builtins"]
        or [type(error).__name__],
        "message": str(error).partition("\nTraceback (most recent call last)")[0][:MAX_BODY],  # litellm's, with paths
        "causes": [{"type": type(cause).__name__, "message": str(cause)[:2000]} for cause in chain[1:]],
        # The innermost status of the chain; litellm sometimes makes up the outer ones.
        "status": next((one for one in statuses if isinstance(one, int)), None),
        "begun": not getattr(error, "is_pre_first_chunk", False),
    }
    missing = next((one.name for one in chain if isinstance(one, ModuleNotFoundError)), None)
    # litellm's message may contain the error of the import.
    missing = missing or str(error).partition("No module named '")[2].partition("'")[0]
    if missing:
        facts["missing"] = missing
    for cause in chain:
        response = getattr(cause, "response", None)
        headers = headers_of(cause)
        if "retry_after" not in facts and (headers.get("retry-after") or headers.get("llm_provider-retry-after")):
            facts["retry_after"] = headers.get("retry-after") or headers.get("llm_provider-retry-after")
        if "body" not in facts and getattr(cause, "body", None):
            facts["body"] = plain(cause.body)  # type: ignore[attr-defined]
        if "text" not in facts:
            text = text_of(response)
            if text:
                facts["text"] = text[:MAX_BODY]
                facts["content_type"] = headers.get("content-type", "")
    if isinstance(error, UnfinishedStreamError):
        facts["anything"] = error.anything
        facts["content_type"] = error.content_type
    for name in ("llm_provider", "code", "param"):
        value = getattr(error, name, None)
        if isinstance(value, str) and value:
            facts[name] = value
    return facts


def code_of(error: object) -> int | None:
    """Return the HTTP status that a server writes into an error, as OpenRouter does."""
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


def headers_of(error: BaseException) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for owner in (error, getattr(error, "response", None)):
        for name in ("litellm_response_headers", "headers"):
            headers = getattr(owner, name, None)
            if headers:
                found.update({str(key).lower(): str(value) for key, value in dict(headers).items()})
    return found


def text_of(response: Any) -> str:
    try:
        return str(response.text) if response is not None and response.content else ""
    except Exception:
        return ""  # a streamed body that was never read


def plain(value: object) -> Any:
    """Convert `value` to plain JSON; drop the None values of pydantic models."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_none=True)
    return json.loads(json.dumps(value, default=str))
