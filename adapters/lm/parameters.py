"""The parameters that a request may contain: those that affect the reply, never where the request is sent.

Sessions are untrusted files, and litellm also accepts parameters that name other hosts, keys, callbacks and proxies.
"""

from __future__ import annotations

from collections.abc import Iterable

PARAMETERS = frozenset(
    {
        "audio",
        "best_of",
        "cache_control_injection_points",
        "enable_thinking",
        "format",
        "frequency_penalty",
        "functions",
        "function_call",
        "include_reasoning",
        "keep_alive",
        "length_penalty",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "min_p",
        "min_tokens",
        "mirostat",
        "modalities",
        "n",
        "num_ctx",
        "num_predict",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "reasoning",
        "reasoning_effort",
        "reasoning_format",
        "repeat_penalty",
        "repetition_penalty",
        "response_format",
        "safety_identifier",
        "safety_settings",
        "seed",
        "service_tier",
        "stop",
        "stop_sequences",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_a",
        "top_k",
        "top_logprobs",
        "top_p",
        "typical_p",
        "use_beam_search",
        "user",
        "verbosity",
        "web_search_options",
    }
)


def refused(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that a request may not contain, in order."""
    return tuple(name for name in names if name not in PARAMETERS)
