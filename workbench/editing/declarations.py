"""Which field a place in a signature's text declares. Looked for upward from the place: it is asked at every key."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

NAME = re.compile(r"(?<![\w.\"'`])([A-Za-z_]\w*)(?=\s*(:|,|$| |->))")


def field_at(lines: Sequence[str], line: int, column: int, names: Collection[str], is_source: bool) -> str | None:
    """The field declared last at or before a 0-based place, None where none is.

    In Python source (`is_source`) a declaration begins its line and goes on until an empty line, a class or the next
    one; in the string notation names follow each other.
    """
    for number in range(min(line, len(lines) - 1), -1, -1):
        text = lines[number]
        if is_source:
            first = NAME.match(text.lstrip())
            if first is not None and first.group(2) == ":" and first.group(1) in names:
                return first.group(1)
            if not text.strip() or text.startswith("class ") or text.rstrip().endswith('"""'):
                return None
            continue
        limit = column if number == line else len(text)
        found = [one.group(1) for one in NAME.finditer(text) if one.start() <= limit and one.group(1) in names]
        if found:
            return found[-1]
    return None
