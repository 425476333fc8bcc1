"""What a call did, and how the outcomes of dspy and of this project differ."""

from __future__ import annotations

import dataclasses
import decimal
import math
from collections.abc import Callable, Mapping
from typing import Any

import pydantic

STACK_DEPENDENT = ("RecursionError", "MemoryError")
"""How deep is too deep depends on the caller's own stack, so any failure answers one of these."""

SHOWN = 240


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A value, or the exception raised instead of one."""

    value: Any = None
    error: BaseException | None = None


def outcome(call: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(value=call())
    except Exception as error:
        return Outcome(error=error)


def difference(theirs: Any, ours: Any, *, same_types: bool = True, at: str = "value") -> str | None:
    """Where two values differ, or None. Types count (`1`, `1.0` and `True` differ), and so does the order of keys.

    With `same_types` False two classes of the same name are the same: dspy's `Image` and ours.
    """
    waiting = [(theirs, ours, at)]
    while waiting:
        left, right, place = waiting.pop()
        if type(left) is not type(right) and (same_types or type(left).__name__ != type(right).__name__):
            return f"{place}: {type(left).__name__} {_short(left)} against {type(right).__name__} {_short(right)}"
        pairs = _parts(left, right, place)
        if isinstance(pairs, str):
            return pairs
        if pairs is not None:
            waiting.extend(reversed(pairs))
        elif not (_same_scalar(left, right) or (callable(left) and not same_types)):
            return f"{place}: {_short(left)} against {_short(right)}"
    return None


Pairs = list[tuple[Any, Any, str]]


def _parts(left: Any, right: Any, at: str) -> Pairs | str | None:
    """What two containers of the same type hold, pair by pair; how they differ in shape; None for scalars."""
    if isinstance(left, dict):
        if list(left) != list(right) or [type(key) for key in left] != [type(key) for key in right]:
            return f"{at}: keys {_short(list(left))} against {_short(list(right))}"
        return [(left[key], right[key], f"{at}[{key!r}]"[-SHOWN:]) for key in left]
    if isinstance(left, list | tuple):
        if len(left) != len(right):
            return f"{at}: {len(left)} items {_short(left)} against {len(right)} {_short(right)}"
        return [
            (one, other, f"{at}[{index}]"[-SHOWN:]) for index, (one, other) in enumerate(zip(left, right, strict=True))
        ]
    if isinstance(left, pydantic.BaseModel):
        private = (left.__pydantic_private__, right.__pydantic_private__, at)
        return [
            (left.__dict__, right.__dict__, f"{at}."),
            (left.__pydantic_extra__, right.__pydantic_extra__, at),
            private,
        ]
    if dataclasses.is_dataclass(left) and not isinstance(left, type):
        return [(vars(left), vars(right), f"{at}.")]
    return None


def _same_scalar(left: Any, right: Any) -> bool:
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, complex | decimal.Decimal):
        return repr(left) == repr(right)
    if isinstance(left, set | frozenset):
        return sorted(map(repr, left)) == sorted(map(repr, right))
    same_by_identity = isinstance(left, BaseException) or not any(
        "__eq__" in vars(one) for one in type(left).__mro__[:-1]
    )
    return bool(left == right) or (same_by_identity and repr(left) == repr(right))


def divergence(theirs: Outcome, ours: Outcome, *, same_types: bool = True) -> str | None:
    """How our outcome departs from dspy's, or None.

    Exceptions must be of the same type by name; an AdapterParseError must also agree in message, `lm_response`,
    `parsed_result` and `adapter_name`, and the others in their message.
    """
    if theirs.error is None:
        if ours.error is not None:
            return f"value {_short(theirs.value)} against {_error(ours.error)}"
        return difference(theirs.value, ours.value, same_types=same_types)
    name = type(theirs.error).__name__
    if ours.error is None:
        return f"{_error(theirs.error)} against value {_short(ours.value)}"
    if name in STACK_DEPENDENT:
        return None
    if type(ours.error).__name__ != name:
        return f"{_error(theirs.error)} against {_error(ours.error)}"
    if name == "AdapterParseError":
        for attribute in ("adapter_name", "lm_response", "parsed_result"):
            found = difference(
                getattr(theirs.error, attribute), getattr(ours.error, attribute), same_types=same_types, at=attribute
            )
            if found:
                return f"{name}.{found}"
    if str(theirs.error) != str(ours.error):
        return f"{name} message {_short(str(theirs.error))} against {_short(str(ours.error))}"
    return None


def plain(value: Any) -> Any:
    """Messages without what is only ours: text that knows its origins becomes `str`."""
    if isinstance(value, str):
        return str.__str__(value) if type(value) is str else "".join(value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _error(error: BaseException) -> str:
    return f"{type(error).__name__}({_short(str(error))})"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<no repr: {type(error).__name__}>"
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]}…{text[-SHOWN // 2 :]}"
