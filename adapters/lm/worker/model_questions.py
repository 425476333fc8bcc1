"""Ask litellm what models can do, with the calls of `dspy.LM` and without the network.

Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, TypedDict


class ModelAnswer(TypedDict):
    """litellm's answer about a model."""

    function_calling: bool
    reasoning: bool
    response_schema: bool
    params: list[str]
    vision: bool | None
    """True if it takes images, False if litellm's table says that it does not; None if unknown, as the limits below."""
    context: int | None
    output: int | None
    listed: bool
    """True if litellm's table contains the model; otherwise the answer follows from its rules for names."""


def release() -> str:
    return version("litellm")


def answers(litellm: object, models: Iterable[str]) -> dict[str, ModelAnswer]:
    """Answer for each model. Rule: `dspy.clients.capabilities._litellm_capabilities`."""
    with _no_network():
        return {model: _answer(litellm, model) for model in models}


def _answer(litellm: Any, model: str) -> ModelAnswer:
    # dspy passes the provider to litellm only when it asks about schemas and parameters.
    provider = model.partition("/")[0] if "/" in model else "openai"
    params = _said(lambda: litellm.get_supported_openai_params(model=model, custom_llm_provider=provider))
    schema = _said(lambda: litellm.supports_response_schema(model=model, custom_llm_provider=provider))
    known = _said(lambda: litellm.get_model_info(model)) if _is_listed(litellm, model, provider) else None
    info = known if isinstance(known, dict) else {}
    vision = _said(lambda: litellm.supports_vision(model=model)) if info else None
    return {
        "function_calling": bool(_said(lambda: litellm.supports_function_calling(model=model))),
        "reasoning": bool(_said(lambda: litellm.supports_reasoning(model))),
        "response_schema": bool(schema),
        "params": sorted(params or ()),
        "vision": None if vision is None else bool(vision),
        "context": _limit(info.get("max_input_tokens")),
        "output": _limit(info.get("max_output_tokens")),
        "listed": _is_listed(litellm, model, provider),
    }


def _limit(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and value > 0 else None


def _is_listed(litellm: Any, model: str, provider: str) -> bool:
    if model in litellm.model_cost:
        return True
    bare = litellm.model_cost.get(model.partition("/")[2])
    if isinstance(bare, dict) and str(bare.get("litellm_provider", "")).startswith(provider):
        return True
    known = _said(lambda: litellm.get_model_info(model))
    return isinstance(known, dict) and known.get("key") in litellm.model_cost


def _said(ask: Callable[[], Any]) -> Any:
    """Return litellm's answer; None if it raises, as for an unknown provider."""
    try:
        return ask()
    except Exception:  # anything that litellm raises for this name
        return None


@contextmanager
def _no_network() -> Iterator[None]:
    """Block connections of this thread: litellm would query some servers about their models, and start logins."""
    asks, connects, thread = socket.getaddrinfo, socket.socket.connect, threading.get_ident()

    def refusing(call: Callable[..., Any]) -> Callable[..., Any]:
        def refused(*arguments: Any, **options: Any) -> Any:
            if threading.get_ident() == thread:
                raise OSError("no server is asked what a model can do")
            return call(*arguments, **options)

        return refused

    socket.getaddrinfo, socket.socket.connect = refusing(asks), refusing(connects)  # type: ignore[method-assign]
    try:
        yield
    finally:
        socket.getaddrinfo, socket.socket.connect = asks, connects  # type: ignore[method-assign]
