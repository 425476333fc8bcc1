"""A cache for what depends on a signature's fields alone: it is made once for all signatures with the same `Field`s.

Signatures that differ only in their instructions share it: while instructions are edited, and in a team's fixtures.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

from adapters.signatures.signature import Field, Signature

Result = TypeVar("Result")
LIMIT = 512


def once_per_fields(make: Callable[[Signature], Result]) -> Callable[[Signature], Result]:
    """`make` remembered for the last few hundred sets of fields; it must not look at the signature's other parts.

    What it raises is not kept.
    """
    made: dict[tuple[Field, ...], Result] = {}

    @wraps(make)
    def remembered(signature: Signature) -> Result:
        key = signature.fields_in_order
        try:
            return made[key]
        except KeyError:
            pass
        found = make(signature)
        if len(made) >= LIMIT:
            made.clear()
        made[key] = found
        return found

    return remembered
