"""How large a type may be: aliases of aliases make one of millions of parts out of a few lines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args, get_origin

from adapters.signatures.type_names import is_type_alias

LARGEST_TYPE = 10_000
"""Parts of a type: each name in it, and each twenty characters of what is no name (a literal's text).

What prints, hashes or validates a type takes all of them one by one; a type of that size is 100 kB of prompt.
"""

TEXT_OF_A_PART = 20
"""Characters."""


def is_too_large(parts: Iterable[Any]) -> bool:
    """Whether a type made of these has more than `LARGEST_TYPE` parts. A class is one, whatever its fields are.

    A part that stands in two places counts twice, as it is printed twice; no more than the limit is looked at.
    """
    left = LARGEST_TYPE
    waiting = list(parts)
    while waiting:
        one = waiting.pop()
        left -= 1
        if isinstance(one, list | tuple):
            waiting.extend(one[: left + 1])
        elif is_type_alias(one):
            waiting.append(one.__value__)
        elif get_origin(one) is not None:
            waiting.extend(get_args(one)[: left + 1])
        elif not isinstance(one, type):
            left -= len(repr(one)) // TEXT_OF_A_PART
        if left < 0:
            return True
    return False
