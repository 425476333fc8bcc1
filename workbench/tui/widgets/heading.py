"""What a room is to read first: a title drawn large, what became of it at the right, and a line of words below."""

from __future__ import annotations

from typing import NamedTuple

from textual.content import Content
from textual.geometry import Size
from textual.widget import Widget

from workbench.output.display import cell_width, one_line
from workbench.tui.widgets.big_text import drawn
from workbench.tui.widgets.text.plain import content, lines, same

APART = 4
"""Cells between the title and the mark."""
LONGEST = 200
LONGEST_DRAWN = len("4/4 repaired")
"""Letters of a mark's words above which its sign alone is drawn, and the words stand below."""
ROOMY = 32
"""Rows of the screen from which letters of twice the size leave enough for what they are the title of."""


class Mark(NamedTuple):
    """What became of it, in a sign and few words (`✓`, `4/4`), drawn large where they fit; `tone` as in a verdict."""

    sign: str
    words: str
    tone: str


class Heading(Widget):
    """As high as what is drawn. The style sheets show it in projector mode, and nowhere else."""

    DEFAULT_CSS = """
    Heading {
        display: none;
        width: 100%;
        height: auto;
        padding: 0 2;
        background: $background;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._title = ""
        self._mark: Mark | None = None
        self._below = Content("")

    def show(self, title: str, mark: Mark | None, below: Content) -> None:
        """`below` stands under both, on one line that may be cut."""
        title = one_line(title, LONGEST)
        mark = mark._replace(words=one_line(mark.words, LONGEST)) if mark is not None else None
        if (title, mark) != (self._title, self._mark) or not same(below, self._below):
            self._title, self._mark, self._below = title, mark, below
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows(width, viewport.height))

    def render(self) -> Content:
        return Content("\n").join(self._rows(self.size.width, self.app.size.height))

    def _rows(self, width: int, screen_rows: int) -> list[Content]:
        """The drawn rows in the largest letters that fit, with the mark's words if they do, and the line below."""
        for scale in (2, 1) if screen_rows >= ROOMY else (1,):
            for mark in self._marks:
                drawn_mark = drawn(mark, width, scale=scale)
                room = width - (len(drawn_mark[0]) + APART if drawn_mark else 0)
                title = drawn(self._title, room, scale=scale)
                if title and (drawn_mark or not mark):
                    apart = [Content("")] * (scale - 1)
                    return [*_side_by_side(title, drawn_mark, width, self._tone), *apart, self._line_below(mark, width)]
        return [self._in_small_letters(width), self._line_below("", width)]

    @property
    def _marks(self) -> tuple[str, ...]:
        """What may be drawn at the right, the whole of it first."""
        if self._mark is None:
            return ("",)
        if len(self._mark.words) > LONGEST_DRAWN:
            return (self._mark.sign,)
        return f"{self._mark.sign} {self._mark.words}".strip(), self._mark.sign

    @property
    def _tone(self) -> str:
        return f"$text-{self._mark.tone} bold" if self._mark is not None and self._mark.tone else "$foreground 70%"

    def _in_small_letters(self, width: int) -> Content:
        said = f"{self._mark.sign} {self._mark.words}".strip() if self._mark is not None else ""
        shown = one_line(said, width // 2)
        title = one_line(self._title, max(1, width - cell_width(shown) - APART))
        gap = " " * max(0, width - cell_width(title) - cell_width(shown))
        return lines((title, "$text-accent bold"), gap, (shown, self._tone))

    def _line_below(self, drawn_mark: str, width: int) -> Content:
        """The words below, and in front of them those of the mark that are not drawn."""
        words = self._mark.words if self._mark is not None and self._mark.words not in drawn_mark else ""
        parts = [content(words, self._tone), content("   ")] if words and drawn_mark else []
        return Content.assemble(*parts, self._below).truncate(max(1, width), ellipsis=True)


def _side_by_side(title: tuple[str, ...], mark: tuple[str, ...], width: int, tone: str) -> list[Content]:
    """The rows of both, drawn: the title at the left edge, the mark at the right one."""
    mark = mark or ("",) * len(title)
    gap = " " * (width - len(title[0]) - len(mark[0]))
    return [lines((left, "$text-accent bold"), gap, (right, tone)) for left, right in zip(title, mark, strict=True)]
