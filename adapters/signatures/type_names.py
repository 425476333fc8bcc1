"""Types by the names that prompts give them."""

from __future__ import annotations

import types
from typing import Any, Literal, Union, get_args, get_origin


def name_of(annotation: Any) -> str:
    """A type as the prompt names it, `Union[int, NoneType]` or `list[str]` (dspy's `get_annotation_name`)."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is types.UnionType:
        origin = Union
    if origin is None:
        if _is_reasoning(annotation):
            return "str"
        return str(getattr(annotation, "__name__", annotation))
    if origin is Literal:
        names = [quoted_literal(one) if isinstance(one, str) else name_of(one) for one in args]
    else:
        names = [name_of(one) for one in args]
    return f"{name_of(origin)}[{', '.join(names)}]"


def quoted_literal(text: str) -> str:
    """A text in single quotes, in double ones when it holds single ones only (`dspy.adapters.utils`)."""
    if "'" not in text:
        return f"'{text}'"
    if '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "\\'") + "'"


def _is_reasoning(annotation: Any) -> bool:
    return (
        isinstance(annotation, type)
        and annotation.__name__ == "Reasoning"
        and annotation.__module__ in ("adapters.types.reasoning", "dspy.adapters.types.reasoning")
    )


def is_type_alias(annotation: Any) -> bool:
    """Whether it was made by `type X = …`."""
    return type(annotation).__name__ == "TypeAliasType"
