"""Show a reply that users can edit, with colours and a margin that show how each piece was parsed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Selection

from adapters.late_dataclasses import dataclass
from adapters.replies.reading import Reading, ReplyForm
from workbench.output.display import safe
from workbench.tui.widgets.reply.reply_marks import BAR_OF, LONGEST_MARGIN, SHORTEST_MARGIN, Marks, shifted
from workbench.tui.widgets.text.editor import StreamedText
from workbench.tui.widgets.text.line_view import SPAN_STYLES, component_css, css_beside, strip_of
from workbench.tui.widgets.text.wrapping import cell_offsets, expand_tabs

if TYPE_CHECKING:
    from adapters.replies.arrival import Arrival

CELLS_BEHIND = 1
"""Cells kept free for the cursor after the last character of a row."""
Run = tuple[int, int, Style]
"""The start and end of a stretch of a row, and its style."""


class ReplyView(StreamedText):
    """A reply with its parse result; posts `Edited` only after the user's edits."""

    DEFAULT_CSS = css_beside(__file__) + component_css("ReplyView", "reply-view", SPAN_STYLES)
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"reply-view--{name}" for name in (*SPAN_STYLES, "error", "margin", "label", "bar")
    }

    gutter_width: int = 0

    @dataclass
    class Edited(Message):
        """The user changed the reply; `text` is the whole reply, `is_new` if nothing is left of the one before."""

        column_id: str
        text: str
        is_new: bool = False

    def __init__(self, column_id: str, **options: Any) -> None:
        self._marks_of_reply = Marks("", ())
        self._error_at: tuple[int, int] | None = None
        self._error_field: str | None = None
        self._is_worked_at = False
        self._marked: tuple[Any, ...] | None = None
        self._line_starts: list[int] | None = None
        self._base = Style()
        self.column_id = column_id
        self._is_replaced = False
        self.is_old = False
        """Set if the reply answers an earlier prompt."""
        super().__init__("", on_edit=self._tell, **options)
        self.reading: Reading | None = None
        self._arrival: Arrival | None = None
        self._arriving: tuple[tuple[int, str | None], ...] = ()
        """Start and field name of each value that has arrived."""

    def _tell(self, text: str) -> None:
        self.post_message(self.Edited(self.column_id, text, self._is_replaced))

    def on_paste(self, event: events.Paste) -> None:
        """Let a paste replace an old reply, unless the cursor was moved into it; runs before Textual's handler."""
        if self.is_old and self.selection in map(Selection.cursor, ((0, 0), self.document.end)):
            self.select_all()

    # ------------------------------------------------------------------ content

    def show(self, text: str, reading: Reading | None = None) -> None:
        """Show a reply and its parse result."""
        if self.read_only:
            self.end_stream()
        self.read_only, self._arrival = False, None
        if text != self.raw:
            self._line_starts = None
            self._is_worked_at = False
            if self.has_focus:
                super().show(text)
            else:
                self.raw = text
                with self.prevent(TextArea.Changed):
                    self.load_text(safe(text))
                self._wrap_unless_too_long()
                self.refresh()
                self.scroll_home(animate=False)
        self.reading = reading
        spans = reading.spans if reading is not None and reading.completion == self.raw else ()
        names = tuple(reading.signature.output_fields) if reading is not None else ()
        error = reading.error if reading is not None else None
        at = (error.start, error.end or error.start + 1) if error is not None and error.start is not None else None
        marked = (self.raw, spans, names, at)
        if marked == self._marked:
            return
        self._marked = marked
        self._marks_of_reply = Marks(self.raw, spans, names)
        self._error_at = at
        self._error_field = error.field if error is not None else None
        self._fit_margin()
        self.forget_painted_lines()
        self.refresh()

    def begin_stream(self, form: ReplyForm, fields: Sequence[str]) -> None:
        """Show an empty, read-only reply that grows by `append`, and label its `fields` as they arrive."""
        from adapters.replies.arrival import Arrival  # loads the engine, which is loaded already during a run

        self.show("")
        self.read_only, self._arrival, self._arriving = True, Arrival(form, fields), ()
        self._marks_of_reply = Marks("", (), [f"{one} …" for one in fields])
        self._fit_margin()

    def append(self, chunk: str) -> None:
        self._line_starts = None
        if self._arrival is not None:
            text = self.raw + chunk
            spans = self._arrival.spans(text)
            arriving = tuple([(one.start, one.field) for one in spans])
            marks = self._marks_of_reply
            if arriving != self._arriving or len(marks.labels) < len(spans):
                self._arriving, margin = arriving, marks.margin
                self._marks_of_reply = marks = Marks(text, spans)
                marks.margin = margin
            marks.spans = spans
        super().append(chunk)

    def decorations(self) -> Callable[[int], object]:
        """Include the labels while a reply arrives; later, changed marks repaint all rows anyway."""
        marks = self._marks_of_reply
        if self._arrival is None or not marks.spans:
            return super().decorations()

        def look(index: int) -> object:
            start = self._line_start(index)
            end = start + len(self.document.get_line(index)) + 1
            return marks.label_in(start, end), bool(marks.spans_in_range(start, end))

        return look

    def place_of(self, field: str) -> tuple[int, int] | None:
        """Return start and end of a field's value in the reply, without surrounding blanks, or None."""
        spans = [one for one in self._marks_of_reply.spans if one.field == field and one.kind in ("value", "repaired")]
        if not spans:
            return None
        start, end = spans[0].start, spans[-1].end
        text = self.raw[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def go_to_error(self) -> None:
        """Move the cursor to the parse error, once, and only if the user has not moved it."""
        if self._error_at is None or self._is_worked_at or self.selection != Selection.cursor((0, 0)):
            return
        self._is_worked_at = True
        self.move_cursor(self._location(self.text, self._error_at[0]))
        self.call_after_refresh(self._bring_cursor_into_sight)

    def _bring_cursor_into_sight(self) -> None:
        """Scroll to the cursor, to the top if both fit on a page."""
        row = self.wrapped_document.location_to_offset(self.cursor_location).y
        height = self.scrollable_content_region.height
        if row < height:
            self.scroll_to(y=0, animate=False)
        else:
            self.scroll_cursor_visible(center=not 0 <= row - round(self.scroll_y) < height, animate=False)

    def edit(self, edit: Edit) -> EditResult:
        if self._is_showing:
            return super().edit(edit)
        self._is_worked_at = True
        start, length = self._offset(edit.top), len(self.raw)
        self._is_replaced = start == 0 and edit.bottom == self.document.end
        self._line_starts = None
        result = super().edit(edit)
        growth = len(self.raw) - length
        marks = self._marks_of_reply
        self._marks_of_reply = Marks(self.raw, shifted(marks.spans, start, growth))
        self._marks_of_reply.margin = marks.margin
        return result

    @property
    def selected_text(self) -> str:
        """The selected part of the raw reply; `get_selection` returns its displayable form."""
        start, end = sorted(self.selection)
        return self.raw[self._offset(start) : self._offset(end)]

    def action_cut(self) -> None:
        if self.read_only or self.selection.is_empty:
            super().action_cut()
            return
        chosen = self.selected_text
        self.type_over("", *self.selection)
        self.app.copy_to_clipboard(chosen)

    # ------------------------------------------------------------------ margin

    @property
    def widest_row(self) -> int:
        """Cells of the longest unwrapped line at the start of the reply, with its margin."""
        return self.gutter_width + self._marks_of_reply.longest_line + CELLS_BEHIND

    def _fit_margin(self) -> None:
        width = self.scrollable_content_region.width
        marks, wanted = self._marks_of_reply, 0
        if marks.spans or self._arrival is not None:
            wanted = min(marks.margin, LONGEST_MARGIN, width // 3 - 2)
            left = width - marks.longest_word - 2 - CELLS_BEHIND
            if SHORTEST_MARGIN <= left < wanted:  # labels can be cut, words of the reply cannot
                wanted = left
        gutter = wanted + 2 if wanted >= SHORTEST_MARGIN else 0
        if gutter != self.gutter_width:
            self.gutter_width = gutter
            self.rewrap()
            self.refresh()

    def fit(self) -> None:
        self._fit_margin()
        super().fit()

    # ------------------------------------------------------------------ rows

    def render_lines(self, crop: Region) -> list[Strip]:
        self._base = self.rich_style  # looked up once instead of for each row
        return super().render_lines(crop)

    def paint_row(self, y: int) -> Strip:
        """Paint a row from the visible part of its line; Textual splits the whole line for every row."""
        base = self._base
        info = self.lines_by_row
        row = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if row >= len(info):
            return Strip.blank(width, base)
        index, section = info[row]
        line = self.document.get_line(index)
        offsets = self.wrapped_document.get_offsets(index)
        start = offsets[section - 1] if section else 0
        end = offsets[section] if section < len(offsets) else len(line)
        skipped = 0
        if not self.soft_wrap:
            # a line with wide characters or tabs is measured from its start: every cell depends on those before it
            first_cell = self.scroll_offset.x
            end = min(len(line), first_cell + width)
            is_plain = line.isascii() and "\t" not in line
            start, skipped = (min(first_cell, len(line)), 0) if is_plain else (0, first_cell)
        at_end = end == len(line)
        text = line[start:end] + (" " if at_end else "")
        line_start = self._line_start(index)
        runs = self._runs(index, start, end + at_end, line_start, base)
        hang = self.hang_of_line(index) if section else 0
        segments, column = [Segment(" " * hang, base)], 0
        for left, right, style in runs:
            shown = expand_tabs(text[left:right], column)
            column += cell_offsets(shown)[-1]
            segments.append(Segment(shown, style))
        strip = Strip(segments)
        if skipped:
            strip = strip.crop(skipped)
        strip = strip.adjust_cell_length(max(0, width - self.gutter_width), base)
        if not self.gutter_width:
            return strip
        return Strip.join([self._margin(line_start + start, line_start + end + at_end, base), strip])

    def _runs(self, index: int, start: int, end: int, line_start: int, base: Style) -> list[Run]:
        """Return the styled stretches of a row: parsed spans, overlaid with error, selection and cursor."""
        layers: list[Run] = [
            (span.start - line_start, span.end - line_start, self._style(span.kind))
            for span in self._marks_of_reply.spans_in_range(line_start + start, line_start + end)
        ]
        if self._error_at is not None:
            first, last = self._error_at[0] - line_start, self._error_at[1] - line_start
            layers.append((first, last, self._style("error")))
        top, bottom = sorted(self.selection)
        cursor_row, cursor_column = self.selection.end
        if top != bottom and top[0] <= index <= bottom[0]:
            first = top[1] if index == top[0] else 0
            last = bottom[1] if index == bottom[0] else end
            layers.append((first, last, self.get_component_rich_style("text-area--selection")))
        if cursor_row == index and self.shows_cursor:
            layers.append((cursor_column, cursor_column + 1, self.get_component_rich_style("text-area--cursor")))
        # Split overlapping layers into adjacent stretches; later layers win
        edges = {edge for layer in layers for edge in layer[:2] if start < edge < end}
        runs: list[Run] = []
        for left, right in pairwise(sorted({start, end, *edges})):
            style = base
            for first, last, one in layers:
                if first < right and last > left:
                    style += one
            runs.append((left - start, right - start, style))
        return runs

    def _margin(self, start: int, end: int, base: Style) -> Strip:
        """Return the margin of a row: label, bar or error sign."""
        marks, room = self._marks_of_reply, self.gutter_width - 2
        has_error = self._error_at is not None and start <= self._error_at[0] < max(end, start + 1)
        label = marks.label_in(start, end, self._error_field if has_error else None)
        shown, style = "", self._style("margin")
        if label is not None:
            first, others = label
            more = f" +{others}" if others else ""
            shown = first.fit(room - len(more)) + more
            if first.kind in ("value", "marker"):
                style = self._style("label")
            else:
                style = self._style(first.kind) + Style(underline=False, strike=False)
        spans = marks.spans_in_range(start, end)
        bar = next((BAR_OF[one.kind] for one in spans if self.raw[one.start : one.end].strip()), " ")
        bar_style = self._style("error" if has_error else "bar")
        pad = " " * max(0, room - cell_offsets(shown)[-1])
        pieces = [(pad, base), (shown, base + style), ("✗" if has_error else bar, base + bar_style), (" ", base)]
        return strip_of(pieces, self.gutter_width, base)

    def _line_start(self, index: int) -> int:
        starts = self._line_starts
        if starts is None:
            starts, total = [], 0
            for line in self.document.lines:
                starts.append(total)
                total += len(line) + 1
            self._line_starts = starts
        return starts[index] if index < len(starts) else len(self.raw)

    def _style(self, name: str) -> Style:
        style = self._styles.get(name)
        if style is None:
            style = self._styles[name] = self.get_visual_style(f"reply-view--{name}").rich_style
        return style
