"""What a model can do, by its name alone: a small table of well known families, read without importing litellm.

The answers are those of dspy 3.4.1's `LM(name)` (`supports_function_calling`, `supports_reasoning`,
`supports_response_schema`, `supported_params`), because these decide what dspy's adapters put into a request.
"""

from __future__ import annotations

import re

from adapters.capabilities import NONE, Capabilities

_COMMON = frozenset({"temperature", "max_tokens", "top_p", "stream"})
_OPENAI = _COMMON | {
    "stop",
    "max_completion_tokens",
    "logprobs",
    "top_logprobs",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "user",
}
_ANTHROPIC = _COMMON | {"stop", "top_k"}
_GEMINI = _COMMON | {"stop", "top_k", "logprobs", "top_logprobs", "response_format"}
_MISTRAL = _COMMON | {
    "stop",
    "max_completion_tokens",
    "seed",
    "response_format",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
}

_DATE = r"(-\d{4}-\d{2}-\d{2}|-\d{8}|-latest)?"

# Per provider: (pattern of the whole model name, function calling, reasoning, response schema); the first match counts.
_MODELS: dict[str, tuple[tuple[str, bool, bool, bool], ...]] = {
    "openai": (
        (r"gpt-4o-2024-05-13", True, False, False),
        (rf"gpt-4o(-mini)?{_DATE}", True, False, True),
        (rf"gpt-4\.1(-mini|-nano)?{_DATE}", True, False, True),
        (r"gpt-5-chat", False, True, True),
        (rf"gpt-5\.[45]-pro{_DATE}", True, True, False),
        (rf"gpt-5(-mini|-nano|-pro|-codex|-chat)?{_DATE}", True, True, True),
        (rf"gpt-5\.[1-5](-codex|-codex-max|-codex-mini|-pro|-chat|-mini|-nano)?{_DATE}", True, True, True),
        (r"o1-mini", False, True, False),
        (rf"o[134](-mini|-pro)?{_DATE}", True, True, True),
        (r"gpt-3\.5-turbo(-0125|-1106)?", True, False, False),
        (rf"gpt-4(-0613|-1106-preview|-turbo{_DATE})?", True, False, False),
    ),
    "anthropic": (
        (r"claude-(opus|sonnet)-4(-1)?(-2025\d{4})?", True, True, True),
        (r"claude-(opus|sonnet|haiku)-4-[5-9](-2025\d{4}|-2026\d{4})?", True, True, True),
        (r"claude-(opus|sonnet)-5(-5)?|claude-haiku-5-5", True, True, True),
    ),
    "gemini": (
        (r"gemini-2\.5-(flash|flash-lite|pro)", True, True, True),
        (r"gemini-3(\.\d)?-(pro|flash|flash-lite)(-preview)?", True, True, True),
        (r"gemini-(flash|flash-lite|pro)-latest", True, True, True),
    ),
    "groq": ((r"openai/gpt-oss-(20b|120b)", True, True, True),),
    "mistral": (
        (r"mistral-(large|small)", True, False, True),
        (r"mistral-large-latest", True, False, True),
        (r"mistral-(medium|small)-latest", True, True, True),
        (r"(codestral|devstral|ministral-8b|ministral-3b|pixtral-large)-latest", True, False, True),
    ),
    "deepseek": (
        (r"deepseek-chat", True, False, True),
        (r"deepseek-reasoner", False, True, True),
    ),
}

_BASE: dict[str, frozenset[str]] = {
    "openai": _OPENAI,
    "groq": _OPENAI,
    "deepseek": _OPENAI,
    "ollama": _OPENAI,
    "ollama_chat": _OPENAI,
    "hosted_vllm": _OPENAI,
    "openrouter": _OPENAI,
    "anthropic": _ANTHROPIC,
    "gemini": _GEMINI,
    "mistral": _MISTRAL,
}

_TOOL_PARAMS = frozenset({"tools", "tool_choice", "parallel_tool_calls"})


def split_model(model: str) -> tuple[str, str]:
    """Provider and name of `provider/model`; a bare name is OpenAI's, as litellm reads it.

    >>> split_model("groq/openai/gpt-oss-20b")
    ('groq', 'openai/gpt-oss-20b')
    """
    provider, separator, name = model.partition("/")
    return (provider, name) if separator else ("openai", model)


def needs_user_message(model: str) -> bool:
    """Whether litellm refuses, before any call, to send this model a system message alone.

    Rule: litellm's `anthropic_messages_pt` and `BedrockConverseMessagesProcessor`; Gemini gets a blank one.
    """
    provider, name = split_model(model)
    return provider in ("anthropic", "bedrock") or (provider in ("vertex_ai", "azure_ai") and "claude" in name)


def capabilities_of(model: str) -> Capabilities:
    """What the model of this name can do. A provider that is not in the table: nothing at all is assumed of it."""
    provider, name = split_model(model)
    base = _BASE.get(provider)
    if base is None:
        return NONE
    if provider == "openrouter":
        upstream, _, name = name.partition("/")
        rules = _MODELS.get(upstream, ()) if upstream == "openai" else ()
    else:
        rules = _MODELS.get(provider, ())
    function_calling, reasoning, response_schema = next(
        (abilities for pattern, *abilities in rules if re.fullmatch(pattern, name)), (False, False, False)
    )
    params = set(base)
    if function_calling:
        params |= _TOOL_PARAMS - ({"parallel_tool_calls"} if provider == "gemini" else set())
    if reasoning:
        params.add("reasoning_effort")
    if response_schema or (function_calling and base is _OPENAI):
        params.add("response_format")
    return Capabilities(function_calling, reasoning, response_schema, frozenset(params))
