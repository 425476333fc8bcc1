"""Types that every version of pydantic takes: texts, numbers, and lists, dicts, unions and choices of them.

A signature of nothing else needs no pydantic model to find out whether one could be made of it, which is most of
what reading a signature costs.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

SCALARS = frozenset({str, int, float, bool})
MEMBERS = frozenset({int, bool})
CONTAINERS = frozenset({list, dict, set, tuple})
DEPTH = 20


def is_plain_field(name: str, annotation: Any, info: FieldInfo | None) -> bool:
    """Whether pydantic makes such a field without a doubt: a plain type, no constraint, a name it does not use."""
    return (
        type(info) is FieldInfo
        and not info.metadata
        and info.discriminator is None
        and not inspect.ismethoddescriptor(info.default)
        and not hasattr(BaseModel, name)
        and is_plain(annotation)
    )


def is_plain(annotation: Any, depth: int = DEPTH) -> bool:
    """Whether it is made of texts, numbers, None, lists, dicts, unions and literals of these alone."""
    if annotation is str or annotation is int or annotation is float or annotation is bool or annotation is type(None):
        return True
    if depth == 0:
        return False
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return all(one is None or (one.isascii() if type(one) is str else type(one) in MEMBERS) for one in arguments)
    if origin is dict:
        return len(arguments) == 2 and arguments[0] in SCALARS and is_plain(arguments[1], depth - 1)
    if origin is list:
        return len(arguments) == 1 and is_plain(arguments[0], depth - 1)
    if origin is Union or origin is types.UnionType:
        return all(is_plain(one, depth - 1) for one in arguments)
    return False


def applied(base: Any, argument: Any) -> Any:
    """`base[argument]`: of the commonest types (`list[str]`, `dict[str, int]`) the same object every time, so that
    what is remembered by a type's identity holds for all signatures. Raises what `base[argument]` raises."""
    arguments = argument if type(argument) is tuple else (argument,)
    if type(base) is type and base in CONTAINERS and all(type(one) is type and one in SCALARS for one in arguments):
        return _shared(base, argument)
    return base[argument]


@lru_cache(maxsize=256)
def _shared(base: Any, argument: Hashable) -> Any:
    return base[argument]
