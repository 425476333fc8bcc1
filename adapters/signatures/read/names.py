"""Find the meaning of names in a signature: local names, names of the text, then a closed table."""

from __future__ import annotations

import ast
import datetime
import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adapters.errors import SignatureError
from adapters.late_dataclasses import dataclass, field
from adapters.signatures.read import known_names
from adapters.signatures.read.source_text import Binding, SourceText, parse_expression, shown

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "with_instructions": ("instructions",),
    "append_instructions": ("instructions",),
    "with_updated_fields": ("name", "type_"),
    "prepend": ("name", "field", "type_"),
    "append": ("name", "field", "type_"),
    "insert": ("index", "name", "field", "type_"),
    "delete": ("name",),
}
"""dspy's methods that derive a signature from another, with the names of their positional arguments."""

_PLAIN_MODULES = "typing, datetime, decimal, uuid, pathlib, enum, collections, pydantic, dspy"


@dataclass(eq=False)
class Names:
    """Look up bare names: `local` names first, then names `bound` in the text, then the table of known names.

    With `around`, names other than the `local` ones are looked up there.
    """

    local: Mapping[str, object]
    bound: Mapping[str, Sequence[Binding]]
    look_up: Callable[[str, ast.AST], object]
    around: Names | None = None

    def find(self, name: str, node: ast.AST) -> object:
        """Find the meaning of `name`. Raises LookupError for unknown and SignatureError for unusable names."""
        if name in self.local:
            return self.local[name]
        if self.around is not None:
            return self.around.find(name, node)
        return self.look_up(name, node) if name in self.bound else known_names.bare(name)

    def suggestions(self) -> Sequence[str]:
        return (
            self.around.suggestions()
            if self.around is not None
            else sorted({*self.local, *self.bound, *known_names.bare_names()})
        )


@dataclass(eq=False)
class NameReader:
    """Read the names of a text, with `as_dspy_string` by the rules of dspy's string notation."""

    source: SourceText
    names: Names
    as_dspy_string: bool = False
    rounds: list[int] = field(default_factory=list)
    """An entry for each loop iteration so far."""

    def meaning(self, node: ast.Name | ast.Attribute) -> Any:
        """Find the meaning of a name or dotted name. Raises SignatureError for unknown names."""
        if isinstance(node, ast.Name):
            try:
                return self.names.find(node.id, node)
            except LookupError:
                raise self._unknown(node, node.id, self.names.suggestions()) from None
        if not isinstance(node.value, ast.Name | ast.Attribute):
            raise self.source.error(node, f"{shown(node)} is not supported", "use names and dotted names only")
        try:
            owner = self.meaning(node.value)
        except SignatureError:
            owner = known_names.known_module(dotted(node.value))
            if owner is None:
                raise
        if owner is datetime.datetime and node.attr in known_names.member_names(known_names.Module("datetime")):
            owner = known_names.Module("datetime")
        if self.as_dspy_string and node.attr in known_names.EXPERIMENTAL and owner == known_names.Module("dspy"):
            # The string notation has no imports, so experimental types are also found as `dspy.…`.
            owner = known_names.known_module("dspy.experimental")
        if isinstance(owner, known_names.Module):
            try:
                return known_names.member(owner, node.attr)
            except LookupError:
                raise self._unknown(node, f"{owner.name}.{node.attr}", known_names.member_names(owner)) from None
        found = member_value(owner, node.attr)
        if found is None:
            raise self.source.error(node, f"`{shown(node)}` is not known", "finding its value would take running code")
        return found[0]

    def _unknown(self, node: ast.AST, name: str, known: Sequence[str]) -> SignatureError:
        last = name.rpartition(".")[2]
        others = [one for one in known if one != last]
        alike = [one for one in others if one[:1].lower() == last[:1].lower()]
        import difflib  # only for the hint

        near = difflib.get_close_matches(last, alike, n=3, cutoff=0.6) or [
            one for one in others if one.lower() == last.lower()
        ]
        if near:
            hint = f"did you mean {' or '.join(filter(None, (', '.join(near[:-1]), near[-1])))}?"
        elif self.as_dspy_string:
            hint = "your own types need the Python notation, with their class in the same text"
        else:
            hint = f"use str, int, list[str], a class of this text, or a name of {_PLAIN_MODULES}"
        return self.source.error(node, f"unknown name `{name}`", hint)


def member_value(owner: object, name: str) -> tuple[object] | None:
    """Find the value of `owner.name` for enums, enum members, nested classes and clock factories."""
    if isinstance(owner, enum.EnumMeta):
        found = owner.__members__.get(name)
        return None if found is None else (found,)
    if isinstance(owner, enum.Enum) and name in ("value", "name"):
        return (getattr(owner, name),)
    if isinstance(owner, type):
        nested = getattr(owner, "__nested__", {})
        if name in nested:
            return (nested[name],)
        if (owner, name) in known_names.CLOCKS:
            return (getattr(owner, name),)
    return None


def names_in(expression: str) -> list[str]:
    """List the names in an expression; empty if it is invalid."""
    tree = parse_expression(expression)
    return [] if tree is None else [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]


def dotted(node: ast.expr) -> str:
    """Return a dotted name such as `a.b.c` as text; "" for other expressions."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""
