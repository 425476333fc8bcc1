"""Python text, parsed and never run: size limits, and errors that name line and column of the user's text."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, overload

from adapters.errors import SignatureError

LENGTH_LIMIT = 1_000_000
"""Characters of a signature that are read at all."""

DEPTH_LIMIT = 100
"""Brackets open at the same time. CPython's own limit is 200, and pydantic recurses several frames a level."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKETS = re.compile(r"[\[\](){}]")
_PARTNERS = {")": "(", "]": "[", "}": "{"}
_TOKENS = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^'\\]|\\.|'(?!''))*+'''"
    r'|"(?:[^"\\\n\r]|\\.)*+"'
    r"|'(?:[^'\\\n\r]|\\.)*+'"
    r"|\#[^\n\r]*+"
    r"|[\[\](){}]",
    re.DOTALL,
)


@dataclass(frozen=True)
class SourceText:
    """Python text as it is parsed, and where its part that the user wrote stands in the user's `whole` text.

    `text` may be wrapped (`def f(` … `): pass`): `text[head:head + length]` is `whole[start:start + length]`. Places
    outside of that part are told as its nearest end.
    """

    text: str
    whole: str
    start: int
    length: int
    head: int = 0

    @classmethod
    def of(cls, text: str) -> SourceText:
        return cls(text, text, 0, len(text))

    @cached_property
    def line_starts(self) -> list[int]:
        return [0, *(match.end() for match in _LINE_BREAK.finditer(self.text))]

    def index(self, line: int, column_bytes: int) -> int:
        """Where in `text` a node stands: `line` from 1, `column_bytes` in UTF-8 as `ast` counts."""
        starts = self.line_starts
        if line > len(starts):
            return len(self.text)
        start = starts[line - 1]
        head = self.text[start : start + column_bytes].encode("utf-8", "replace")[:column_bytes]
        return start + len(head.decode("utf-8", "ignore"))

    def error_at(self, index: int, message: str, hint: str = "") -> SignatureError:
        """The error at a place in `text`, told in lines and columns of `whole`."""
        inside = min(max(index - self.head, 0), self.length)
        line, column = line_and_column(self.whole, self.start + inside)
        return SignatureError(_printable(message), line, column, _printable(hint))

    def error(self, node: ast.AST, message: str, hint: str = "") -> SignatureError:
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return self.error_at(self.index(line, column), message, hint)

    def parse(self) -> ast.Module:
        """The syntax tree. Raises SignatureError for anything `ast.parse` does not take."""
        check_size(self.whole)
        try:
            return quiet_parse(self.text)
        except SyntaxError as error:
            starts = self.line_starts
            line = min(max(error.lineno or 1, 1), len(starts))
            place = starts[line - 1] + max((error.offset or 1) - 1, 0)
            if place < self.head:
                raise self.error_at(self.head + self.length, "a bracket, a quote or a comment is left open") from None
            raise self.error_at(place, f"not valid Python: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError) as error:
            what = "nested too deeply to be read" if not isinstance(error, ValueError) else f"not Python: {error}"
            raise self.error_at(0, what) from None


@overload
def quiet_parse(text: str) -> ast.Module: ...
@overload
def quiet_parse(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def quiet_parse(text: str, mode: str = "exec") -> ast.AST:
    """`ast.parse`, of whose warnings about somebody's text nothing reaches the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode=mode)


def told(error: Exception) -> str:
    """One line of what a library says: its first, or the innermost reason when the first only announces one."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1] if lines[0].endswith(":") else lines[0]


def shown(node: ast.AST) -> str:
    """A piece of source as an error quotes it."""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "this"
    return text if len(text) <= 60 else text[:57] + "..."


def parse_expression(text: str, place: ast.AST) -> ast.expr | None:
    """An annotation written as a string, every node of it standing at `place`; None when it is no expression."""
    try:
        tree = quiet_parse(text.strip(), "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        ast.copy_location(node, place)
    return tree


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """1-based line and column, in code points, of `text[index]`."""
    line, start = 1, 0
    for match in _LINE_BREAK.finditer(text):
        if match.end() > index:
            break
        line, start = line + 1, match.end()
    return line, index - start + 1


def unbalanced(text: str) -> tuple[int, str] | None:
    """Where a bracket has no partner, and what is wrong with it; strings and comments do not count."""
    opened: list[tuple[str, int]] = []
    for match in _TOKENS.finditer(text):
        token = match.group()
        if token in _PARTNERS.values():
            opened.append((token, match.start()))
        elif token in _PARTNERS:
            if not opened or opened.pop()[0] != _PARTNERS[token]:
                return match.start(), f"unmatched '{token}'"
    return (opened[-1][1], f"'{opened[-1][0]}' was never closed") if opened else None


def _printable(text: str) -> str:
    """Lone surrogates, which no terminal and no file takes, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()


def check_size(text: str) -> None:
    """Raises SignatureError for a text too long, too deep, or with characters that Python source cannot hold."""

    def refuse(index: int, message: str, hint: str = "") -> SignatureError:
        return SignatureError(message, *line_and_column(text, index), hint)

    if len(text) > LENGTH_LIMIT:
        raise SignatureError(f"{len(text):,} characters are too many for a signature (the limit is {LENGTH_LIMIT:,})")
    if (zero := text.find("\0")) >= 0:
        raise refuse(zero, "a NUL character", "delete it")
    if found := _SURROGATE.search(text):
        raise refuse(
            found.start(), f"a lone surrogate, U+{ord(found.group()):04X}", "write it as an escape in a string"
        )
    if text.count("[") + text.count("(") + text.count("{") <= DEPTH_LIMIT:
        return
    # Only a text deeper than the limit when its strings and comments are counted too is worth the slower second look.
    for pattern in (_BRACKETS, _TOKENS):
        place = _too_deep(pattern, text)
        if place is None:
            return
    raise refuse(place or 0, f"more than {DEPTH_LIMIT} brackets inside one another")


def _too_deep(pattern: re.Pattern[str], text: str) -> int | None:
    depth = 0
    for match in pattern.finditer(text):
        token = match.group()
        if token in ("[", "(", "{"):
            depth += 1
            if depth > DEPTH_LIMIT:
                return match.start()
        elif token in ("]", ")", "}"):
            depth = max(depth - 1, 0)
    return None
