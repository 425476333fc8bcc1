"""Split a Python module into statements, with the names that each binds and needs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass
from adapters.signatures.read.names import dotted
from adapters.signatures.read.source_text import (
    SourceText,
    bindings_of,
    check_size,
    first_line,
    last_name,
    parsable,
    parse_expression,
)

_WORD = re.compile(r"[A-Za-z_]\w*")
_COMMENT = re.compile(r"[^\S\r\n]*#")


@dataclass(frozen=True)
class ImportedName:
    """A name bound by an import: `name` of `module` (None: the module itself) with `level` leading dots.

    `line` is the line of the statement, from 1; `text` is an import statement of this name alone.
    """

    bound: str
    module: str
    name: str | None
    level: int
    line: int

    @property
    def text(self) -> str:
        if self.name is None:
            return f"import {self.module}" + (
                f" as {self.bound}" if self.bound != self.module.partition(".")[0] else ""
            )
        owner = "." * self.level + self.module
        return f"from {owner} import {self.name}" + (f" as {self.bound}" if self.bound != self.name else "")


@dataclass(frozen=True)
class Statement:
    """A top-level statement other than an import: `text[start:end]`, with the comments directly above.

    `names` are the names it binds and `uses` those it needs, in order. `attributes` are dotted uses such as
    `models.Invoice` as (start, end, dotted name) in the module's text.
    """

    start: int
    end: int
    first_line: int
    names: tuple[str, ...]
    uses: tuple[str, ...]
    attributes: tuple[tuple[int, int, str], ...]
    is_class: bool


@dataclass(frozen=True)
class ModuleText:
    """A module's text and its parts. `stars` are its star imports as (module, level)."""

    text: str
    statements: tuple[Statement, ...]
    imports: tuple[ImportedName, ...]
    stars: tuple[tuple[str, int], ...]
    futures: tuple[str, ...]

    def statements_of(self, name: str) -> list[Statement]:
        return [one for one in self.statements if name in one.names]

    def imports_of(self, name: str) -> list[ImportedName]:
        """Return all imports that bind a name: `import app.models` and `import app.other` both bind `app`."""
        return [one for one in self.imports if one.bound == name]


@lru_cache(maxsize=32)
def read_module(text: str) -> ModuleText:
    """Split a module. Raises SignatureError with line and column for invalid Python.

    Kept by its text, because the sessions of a project share its modules.
    """
    text = text.removeprefix("\ufeff")
    check_size(text)
    source, _ = parsable(SourceText.of(text))
    imports: list[ImportedName] = []
    stars: list[tuple[str, int]] = []
    futures: list[str] = []
    statements: list[Statement] = []
    try:
        for nodes in _groups(source.parse().body):
            for one in (each for node in nodes for each in _imports_in(node)):
                if isinstance(one, ast.ImportFrom) and one.module == "__future__":
                    futures += [alias.name for alias in one.names]
                elif isinstance(one, ast.ImportFrom) and any(alias.name == "*" for alias in one.names):
                    stars.append((one.module or "", one.level))
                elif isinstance(one, ast.ImportFrom):
                    imports += [
                        ImportedName(each.asname or each.name, one.module or "", each.name, one.level, one.lineno)
                        for each in one.names
                    ]
                else:
                    imports += [
                        ImportedName(each.asname or each.name.partition(".")[0], each.name, None, 0, one.lineno)
                        for each in one.names
                    ]
            others = [node for node in nodes if not isinstance(node, ast.Import | ast.ImportFrom)]
            # Docstrings and other constants are no statements.
            if not all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in others):
                statements.append(_statement(others, text, source))
    except RecursionError:
        raise SignatureError("nested too deeply to be read") from None
    return ModuleText(text, tuple(statements), tuple(imports), tuple(stars), tuple(futures))


def _groups(body: Sequence[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """Yield statements, those that share a line together."""
    group: list[ast.stmt] = []
    for node in body:
        if group and first_line(node) > (group[-1].end_lineno or 0):
            yield group
            group = []
        group.append(node)
    if group:
        yield group


def _statement(nodes: Sequence[ast.stmt], text: str, source: SourceText) -> Statement:
    """Describe a statement; `source` may have other text than `text`, of the same length (see `parsable`)."""
    starts = source.line_starts
    first, last = first_line(nodes[0]), nodes[-1].end_lineno or nodes[-1].lineno
    while first > 1 and _COMMENT.match(text, starts[first - 2]):
        first -= 1
    end = starts[last] if last < len(starts) else len(text)
    bound = bindings_of(nodes)
    names = [name for name, of in bound.items() if not all(isinstance(b.node, ast.Import | ast.ImportFrom) for b in of)]
    needs = [needed_by(node, source) for node in nodes]
    uses = tuple(dict.fromkeys(name for one, _ in needs for name in one))
    attributes = tuple([place for _, found in needs for place in found])
    return Statement(starts[first - 1], end, first, tuple(names), uses, attributes, isinstance(nodes[0], ast.ClassDef))


def needed_by(node: ast.AST, source: SourceText) -> tuple[tuple[str, ...], tuple[tuple[int, int, str], ...]]:
    """Return the names that code needs, and its dotted names with their places in the text."""
    uses: dict[str, None] = {}
    attributes: list[tuple[int, int, str]] = []
    for part in _needed(node):
        if isinstance(part, ast.Name):
            if isinstance(part.ctx, ast.Load):  # a field's own name needs nothing
                uses[part.id] = None
        elif isinstance(part, ast.Attribute) and dotted(part):
            attributes.append((*source.span(part), dotted(part)))
        elif isinstance(part, str):
            uses.update(dict.fromkeys(_WORD.findall(part)))
    return tuple(uses), tuple(attributes)


def _imports_in(node: ast.stmt) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield imports, including those under `if` and `try`, but not those in functions and classes."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    elif isinstance(node, ast.If):
        for one in (*node.body, *node.orelse):
            yield from _imports_in(one)
    elif isinstance(node, ast.Try):
        for one in (*node.body, *(inner for handler in node.handlers for inner in handler.body)):
            yield from _imports_in(one)


def _needed(node: ast.AST) -> Iterator[ast.AST | str]:
    """Yield the names, dotted names and annotation texts of a statement, without function bodies."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        for decorator in getattr(node, "decorator_list", ()):
            yield from _needed(decorator)
        return
    if isinstance(node, ast.Attribute):
        yield node
        value: ast.expr = node.value
        while isinstance(value, ast.Attribute):
            value = value.value
        yield from _needed(value)
        return
    if isinstance(node, ast.Name):
        yield node
        return
    if isinstance(node, ast.AnnAssign):
        yield from _annotation(node.annotation)
    elif isinstance(node, ast.Subscript):
        yield from _annotation(node.slice)
    elif isinstance(node, ast.Call) and last_name(node.func) in ("Signature", "NewType", "TypedDict", "TypeAliasType"):
        for argument in ast.walk(node):
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and "->" in argument.value:
                yield argument.value
            elif isinstance(argument, ast.Constant) and argument in node.args[1:]:
                yield from _annotation(argument)
    for child in ast.iter_child_nodes(node):
        yield from _needed(child)


def _annotation(node: ast.expr) -> Iterator[ast.AST | str]:
    """Yield the names in annotations that are written as strings."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            parsed = parse_expression(part.value, part)
            if parsed is not None:
                yield from (one for one in ast.walk(parsed) if isinstance(one, ast.Name))
