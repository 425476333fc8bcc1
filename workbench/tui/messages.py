"""Messages from panes to their screen. Panes never change the document or talk to each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual.message import Message

from workbench.state.document import Place, State

Change = Callable[[State], State]


class Edit(Protocol):
    """Changes the document: a pure function, the place, and a label for undo."""

    def __call__(self, change: Change, place: Place, label: str, typing: bool = False) -> None: ...


class GoTo(Message):
    """The user wants to be where something is made: the editor at `place`, at 1-based line and column if known."""

    def __init__(self, place: Place, line: int = 0, column: int = 0) -> None:
        super().__init__()
        self.place = place
        self.line = line
        self.column = column


class CopiesOfWork(Message):
    """Copies of unsaved work cannot be written any more (why, and what would work), or can again ("")."""

    def __init__(self, why_not: str) -> None:
        super().__init__()
        self.why_not = why_not


class PastedCall(Message):
    """The user pasted the text of a call: of an error, or of dspy's `inspect_history()`."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class SuggestVariant(Message):
    """The user wants a model to write another wording; `of` is the text that is at hand."""

    def __init__(self, of: str) -> None:
        super().__init__()
        self.of = of


class TryVariant(Message):
    """The user wants a column with the variants of a tag, beside the column at hand."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag
