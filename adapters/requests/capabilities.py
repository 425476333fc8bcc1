"""The capabilities of a model that adapters ask for."""

from __future__ import annotations

from typing import Any

from adapters.late_dataclasses import dataclass


@dataclass(frozen=True)
class Capabilities:
    """Capabilities that dspy asks of an LM: tools, reasoning, schemas, and accepted parameters."""

    function_calling: bool = False
    reasoning: bool = False
    response_schema: bool = False
    params: frozenset[str] = frozenset()

    def as_json(self) -> dict[str, Any]:
        """Return the capabilities as plain JSON, with the parameters sorted."""
        return {**vars(self), "params": sorted(self.params)}


NONE = Capabilities()
