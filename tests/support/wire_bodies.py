"""The body of a request as it arrives at a server on this machine, sent by dspy and by us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import dspy
import pydantic
from dspy.adapters.types.reasoning import Reasoning
from dspy.adapters.types.tool import ToolCalls
from loopback_server import CANARY, LoopbackServer
from oracle import engines

from adapters import lm as models
from adapters.lm.capabilities import known_of
from adapters.running import runner
from adapters.signatures.signature import Signature
from adapters.types import Tool

TRANSPORT = frozenset({"stream", "stream_options", "usage"})
PROVIDERS = ("openai", "groq", "openrouter", "deepseek", "xai", "hosted_vllm", "moonshot", "together_ai", "mistral")
PROVIDERS += ("fireworks_ai", "perplexity", "deepinfra", "nebius", "novita", "dashscope")
OTHERS = ("anthropic/claude-sonnet-5-5", "gemini/gemini-3.8-flash")
"""Models that dspy calls by a client of its own and litellm by another API or in another shape of it."""

LIMIT = 16_000
"""A limit of tokens that dspy allows for every model."""


class Line(pydantic.BaseModel):
    kind: Literal["a", "b"] = pydantic.Field("a", description="which one")
    note: str | None = None


class Found(pydantic.BaseModel):
    main: Line = pydantic.Field(description="the one that counts")
    others: list[Line] = []


def search(query: str, limit: int = 5) -> str:
    """Searches."""
    return ""


ARGS = {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}}
QUESTION: dict[str, Any] = {"question": "What is a \u201cquote\u201d?"}
FEATURES: Mapping[str, dict[str, Any]] = {
    "lists": {"tags": (list[str], dspy.OutputField()), "sure": (bool, dspy.OutputField())},
    "models": {"found": (Found, dspy.OutputField(desc="all of it"))},
    "tools": {"tools": (list[dspy.Tool], dspy.InputField()), "tool_calls": (ToolCalls, dspy.OutputField())},
    "reasoning": {"reasoning": (Reasoning, dspy.OutputField()), "answer": (str, dspy.OutputField())},
}


def signature(feature: str) -> Any:
    return dspy.Signature({"question": (str, dspy.InputField()), **FEATURES[feature]}, "Answer.")


def variable_of(header: str) -> str:
    """The variable that holds what both send in this header."""
    return "WIRE_" + header.upper().replace("-", "_")


def sent_by_dspy(
    server: LoopbackServer, name: str, adapter: str, feature: str, params: dict[str, Any], **settings: Any
) -> Any:
    server.requests.clear()
    inputs = {**QUESTION, **({"tools": [dspy.Tool(search)]} if feature == "tools" else {})}
    options = {} if adapter in ("json", "baml", "twostep") else {"use_json_adapter_fallback": False}
    try:
        lm = dspy.LM(name, api_base=server.url, api_key=CANARY, cache=False, num_retries=0, **settings, **params)
        engines.theirs(adapter, options, lm)(lm, {}, signature(feature), [], inputs)
    except Exception as error:
        problem = type(error).__name__
    else:
        problem = "none"
    return body_of(server, problem)


def sent_by_us(
    server: LoopbackServer, name: str, adapter: str, feature: str, params: dict[str, Any], **settings: Any
) -> Any:
    server.requests.clear()
    tool = Tool(name="search", desc="Searches.", args=ARGS)
    inputs = {**QUESTION, **({"tools": [tool]} if feature == "tools" else {})}
    model_type = settings.get("model_type", "chat")
    used = {"api_base", *(["extra_headers"] if "extra_headers" in settings else [])}
    can = known_of(name, model_type, used).capabilities
    headers = {header: variable_of(header) for header in settings.get("extra_headers", ())}
    lm = models.open(
        name,
        api_base=server.url,
        api_base_trusted=True,
        capabilities=can,
        settings=models.LMSettings(model_type, settings.get("use_developer_role", False), headers),
        allow_variables=headers.values(),
    )
    ours = Signature.from_dspy(signature(feature))
    run = runner.run(engines.ours(adapter), lm, ours, [], inputs, fallback=False, params=params)
    return body_of(server, "none" if run.error is None else run.error.message)


def body_of(server: LoopbackServer, problem: str) -> Any:
    if not server.requests:
        return {"nothing was sent": problem}
    return {name: value for name, value in server.requests[0].body.items() if name not in TRANSPORT}


def differences(theirs: Any, ours: Any) -> str | None:
    if "nothing was sent" in theirs and "nothing was sent" in ours:
        return None
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    return "; ".join(f"{name}: {theirs.get(name)!r} is now {ours.get(name)!r}"[:300] for name in names) or None
