"""Models as dspy announces them for 3.5: called with a `dspy.lm15.Request`; none has a `forward`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from dspy import lm15
from dspy.clients.engines.base import validate_request


class Answering:
    """Gives the next answer to each Request, and keeps the Requests. An answer is a text or a message's parts."""

    model = "next/model"

    def __init__(self, *answers: str | Sequence[Any]) -> None:
        self.answers = list(answers)
        self.requests: list[lm15.Request] = []
        self.beside: list[dict[str, Any]] = []

    def answer(self, request: lm15.Request) -> lm15.Response:
        validate_request(request)
        self.requests.append(request)
        answer = self.answers.pop(0)
        parts = (lm15.TextPart(answer),) if isinstance(answer, str) else tuple(answer)
        message = lm15.Message(role="assistant", parts=parts)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=lm15.Usage())


class NextLM(Answering):
    """A `dspy.LM`: `lm(Request)`, `await lm.acall(Request)`; no word of `messages`."""

    supports_function_calling = True
    supports_reasoning = supports_response_schema = False
    supported_params = frozenset({"tools"})

    def __call__(self, request: lm15.Request, **beside: Any) -> lm15.Response:
        self.beside.append(beside)
        return self.answer(request)

    async def acall(self, request: lm15.Request, **beside: Any) -> lm15.Response:
        await asyncio.sleep(0)
        return self(request, **beside)


class NextEngine(Answering):
    """`dspy.clients.engines.base.Engine`."""

    def complete(self, request: lm15.Request) -> lm15.Response:
        return self.answer(request)


class NextAsyncEngine(Answering):
    """`dspy.clients.engines.base.AsyncEngine`."""

    async def complete(self, request: lm15.Request) -> lm15.Response:
        await asyncio.sleep(0)
        return self.answer(request)
