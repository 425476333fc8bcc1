"""Constraints that the prompt shows and nothing enforces: those that a value breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from adapters.replies.flags.flag import Flag, shown
from adapters.signatures.signature import CONSTRAINT_WORDS, Field

METADATA = ("gt", "ge", "lt", "le", "min_length", "max_length", "multiple_of")
WORDS = {words: name for name, words in CONSTRAINT_WORDS.items() if name in METADATA}
ONE = re.compile(rf"({'|'.join(sorted(map(re.escape, WORDS), key=len, reverse=True))})([^,]+)")


def constraints_of(field: Field) -> Mapping[str, Any]:
    """The constraints of a field by pydantic's names: those in the prompt, and those of a live dspy signature."""
    found: dict[str, Any] = {}
    for match in ONE.finditer(field.constraints or ""):
        try:
            found[WORDS[match.group(1)]] = Decimal(match.group(2).strip())
        except InvalidOperation:
            continue
    for one in getattr(field.info, "metadata", ()) or ():
        for name in METADATA:
            limit = getattr(one, name, None)
            if limit is not None:
                found.setdefault(name, limit)
    return found


def constraint_flags(field: Field, value: Any) -> Iterator[Flag]:
    """One flag when the value breaks a constraint."""
    for name, limit in constraints_of(field).items():
        if _is_broken(name, limit, value):
            yield Flag(
                "constraint-not-enforced",
                f"{shown(value)} breaks a constraint of `{field.name}` ({CONSTRAINT_WORDS[name]}{limit}): dspy shows "
                "constraints to the model and checks none of them.",
                field.name,
            )


def _is_broken(name: str, limit: Any, value: Any) -> bool:
    if name in ("min_length", "max_length"):
        if not isinstance(value, str | list | tuple | dict | set):
            return False
        return bool(len(value) < limit if name == "min_length" else len(value) > limit)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return False
    if name == "multiple_of":
        try:
            return bool(limit) and Decimal(str(value)) % Decimal(str(limit)) != 0
        except InvalidOperation:  # too large a number, or nan
            return False
    broken = {"gt": value <= limit, "ge": value < limit, "lt": value >= limit, "le": value > limit}
    return bool(broken[name])
