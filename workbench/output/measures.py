"""Format tokens, cost, time and size.

Estimates are marked `~`, an unknown cost is never 0, and of an image or a file only kind and size are shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.prompts.text import prompt_of_dicts
from adapters.requests.token_estimates import Estimates, estimate
from workbench.output.display import one_line

if TYPE_CHECKING:
    from adapters.running.runs import Attempt


def line(attempt: Attempt) -> str:
    """Return a line such as `attempt 2, tools: 412 + 33 tokens, $0.0003, 812 ms`."""
    return f"attempt {attempt.number}, {attempt.purpose}: {billed(attempt, ', ')}, {attempt.duration_ms:.0f} ms"


def billed(attempt: Attempt, separator: str = " · ") -> str:
    """Return the tokens and the cost of a call, such as `412 + 33 tokens · $0.0003`."""
    if attempt.error and attempt.cost == 0:
        return "nothing billed"
    return f"{token_counts(attempt)}{separator}{cost(total_cost([attempt]))}"


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
    asked: Any = usage.get("prompt_tokens")
    answered: Any = usage.get("completion_tokens")
    is_asked, is_answered = isinstance(asked, int), isinstance(answered, int)
    if not is_asked:
        messages = [one for one in attempt.request.get("messages") or () if isinstance(one, Mapping)]
        asked = Estimates().total(prompt_of_dicts(messages).messages, attempt.request)
    if not is_answered:
        answered = sum(estimate(one.text) + estimate(one.reasoning) for one in attempt.completions)
    return (asked, not is_asked), (answered, not is_answered)


def cost(dollars: float | None) -> str:
    """Format a cost in US dollars.

    >>> cost(None), cost(0), cost(0.00031), cost(1.5)
    ('cost unknown', 'free', '$0.00031', '$1.50')
    """
    if not dollars:
        return "cost unknown" if dollars is None else "free"
    if dollars >= 1:
        return f"${dollars:.2f}"
    return f"${dollars:.2g}" if dollars >= 0.0001 else f"${dollars:.7f}"


def total_cost(attempts: Iterable[Attempt]) -> float | None:
    """Sum the costs; None if any is unknown. Offline models are free."""
    known = [0.0 if one.cost is None and one.model.startswith("offline/") else one.cost for one in attempts]
    return None if any(one is None for one in known) else sum(one for one in known if one is not None)


LONGEST_SUMMARY = 200
LONGEST_NAMED_VALUE = 120


def summary(payload: Mapping[str, Any]) -> str:
    """Return `image_url · image/png · 12.3 kB` or `file · report.pdf · application/pdf · 1.2 MB`."""
    words = [str(payload.get("type", "part"))]
    for key, value in _leaves(payload):
        if key == "type":
            continue
        if value.startswith("data:"):
            words += describe_data_url(value)
        elif len(value) > LONGEST_NAMED_VALUE and not value.startswith(("http://", "https://")):
            words.append(size(len(value) * 3 // 4))
        else:
            words.append(value)
    return one_line(" · ".join(words), LONGEST_SUMMARY)


def size(count: int) -> str:
    """Format a number of bytes: `812 B`, `12.3 kB`, `4.0 MB`."""
    if count < 1_000:
        return f"{count} B"
    return f"{count / 1_000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def describe_data_url(url: str) -> list[str]:
    """Return the media type and the size of a data URL's content."""
    head, _, data = url.partition(",")
    kind = head[len("data:") :]
    if kind.endswith(";base64"):
        return [kind[: -len(";base64")], size(len(data.rstrip("=")) * 3 // 4)]
    return [kind, size(len(data))]


def _leaves(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    if depth > 8:
        return
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _leaves(one, str(name), depth + 1)
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for one in value[:20]:
            yield from _leaves(one, key, depth + 1)
    elif value is not None:
        yield key, f"{key} {json.dumps(value, default=repr)}"
