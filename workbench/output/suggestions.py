"""Suggest the nearest valid name for an invalid name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from workbench.output.display import LONGEST_NAME


def nearest(wrong: str, known: Iterable[str]) -> str | None:
    """Return the known name most similar to `wrong`, ignoring case; None if none is similar."""
    by_lower = {name.lower(): name for name in known}
    found = difflib.get_close_matches(wrong.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def no_such(what: str, wrong: str, known: Iterable[str]) -> str:
    """Return `no column 'jason'; did you mean 'json'? There are: chat, json, xml`."""
    names = list(known)
    near = nearest(wrong[:LONGEST_NAME], names)
    question = f"; did you mean {near!r}?" if near else "."
    known_names = ", ".join(name[:LONGEST_NAME] for name in names) or "none"
    return f"no {what} {wrong[:LONGEST_NAME]!r}{question} There are: {known_names}"
