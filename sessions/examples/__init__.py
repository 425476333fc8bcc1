"""The bundled sessions that teach: each opens, renders and is answered by the offline model without key or network."""

from __future__ import annotations

from importlib.resources import files

from sessions.file import store
from sessions.model.session import Session

FIRST = "receipt"
"""A signature of one line, sent to a model that answers well and to one that does not: for the first minute."""
SECOND = "desk"
"""A short classification with two demos, for the second minute."""
NAMES: tuple[str, ...] = ("question", "invoice", "triage")
"""question: context and demos · invoice: a nested extraction · triage: a classification with history."""
ALL = (FIRST, SECOND, *NAMES)


def text(name: str) -> str:
    """The session file of an example. Raises KeyError, naming those there are."""
    if name not in ALL:
        raise KeyError(f"no example {name!r}; there are {', '.join(ALL)}")
    return (files(__package__) / f"{name}.json").read_text(encoding="utf-8")


def load(name: str) -> Session:
    """The session of an example, one of `ALL`. Raises KeyError for another name."""
    return store.loads(text(name), f"{name}.json")
