"""Messages from panes to their screen. Panes never change the document or talk to each other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from textual.message import Message

from adapters.signatures.signature import Field
from workbench.state.document import Place, State

Change = Callable[[State], State]


class Edit(Protocol):
    """Changes the document by a pure function; `place` and `label` describe the change for undo."""

    def __call__(self, change: Change, place: Place, label: str, typing: bool = False) -> None: ...


class GoTo(Message):
    """Go to the editor of `place`, at 1-based line and column if known."""

    def __init__(self, place: Place, line: int = 0, column: int = 0) -> None:
        super().__init__()
        self.place = place
        self.line = line
        self.column = column


class CopiesOfWork(Message):
    """Backups of unsaved work fail, with the reason and a remedy, or work again ("")."""

    def __init__(self, why_not: str) -> None:
        super().__init__()
        self.why_not = why_not


class PastedCall(Message):
    """The user pasted a call's text, of an error or of dspy's `inspect_history()`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class AttachFile(Message):
    """Attach a file to `field`; `path` is the dropped or pasted file, if any. `take` is called with the value."""

    def __init__(self, field: Field, before: Any, take: Callable[[Any], None], path: Path | None) -> None:
        super().__init__()
        self.field, self.before, self.take, self.path = field, before, take, path


class SuggestVariant(Message):
    """Ask a model to rewrite the text `of`."""

    def __init__(self, of: str) -> None:
        super().__init__()
        self.of = of


class TryVariant(Message):
    """Add a column with the variants of a tag after the focused column."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag
