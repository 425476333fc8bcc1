"""What a model can do, as far as adapters ask."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """What dspy asks an LM: native tools and reasoning, `response_format` by schema, and the parameters it takes."""

    function_calling: bool = False
    reasoning: bool = False
    response_schema: bool = False
    params: frozenset[str] = frozenset()


NONE = Capabilities()
