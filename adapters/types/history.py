"""`History`: the turns of a conversation, each with keys of the signature."""

from __future__ import annotations

from typing import Any

import pydantic

from adapters.types.schema_texts import SCHEMA_TEXTS


class History(pydantic.BaseModel):
    __doc__ = SCHEMA_TEXTS["History"]

    messages: list[dict[str, Any]]

    model_config = pydantic.ConfigDict(frozen=True, str_strip_whitespace=True, validate_assignment=True, extra="forbid")
