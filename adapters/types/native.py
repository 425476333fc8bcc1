"""What a model gives natively instead of as a field of its reply: plans for the request, as pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class NativePlan:
    """Whether the field leaves the signature, and the parameters that are then added to the request."""

    removes_field: bool
    params: Mapping[str, Any] = field(default_factory=dict)


KEEP = NativePlan(False)


def reasoning_plan(
    supports_reasoning: bool, params: Mapping[str, Any], model: str | None, model_type: str = "chat"
) -> NativePlan:
    """What a `Reasoning` output does to a request (rule: `dspy.Reasoning.adapt_to_native_lm_feature`).

    `params` are the model's own and the call's together, the call's winning. An explicit `reasoning_effort` of None
    turns the feature off; none at all means `low`. GPT-5 through chat completions returns no reasoning, so it keeps
    the field.
    """
    effort = params.get("reasoning_effort", "low")
    if effort is None or not supports_reasoning:
        return KEEP
    if "gpt-5" in (model or "") and model_type == "chat":
        return KEEP
    return NativePlan(True, {"reasoning_effort": effort})


def citations_plan(model: str | None) -> NativePlan:
    """What a `Citations` output does to a request: Anthropic's models cite natively."""
    return NativePlan((model or "").startswith("anthropic/"))
