"""Checks that every table keyed by a `Literal` has an entry for each of its values.

A table without an entry ends in a KeyError on the screen: symbols of field states once lacked `native`. A table that
is only asked with `.get` may be partial.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGES = ("adapters", "sessions", "workbench")


class Table(NamedTuple):
    place: str
    name: str
    keys: frozenset[str]
    literal: str
    values: frozenset[str]


@cache
def sources() -> dict[str, str]:
    """The text of every module by its dotted name."""
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files]
    return {name: path.read_text(encoding="utf-8") for name, path in zip(names, files, strict=True)}


@cache
def literals() -> dict[tuple[str, str], frozenset[str]]:
    """The values of every `Name = Literal[...]`, by module and name."""
    found = {}
    for module, source in sources().items():
        if "Literal[" not in source:
            continue
        for node in ast.parse(source).body:
            if (
                isinstance(node, ast.Assign)
                and isinstance(node.targets[0], ast.Name)
                and isinstance(node.value, ast.Subscript)
                and isinstance(node.value.value, ast.Name)
                and node.value.value.id == "Literal"
            ):
                values = node.value.slice.elts if isinstance(node.value.slice, ast.Tuple) else [node.value.slice]
                strings = [one.value for one in values if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                found[module, node.targets[0].id] = frozenset(strings)
    return found


def literals_known_in(module: str, tree: ast.Module) -> dict[str, frozenset[str]]:
    """The `Literal`s that a module defines or imports, by the name that it uses."""
    known = {name: values for (home, name), values in literals().items() if home == module}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (node.module, alias.name) in literals():
                    known[alias.asname or alias.name] = literals()[node.module, alias.name]
    return known


def key_literal(annotation: ast.expr | None, known: dict[str, frozenset[str]]) -> str | None:
    """The name of the `Literal` that `dict[X, …]` or `Mapping[X, …]` has as its key."""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.slice, ast.Tuple):
        key = annotation.slice.elts[0]
        return key.id if isinstance(key, ast.Name) and key.id in known else None
    return None


def dictionary(value: ast.expr | None) -> ast.Dict | None:
    """The display of a table, inside `MappingProxyType(…)` too."""
    if isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    return value if isinstance(value, ast.Dict) else None


def tables() -> Iterator[Table]:
    """Yield each module-level table whose keys are, or look like, those of a known `Literal`."""
    for module, source in sources().items():
        tree = ast.parse(source)
        known = literals_known_in(module, tree)
        for node in tree.body if known else ():
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            display = dictionary(node.value)
            if display is None or not isinstance(target, ast.Name):
                continue
            keys = frozenset(key.value for key in display.keys if isinstance(key, ast.Constant))
            named = key_literal(node.annotation if isinstance(node, ast.AnnAssign) else None, known)
            alike = [name for name, values in known.items() if keys <= values and 2 * len(keys) > len(values) >= 3]
            for literal in [named] if named else alike[:1]:
                yield Table(f"{module}:{node.lineno}", target.id, keys, literal, known[literal])


def is_subscripted(table: Table) -> bool:
    """Whether a line asks the table for a key that is no constant, and does not check first that it has the key."""
    module = table.place.partition(":")[0]
    asked = re.compile(rf"\b{table.name}\[(?![\"'])")
    checked = re.compile(rf"\bin {table.name}\b")
    users = [source for name, source in sources().items() if name == module or f"import {table.name}" in source]
    return any(asked.search(line) and not checked.search(line) for source in users for line in source.splitlines())


PARTIAL = {
    ("adapters.replies.forms", "FORMS"): "near misses are sought only in forms that parsers recognise",
}
"""Tables that lack values on purpose, and why no missing value is ever asked for."""


def test_tables_over_literals_are_found() -> None:
    assert len(list(tables())) > 20


def test_every_table_over_a_literal_that_is_subscripted_is_complete() -> None:
    incomplete = {
        f"{table.place} {table.name}": sorted(table.values - table.keys)
        for table in tables()
        if table.keys != table.values and is_subscripted(table)
        if (table.place.partition(":")[0], table.name) not in PARTIAL
    }
    assert incomplete == {}


def test_every_exception_is_still_a_partial_table() -> None:
    partial = {(table.place.partition(":")[0], table.name) for table in tables() if table.keys != table.values}
    assert set(PARTIAL) <= partial
