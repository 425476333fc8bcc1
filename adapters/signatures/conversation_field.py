"""Which input holds the conversation, and the signature without it."""

from __future__ import annotations

from functools import lru_cache

from adapters.signatures.once_per_fields import once_per_fields
from adapters.signatures.signature import Signature
from adapters.types import is_named


@lru_cache(maxsize=512)
def without_field(signature: Signature, name: str) -> Signature:
    """`signature.delete(name)`, the same object for the same arguments."""
    return signature.delete(name)


@once_per_fields
def history_field_name(signature: Signature) -> str | None:
    """The first input field annotated History, if any."""
    return next((name for name, field in signature.input_fields.items() if is_named(field.annotation, "History")), None)
