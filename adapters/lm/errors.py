"""The error for a failed call to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

ErrorKind = Literal[
    "key",
    "model",
    "context",
    "request",
    "refused",
    "rate limit",
    "quota",
    "overloaded",
    "server",
    "network",
    "address",
    "timeout",
    "malformed",
    "interrupted",
    "child",
    "setup",
]
"""The kind of failure.

key: API key missing, wrong or not allowed · model: unknown to the provider · context: prompt too long · request:
rejected as invalid · refused: by a content filter · rate limit: too many requests · quota: no credit left ·
overloaded · server: any other failure of the provider · network: not reachable · address: invalid, or no model API
there · timeout · malformed: a response that violates the protocol · interrupted: connection closed before the end ·
child: the process that calls models was lost · setup: litellm cannot be used, or not for this model.
"""


class ProviderError(Exception):
    """A failed call.

    `message` is one line for the user; `payload` is plain JSON without API keys: the kind, and what the provider sent
    (status, body, relevant headers, exception types); `retry_after` is in seconds.
    """

    def __init__(
        self,
        message: str,
        kind: ErrorKind,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        payload: Mapping[str, Any] | None = None,
    ) -> None:
        self.message = message
        self.kind: ErrorKind = kind
        self.status = status
        self.retry_after = retry_after
        self.payload: dict[str, Any] = {"kind": kind, **(payload or {})}
        super().__init__(message)
