"""Find the session files and the fixtures that the command line names.

The option `-k` selects fixtures as in pytest: words, `and`, `or`, `not`, parentheses. A word is searched in the names
of the case and the column; with the prefix `path:`, in the file's path only, because all file names end in
`.session.json` and often contain the name of an adapter or of their subject.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from workbench.output import exit_codes
from workbench.output.exit_codes import CommandError

PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages"})
HEAD_BYTES = 65_536
_FORMAT = re.compile(rb'"format"\s*:\s*\d')


def find(paths: Sequence[str]) -> list[Path]:
    """List the named files and all sessions in named folders, sorted, once each. Raises `CommandError` without any."""
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(name)
        if path.is_dir():
            found.update(dict.fromkeys(_below(path)))
        elif path.exists():
            found[path] = None
        else:
            raise CommandError(f"{name}: no such file or folder")
    if not found:
        raise CommandError(f"no session in {', '.join(paths)}", exit_codes.NOTHING)
    return list(found)


def _below(folder: Path) -> Iterator[Path]:
    """Yield the sessions in a folder, skipping hidden folders, packages and links to folders."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in PASSED_OVER)
        for name in sorted(files):
            path = Path(root, name)
            if name.endswith(".session.json") or (name.endswith(".json") and looks_like_session(path)):
                yield path


def looks_like_session(path: Path) -> bool:
    """Return whether the beginning of a file has the first keys of a session."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError:
        return False
    return head.lstrip()[:1] == b"{" and b'"signature"' in head and _FORMAT.search(head) is not None


Test = Callable[[str, Sequence[str]], bool]
"""Match a file's path and the names in it (case, column, …)."""

PATH = "path:"

_TOKEN = re.compile(r"\s*(\(|\)|[^\s()]+)")


def parse(expression: str) -> Test:
    """Parse a -k expression. Raises `CommandError` if it is invalid."""
    tokens = _TOKEN.findall(expression)
    test, rest = _either(tokens, expression, 0)
    if rest:
        raise _wrong(expression)
    return test


def _wrong(expression: str) -> CommandError:
    return CommandError(f"-k {expression!r} makes no sense; write e.g. -k 'chat and not slow', or -k path:invoices")


def _either(tokens: list[str], expression: str, depth: int) -> tuple[Test, list[str]]:
    first, tokens = _both(tokens, expression, depth)
    while tokens and tokens[0] == "or":
        second, tokens = _both(tokens[1:], expression, depth)
        first = _any(first, second)
    return first, tokens


def _both(tokens: list[str], expression: str, depth: int) -> tuple[Test, list[str]]:
    first, tokens = _one(tokens, expression, depth)
    while tokens and tokens[0] == "and":
        second, tokens = _one(tokens[1:], expression, depth)
        first = _all(first, second)
    return first, tokens


def _one(tokens: list[str], expression: str, depth: int) -> tuple[Test, list[str]]:
    if not tokens or tokens[0] in ("and", "or", ")") or depth > 50:
        raise _wrong(expression)
    if tokens[0] == "not":
        test, rest = _one(tokens[1:], expression, depth + 1)
        return _none(test), rest
    if tokens[0] == "(":
        test, rest = _either(tokens[1:], expression, depth + 1)
        if not rest or rest[0] != ")":
            raise _wrong(expression)
        return test, rest[1:]
    return _word(tokens[0].lower(), expression), tokens[1:]


def _word(word: str, expression: str) -> Test:
    if not word.startswith(PATH):
        return lambda path, names: any(word in name.lower() for name in names)
    part = word.removeprefix(PATH)
    if not part:
        raise _wrong(expression)
    return lambda path, names: part in path.lower()


def _any(one: Test, other: Test) -> Test:
    return lambda path, names: one(path, names) or other(path, names)


def _all(one: Test, other: Test) -> Test:
    return lambda path, names: one(path, names) and other(path, names)


def _none(test: Test) -> Test:
    return lambda path, names: not test(path, names)
