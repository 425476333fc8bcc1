"""The capabilities of a model that adapters ask for."""

from __future__ import annotations

from adapters.late_dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """Capabilities that dspy asks of an LM: tools, reasoning, schemas, and accepted parameters."""

    function_calling: bool = False
    reasoning: bool = False
    response_schema: bool = False
    params: frozenset[str] = frozenset()


NONE = Capabilities()
