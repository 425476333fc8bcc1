"""Find signatures inside other code: derived from a class, inline in a call, or a class within a function.

A place is named by the code around it, its assignment target, and the call it is an argument of, such as
`Agent.__init__.answer.Predict` or `build.Inner`. The code is read, never run.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.read.names import PARAMETERS
from adapters.signatures.read.source_text import SourceText, bindings_of, first_line, last_name, parsable
from sessions.source.statements import Statement, needed_by, read_module

MAKERS = ("Signature", "make_signature", "ensure_signature")
BINDS = (ast.Assign, ast.AnnAssign, ast.ClassDef, ast.Import, ast.ImportFrom)
"""Statements of a function that a signature in it may need."""
PLACE = re.compile(r"[\w.#<>]+")
"""The name of a class or place after the name of a file."""
_WORD = re.compile(r"[A-Za-z_]\w*")


class LocalStatement(NamedTuple):
    """A statement of a place, and the text around it that makes it a top-level statement."""

    statement: Statement
    head: str = ""
    tail: str = ""

    def written(self, text: str) -> str:
        """Return the statement as top-level code; `text` has its names replaced."""
        return f"{self.head}{text}{self.tail}\n" if self.head else textwrap.dedent(text)


@dataclass(frozen=True)
class Place:
    """A signature inside other code: its name, and its local statements, dependencies first."""

    name: str
    class_name: str
    statements: tuple[LocalStatement, ...]


def is_place(name: str) -> bool:
    """Return whether a link names a place rather than a top-level class."""
    return "." in name or "#" in name


def places_of(text: str) -> dict[str, Place]:
    """Map the places of a module by name, in order. Raises SignatureError for invalid Python."""
    source, _ = parsable(SourceText.of(text.removeprefix("\ufeff")))
    found: dict[str, Place] = {}
    finder = _Finder(source)
    for name, node, scopes in finder.candidates(source.parse().body, (), ()):
        number = 1
        while (numbered := name if number == 1 else f"{name}#{number}") in found:
            number += 1
        place = finder.place(numbered, node, scopes)
        if place is not None:
            found[numbered] = place
    return found


def line_of(text: str, name: str, field: str = "") -> int:
    """Return the line of a module's class or place, or of a field in it; 1 if missing."""
    if is_place(name):
        place = places_of(text).get(name)
        return 1 if place is None else place.statements[-1].statement.first_line
    for statement in read_module(text).statements_of(name):
        lines = text[statement.start : statement.end].split("\n")
        first = text.count("\n", 0, statement.start) + 1
        wanted = rf"\s+{re.escape(field)}\s*[:=]" if field else rf"(class\s+)?{re.escape(name)}\b"
        found = [number for number, line in enumerate(lines, first) if re.match(wanted, line)]
        return found[0] if found else first
    return 1


_Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_Candidate = tuple[str, ast.expr | ast.ClassDef, tuple[_Scope, ...]]


@dataclass
class _Finder:
    source: SourceText

    def candidates(
        self, body: Sequence[ast.stmt], path: tuple[str, ...], scopes: tuple[_Scope, ...]
    ) -> Iterator[_Candidate]:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if scopes and isinstance(node, ast.ClassDef) and node.bases:
                    yield ".".join((*path, node.name)), node, scopes
                yield from self.candidates(node.body, (*path, node.name), (*scopes, node))
                continue
            named = node.targets[0] if isinstance(node, ast.Assign) else node
            target = last_name(named.target if isinstance(named, ast.AnnAssign) else named)
            value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if target and scopes and value is not None and _makes_signature(value):
                yield ".".join((*path, target)), value, scopes
            here = (*path, target) if target else path
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    yield from self._inline(child, here, scopes)
            for name in ("body", "orelse", "finalbody"):
                yield from self.candidates(getattr(node, name, []), path, scopes)
            for handler in getattr(node, "handlers", []):
                yield from self.candidates(handler.body, path, scopes)

    def _inline(self, node: ast.expr, path: tuple[str, ...], scopes: tuple[_Scope, ...]) -> Iterator[_Candidate]:
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and last_name(call.func) not in ("", *MAKERS, *PARAMETERS):
                given = [one.value for one in call.keywords if one.arg == "signature"] + call.args[:1]
                if given and (_is_notation(given[0]) or _makes_signature(given[0])):
                    yield ".".join((*(path or ("<module>",)), last_name(call.func))), given[0], scopes

    def place(self, name: str, node: ast.expr | ast.ClassDef, scopes: tuple[_Scope, ...]) -> Place | None:
        """Describe a candidate, or None if it uses a parameter, or a name bound more than once."""
        if isinstance(node, ast.ClassDef):
            own = LocalStatement(self._statement(node, (node.name,)))
            class_name = node.name
        else:
            statement = self._statement(node, ())
            # Its class is named after its place: `Agent.__init__.short_answer.Predict` gives `ShortAnswer`.
            parts = [one for one in re.sub(r"#\d+$", "", name).split(".") if one.isidentifier() and one[:2] != "__"]
            if len(parts) > 1 and parts[-1][:1].isupper():
                parts.pop()
            words = parts[-1].split("_") if parts else ["captured"]
            class_name = "".join(one[:1].upper() + one[1:] for one in words) or "Captured"
            while class_name in statement.uses:
                class_name += "Signature"
            is_text = _is_notation(node)
            head = f"{class_name} = dspy.Signature(" if is_text else f"{class_name} = ("
            uses = (*statement.uses, "dspy") if is_text else statement.uses
            own = LocalStatement(replace(statement, names=(class_name,), uses=uses), head, ")")
        needed: dict[int, LocalStatement] = {}
        if not self._add_needed(own.statement, scopes, needed):
            return None
        return Place(name, class_name, (*needed.values(), own))

    def _add_needed(self, of: Statement, scopes: tuple[_Scope, ...], needed: dict[int, LocalStatement]) -> bool:
        for name in of.uses:
            for scope in reversed(scopes if name != "dspy" else ()):  # the cells of a marimo notebook take it
                if isinstance(scope, ast.ClassDef) and scope is not scopes[-1]:
                    continue  # a function does not see the names of its class
                if not isinstance(scope, ast.ClassDef):
                    if any(isinstance(one, ast.arg) and one.arg == name for one in ast.walk(scope.args)):
                        return False
                bound = bindings_of(scope.body).get(name, [])
                if not bound:
                    continue
                node = bound[0].node
                if len(bound) > 1 or not isinstance(node, BINDS):
                    return False
                made = self._statement(node, (name,))
                if made.start != of.start and made.start not in needed:
                    needed[made.start] = LocalStatement(made)  # before what it uses, which may use it in turn
                    if not self._add_needed(made, scopes, needed):
                        return False
                    needed[made.start] = needed.pop(made.start)
                break
        return True

    def _statement(self, node: ast.expr | ast.stmt, names: tuple[str, ...]) -> Statement:
        uses, attributes = needed_by(node, self.source)
        if isinstance(node, ast.expr):
            if _is_notation(node):
                said = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
                uses = tuple(dict.fromkeys(_WORD.findall(" ".join(map(str, said)))))
            start, end = self.source.span(node)
        else:
            starts = self.source.line_starts
            last = node.end_lineno or node.lineno
            start, end = starts[first_line(node) - 1], starts[last] if last < len(starts) else len(self.source.text)
        return Statement(start, end, node.lineno, names, uses, attributes, isinstance(node, ast.ClassDef))


def _makes_signature(node: ast.expr) -> bool:
    """Return whether an expression calls a signature factory of dspy, or derives a signature."""
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    if name in MAKERS:
        return True
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in ("append", "insert", "prepend", "delete") and len(node.args) + len(node.keywords) < 1 + (
        name != "delete"
    ):
        return False  # a list method
    return name in PARAMETERS and isinstance(owner, ast.Name | ast.Attribute | ast.Call)


def _is_notation(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value
