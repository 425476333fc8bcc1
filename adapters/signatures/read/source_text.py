"""Parse Python text without running it, with size limits and errors at the user's line and column."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass

LENGTH_LIMIT = 1_000_000
"""Limit on the characters of a signature."""

DEPTH_LIMIT = 100
"""Limit on nested brackets. CPython's limit is 200, and pydantic recurses several frames per level."""

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


class Span(NamedTuple):
    """The range `text[start:end]`, in code points."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True)
class SourceText:
    """Python text as parsed, and its position in the user's `whole` text.

    `text` may be wrapped in `def f(` … `): pass`: `text[head:head + length] == whole[start:start + length]`. Errors
    outside that part are reported at its nearest end.
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
        """Convert `ast`'s position, a 1-based line and a column in UTF-8 bytes, to an index in `text`."""
        starts = self.line_starts
        if line > len(starts):
            return len(self.text)
        start = starts[line - 1]
        head = self.text[start : start + column_bytes].encode("utf-8", "replace")[:column_bytes]
        return start + len(head.decode("utf-8", "ignore"))

    def span(self, node: ast.AST) -> Span:
        """Return the range of a node in `text`."""
        start = self.index(getattr(node, "lineno", 1), getattr(node, "col_offset", 0))
        return Span(start, self.index(getattr(node, "end_lineno", 0) or 1, getattr(node, "end_col_offset", 0) or 0))

    def error_at(self, index: int, message: str, hint: str = "") -> SignatureError:
        """Make an error for an index in `text`, with the line and column in `whole`."""
        inside = min(max(index - self.head, 0), self.length)
        line, column = line_and_column(self.whole, self.start + inside)
        # Unpaired surrogates cannot be written to terminals or files.
        said, told = (one.encode("utf-8", "backslashreplace").decode() for one in (message, hint))
        return SignatureError(said, line, column, told)

    def error(self, node: ast.AST, message: str, hint: str = "") -> SignatureError:
        return self.error_at(self.span(node)[0], message, hint)

    def parse(self) -> ast.Module:
        """Parse the text. Raises SignatureError if `ast.parse` fails."""
        check_size(self.whole)
        try:
            tree: ast.Module = quiet_parse(self.text)
            return tree
        except SyntaxError as error:
            starts = self.line_starts
            line = min(max(error.lineno or 1, 1), len(starts))
            place = starts[line - 1] + max((error.offset or 1) - 1, 0)
            if place < self.head:
                raise self.error_at(self.head + self.length, "unclosed bracket, quote or comment") from None
            raise self.error_at(place, f"not valid Python: {error.msg}") from None
        except (ValueError, RecursionError, MemoryError) as error:
            what = "nested too deeply" if not isinstance(error, ValueError) else f"not Python: {error}"
            raise self.error_at(0, what) from None


def quiet_parse(text: str, mode: Literal["exec", "eval"] = "exec") -> Any:
    """Call `ast.parse` without showing its warnings on the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode=mode)


def told(error: Exception) -> str:
    """Shorten a library's error to its first line, or to its last if the first ends with a colon."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1] if lines[0].endswith(":") else lines[0]


def shown(node: ast.AST) -> str:
    """Write a node as source for an error message, cut to 60 characters."""
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):
        return "this"
    return text if len(text) <= 60 else text[:57] + "..."


def parse_expression(text: str, place: ast.AST | None = None) -> ast.expr | None:
    """Parse an expression, with every node at the position of `place` if given; None for invalid expressions."""
    try:
        tree: ast.expr = quiet_parse(text.strip(), "eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if place is not None:
        for node in ast.walk(tree):
            ast.copy_location(node, place)
    return tree


def is_literal(text: str) -> bool:
    """Test whether a text is a Python literal, or several with commas."""
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def comments_in(text: str) -> tuple[str, ...]:
    """List the comments of a piece of source."""
    return tuple(match[0] for match in _TOKENS.finditer(text) if match[0].startswith("#"))


def last_name(node: ast.AST) -> str:
    """Return the last part of a name: `Predict` for `dspy.Predict`; "" for other code."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def first_line(node: ast.stmt) -> int:
    """Return the line where a statement begins, with its decorators."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def line_and_column(text: str, index: int) -> tuple[int, int]:
    """Return the 1-based line and column, in code points, of `text[index]`."""
    line, start = 1, 0
    for match in _LINE_BREAK.finditer(text):
        if match.end() > index:
            break
        line, start = line + 1, match.end()
    return line, index - start + 1


def unbalanced(text: str) -> tuple[int, str] | None:
    """Find an unmatched bracket outside strings and comments; return its index and a message, or None."""
    opened: list[tuple[str, int]] = []
    for match in _TOKENS.finditer(text):
        token = match.group()
        if token in _PARTNERS.values():
            opened.append((token, match.start()))
        elif token in _PARTNERS:
            if not opened or opened.pop()[0] != _PARTNERS[token]:
                return match.start(), f"unmatched '{token}'"
    return (opened[-1][1], f"'{opened[-1][0]}' was never closed") if opened else None


def check_size(text: str) -> None:
    """Raise SignatureError for a text that is too long, nested too deeply, or contains invalid characters."""
    if len(text) > LENGTH_LIMIT:
        raise SignatureError(f"{len(text):,} characters: too long for a signature (the limit is {LENGTH_LIMIT:,})")
    if (zero := text.find("\0")) >= 0:
        raise SignatureError("a NUL character", *line_and_column(text, zero), "delete it")
    if found := _SURROGATE.search(text):
        said = f"an unpaired surrogate, U+{ord(found.group()):04X}"
        raise SignatureError(said, *line_and_column(text, found.start()), "write it as an escape in a string")
    if text.count("[") + text.count("(") + text.count("{") <= DEPTH_LIMIT:
        return
    # The first, faster pattern also counts brackets in strings and comments; the second only runs if it finds too many.
    if _too_deep(_BRACKETS, text) is None or (place := _too_deep(_TOKENS, text)) is None:
        return
    raise SignatureError(f"more than {DEPTH_LIMIT} nested brackets", *line_and_column(text, place))


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


_TYPE_STATEMENT = re.compile(r"^type([ \t]+)(\w+)(?=[ \t]*=)", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Binding:
    """A top-level statement that binds `name`; `path` is the dotted name of an import."""

    name: str
    node: ast.stmt
    path: str = ""


def bindings_of(body: Sequence[ast.stmt], found: dict[str, list[Binding]] | None = None) -> dict[str, list[Binding]]:
    """Add to `found` all bindings outside functions and classes, by name and in text order.

    Later branches of an `if` or `try` bind only names that are not bound before.
    """
    found = {} if found is None else found
    for node in body:
        for one in _bindings(node):
            found.setdefault(one.name, []).append(one)
        others: list[list[ast.stmt]] = []
        if isinstance(node, ast.Try):
            bindings_of(node.body, found)
            others = [one.body for one in node.handlers]
        elif isinstance(node, ast.If):
            if not any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test)):
                bindings_of(node.body, found)
                others = [node.orelse]
        for other in others:
            for name, bound in bindings_of(other).items():
                found.setdefault(name, bound)
    return found


def _bindings(node: ast.stmt) -> Iterator[Binding]:
    match node:
        case ast.Import(names=names):
            for one in names:
                bound = one.asname or one.name.partition(".")[0]
                yield Binding(bound, node, one.name if one.asname else bound)
        case ast.ImportFrom(module=module, names=names, level=level):
            owner = "." * level + (module or "")
            separator = "" if owner.endswith(".") else "."
            for one in names:
                if one.name != "*":
                    yield Binding(one.asname or one.name, node, f"{owner}{separator}{one.name}")
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield Binding(name, node)
        case ast.Assign(targets=targets):
            for part in (part for target in targets for part in ast.walk(target)):
                if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    yield Binding(part.id, node)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()) | ast.AugAssign(target=ast.Name(id=name)):
            yield Binding(name, node)
        case _ if type(node).__name__ == "TypeAlias":
            yield Binding(node.name.id, node)  # type: ignore[attr-defined]


def parsable(source: SourceText) -> tuple[SourceText, frozenset[int]]:
    """Rewrite `type X = …` as `X = …` before Python 3.12; return the text and the rewritten lines.

    Raises SignatureError for a text that is refused by its size, as the search takes long in millions of lines.
    """
    check_size(source.whole)
    if sys.version_info >= (3, 12) or not _TYPE_STATEMENT.search(source.text):
        return source, frozenset()
    changed = _TYPE_STATEMENT.sub(lambda match: f"{match[2]}    {match[1]}", source.text)
    lines: set[int] = set()
    line, place = 1, 0
    for match in _TYPE_STATEMENT.finditer(source.text):
        line += source.text.count("\n", place, match.start())
        place = match.start()
        lines.add(line)
    return SourceText.of(changed), frozenset(lines)


def rebuilt_models(statements: Sequence[ast.stmt]) -> frozenset[str]:
    """Return the names of models for which the text calls `Model.model_rebuild()`."""
    found: set[str] = set()
    for statement in statements:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="model_rebuild"))):
                found.add(name)
    return frozenset(found)


def docstring(node: ast.ClassDef | ast.FunctionDef) -> str | None:
    """Return the docstring as written, without cleaning, or None."""
    first = node.body[0] if node.body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        return first.value.value
    return None


def is_class_variable(annotation: ast.expr) -> bool:
    """Test for `ClassVar` or `ClassVar[…]`, quoted or not: such an attribute is not a field."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        return annotation.value.lstrip().startswith(("ClassVar", "typing.ClassVar", "t.ClassVar"))
    return last_name(annotation.value if isinstance(annotation, ast.Subscript) else annotation) == "ClassVar"
