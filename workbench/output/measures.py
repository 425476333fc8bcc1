"""Format tokens, cost and time of calls: estimates are marked `~`, an unknown cost is never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from adapters.prompts.text import prompt_of_dicts
from adapters.requests.token_estimates import Estimates, estimate

if TYPE_CHECKING:
    from adapters.running.runs import Attempt


def line(attempt: Attempt) -> str:
    """Return a line such as `attempt 2, tools: 412 + 33 tokens, $0.0003, 812 ms`."""
    is_free = attempt.cost is None and attempt.model.startswith("offline/")
    return (
        f"attempt {attempt.number}, {attempt.purpose}: {token_counts(attempt)}, "
        f"{'free' if is_free else cost(attempt.cost)}, "
        f"{attempt.duration_ms:.0f} ms"
    )


def counted(number: int, one: str, many: str = "") -> str:
    """Return `1 message` or `1,200 messages`; `many` is the plural if it is not `one` plus s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def token_counts(attempt: Attempt) -> str:
    """Return prompt and completion tokens as the provider counted them, else estimated."""
    asked, answered = _counted(attempt)
    return " + ".join(f"{'~' if is_estimate else ''}{count:,}" for count, is_estimate in (asked, answered)) + " tokens"


def total_tokens(attempt: Attempt) -> tuple[int, bool]:
    """Return the sum of prompt and completion tokens, and whether any of it is an estimate."""
    asked, answered = _counted(attempt)
    return asked[0] + answered[0], asked[1] or answered[1]


def _counted(attempt: Attempt) -> tuple[tuple[int, bool], tuple[int, bool]]:
    """Return the tokens of the prompt and of the completions, each with whether it is an estimate."""
    usage = attempt.usage or {}
    asked, answered = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (
        (asked, False) if isinstance(asked, int) else (_estimate(attempt.request), True),
        (answered, False)
        if isinstance(answered, int)
        else (sum(estimate(one.text) + estimate(one.reasoning) for one in attempt.completions), True),
    )


def cost(dollars: float | None) -> str:
    """Format a cost in US dollars.

    >>> cost(None), cost(0.00031), cost(1.5)
    ('cost unknown', '$0.00031', '$1.50')
    """
    if dollars is None:
        return "cost unknown"
    return f"${dollars:.2f}" if dollars >= 1 else f"${dollars:.2g}" if dollars >= 0.0001 else f"${dollars:.7f}"


def total_cost(attempts: Iterable[Attempt]) -> float | None:
    """Sum the costs; None if any is unknown."""
    known = [one.cost for one in attempts]
    return None if any(one is None for one in known) else sum(one for one in known if one is not None)


def _estimate(request: Mapping[str, Any]) -> int:
    """Estimate the tokens of a sent request from its JSON."""
    messages = [one for one in request.get("messages") or () if isinstance(one, Mapping)]
    return Estimates().total(prompt_of_dicts(messages).messages, request)
