"""Types by the names that prompts give them, and how large a type may be to be named at all."""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, Literal, Union, get_args, get_origin


def name_of(annotation: object) -> str:
    """Write a type as the prompt names it, `Union[int, NoneType]` or `list[str]` (dspy's `get_annotation_name`)."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is types.UnionType:
        origin = Union
    if origin is None:
        if (
            isinstance(annotation, type)
            and annotation.__name__ == "Reasoning"
            and annotation.__module__ in ("adapters.types.native", "dspy.adapters.types.reasoning")
        ):
            return "str"
        return str(getattr(annotation, "__name__", annotation))
    if origin is Literal:
        names = [quoted_literal(one) if isinstance(one, str) else name_of(one) for one in args]
    else:
        names = [name_of(one) for one in args]
    return f"{name_of(origin)}[{', '.join(names)}]"


def written(annotation: object) -> str:
    """Write a type as people write it, for a screen: as `name_of`, but a `Union[date, NoneType]` is `date | None`."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        return " | ".join("None" if one is types.NoneType else written(one) for one in args)
    if annotation is Ellipsis:
        return "..."
    if origin is None or origin is Literal:
        return name_of(annotation)
    return f"{name_of(origin)}[{', '.join(written(one) for one in args)}]"


def quoted_literal(text: str) -> str:
    """Quote a text as `dspy.adapters.utils` does: with `'`, or with `"` where only `'` occurs in it."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "\\'") + "'"


def is_type_alias(annotation: object) -> bool:
    """Test for an alias made by `type X = …`."""
    return type(annotation).__name__ == "TypeAliasType"


LARGEST_TYPE = 10_000
"""Parts of a type: each name in it, and each twenty characters of what is no name (a literal's text).

What prints, hashes or validates a type takes all of them one by one; a type of that size is 100 kB of prompt.
"""


TEXT_OF_A_PART = 20
"""Characters."""


def is_too_large(parts: Iterable[Any]) -> bool:
    """Test whether a type made of these has more than `LARGEST_TYPE` parts. A class counts as a single part.

    A repeated part counts each time, as it is printed each time; the walk stops at the limit.
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
