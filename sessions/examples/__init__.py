"""The bundled sessions that teach: each opens, renders and is answered by the offline model without key or network."""

from __future__ import annotations

from importlib.resources import files

from sessions.file import store
from sessions.model.session import Session

NAMES: tuple[str, ...] = ("question", "invoice", "triage")
"""question: context and demos · invoice: a nested extraction · triage: a classification with history."""


def text(name: str) -> str:
    """The session file of an example. Raises KeyError, naming those there are."""
    if name not in NAMES:
        raise KeyError(f"no example {name!r}; there are {', '.join(NAMES)}")
    return (files(__package__) / f"{name}.json").read_text(encoding="utf-8")


def load(name: str) -> Session:
    """The session of an example, one of `NAMES`. Raises KeyError for another name."""
    return store.loads(text(name), f"{name}.json")
