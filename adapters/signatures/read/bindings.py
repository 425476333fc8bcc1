"""What the names at the top of a Python module are bound to, statement by statement."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.signatures.read.source_text import SourceText

_TYPE_STATEMENT = re.compile(r"^type([ \t]+)(\w+)(?=[ \t]*=)", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Binding:
    """One statement at the top of the module that gives `name` a meaning; `path` is the dotted name of an import."""

    name: str
    node: ast.stmt
    path: str = ""


def bindings_of(body: Sequence[ast.stmt]) -> dict[str, list[Binding]]:
    """Every binding of every name, in the order of the text. Functions and classes are not looked into."""
    found: dict[str, list[Binding]] = {}
    _bind(body, found)
    return found


def _bind(body: Sequence[ast.stmt], found: dict[str, list[Binding]]) -> None:
    for node in body:
        match node:
            case ast.Import(names=names):
                for one in names:
                    bound = one.asname or one.name.partition(".")[0]
                    _add(found, Binding(bound, node, one.name if one.asname else bound))
            case ast.ImportFrom(module=module, names=names, level=level):
                owner = "." * level + (module or "")
                separator = "" if owner.endswith(".") else "."
                for one in names:
                    if one.name != "*":
                        _add(found, Binding(one.asname or one.name, node, f"{owner}{separator}{one.name}"))
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                _add(found, Binding(name, node))
            case ast.Assign(targets=targets):
                for part in (part for target in targets for part in ast.walk(target)):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        _add(found, Binding(part.id, node))
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                _add(found, Binding(name, node))
            case ast.AugAssign(target=ast.Name(id=name)):
                _add(found, Binding(name, node))
            case ast.If() if not _is_main_guard(node):
                _bind(node.body, found)
                _bind_missing(node.orelse, found)
            case ast.Try():
                _bind(node.body, found)
                for handler in node.handlers:
                    _bind_missing(handler.body, found)
            case _ if type(node).__name__ == "TypeAlias":
                _add(found, Binding(node.name.id, node))  # type: ignore[attr-defined]


def _bind_missing(body: Sequence[ast.stmt], found: dict[str, list[Binding]]) -> None:
    """The other branch counts only for names that the first one leaves out."""
    for name, bound in bindings_of(body).items():
        found.setdefault(name, bound)


def _add(found: dict[str, list[Binding]], binding: Binding) -> None:
    found.setdefault(binding.name, []).append(binding)


def _is_main_guard(node: ast.If) -> bool:
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))


def parsable(source: SourceText) -> tuple[SourceText, frozenset[int]]:
    """The text with `type X = …` written as `X = …` where this Python does not know the statement, and those lines."""
    if sys.version_info >= (3, 12) or not _TYPE_STATEMENT.search(source.text):
        return source, frozenset()
    changed = _TYPE_STATEMENT.sub(lambda match: f"{match[2]}    {match[1]}", source.text)
    lines = {source.text.count("\n", 0, match.start()) + 1 for match in _TYPE_STATEMENT.finditer(source.text)}
    return SourceText.of(changed), frozenset(lines)
