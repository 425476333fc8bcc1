"""`-k` of `check`: which fixtures are meant, as pytest has it: words joined by `and`, `or`, `not` and brackets."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.exit_codes import CommandError

Test = Callable[[str], bool]

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


def parse(expression: str) -> Test:
    """Whether an id such as `q.json::rainy::chat` is meant. Raises `CommandError` for what makes no sense."""
    tokens = _TOKEN.findall(expression)
    test, rest = _either(tokens, expression, 0)
    if rest:
        raise _wrong(expression)
    return test


def _wrong(expression: str) -> CommandError:
    return CommandError(f"-k {expression!r} makes no sense; write e.g. -k 'chat and not slow'")


def _either(tokens: list[str], expression: str, depth: int) -> tuple[Test, list[str]]:
    first, tokens = _both(tokens, expression, depth)
    while tokens and tokens[0] == "or":
        second, tokens = _both(tokens[1:], expression, depth)
        first = _any(first, second)
    return first, tokens


def _both(tokens: list[str], expression: str, depth: int) -> tuple[Test, list[str]]:
    first, tokens = _one(tokens, expression, depth)
    while tokens and tokens[0] == "and":
        second, tokens = _one(tokens[1:], expression, depth)
        first = _all(first, second)
    return first, tokens


def _one(tokens: list[str], expression: str, depth: int) -> tuple[Test, list[str]]:
    if not tokens or tokens[0] in ("and", "or", ")") or depth > 50:
        raise _wrong(expression)
    if tokens[0] == "not":
        test, rest = _one(tokens[1:], expression, depth + 1)
        return _none(test), rest
    if tokens[0] == "(":
        test, rest = _either(tokens[1:], expression, depth + 1)
        if not rest or rest[0] != ")":
            raise _wrong(expression)
        return test, rest[1:]
    word = tokens[0].lower()
    return (lambda id: word in id.lower()), tokens[1:]


def _any(one: Test, other: Test) -> Test:
    return lambda id: one(id) or other(id)


def _all(one: Test, other: Test) -> Test:
    return lambda id: one(id) and other(id)


def _none(test: Test) -> Test:
    return lambda id: not test(id)
