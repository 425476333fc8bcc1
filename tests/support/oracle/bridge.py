"""An adapter of ours where dspy expects one of its own."""

from __future__ import annotations

from typing import Any

import dspy

from adapters.formats.base import Adapter
from adapters.signatures.signature import Signature


class Bridge(dspy.Adapter):  # type: ignore[misc]
    """Hands each call of dspy to an adapter of ours."""

    def __init__(self, adapter: Adapter) -> None:
        super().__init__()
        self.adapter = adapter

    def __call__(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        return self.adapter(lm, lm_kwargs, Signature.from_dspy(signature), demos, inputs)

    async def acall(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        return await self.adapter.acall(lm, lm_kwargs, Signature.from_dspy(signature), demos, inputs)

    def format_user_message_content(self, signature: Any, inputs: Any, *args: Any, **kwargs: Any) -> str:
        """`dspy.ReAct` asks its adapter for this one piece."""
        return str(self.adapter.format_user_message_content(Signature.from_dspy(signature), inputs, *args, **kwargs))
