"""Find the session files and the fixtures that the command line names.

The option `-k` selects fixtures as in pytest: words, `and`, `or`, `not`, parentheses. A word is searched in the names
of the case and the column; with the prefix `path:`, in the file's path only, because all file names end in
`.session.json` and often contain the name of an adapter or of their subject.
"""

from __future__ import annotations

import ast
import codecs
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from workbench.output import exit_codes
from workbench.output.exit_codes import CommandError

PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})
HEAD_BYTES = 65_536
_SCHEMA = re.compile(rb'"\$schema"\s*:\s*"urn:adapter-workbench:session:')
_FORMAT = re.compile(rb'"format"\s*:\s*\d')


def find(paths: Sequence[str]) -> list[Path]:
    """List the named files and all sessions in named folders, sorted, once each. Raises `CommandError` without any."""
    found: dict[str, Path] = {}
    for name in paths:
        path = Path(name)
        if not name or not path.exists():  # "" would be this folder, and comes from a variable that is not set
            raise CommandError(f"{name or repr(name)}: no such file or folder")
        for file in below(path) if path.is_dir() else (path,):
            found.setdefault(os.path.abspath(file), file)
    if not found:
        raise CommandError(f"no session in {', '.join(paths)}", exit_codes.NOTHING)
    return list(found.values())


def below(folder: Path) -> Iterator[Path]:
    """Yield the sessions in a folder, skipping hidden folders, packages and links to folders."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        for name in sorted(files):
            path = Path(root, name)
            if name.endswith(".session.json") or (name.endswith(".json") and looks_like_session(path)):
                yield path


def looks_like_session(path: Path) -> bool:
    """Return whether the beginning of a file names the schema, or has the first keys, of a session."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    if not head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        return False
    # Sorted keys put long cases between the schema and the other keys.
    return _SCHEMA.search(head) is not None or (b'"signature"' in head and _FORMAT.search(head) is not None)


Test = Callable[[str, Sequence[str]], bool]
"""Match a file's path and the names in it (case, column, …)."""

PATH = "path:"

_WORD = re.compile(r"[^\s()]+")
_OPERATORS = ("and", "or", "not")
MOST_NOTS = 100
"""The most `not` in an expression, which nest."""


def parse(expression: str) -> Test:
    """Parse a -k expression, which has Python's operators. Raises `CommandError` if it is invalid."""
    words: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        if match[0] in _OPERATORS:
            return match[0]
        words.append(match[0].lower())
        return f"w{len(words) - 1}"

    wrong = CommandError(f"-k {expression!r} makes no sense; write e.g. -k 'chat and not slow', or -k path:invoices")
    try:
        tree = ast.parse(f"({_WORD.sub(numbered, expression)}\n)", mode="eval").body
    except (SyntaxError, RecursionError, MemoryError):
        raise wrong from None
    known = (ast.BoolOp, ast.boolop, ast.UnaryOp, ast.Not, ast.Name, ast.Load)
    too_many = _WORD.findall(expression).count("not") > MOST_NOTS
    if too_many or PATH in words or not all(isinstance(node, known) for node in ast.walk(tree)):
        raise wrong
    return lambda path, names: _holds(tree, words, path.lower(), [name.lower() for name in names])


def _holds(node: ast.expr, words: Sequence[str], path: str, names: Sequence[str]) -> bool:
    match node:
        case ast.BoolOp(op=ast.And()):
            return all(_holds(one, words, path, names) for one in node.values)
        case ast.BoolOp():
            return any(_holds(one, words, path, names) for one in node.values)
        case ast.UnaryOp():
            return not _holds(node.operand, words, path, names)
        case ast.Name():
            word = words[int(node.id[1:])]
            return word[len(PATH) :] in path if word.startswith(PATH) else any(word in name for name in names)
    raise AssertionError("`parse` allows no other nodes")
