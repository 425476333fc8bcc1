"""Repaint only changed rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter
from typing import Any, Self

from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style as RichStyle
from textual import events, messages, on
from textual._compositor import ChopsUpdate, Compositor, CompositorMap, LayoutUpdate, ReflowResult
from textual._context import active_message_pump
from textual._styles_cache import StylesCache
from textual._time import get_time
from textual.color import Color
from textual.filter import ANSIToTruecolor
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen, ScreenResultType
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, RichVisual
from textual.widget import Widget
from textual.widgets import Tooltip
from textual.widgets._toast import ToastRack

from workbench.tui.textual_internals.access import FitsItsRoom, make_room_for_toasts
from workbench.tui.textual_internals.error_isolation import report
from workbench.tui.textual_internals.kept_styles import KeptStyles

ROWS_BETWEEN = 4


class RowCompositor(Compositor):
    """A compositor that asks only changed widgets for rows, and only for the changed rows.

    Textual asks every widget between the first and the last change for all its rows, which takes most of the time of
    painting a letter.

    Layout differs in three ways. Sizes are compared with those of the last layout; Textual compares with a map that
    scrolling replaces, so widgets that appeared meanwhile never got their size. Everything that moved since it was
    painted is repainted. A new size causes no second layout for scrollbars, which ask for their own.

    Where a part of its screen is repainted, as after a change behind a dialog, it paints every change. Textual then
    paints that part alone and forgets what other widgets have to paint.

    A screen of which every cell changed is painted whole. It is joined from the pieces in sight; Textual first cuts
    every row of every widget at the edges of all widgets, which takes a fifth of the time. Its rows are kept until a
    change in them, for a dialog in front.
    """

    def __init__(self) -> None:
        super().__init__()
        self._laid_out: CompositorMap = {}
        self._painted: CompositorMap = {}
        """Regions of all visible widgets after the last layout or scroll."""
        self._changed: tuple[Region, ...] = ()
        """Regions being painted; empty for the whole screen."""
        self._seen_of: dict[Widget, tuple[Region, Region]] | None = None
        self._cells_seen: dict[Widget, dict[int, list[tuple[int, int]]]] = {}
        self._rows: dict[int, list[Strip]] = {}
        """The pieces of rows that have not changed since they were painted."""
        self._tint: tuple[Color, RichStyle] | None = None
        self._tinted: list[tuple[list[Strip], Strip]] = []
        """The pieces of each row and the row with the last tint."""
        self.laid_out_at = 0.0
        """The start of the last layout, by the clock of `Message.time`."""

    def update_widgets(self, widgets: set[Widget]) -> None:
        super().update_widgets(set(self.visible_widgets) if self.root in widgets else widgets)
        self._forget_changed_rows()

    def forget_rows(self) -> None:
        """Ask for all rows anew when they are next shown."""
        self._rows.clear()

    def _forget_changed_rows(self) -> None:
        for region in self._dirty_regions:
            for y in region.line_range:
                self._rows.pop(y, None)

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        started = get_time()
        self._full_map = before = self._laid_out
        result = super().reflow(parent, size)
        self._full_map_invalidated = False  # complete already; otherwise the next query would rebuild it
        if self._painted is not self._laid_out:
            moved = self._painted.items() ^ self._full_map.items()
            self._dirty_regions.update([seen for _, one in moved if (seen := one.clip.intersection(one.region))])
        self._painted = self._laid_out = self._full_map
        for widget, one in self._laid_out.items():
            if one != before.get(widget):
                widget._size_updated(one.region.size, one.virtual_size, one.container_size, layout=False)
        for widget in self._laid_out:
            if isinstance(widget, FitsItsRoom):
                try:
                    widget.fit()
                except Exception as error:  # whatever a widget raises, the others are painted
                    report(widget, error)
        self.update_widgets(set(self.visible_widgets))  # paint the changes of `fit` now instead of in a second pass
        self.laid_out_at = started
        return result

    def reflow_visible(self, parent: Widget, size: Size) -> set[Widget]:
        exposed = super().reflow_visible(parent, size)
        self._painted = self._visible_map or {}
        self._forget_changed_rows()
        return exposed

    def render_update(self, full: bool = False, *others: Any, **options: Any) -> RenderableType | None:
        return super().render_update(full or self._is_all_changed(), *others, **options)

    def _is_all_changed(self) -> bool:
        """Tell if every cell is to be painted, as after a change of the theme."""
        if sum([one.area for one in self._dirty_regions]) < self.size.area:
            return False
        changed: list[list[tuple[int, int]]] = [[] for _ in range(self.size.height)]
        for region in self._dirty_regions:
            for y in region.intersection(self.size.region).line_range:  # a smaller screen keeps regions of before
                changed[y] = _joined(changed[y], region.column_span)
        return not any(_uncovered(row, 0, self.size.width) for row in changed)

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = ()

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        self._dirty_regions.clear()
        self.forget_rows()
        rows = self._pieces_of_rows()
        if simplify:
            rows = [[Strip.join(row).simplify().discard_meta()] for row in rows]
        return LayoutUpdate([*rows], self.size.region)

    def render_strips(self, size: Size | None = None) -> list[Strip]:
        if size is not None and size != self.size:
            return super().render_strips(size)
        return [Strip.join(row) for row in self._pieces_of_rows()]

    def _pieces_of_rows(self) -> list[list[Strip]]:
        """Return the pieces in sight of each row of the screen, from the left."""
        pieces: dict[int, dict[int, Strip]] = {y: {} for y in range(self.size.height) if y not in self._rows}
        in_sight = self._in_sight() if pieces else {}
        for widget, (region, clip) in self.visible_widgets.items() if pieces else ():
            if rows := [y for y in in_sight[widget] if y in pieces]:
                first_row, last_row = min(rows), max(rows)
                seen = region.intersection(clip)
                part = Region(seen.x, first_row, seen.width, last_row + 1 - first_row)
                strips = widget.render_lines(part.translate(-region.offset))
                for y in rows:
                    for first, last in in_sight[widget][y]:
                        pieces[y][first] = strips[y - first_row].crop(first - seen.x, last - seen.x)
        for y, row in pieces.items():
            self._rows[y] = [row[first] for first in sorted(row)]
        return [self._rows[y] for y in range(self.size.height)]

    def tinted_rows(self, tint: Color, base: RichStyle) -> list[Strip]:
        """Return the rows as they are shown behind a dialog; rows that did not change are those returned before."""
        if self._tint != (tint, base):
            self._tint, self._tinted = (tint, base), []
        looks: dict[int, RichStyle] = {}
        rows: list[tuple[list[Strip], Strip]] = []
        for y, pieces in enumerate(self._pieces_of_rows()):
            if y < len(self._tinted) and self._tinted[y][0] == pieces:
                rows.append(self._tinted[y])
                continue
            segments: list[Segment] = []
            for text, style, _ in Strip.join(pieces):
                look = looks.get(id(style))  # most segments share their style; comparing styles takes longer
                if look is None:
                    look = looks[id(style)] = _tinted(style, tint, base)
                segments.append(Segment(text, look))
            rows.append((pieces, Strip(segments, self.size.width)))
        self._tinted = rows
        return [row for _, row in rows]

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders(crop)
            return
        changed = self._changed or (crop,)
        rows_seen = self._in_sight()
        for widget, (region, clip) in self.visible_widgets.items():  # front to back
            seen = region.intersection(clip)
            for rows in _stretches([one.intersection(seen) for one in changed if one.overlaps(seen)]):
                if in_sight := [y for y in rows if y in rows_seen[widget]]:
                    part = seen.intersection(Region(0, in_sight[0], self.size.width, in_sight[-1] + 1 - in_sight[0]))
                    yield region, part, widget.render_lines(part.translate(-region.offset))
            changed = tuple([one for one in changed if not seen.contains_region(one)])

    def _in_sight(self) -> dict[Widget, dict[int, list[tuple[int, int]]]]:
        """Map widgets to the screen rows where they are not fully covered, and to the cells in sight there.

        Most containers have few such rows.
        """
        if self._seen_of is not self.visible_widgets:
            self._seen_of, self._cells_seen = self.visible_widgets, {}
            covered: list[list[tuple[int, int]]] = [[] for _ in range(self.size.height)]
            for widget, (region, clip) in self.visible_widgets.items():
                seen = region.intersection(clip)
                rows = self._cells_seen[widget] = {}
                for y in seen.line_range if seen else ():
                    if cells := _uncovered(covered[y], *seen.column_span):
                        rows[y] = cells
                        covered[y] = _joined(covered[y], seen.column_span)
        return self._cells_seen


def _stretches(regions: list[Region]) -> list[range]:
    """Return the rows of `regions` in order, joining ranges that are few rows apart."""
    found: list[range] = []
    for one in sorted([one.line_range for one in regions if one], key=attrgetter("start")):
        if found and one.start <= found[-1].stop + ROWS_BETWEEN:
            found[-1] = range(found[-1].start, max(found[-1].stop, one.stop))
        else:
            found.append(one)
    return found


def _joined(stretches: list[tuple[int, int]], other: tuple[int, int]) -> list[tuple[int, int]]:
    """Add a stretch of cells to sorted `stretches`, joining those that touch."""
    first, last = other
    apart: list[tuple[int, int]] = []
    for one in stretches:
        if one[1] < first or last < one[0]:
            apart.append(one)
        else:
            first, last = min(first, one[0]), max(last, one[1])
    return sorted([*apart, (first, last)])


def _uncovered(covered: list[tuple[int, int]], first: int, last: int) -> list[tuple[int, int]]:
    """Return the stretches of cells from `first` to `last` that are outside of `covered`, sorted stretches."""
    found: list[tuple[int, int]] = []
    for start, end in covered:
        if first < min(start, last):
            found.append((first, min(start, last)))
        first = max(first, end)
    return [*found, (first, last)] if first < last else found


@lru_cache(1024)
def _inner_outer(base_background: Color, background: Color) -> tuple[Style, Style]:
    return Style(background=base_background + background), Style(background=base_background)


class OneLayout(Screen[ScreenResultType]):
    """A screen that is laid out once for a size; Textual does so at each of the three events that tell it of one.

    Its classes for the size are set before the widgets ask for their styles, instead of after the first layout. Behind
    a dialog only its changes are repainted; Textual would repaint both screens at each later message, as of a timer.
    """

    focused = Reactive[Widget | None](None, repaint=False)
    """Repaints only the widgets that get or lose it, where Textual repaints the whole screen."""

    _known_size = Size()
    _was_mounted = False
    _was_shown = False
    _was_styled = False

    def __init__(self, name: str | None = None, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(name, id, classes)
        self._row_compositor = paint_by_rows(self)

    @on(events.Compose)
    def set_its_classes(self) -> None:
        self._known_size = self.app.size
        across = self.HORIZONTAL_BREAKPOINTS or self.app.HORIZONTAL_BREAKPOINTS
        down = self.VERTICAL_BREAKPOINTS or self.app.VERTICAL_BREAKPOINTS
        for cells, points in zip(self._known_size, (across, down), strict=True):
            self.add_class(*[name for _, name in sorted([one for one in points or () if one[0] <= cells])[-1:]])

    async def mount_composed_widgets(self, widgets: list[Widget]) -> None:
        """Leave out the tooltip, which no widget here has, and the rack of toasts until there is one."""
        await super().mount_composed_widgets([one for one in widgets if not isinstance(one, (Tooltip, ToastRack))])

    @on(events.ScreenResume)
    def show_toasts(self) -> None:
        if self.app._notifications:
            make_room_for_toasts(self)

    def refresh(self, *regions: Region, **options: Any) -> Self:
        """Repaint, except right after the screen was painted first, when Textual asks for all of it again.

        The app, too, asks for a layout once it knows that the screen is mounted. A screen is laid out when it is first
        shown, so that nothing before needs to ask for it.
        """
        if self.stack_updates == 1 and not (regions or options or self._was_shown):
            self._was_shown = True
            return self
        if options == {"layout": True}:
            is_told_by_app = not self._was_mounted and active_message_pump.get(None) is self.app
            self._was_mounted = self._was_mounted or is_told_by_app
            if is_told_by_app or not self.stack_updates:
                return self
        return super().refresh(*regions, **options)

    def update_node_styles(self, animate: bool = True) -> None:
        """Update the styles; when the screen is first shown, only those that changed since the widgets were mounted."""
        stylesheet = self.app.stylesheet
        if self.stack_updates == 1 and not self._was_styled and isinstance(stylesheet, KeptStyles):
            self._was_styled = True
            stylesheet.update_unseen(self)
        else:
            super().update_node_styles(animate)

    @on(messages.Layout)
    def leave_done_layouts(self, message: messages.Layout) -> None:
        """Ignore a request for a layout that was made before the last one began."""
        if message.time < self._row_compositor.laid_out_at:
            message.stop()
            message.prevent_default()

    @on(events.Resize)
    def lay_out_once(self, event: events.Resize) -> None:
        if event.size == self._known_size:
            event.prevent_default()
        self._known_size = event.size

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint what is behind a dialog as it is; Textual looks for borders and system colors, which it has not."""
        is_alone = self.styles.background.a == 1
        if is_alone or any(not isinstance(one, ANSIToTruecolor) for one in self.get_line_filters()):
            return super().render_lines(crop)
        rows = [self.render_line(y) for y in crop.line_range]
        return [row.crop(crop.x, crop.right) for row in rows]

    def on_idle(self) -> None:
        """Cancel the repaint that Textual requests for each change behind a dialog: it is already painted."""
        if self.app.screen is not self:
            self._repaint_required = False


@lru_cache(4096)
def _tinted(style: RichStyle | None, tint: Color, base: RichStyle) -> RichStyle:
    """Return the style behind a dialog; Textual mixes the colors of each segment anew at each paint."""
    (segment,) = BackgroundScreen.process_segments([Segment("", style)], tint)
    return base + segment.style


class BehindADialog(RichVisual):
    """The screen behind a dialog, painted without Rich, which would take as long as the screen itself."""

    def __init__(self, behind: BackgroundScreen) -> None:
        super().__init__(behind.screen, behind)
        self._behind = behind

    def render_strips(self, width: int, height: int | None, style: Style, options: RenderOptions) -> list[Strip]:
        screen = self._behind.screen
        compositor = screen._compositor
        if not isinstance(compositor, RowCompositor):
            return super().render_strips(width, height, style, options)
        if screen.styles.background.a < 1:  # a dialog, which is not told of changes behind it
            screen.refresh(screen.size.region)
            compositor.forget_rows()
        return compositor.tinted_rows(self._behind.color, style.rich_style)


def paint_by_rows(screen: Screen[Any]) -> RowCompositor:
    """Give a screen a `RowCompositor`; call this while the screen is being created."""
    screen._compositor = compositor = RowCompositor()
    # Textual puts `lru_cache` on this method, which keeps a widget's painted lines alive until 1,024 other entries
    # replace them: a lesson opened and closed a hundred times would keep 90 MB.
    StylesCache.get_inner_outer = staticmethod(_inner_outer)  # type: ignore[assignment,method-assign]
    BackgroundScreen.visualize = lambda behind: BehindADialog(behind)  # type: ignore[attr-defined]
    return compositor
