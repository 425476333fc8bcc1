"""The schema of a reply as dspy 3.4.1's own client asks Anthropic for it: `output_config`, references and all.

litellm would put the references in place, or for a model that it does not know to take schemas force a tool whose
references lead nowhere (`/$defs/…`). What it is given as `output_config` it sends as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adapters.lm.dspys_client import effort_of, form_of

ADAPTIVE = ("sonnet-5", "opus-5", "sonnet-4-6", "opus-4-6", "opus-4-7", "opus-4-8", "fable", "mythos", "haiku-5")
"""Parts of the names of models that are told an effort, and not a budget of tokens for their thinking.

Rule: `dspy._vendor.lm15.providers.anthropic._ADAPTIVE_CLASS_MARKERS`."""


def with_output_config(model: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """A chat request with its schema under `output_config`; as it is without one. Raises NotTakenError.

    litellm sends one `output_config` alone, so the effort, which it would write there itself, is written beside.
    Rule: the end of `dspy._vendor.lm15.providers.anthropic.AnthropicLM._payload`.
    """
    form = form_of(request)
    if form is None or form["type"] != "json_schema":
        return dict(request)
    config: dict[str, Any] = {"format": {"type": "json_schema", "schema": form["schema"]}}
    effort = effort_of(request)
    if effort not in (None, "none") and any(part in model.lower() for part in ADAPTIVE):
        config = {"effort": "low" if effort == "minimal" else effort, **config}
    return {**{name: value for name, value in request.items() if name != "response_format"}, "output_config": config}
