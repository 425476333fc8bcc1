"""The nearest right name for a wrong one, in one sentence."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """The known name most like `wrong`, whatever its case; None when nothing is near."""
    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def no_such(what: str, wrong: str, known: Iterable[str]) -> str:
    """`no column 'jason'; did you mean 'json'? There are: chat, json, xml`."""
    names = list(known)
    near = nearest(wrong, names)
    question = f"; did you mean {near!r}?" if near else "."
    return f"no {what} {wrong!r}{question} There are: {', '.join(names) or 'none'}"
