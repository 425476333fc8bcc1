"""Texts made of constants as Python makes them: `", ".join(…)`, `"%s" % …`, `"{}".format(…)`, `f"{…:>3}"`.

Only plain values go in, and only what builds a text from them and touches nothing else is done.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

LONGEST = 100_000
"""Characters of a text that is built; a width or precision in a format has two digits at most."""

PLAIN = (str, int, float, bool, type(None))
METHODS = frozenset(
    "strip lstrip rstrip lower upper title capitalize casefold removeprefix removesuffix join format splitlines split"
    " replace".split()
)
"""The methods of a text that are read."""

_PERCENT = re.compile(r"%(?:%|(?:\(\w+\))?[#0\- +]{0,3}\d{0,2}(?:\.\d{0,2})?[diouxXeEfFgGcrsa])")
_SPEC = re.compile(r"[^{}0-9]{0,4}\d{0,2}[,_]?(?:\.\d{1,2})?[a-zA-Z%]?")
_CONVERSIONS: Mapping[str, Callable[[Any], str]] = {"s": str, "r": repr, "a": ascii}


class NotConstantError(ValueError):
    """A text that cannot be built without running code; the message says why."""


def called(text: str, method: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """`text.method(*arguments, **keywords)`. Raises NotConstantError, and what Python raises for wrong arguments."""
    if method not in METHODS:
        raise NotConstantError(f".{method}() is not read")
    if method == "format":
        return _within(_formatted(text, arguments, keywords))
    if keywords:
        raise NotConstantError(f".{method}() takes no named arguments here")
    if method == "join":
        (parts,) = arguments
        parts = list(parts)
        if sum(len(part) + len(text) for part in parts if isinstance(part, str)) > LONGEST:
            raise NotConstantError(f"a text of more than {LONGEST:,} characters")
        return text.join(parts)
    if method == "replace" and text.count(str(arguments[0])) * len(str(arguments[1])) > LONGEST:
        raise NotConstantError(f"a text of more than {LONGEST:,} characters")
    return getattr(text, method)(*arguments)


def percent(text: str, given: Any) -> str:
    """`text % given`. Raises NotConstantError, and what Python raises for values that do not fit."""
    for one in given.values() if isinstance(given, dict) else given if isinstance(given, tuple) else (given,):
        _check_plain(one)
    if "%" in _PERCENT.sub("", text):
        raise NotConstantError("this format is not read")
    return _within(text % given)


def piece(value: Any, conversion: str | None, spec: str) -> str:
    """A value as it stands in an f-string or in `.format`, with `!r` and `:>3`."""
    _check_plain(value)
    if not _SPEC.fullmatch(spec):
        raise NotConstantError(f"the format {spec!r} is not read")
    shown = value if conversion is None else _CONVERSIONS[conversion](value)
    return format(shown, spec)


def repeated(text: str, times: int) -> str:
    """`text * times`."""
    if len(text) * times > LONGEST:
        raise NotConstantError(f"a text of more than {LONGEST:,} characters")
    return text * times


def _formatted(text: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    made: list[str] = []
    counted = 0
    for literal, name, spec, conversion in string.Formatter().parse(text):
        made.append(literal)
        if name is None:
            continue
        if name == "":
            name, counted = str(counted), counted + 1
        if not (name.isdigit() or name.isidentifier()):
            raise NotConstantError(f"{{{name}}} is not read")
        value = arguments[int(name)] if name.isdigit() else keywords[name]
        made.append(piece(value, conversion, spec or ""))
    return "".join(made)


def _check_plain(value: Any) -> None:
    if type(value) not in PLAIN:
        raise NotConstantError(f"{type(value).__name__} in a text is not read")


def _within(text: str) -> str:
    if len(text) > LONGEST:
        raise NotConstantError(f"a text of more than {LONGEST:,} characters")
    return text
