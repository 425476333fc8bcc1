"""Settings of `dspy.LM` besides the model's name, and the parameters that a request may contain."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from adapters.late_dataclasses import dataclass, field

ModelType = Literal["chat", "responses", "text"]
"""The API to use: chat completions, OpenAI's Responses, or text completions."""

MODEL_TYPES: tuple[ModelType, ...] = ("chat", "responses", "text")

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
OF_THE_CONNECTION = frozenset({"connection", "content-length", "content-type", "host", "te", "transfer-encoding"})
"""Headers that describe the transfer, which only the HTTP client may set."""


@dataclass(frozen=True)
class LMSettings:
    """Settings of a model.

    `developer_role` sends system messages with the role `developer`, only over the Responses API (as in dspy).
    `header_variables` maps additional headers to the environment variables with their values, which are read when a
    request is sent and never stored.
    """

    model_type: ModelType = "chat"
    developer_role: bool = False
    header_variables: Mapping[str, str] = field(default_factory=dict)


def why_no_header(header: str, variable: str) -> str:
    """Return why a header cannot be sent with a variable's value, or ""."""
    if not _HEADER.fullmatch(header):
        return "a header's name consists of letters, digits and -, such as OpenAI-Organization"
    if header.lower() in OF_THE_CONNECTION:
        return "this header is set by who sends the request"
    return "" if _VARIABLE.fullmatch(variable) else "expected the name of an environment variable, such as OPENAI_ORG"


PARAMETERS = frozenset(
    """
    temperature top_p top_k top_a min_p typical_p seed mirostat
    frequency_penalty presence_penalty length_penalty repeat_penalty repetition_penalty logit_bias
    n best_of use_beam_search stop stop_sequences
    max_tokens max_completion_tokens min_tokens num_ctx num_predict
    reasoning reasoning_effort reasoning_format include_reasoning thinking enable_thinking verbosity
    tools tool_choice parallel_tool_calls functions function_call web_search_options
    response_format format prediction modalities audio
    logprobs top_logprobs
    user safety_identifier safety_settings service_tier
    prompt_cache_key cache_control_injection_points keep_alive
    """.split()
)
"""The parameters that a request may contain."""
