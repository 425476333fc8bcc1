"""Wrap private names of Textual, resize scrolled content, reverse rows, and show control characters of input lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from rich.cells import cell_len
from rich.highlighter import Highlighter
from rich.segment import Segment
from rich.style import Style as RichStyle
from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.content import Content
from textual.dom import DOMNode
from textual.expand_tabs import expand_tabs_inline
from textual.geometry import Offset, Region, Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets._toast import ToastRack
from textual.widgets.option_list import Option

from workbench.output.display import safe


def set_virtual_size(view: ScrollView, size: Size, has_scrollbar: bool = True) -> None:
    """Set the size of a view's content, repainting only its scrollbar, if it has one."""
    view.set_reactive(Widget.virtual_size, size)
    if has_scrollbar:
        view._scroll_update(size)


class FitsItsRoom(Widget):
    """A widget that fits its content to its size after each layout, before painting.

    Textual reports a new size only after painting, so content that depends on the size would be painted twice. List
    this class after the widget's main base: Textual takes styles from the first base alone.
    """

    def fit(self) -> None:
        """Fit the content to the size; called after every layout, usually with an unchanged size."""
        raise NotImplementedError


REVERSED = Style(reverse=True)


class KeepsReverse(Widget):
    """A widget whose rows may be reversed, as themes without a second background need.

    List this class after the widget's main base: Textual takes styles from the first base alone.
    """

    def get_visual_style(self, *component_classes: str, partial: bool = False) -> Style:
        style = super().get_visual_style(*component_classes, partial=partial)
        if self.app.native_ansi_color:
            if any(self.get_component_styles(name).text_style.reverse for name in component_classes):
                style += REVERSED
        return style


class Options(OptionList, KeepsReverse):
    """A list of options, the highlighted one reversed where there are no colors."""


A_ROW = Content(" ")
"""The text that Textual measures for every entry."""


class EntryRow(Option):
    """An entry on one row, whose text is made when it is first shown.

    `make` returns the parts of the text, all `safe`, with the style of each.
    """

    def __init__(self, make: Callable[[], Iterable[tuple[str, str]]], disabled: bool = False) -> None:
        super().__init__(A_ROW, disabled=disabled)
        self._make = make

    @cached_property
    def parts(self) -> Sequence[tuple[str, str]]:
        return [(text, style) for text, style in self._make() if text]

    @property
    def text(self) -> str:
        return "".join([text for text, _ in self.parts])


class EntryList(OptionList, FitsItsRoom, KeepsReverse):
    """A list of entries without a border, which makes and paints only the rows in sight.

    Textual measures all entries while it paints them, and then asks for a layout with a scrollbar and a second paint.
    """

    _painted_width = 0
    """The width for which entries may have been painted; 0 before the first layout."""

    def __init__(self) -> None:
        super().__init__(compact=True)
        self.entries: Sequence[EntryRow] = ()
        self._hovered: int | None = None
        self._painted: dict[tuple[int, str], Strip] = {}
        """Painted rows, by entry and state."""
        self._looks: dict[tuple[str, str], RichStyle] = {}
        """Styles by the state of an entry and the style of a part of its text."""

    def show(self, entries: Sequence[EntryRow], most_rows: int) -> None:
        """Replace the entries; `most_rows` is the height above which there is a scrollbar."""
        if not self._painted_width:
            set_virtual_size(self, Size(0, len(entries)), has_scrollbar=False)
            self.set_reactive(OptionList.show_vertical_scrollbar, len(entries) > most_rows)
        self.entries, self._hovered = entries, None
        self._painted.clear()
        self.set_options(entries)

    def on_mount(self) -> None:
        if self.show_vertical_scrollbar:  # shown now, it asks for no layout when Textual shows it
            self.vertical_scrollbar.styles.inline.set_rule("display", "block")

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.entries)

    def fit(self) -> None:
        width = self.scrollable_content_region.width
        if width != self._painted_width:
            self._painted.clear()
        self._painted_width = width
        set_virtual_size(self, Size(width, self.virtual_size.height), has_scrollbar=False)

    def on_resize(self, event: events.Resize) -> None:
        event.prevent_default()  # Textual's handler discards what is known of the entries

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._painted.clear()
        self._looks.clear()

    def render_lines(self, crop: Region) -> list[Strip]:
        rows = [self.render_line(y) for y in crop.line_range]
        background = self.background_colors[1]
        for one in self.get_line_filters():
            rows = [row.apply_filter(one, background) for row in rows]
        return [row.crop(crop.x, crop.right) for row in rows]

    def render_line(self, y: int) -> Strip:
        index = y + self.scroll_offset.y
        if index < len(self.entries) and self.entries[index].disabled:
            state = "-disabled"
        elif index == self.highlighted:
            state = "-highlighted"
        else:
            state = "-hover" if index == self._hovered else ""
        row = self._painted.get((index, state))
        if row is None:
            parts = self.entries[index].parts if index < len(self.entries) else ()
            row = Strip([Segment(text, self._look(state, style)) for text, style in parts])
            width = self._painted_width
            if row.cell_length > width > 0:
                last = row.crop(width - 1, width)
                row = Strip([*row.crop(0, width - 1), *[Segment("…", one.style) for one in last]])
            row = row.adjust_cell_length(self.size.width, self._look(state, ""))
            self._painted[index, state] = row
        return row

    def _look(self, state: str, style: str) -> RichStyle:
        if (state, style) not in self._looks:
            names = ["option-list--option", *([f"option-list--option{state}"] if state else [])]
            look = self.get_visual_style(*names)
            self._looks[state, style] = (look + Style.parse(style) if style else look).rich_style
        return self._looks[state, style]

    def _entry_at(self, event: events.MouseEvent) -> int | None:
        index = event.y + self.scroll_offset.y
        return index if index < len(self.entries) and not self.entries[index].disabled else None

    def on_mouse_move(self, event: events.MouseMove) -> None:
        event.prevent_default()  # Textual's handlers look for the entry in the styles of the row
        self._hover(self._entry_at(event))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()
        index = self._entry_at(event)
        if index is not None:
            self.highlighted = index
            self.action_select()


class StillScrollView(ScrollView):
    """A view that repaints its scrollbar only when its size changes.

    Textual compares the size inside the borders with the size outside them, and so repaints the scrollbar at every
    layout.
    """

    _told: tuple[Size, ...] = ()

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        told = (size, container_size)
        if told == self._told:
            return False
        self._told = told
        return super()._size_updated(size, virtual_size, container_size, layout)


class NeverScrolls(Widget):
    """A widget that never scrolls, so that its growth causes no second layout.

    Textual lays out the screen twice when a widget has grown, in case scrollbars must be added. List this class after
    the widget's main base: Textual takes styles from the first base alone.
    """

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        return super()._size_updated(size, virtual_size, container_size, layout=False)


def put_border_title(widget: Widget, title: Content, is_below: bool = False) -> None:
    """Set a title on the upper or lower edge and repaint only its row.

    `widget.border_title = …` would repaint the widget and its children. Setting the same title again paints nothing.
    """
    shown = title.expand_tabs(4).split()[0] if title.plain else title
    before = (widget._border_subtitle if is_below else widget._border_title) or Content("")
    if (shown.plain, shown.spans) == (before.plain, before.spans):
        return
    if is_below:
        widget._border_subtitle = shown
    else:
        widget._border_title = shown
    left, top = widget.content_offset
    row = widget.outer_size.height - 1 if is_below else 0
    widget.refresh(Region(-left, row - top, max(1, widget.outer_size.width), 1))


def own_bindings(node: DOMNode) -> Iterator[Binding]:
    """Yield a widget's own bindings, enabled or not, with their keys from the config file."""
    for _, binding in node._bindings:
        yield binding


def take_back(app: App[Any], title: str) -> None:
    """Dismiss the warnings with this title that are no longer true."""
    for one in [note for note in app._notifications if (note.title, note.severity) == (title, "warning")]:
        app._unnotify(one)


def make_room_for_toasts(screen: Screen[Any]) -> None:
    """Mount the rack of toasts, which a screen has only from the first of them on."""
    if screen.is_attached and not screen.query_children(ToastRack):
        screen.mount(ToastRack(id="textual-toastrack"))


def show_controls(line: Input) -> None:
    """Give each control character of a line its cell.

    Textual counts none for it, so the cursor would stand too far to the left and the end of a line stay out of sight.
    """
    line.highlighter = _WithoutControls(line)
    line.watch(line, "selection", partial(_put_cursor, line), init=False)


class _WithoutControls(Highlighter):
    """Shows the value of a line; the text that Rich passes has lost some control characters."""

    def __init__(self, line: Input) -> None:
        self._line = line

    def highlight(self, text: Text) -> None:
        text.plain = safe(self._line.value)


def _put_cursor(line: Input) -> None:
    """Move the cursor behind the control characters that are shown, which Textual does not count."""
    shown = safe(line.value)
    if shown == line.value:
        return
    cell = cell_len(expand_tabs_inline(shown[: line.cursor_position], 4)) + line.cursor_at_end
    line.scroll_to_region(Region(cell, 0, 1, 1), force=True, animate=False)
    line.app.cursor_position = line.content_region.offset + Offset(cell - line.scroll_offset.x, 0)
