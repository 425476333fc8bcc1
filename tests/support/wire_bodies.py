"""The body of a request as it arrives at a server on this machine, sent by dspy and by us."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any, Literal

import dspy
import pydantic
from dspy.adapters.types.reasoning import Reasoning
from dspy.adapters.types.tool import ToolCalls
from dspy.clients.lm import _is_openai_reasoning_model
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


OF_TOOLS = frozenset({"tool_choice", "parallel_tool_calls"})
"""Settings that an adapter without tools drops where they are a call's own (`config`), and not where the LM's."""

EVERY_SETTING: Mapping[str, Any] = {
    "temperature": 1,
    "top_p": 0.5,
    "top_k": 40,
    "min_p": 0.1,
    "max_tokens": LIMIT,
    "max_completion_tokens": LIMIT,
    "n": 2,
    "stop": ["END"],
    "seed": 3,
    "presence_penalty": 0.5,
    "frequency_penalty": 1,
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "top_logprobs": 2,
    "reasoning_effort": "low",
    "thinking": {"type": "disabled"},
    "verbosity": "low",
    "parallel_tool_calls": False,
    "tool_choice": "auto",
    "response_format": {"type": "json_object"},
    "prediction": {"type": "content", "content": "x"},
    "service_tier": "flex",
    "user": "u-1",
    "modalities": ["text"],
    "audio": {"voice": "alloy", "format": "wav"},
    "web_search_options": {"search_context_size": "low"},
    "prompt_cache_key": "k",
    "safety_identifier": "s",
    "reasoning": {"effort": "low"},
    "enable_thinking": False,
    "include_reasoning": True,
    "reasoning_format": "parsed",
    "stop_sequences": ["END"],
    "min_tokens": 3,
    "top_a": 0.5,
    "typical_p": 0.5,
    "repetition_penalty": 1.1,
    "repeat_penalty": 1.1,
    "length_penalty": 1.0,
    "num_ctx": 4096,
    "num_predict": 100,
    "cache_control_injection_points": [{"location": "message", "role": "system"}],
}
"""A value of each parameter that a session may set and that is part of what is asked."""


def setting(name: str) -> dict[str, Any]:
    """The parameters that set this one, with what it does not go without."""
    return {name: EVERY_SETTING[name], **({"logprobs": True} if name == "top_logprobs" else {})}


def drawn_settings(rng: Random, model: str) -> dict[str, Any]:
    """None to four of the settings at once; those that `dspy.LM` refuses when it is made, for no model."""
    names = rng.sample([*EVERY_SETTING], rng.randint(0, 4))
    drawn = {key: one for name in names for key, one in setting(name).items()}
    return {name: one for name, one in drawn.items() if name != "max_completion_tokens" or not limited_by_dspy(model)}


def limited_by_dspy(model: str) -> bool:
    """Whether `dspy.LM` sets `max_completion_tokens` itself, so that it cannot be set."""
    return bool(_is_openai_reasoning_model(model))


def signature(feature: str) -> Any:
    return dspy.Signature({"question": (str, dspy.InputField()), **FEATURES[feature]}, "Answer.")


def variable_of(header: str) -> str:
    """The variable that holds what both send in this header."""
    return "WIRE_" + header.upper().replace("-", "_")


def sent_by_dspy(
    server: LoopbackServer,
    name: str,
    adapter: str,
    feature: str,
    params: dict[str, Any],
    held: bool = True,
    **settings: Any,
) -> Any:
    """The body of dspy's request; `params` are those of `dspy.LM(…)`, but where they are not `held` those of tools."""
    server.requests.clear()
    inputs = {**QUESTION, **({"tools": [dspy.Tool(search)]} if feature == "tools" else {})}
    options = {} if adapter in ("json", "baml", "twostep") else {"use_json_adapter_fallback": False}
    try:
        of_the_call = {one: value for one, value in params.items() if one in OF_TOOLS and not held}
        settings |= {one: value for one, value in params.items() if one not in of_the_call}
        lm = dspy.LM(name, api_base=server.url, api_key=CANARY, cache=False, num_retries=0, **settings)
        engines.theirs(adapter, options, lm)(lm, of_the_call, signature(feature), [], inputs)
    except Exception as error:
        problem = type(error).__name__
    else:
        problem = "none"
    return body_of(server, problem)


def sent_by_us(
    server: LoopbackServer,
    name: str,
    adapter: str,
    feature: str,
    params: dict[str, Any],
    held: bool = True,
    **settings: Any,
) -> Any:
    """The body of our request, as `sent_by_dspy`."""
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
    run = runner.run(engines.ours(adapter), lm, ours, [], inputs, fallback=False, params=params, held=held)
    return body_of(server, "none" if run.error is None else run.error.message)


def body_of(server: LoopbackServer, problem: str) -> Any:
    # litellm asks Ollama what a model is, before it asks the model.
    asked = [one.body for one in server.requests if not one.path.endswith("/api/show")]
    if not asked:
        return {"nothing was sent": problem}
    return {name: value for name, value in asked[0].items() if name not in TRANSPORT}


def differences(theirs: Any, ours: Any) -> str | None:
    if "nothing was sent" in theirs and "nothing was sent" in ours:
        return None
    names = [name for name in {**theirs, **ours} if _written(theirs.get(name)) != _written(ours.get(name))]
    return "; ".join(f"{name}: {theirs.get(name)!r} is now {ours.get(name)!r}"[:300] for name in names) or None


def _written(part: Any) -> str:
    """A part as it is written; of a schema, only the order of its fields is one that a model sees."""
    return json.dumps(_sorted_but_fields(part) if isinstance(part, dict) and "json_schema" in part else part)


def _sorted_but_fields(schema: Any, is_fields: bool = False) -> Any:
    if isinstance(schema, list):
        return [_sorted_but_fields(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    names = [*schema] if is_fields else sorted(schema)
    return {name: _sorted_but_fields(schema[name], name == "properties" and not is_fields) for name in names}
