"""Where the code of a source names one of its classes, in quoted types too; never in texts that only look like it."""

from __future__ import annotations

import ast

from adapters.errors import SignatureError
from adapters.signatures.edit.outline import parse_source
from adapters.signatures.read.source_text import quiet_parse


def uses_of(text: str, name: str) -> set[int]:
    """The offsets (code points of `text`) at which `name` is named, its own class statement not among them.

    Quoted types count (`"list[Item]"`); other texts do not: a choice (`Literal["Item"]`), a description, a comment.
    Raises SignatureError for a text nested too deeply.
    """
    found = _Uses(text, name)
    try:
        found.visit(parse_source(text))
    except RecursionError:
        raise SignatureError("nested too deeply to be changed here", hint="change it in the source") from None
    return found.places


class _Uses(ast.NodeVisitor):
    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.places: set[int] = set()
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id == self.name:
            self.places.add(self._offset(node))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._type(node.annotation)
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        if isinstance(node.value, ast.Subscript | ast.BinOp):
            self._type(node.value)
        else:
            self.visit(node.value)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            self._type(base)
        for other in (*node.keywords, *node.decorator_list, *node.body):
            self.visit(other)

    def visit_Call(self, node: ast.Call) -> None:
        """`dspy.Signature("question -> bill: Bill")` names types in its text."""
        if _last_name(node.func) in ("Signature", "make_signature") and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str) and "->" in first.value:
                self._signature_text(first)
        self.generic_visit(node)

    def _type(self, node: ast.expr) -> None:
        """A node where a type stands: texts in it are types, but for those of a Literal and the extras of Annotated."""
        match node:
            case ast.Constant(value=str() as quoted):
                self._quoted(node, quoted, 0)
            case ast.Subscript(value=head, slice=inner):
                self._type(head)
                items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
                types = 0 if _last_name(head) == "Literal" else 1 if _last_name(head) == "Annotated" else len(items)
                for item in items[:types]:
                    self._type(item)
                for item in items[types:]:
                    self.visit(item)
            case ast.BinOp(left=left, right=right):
                self._type(left)
                self._type(right)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                for item in items:
                    self._type(item)
            case _:
                self.visit(node)

    def _quoted(self, node: ast.expr, quoted: str, position: int) -> None:
        """A type in quotes that begins `position` characters behind the opening quote."""
        start = self._offset(node) + 1 + position
        if self.text[start : start + len(quoted)] != quoted:
            return  # a text with escapes, a prefix or three quotes: not a type that anyone writes
        try:
            inner = quiet_parse(f"({quoted})", "eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        within = _Uses(f"({quoted})", self.name)
        within._type(inner)
        self.places |= {start - 1 + place for place in within.places}

    def _signature_text(self, node: ast.Constant) -> None:
        position = 0
        for half in str(node.value).split("->"):
            try:
                function = quiet_parse(f"def f({half}): pass").body[0]
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                function = None
            if isinstance(function, ast.FunctionDef):
                for argument in function.args.args:
                    annotation = argument.annotation
                    if annotation is not None and annotation.lineno == 1 and half.isascii():
                        written = half[annotation.col_offset - 6 : (annotation.end_col_offset or 0) - 6]
                        self._quoted(node, written, position + annotation.col_offset - 6)
            position += len(half) + 2

    def _offset(self, node: ast.expr) -> int:
        line = self.lines[node.lineno - 1]
        return self.starts[node.lineno - 1] + len(line.encode()[: node.col_offset].decode())


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
