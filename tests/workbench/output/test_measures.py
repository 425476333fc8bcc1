"""Numbers that say how sure they are."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adapters.lm.protocol import Completion
from adapters.running.runs import Attempt
from workbench.output import measures


def attempt(**parts: object) -> Attempt:
    request = {"messages": [{"role": "user", "content": "four letters each here."}]}
    return Attempt(1, "chat", "m", request, (Completion("eight ch"),), **parts)  # type: ignore[arg-type]


def test_what_the_provider_counted_is_exact_and_the_rest_is_marked() -> None:
    usage = {"prompt_tokens": 412, "completion_tokens": 33}
    assert measures.line(attempt(usage=usage, cost=0.0003, duration_ms=812.4)) == (
        "attempt 1, first: 412 + 33 tokens, $0.0003, 812 ms"
    )
    assert measures.token_counts(attempt()) == "~13 + ~2 tokens", (
        "six of the text, three and the role around it, three before the reply"
    )


@pytest.mark.parametrize(
    ("dollars", "shown"),
    [(None, "cost unknown"), (0.0, "free"), (0.00000012, "$0.0000001"), (0.031, "$0.031"), (12.3, "$12.30")],
)
def test_a_cost_that_nobody_knows_is_never_zero(dollars: float | None, shown: str) -> None:
    assert measures.cost(dollars) == shown


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    assert measures.total_cost([attempt(cost=0.5), attempt(cost=0.25)]) == 0.75
    assert measures.total_cost([attempt(cost=0.5), attempt()]) is None


def test_an_offline_model_costs_nothing() -> None:
    assert ", free, " in measures.line(replace(attempt(), model="offline/exact"))
    assert ", cost unknown, " in measures.line(replace(attempt(), model="hosted_vllm/mine"))


def test_a_failed_call_that_was_not_billed_says_so() -> None:
    failed = Attempt(1, "chat", "groq/x", {"messages": []}, cost=0.0, duration_ms=12.0, error="rate limit reached")
    assert measures.line(failed) == "attempt 1, first: nothing billed, 12 ms"
