"""Why a reply ended, in words, where it was not because the model had said all it had to say."""

from __future__ import annotations

LONGEST_REFUSAL = 200

WORDS = {
    "length": "cut off at its token limit",
    "content_filter": "stopped by a content filter",
}
"""By the finish reason, as OpenAI names them and litellm maps everybody's."""


def why_it_ended(finish_reason: str | None, refusal: str = "") -> str:
    """One line; empty for a reply that came to its own end. `refusal` is what the model said instead of an answer.

    >>> why_it_ended("length")
    'cut off at its token limit'
    >>> why_it_ended("stop")
    ''
    """
    if refusal:
        said = " ".join(refusal.split())
        return f"refused: {said if len(said) <= LONGEST_REFUSAL else said[:LONGEST_REFUSAL] + '…'}"
    return WORDS.get(finish_reason or "", "")
