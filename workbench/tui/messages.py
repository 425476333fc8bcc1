"""Messages from panes to their screen. Panes never change the document or talk to each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from textual.message import Message

from adapters.late_dataclasses import dataclass
from adapters.signatures.signature import Field
from workbench.state.document import Place, State

Change = Callable[[State], State]


class Edit(Protocol):
    """Changes the document by a pure function; `place` and `label` describe the change for undo."""

    def __call__(self, change: Change, place: Place, label: str, typing: bool = False) -> None: ...


GoTo = Callable[[Place, int, int], None]
"""Goes to the editor of a place, at a 1-based line and column; 0 for its start."""


@dataclass
class PastedCall(Message):
    """The user pasted a call's text, of an error or of dspy's `inspect_history()`."""

    text: str


@dataclass
class AttachFile(Message):
    """Attach a file to `field`; `path` is the dropped or pasted file, if any. `take` is called with the value."""

    field: Field
    before: Any
    take: Callable[[Any], None]
    path: Path | None


@dataclass
class SuggestVariant(Message):
    """Ask a model to rewrite the text `of`."""

    of: str


@dataclass
class TryVariant(Message):
    """Add a column with the variants of a tag after the focused column."""

    tag: str
