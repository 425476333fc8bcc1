"""The third promise: nothing in the three packages can run what a user's file says."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for package in ("adapters", "sessions", "workbench") for path in (ROOT / package).rglob("*.py"))

FORBIDDEN_CALLS = {"eval", "exec", "__import__", "compile"}
FORBIDDEN_MODULES = {"pickle", "cloudpickle", "marshal", "shelve", "dill", "code", "runpy"}


def offences(source: str) -> list[str]:
    """What in `source` could run data, each with its line."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Name) and node.id in FORBIDDEN_CALLS:
            found.append(f"line {node.lineno}: {node.id}")
        if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN_CALLS and _is_builtins(node.value):
            found.append(f"line {node.lineno}: builtins.{node.attr}")
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        found += [f"line {node.lineno}: import {name}" for name in names if name.partition(".")[0] in FORBIDDEN_MODULES]
    return found


def _is_builtins(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("builtins", "__builtins__")


def test_no_file_can_run_data() -> None:
    found = {str(path.relative_to(ROOT)): offences(path.read_text(encoding="utf-8")) for path in FILES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "eval('1')",
        "f = exec",
        "__import__('os')",
        "import builtins\nbuiltins.eval('1')",
        "import pickle",
        "from pickle import loads",
        "compile('1', '', 'exec')",
    ],
)
def test_the_search_finds_what_it_searches_for(source: str) -> None:
    assert offences(source)


def test_the_search_looks_at_all_three_packages() -> None:
    assert {path.relative_to(ROOT).parts[0] for path in FILES} == {"adapters", "sessions", "workbench"}
