"""What panes ask of the screen that holds them. A pane never changes the document and never speaks to another pane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from textual.message import Message

from workbench.state.document import Place, State

Change = Callable[[State], State]


class Edit(Protocol):
    """How a pane changes the document: a pure function from state to state, where it acts, and what undo calls it.

    Called at once and not posted: the document is up to date before the next key is looked at.
    """

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


class SuggestVariant(Message):
    """The user wants a model to write another wording; `of` is the text that is at hand."""

    def __init__(self, of: str) -> None:
        super().__init__()
        self.of = of


class DecideOutput(Message):
    """The user wants to set how an output is decided."""

    def __init__(self, output: str) -> None:
        super().__init__()
        self.output = output


class TryVariant(Message):
    """The user wants a column with the variants of a tag, beside the column at hand."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag
