"""Lay out a prompt around its visible rows.

A message keeps its section while it is the same object. Messages that were never visible have an estimated height,
which becomes exact when they come near, so that a thousand long demos cost no more than those on screen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

from adapters.late_dataclasses import dataclass, field
from adapters.prompts.text import Message
from workbench.tui.widgets.prompt.prompt_forms import PromptForm, height_of, section_of
from workbench.tui.widgets.prompt.prompt_section import FoldedSection, Origin, Piece, Section, origins_of

LEAST_EXCERPT = 2
"""Rows of a folded text below which no excerpt is shown."""


class Spot(NamedTuple):
    """A place in a prompt: its message, the row of the section, and the piece."""

    section: int
    row: int
    piece: int


@dataclass(eq=False)
class PromptLayout:
    """The sections of `messages`, stacked vertically, at a text width in cells."""

    width: int = 80
    messages: tuple[Message, ...] = ()
    form: PromptForm = "sections"
    unfolded: set[Origin] = field(default_factory=set)
    """The long pieces, and the folded messages (of the kind `fold`), that are shown in full."""
    is_quiet: bool = False
    """True if the text shared by all columns is folded."""
    _excerpt: int = 0
    """Rows of the first message's folded text, shown in space that would be empty below the prompt."""
    _sections: list[Section | None] = field(default_factory=list)
    _heights: list[int] = field(default_factory=list)
    tops: list[int] = field(default_factory=lambda: [0])
    """The row at which each section starts, and the row after the last."""
    height: int = 0

    def section_at(self, y: int) -> int:
        """Return the section at row `y`, or the nearest; 0 if there is none."""
        return max(0, min(bisect_right(self.tops, y) - 1, len(self.messages) - 1))

    def piece_at(self, y: int, cell: int) -> tuple[Spot, Piece] | None:
        """Return the piece at a cell; None outside the text, on a title and below the prompt."""
        if y >= self.height:
            return None
        position = self.section_at(y)
        section, row = self.section(position), y - self.tops[position]
        if not 1 <= row < section.height:
            return None
        piece = section.piece_at(row, cell)
        return (Spot(position, row, piece.number), piece) if piece is not None and piece.number >= 0 else None

    def section(self, position: int) -> Section:
        section = self._sections[position]
        if section is None:
            message, is_open = self.messages[position], self.unfolded.__contains__
            excerpt = 0 if position else self._excerpt
            section = section_of(message, self.width, self.form, is_open, self.is_quiet, excerpt)
            self._sections[position] = section
        return section

    def take(self, messages: tuple[Message, ...]) -> tuple[int, int, int]:
        """Replace the messages and return (start, end, new end).

        The old messages `start` to `end` were replaced by the new messages `start` to `new end`.
        """
        old = self.messages
        shared = min(len(old), len(messages))
        start = 0
        while start < shared and old[start] is messages[start]:
            start += 1
        kept = 0
        while kept < shared - start and old[-1 - kept] is messages[-1 - kept]:
            kept += 1
        end, new_end = len(old) - kept, len(messages) - kept
        if end == new_end:
            heights = self._heights[start:end]
        else:
            heights = [height_of(one, self.width, self.form) for one in messages[start:new_end]]
        self.messages = messages
        self._sections[start:end] = [None] * (new_end - start)
        self._heights[start:end] = heights
        self._stack()
        return start, end, new_end

    def resize(self, width: int, form: PromptForm | None = None) -> None:
        """Change the text width, and the form if given; sections are laid out again when they become visible."""
        self.width, self.form = width, form or self.form
        self._sections = [None] * len(self.messages)
        self._heights = [height_of(one, width, self.form) for one in self.messages]
        self._stack()

    def set_quiet(self, is_quiet: bool) -> None:
        """Fold the text shared by all columns, or unfold all of it."""
        self.is_quiet = is_quiet
        self.unfolded = {one for one in self.unfolded if one.kind != "fold"}
        self.resize(self.width)

    def open_message(self, position: int) -> bool:
        """Open a folded message; return False if it is not folded."""
        if not isinstance(self.section(position), FoldedSection):
            return False
        self.unfolded |= {Origin("fold", None, self.messages[position].turn)}
        self._lay_out_again(position)
        return True

    def open_where(self, wanted: Origin) -> bool:
        """Open the folded message that hides a piece of this origin; return False if there is none."""
        for position, message in enumerate(self.messages) if self.is_quiet else ():
            if message.turn == wanted.turn and wanted in origins_of(message):
                section = self.section(position)
                number = origins_of(message).index(wanted)
                if isinstance(section, FoldedSection) and section.is_away(number, 0):
                    return self.open_message(position)
        return False

    def settle(self, position: int, row: int, page: int) -> None:
        """Compute exact heights within a page of row `row` of section `position`."""
        if not self.messages:
            return
        changed = False
        above, below = row - page, position
        remaining = 2 * page + row
        while above < 0 and position > 0:
            position -= 1
            changed |= self._measure(position)
            above += self._heights[position]
        while remaining > 0 and below < len(self.messages):
            changed |= self._measure(below)
            remaining -= self._heights[below]
            below += 1
        if changed:
            self._stack()

    def fill(self, room: int) -> bool:
        """Fill empty rows of `room` with the first message's folded text; return whether the excerpt changed."""
        if not self.messages:
            return False
        if self._measure(0):
            self._stack()
        spare = min(room - self.rows_held, self.section(0).hidden_rows)
        excerpt = spare if spare >= LEAST_EXCERPT else 0
        if excerpt == self._excerpt:
            return False
        self._excerpt = excerpt
        self._lay_out_again(0)
        return True

    @property
    def rows_held(self) -> int:
        """The height of all messages as folded, in rows, without the excerpt."""
        return self.height - (self.section(0).excerpt if self.messages else 0)

    def toggle_fold(self, position: int, piece: int) -> bool:
        """Unfold a long piece, or fold it again; return False if it is short."""
        section = self.section(position)
        if piece not in section.folded:
            return False
        if isinstance(section, FoldedSection) and piece < section.first_own and self.open_message(position):
            return True
        self.unfolded ^= {section.origins[piece]}
        self._lay_out_again(position)
        return True

    def find(self, wanted: Origin) -> Spot | None:
        """Return the first row of a piece of this origin, else of any piece of its field, or None."""
        for position, message in enumerate(self.messages):
            if message.turn == wanted.turn:
                spot = self._find_in(position, lambda origin: origin == wanted)
                if spot is not None:
                    return spot
        if wanted.field is None:
            return None
        of_field = (
            self._find_in(one, lambda origin: origin.field == wanted.field) for one in range(len(self.messages))
        )
        return next((spot for spot in of_field if spot is not None), None)

    def shows(self, wanted: Origin, first: int, last: int) -> bool:
        """Return whether rows `first` to `last` contain a piece of this origin."""
        for y in range(first, min(last + 1, self.height)):
            position = self.section_at(y)
            section, row = self.section(position), y - self.tops[position]
            shown = section.runs(row) if 1 <= row < section.height else []
            if any(piece.number >= 0 and section.origins[piece.number] == wanted for piece, _ in shown):
                return True
        return False

    def _find_in(self, position: int, matches: Callable[[Origin], bool]) -> Spot | None:
        numbers = [number for number, one in enumerate(origins_of(self.messages[position])) if matches(one)]
        stops = self.section(position).stops() if numbers else []
        return next((self._at(position, number) for number in numbers if number in stops), None)

    # ------------------------------------------------------------------ moving a cursor

    def follow(self, spot: Spot | None, start: int = 0, end: int = 0, new_end: int = 0) -> Spot | None:
        """Return the new position of a cursor after `take` replaced messages `start` to `end`."""
        if spot is None or spot.section < start:
            return spot
        if not self.messages:
            return None
        position = min(spot.section + (new_end - end if spot.section >= end else 0), len(self.messages) - 1)
        section = self.section(position)
        piece = min(section.stops(), key=lambda one: abs(one - spot.piece), default=None)
        if piece is None:
            return None
        first, last = section.rows_of(piece)
        return Spot(position, max(first, min(spot.row, last)), piece)

    def first_from(self, y: int) -> Spot | None:
        """Return the first piece visible at or below row `y`."""
        for position in range(self.section_at(y), len(self.messages)):
            section = self.section(position)
            for number in section.stops():
                first, last = section.rows_of(number)
                if self.tops[position] + last >= y:
                    return Spot(position, max(first, min(last, y - self.tops[position])), number)
        return None

    def next_piece(self, spot: Spot, step: int) -> Spot | None:
        """Return the next (`step` 1) or previous (-1) piece, across messages."""
        stops = [one for one in self.section(spot.section).stops() if (one - spot.piece) * step > 0]
        if stops:
            return self._at(spot.section, stops[0] if step > 0 else stops[-1])
        return self.edge_of_next(spot.section, step, last=step < 0)

    def next_row(self, spot: Spot, step: int, cell: int) -> Spot | None:
        """Return the next visible row (`step` 1) or the previous (-1), at the piece nearest to `cell`."""
        position, row = spot.section, spot.row + step
        while 0 <= position < len(self.messages):
            section = self.section(position)
            while 1 <= row < section.height:
                number = section.piece_near(row, cell)
                if number is not None:
                    return Spot(position, row, number)
                row += step
            position += step
            if 0 <= position < len(self.messages):
                row = 1 if step > 0 else self.section(position).height - 1
        return None

    def edge_of_next(self, position: int, step: int, last: bool) -> Spot | None:
        """Return the first piece of the next message with one after (`step` 1) or before a position, or its last."""
        position += step
        while 0 <= position < len(self.messages):
            stops = self.section(position).stops()
            if stops:
                return self._at(position, stops[-1] if last else stops[0])
            position += step
        return None

    def _at(self, position: int, piece: int) -> Spot:
        return Spot(position, self.section(position).rows_of(piece)[0], piece)

    def _lay_out_again(self, position: int) -> None:
        self._sections[position] = None
        if self._measure(position):
            self._stack()

    def _measure(self, position: int) -> bool:
        height = self.section(position).height
        if self._heights[position] == height:
            return False
        self._heights[position] = height
        return True

    def _stack(self) -> None:
        self.tops = list(accumulate(self._heights, initial=0))
        self.height = self.tops[-1]
