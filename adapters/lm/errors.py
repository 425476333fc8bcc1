"""A call to a model that failed, in a line that a person can act on."""

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
"""What went wrong.

key: missing, wrong or not allowed · model: unknown to the provider · context: prompt too long · request: refused as
invalid · refused: by a content filter · rate limit: too many requests · quota: no credit left · overloaded · server:
any other failure of the provider · network: not reachable · address: none that can be called, or not what answers
there · timeout · malformed: an answer that is not the protocol · interrupted: closed before the end · child: the
process that calls models was lost · setup: litellm cannot be used, or not for this model.
"""


class ProviderError(Exception):
    """A failed call.

    `message` is one line for a person; `payload` is plain JSON, free of keys: the kind, and what the provider sent
    (status, body, headers that matter, exception types); `retry_after` is in seconds.
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
