"""Write plain values as readable Python source; long values span lines."""

from __future__ import annotations

import math
import re

WIDTH = 100


def literal(value: object, indent: str = "") -> str:
    """Write an expression for plain JSON data; texts that cannot be printed or encoded are in ASCII."""
    if isinstance(value, str):
        return _text(str(value), indent)
    if isinstance(value, dict):
        entries = [f"{_text(str(key), indent)}: {literal(one, indent + '    ')}" for key, one in value.items()]
        return _enclosed("{", entries, "}", indent)
    if isinstance(value, list | tuple):
        return _enclosed("[", [literal(one, indent + "    ") for one in value], "]", indent)
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _enclosed(opening: str, entries: list[str], closing: str, indent: str) -> str:
    flat = f"{opening}{', '.join(entries)}{closing}"
    if len(indent) + len(flat) <= WIDTH and "\n" not in flat:
        return flat
    lines = "".join(f"\n{indent}    {one}," for one in entries)
    return f"{opening}{lines}\n{indent}{closing}"


def _text(text: str, indent: str) -> str:
    if "\n" not in text or len(text) + len(indent) <= WIDTH // 2:
        return quoted(text)
    pieces = "".join(f"\n{indent}    {quoted(line)}" for line in re.findall(r"[^\n]*\n|[^\n]+", text))
    return f"({pieces}\n{indent})"


def quoted(text: str) -> str:
    """Write a string literal on a single line."""
    made = repr(text)
    if not made.isprintable() or any("\ud800" <= one <= "\udfff" for one in made):
        made = ascii(text)
    if made.startswith("'") and '"' not in made and "\\'" not in made:
        return f'"{made[1:-1]}"'
    return made


def comment(text: str) -> str:
    """Put `text` on a single line, for a comment."""
    return "".join(one if one.isprintable() else " " for one in text)
