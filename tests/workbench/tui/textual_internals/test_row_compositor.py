"""What is painted of a part of the screen is what Textual itself would paint of it."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

import pytest
from rich.cells import cell_len
from textual import events
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual._context import visible_screen_stack
from textual.app import App, ComposeResult
from textual.color import Color
from textual.containers import VerticalScroll
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region, Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen
from textual.strip import Strip
from textual.style import Style
from textual.visual import RenderOptions, RichVisual, visualize
from textual.widgets import Static
from textual.widgets._toast import Toast, ToastRack

from tests.support.open_app import Desk, at_the_desk
from tests.support.painted import Terminal, painted_anew
from workbench.tui.dialogs.ask import Answer, ConfirmScreen
from workbench.tui.textual_internals.kept_styles import KeptStyles
from workbench.tui.textual_internals.row_compositor import RowCompositor, paint_by_rows
from workbench.tui.widgets.text.plain import plain_notify


def test_a_start_parses_each_style_once_and_lays_no_size_out_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual parses all again for the theme, and lays out at each of its three events of one size."""
    parsed_anew: list[object] = []
    sizes: list[Size | None] = []
    layout = Screen._refresh_layout

    def lay_out(screen: Screen[Any], size: Size | None = None, scroll: bool = False) -> None:
        sizes.append(size)
        layout(screen, size, scroll)

    monkeypatch.setattr(Stylesheet, "set_variables", lambda _, variables: parsed_anew.append(variables))
    monkeypatch.setattr(Screen, "_refresh_layout", lay_out)

    async def act(desk: Desk) -> None:
        assert isinstance(desk.app.stylesheet, KeptStyles) and not parsed_anew
        assert [one for one in sizes if one] == [desk.app.size]
        assert {"-wide", "-high"} <= desk.main.classes

    at_the_desk(act)


def test_a_start_looks_for_styles_and_paints_the_whole_screen_once_with_columns_as_wide_as_they_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[object] = []
    update_nodes, paint = Stylesheet.update_nodes, RowCompositor.render_full_update

    def look(stylesheet: Stylesheet, nodes: list[Any], animate: bool = False) -> None:
        done.append(type(nodes[0]).__name__)
        update_nodes(stylesheet, nodes, animate)

    def paint_all(compositor: RowCompositor, simplify: bool = False) -> Any:
        done.append(
            [region.width for one, (region, _) in compositor.visible_widgets.items() if one.has_class("column")]
        )
        return paint(compositor, simplify)

    monkeypatch.setattr(Stylesheet, "update_nodes", look)
    monkeypatch.setattr(RowCompositor, "render_full_update", paint_all)

    async def act(desk: Desk) -> None:
        widths = [one.outer_size.width for one in desk.main.columns.all]
        assert len(widths) == 3
        assert done[: done.index(widths) + 1] == ["WorkbenchApp", "MainScreen", widths]
        assert [one for one in done if isinstance(one, list)] == [widths]

    at_the_desk(act)


def test_styles_of_dialogs_are_read_when_the_first_opens() -> None:
    async def act(desk: Desk) -> None:
        path = str(desk.app.CSS_IN_FRONT)
        assert not desk.app.stylesheet.has_source(path)
        await desk.press("ctrl+l")
        assert desk.app.stylesheet.has_source(path)
        dialog = desk.app.screen.query_one(".dialog")
        assert (dialog.outer_size.width, dialog.styles.border.top[0]) == (120, "round")

    at_the_desk(act)


def test_sharing_the_room_as_before_lays_nothing_out(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[object] = []

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(Screen, "_refresh_layout", lambda *given, **named: laid_out.append(given))
        desk.main.share_room()
        await desk.settle()
        assert not laid_out

    at_the_desk(act)


def test_a_dialog_is_laid_out_once_for_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[str, Size | None]] = []
    layout = Screen._refresh_layout

    def lay_out(screen: Screen[Any], size: Size | None = None, scroll: bool = False) -> None:
        sizes.append((type(screen).__name__, size))
        layout(screen, size, scroll)

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(Screen, "_refresh_layout", lay_out)
        await desk.press("ctrl+l")
        await desk.settle()
        assert [one for one in sizes if one[1]] == [("ModelScreen", desk.app.size)]
        assert "-wide" in desk.app.screen.classes
        sizes.clear()
        await desk.pilot.resize_terminal(90, 25)
        await desk.settle()
        assert ("ModelScreen", Size(90, 25)) in sizes
        assert "-narrow" in desk.app.screen.classes
        await desk.press("escape")
        assert desk.main.has_class("-narrow") and desk.main.size == Size(90, 25)

    at_the_desk(act)


def test_a_dialog_is_painted_whole_once_and_shows_what_is_notified_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    painted: list[object] = []
    paint = RowCompositor.render_full_update

    def paint_whole(compositor: RowCompositor, **options: bool) -> LayoutUpdate:
        painted.append(compositor.root)
        return paint(compositor, **options)

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(RowCompositor, "render_full_update", paint_whole)
        await desk.press("ctrl+l")
        await desk.settle()
        assert [type(one).__name__ for one in painted] == ["ModelScreen"]
        await desk.press("escape")
        desk.app.notify("saved elsewhere")
        await desk.press("ctrl+l")
        await desk.until(lambda: "saved elsewhere" in "".join(painted_anew(desk.app.screen)))

    at_the_desk(act)


def test_a_screen_of_which_every_cell_changed_in_parts_is_painted_whole() -> None:
    async def act(desk: Desk) -> None:
        compositor = desk.main._compositor
        width, height = desk.main.size
        left, right = Region(0, 0, 30, height + 9), Region(20, 0, width - 20, height)
        for regions, kind in (({left, right}, LayoutUpdate), ({left, right.translate((11, 0))}, ChopsUpdate)):
            compositor._dirty_regions = regions
            assert isinstance(compositor.render_update(), kind)

    at_the_desk(act)


def test_the_panes_are_not_laid_out_for_a_screen_that_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[str] = []
    layout = Screen._refresh_layout

    def lay_out(screen: Screen[Any], size: Size | None = None, scroll: bool = False) -> None:
        laid_out.append(type(screen).__name__)
        layout(screen, size, scroll)

    async def act(desk: Desk) -> None:
        monkeypatch.setattr(Screen, "_refresh_layout", lay_out)
        for key in ("ctrl+l", "f7"):
            await desk.press(key)
            await desk.settle()
            assert desk.app.screen is not desk.main
            laid_out.clear()
            await desk.press("escape")
            await desk.settle()
            assert desk.app.screen is desk.main
            assert "MainScreen" not in laid_out

    at_the_desk(act)


def test_moving_the_focus_paints_only_what_gets_or_loses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual paints the whole screen for it."""
    whole: list[object] = []
    paint = RowCompositor.render_full_update

    def paint_all(compositor: RowCompositor, simplify: bool = False) -> LayoutUpdate:
        whole.append(compositor)
        return paint(compositor, simplify)

    async def act(desk: Desk) -> None:
        await desk.settle()
        with monkeypatch.context() as patched:
            patched.setattr(RowCompositor, "render_full_update", paint_all)
            for key in ("f3", "f2", "f4"):
                before = desk.app.focused
                await desk.press(key)
                await desk.settle()
                assert desk.app.focused is not before and not whole

    at_the_desk(act)


def test_a_screen_has_a_rack_of_toasts_from_the_first_of_them_on() -> None:
    async def act(desk: Desk) -> None:
        assert not desk.main.query(ToastRack)
        await desk.press("ctrl+l")
        plain_notify(desk.app, "said [here]")
        await desk.until(lambda: len(desk.app.screen.query(Toast)) == 1)
        await desk.press("escape")
        await desk.until(lambda: len(desk.main.query(Toast)) == 1)

    at_the_desk(act)


def test_what_is_behind_a_dialog_has_the_colors_that_textual_gives_it() -> None:
    async def act(desk: Desk) -> None:
        options = RenderOptions(lambda _: Style(), desk.main.styles, None, None)
        for tint in (Color(0, 0, 0, 0.6), Color(250, 20, 3, 0.1), Color(0, 0, 0, 0)):
            behind = BackgroundScreen(desk.main, tint)
            for base in (Style(), Style(Color(1, 2, 3), Color(4, 5, 6), bold=True)):
                given = (*desk.main.size, base, options)
                theirs = RichVisual(desk.main, behind).render_strips(*given)
                assert visualize(desk.main, behind).render_strips(*given) == theirs

    at_the_desk(act)


@pytest.mark.parametrize(
    ("seed", "parts"), [(1, 2), *[pytest.param(one, 8, marks=pytest.mark.slow) for one in range(1, 8)]]
)
def test_any_part_of_the_screen_is_painted_as_textual_paints_it(
    seed: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)

    def painted(desk: Desk, regions: set[Region]) -> str:
        compositor = desk.app.main._compositor
        assert isinstance(compositor, RowCompositor)
        compositor._dirty_regions = set(regions)
        update = compositor.render_partial_update()
        assert isinstance(update, ChopsUpdate)
        # Textual also moves the cursor to what begins right behind a region, and writes nothing there
        return re.sub(r"\x1b\[\d+;\d+H(?=\x1b\[\d+;\d+H|\n|$)", "", update.render_segments(desk.app.console))

    async def act(desk: Desk) -> None:
        for size in ((160, 45), (81, 25)):
            await desk.pilot.resize_terminal(*size)
            for keys in ((), ("f3", "down", "pagedown"), ("f5",), ("f4", "down"), ("f2", "f2")):
                await desk.press(*keys)
                for _ in range(parts):
                    width, height = size
                    x, y = chance.randrange(width), chance.randrange(height)
                    one = Region(x, y, chance.randint(1, width - x), chance.randint(1, height - y))
                    regions = {one, Region(chance.randrange(width), chance.randrange(height), 1, 1)}
                    ours = painted(desk, regions)
                    with monkeypatch.context() as patched:
                        patched.setattr(RowCompositor, "_get_renders", Compositor._get_renders)
                        assert painted(desk, regions) == ours

    at_the_desk(act)


@pytest.mark.parametrize("size", [(120, 35), pytest.param((81, 25), marks=pytest.mark.slow)])
def test_the_whole_screen_is_painted_as_textual_paints_it(
    size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def cells(strips: Iterable[Strip]) -> list[list[tuple[str, object]]]:
        return [[(sign, one.style) for one in strip for sign in one.text] for strip in strips]

    async def act(desk: Desk) -> None:
        await desk.type("日本語 wide ")
        for keys in ((), ("f3", "pagedown"), ("f5",), ("f1",), ("escape", "ctrl+l"), ("a",), ("escape", "alt+p")):
            await desk.press(*keys)
            await desk.settle()
            screens = {desk.main, desk.app.screen}
            for compositor in [one._compositor for one in screens]:
                assert isinstance(compositor, RowCompositor)
                ours = cells(compositor.render_strips())
                assert cells([Strip.join(list(row)) for row in compositor.render_full_update().strips]) == ours
                assert {cell_len("".join([sign for sign, _ in row])) for row in ours} == {size[0]}
                with monkeypatch.context() as patched:
                    patched.setattr(RowCompositor, "_get_renders", Compositor._get_renders)
                    assert cells(Compositor.render_strips(compositor)) == ours

    at_the_desk(act, size=size)


def test_a_widget_hears_its_first_size_though_its_place_was_asked_for_before_it_had_one() -> None:
    """Behind a scroll Textual makes its map anew for whoever asks, and then takes what is new in it for told."""
    heard: list[int] = []

    class Fresh(Static):
        def on_mount(self) -> None:
            self.call_later(lambda: self.region)

        def on_resize(self, event: events.Resize) -> None:
            heard.append(event.size.width)

    class Painted(Screen[None]):
        def __init__(self) -> None:
            super().__init__()
            paint_by_rows(self)

        def compose(self) -> ComposeResult:
            with VerticalScroll():
                yield Static("\n" * 200)

    class Small(App[None]):
        def on_mount(self) -> None:
            self.push_screen(Painted())

    async def act() -> None:
        app = Small()
        async with app.run_test(size=(40, 10)) as pilot:
            await pilot.pause()
            scroll = app.screen.query_one(VerticalScroll)
            scroll.scroll_to(y=20, animate=False, immediate=True)
            await pilot.pause()
            fresh = Fresh("fresh")
            await scroll.mount(fresh, before=0)
            for _ in range(3):
                await pilot.pause()
            assert heard == [fresh.size.width]

    asyncio.run(act())


def test_what_scrolled_and_is_back_with_the_next_layout_is_painted_where_it_is() -> None:
    """Beside the last layout nothing has moved then; beside what is on the terminal everything has."""

    class Painted(Screen[None]):
        def __init__(self) -> None:
            super().__init__()
            paint_by_rows(self)

        def compose(self) -> ComposeResult:
            with VerticalScroll():
                for number in range(40):
                    yield Static(f"row {number}")
            yield Static("below")

    class Small(App[None]):
        def on_mount(self) -> None:
            self.push_screen(Painted())

    async def act() -> None:
        app, terminal = Small(), Terminal()
        with terminal.of(app):
            async with app.run_test(size=(40, 10)) as pilot:
                await pilot.pause()
                scroll = app.screen.query_one(VerticalScroll)
                scroll.scroll_to(y=20, animate=False, immediate=True)
                await pilot.pause()
                assert terminal.rows[0].startswith("row 20")
                scroll.scroll_to(y=0, animate=False, immediate=True)
                app.screen.children[-1].refresh(layout=True)
                await pilot.pause()
                assert scroll.children[0].region.y == 0
                assert terminal.rows == painted_anew(app.screen)
                assert terminal.rows[0].startswith("row 0")

    asyncio.run(act())


@pytest.mark.parametrize("key", ["f7", "ctrl+l"])
def test_nothing_is_left_unpainted_where_a_screen_behind_changes_at_the_same_time(key: str) -> None:
    """Textual repaints that part of the screen in front, and forgets what other widgets have to paint."""
    terminal = Terminal()

    async def act(desk: Desk) -> None:
        await desk.press(key)
        with terminal.of(desk.app):
            shown = next(one for one in desk.app.screen.query(Static) if one.region.width > len("changed"))
            desk.app.screen.refresh()
            await desk.until(lambda: terminal.rows, "for the screen")
            shown.update("changed", layout=False)
            desk.app.screen.refresh(Region(0, 0, 1, 1))  # as Textual does for a change behind
            await desk.settle()
            assert "changed" in "".join(terminal.rows)

    at_the_desk(act)


def test_behind_a_dialog_only_what_changes_is_repainted() -> None:
    """Textual repaints a screen that changed behind a dialog, and the dialog, at each message that it gets later."""
    terminal = Terminal()

    async def is_painted_at_each_message(desk: Desk) -> bool:
        messages = 5
        compositor = desk.main._compositor
        with patch.object(compositor, "update_widgets", wraps=compositor.update_widgets) as painted:
            for _ in range(messages):
                desk.main.call_later(lambda: None)
                await desk.settle()
        return painted.call_count >= messages

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        with terminal.of(desk.app):
            for word in ("once", "again"):
                desk.main.status.say(f"changed {word}")
                await desk.until(lambda word=word: f"changed {word}" in "".join(terminal.rows), "for the line")
            # a late note is painted, too; Textual would paint at every message of every round
            assert not all([await is_painted_at_each_message(desk) for _ in range(4)])

    at_the_desk(act)


def test_a_change_behind_two_dialogs_is_shown() -> None:
    terminal = Terminal()

    async def act(desk: Desk) -> None:
        await desk.press("ctrl+l")
        desk.app.push_screen(ConfirmScreen("In front", "", [Answer("yes", "y", "Yes")]))
        await desk.settle()
        with terminal.of(desk.app):
            for word in ("once", "again"):
                desk.main.status.say(f"changed {word}")
                await desk.until(lambda word=word: f"changed {word}" in "".join(terminal.rows), "for the line")

    at_the_desk(act)


KEYS = ("f2", "f3", "f4", "f5", "f10", "alt+p", "down", "pagedown", "x", "tab", "ctrl+l", "f1", "escape", "escape")


@pytest.mark.parametrize(
    ("seed", "steps"), [(1, 8), *[pytest.param(one, 24, marks=pytest.mark.slow) for one in range(1, 6)]]
)
def test_rows_that_are_kept_are_those_that_would_be_painted_anew(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    pressed: list[str] = []

    def is_as_anew(screen: Screen[Any]) -> bool:
        compositor, behind = screen._compositor, screen.app._background_screens
        assert isinstance(compositor, RowCompositor)
        in_front = screen.app.screen
        if screen is not in_front and (screen not in behind or in_front.styles.background.a == 1):
            return True  # covered by a screen that is no dialog: painted whole when it is shown again
        visible_screen_stack.set([*behind])
        kept = compositor.render_strips()
        compositor._rows, before = {}, compositor._rows
        visible_screen_stack.set([*behind])  # as painting sets it: a dialog takes from it what is behind
        anew = compositor.render_strips()
        compositor._rows = before  # rows that are out of date stay so
        return kept == anew

    async def act(desk: Desk) -> None:
        for _ in range(steps):
            pressed.extend(keys := chance.choices(KEYS, k=2))
            await desk.press(*keys)
            for screen in [desk.main, desk.app.screen]:
                await desk.until(lambda one=screen: is_as_anew(one), lambda: f"behind {pressed[-12:]}")

    at_the_desk(act, size=(120, 35), mistakes=None)


def test_rows_that_have_not_changed_are_those_behind_the_last_dialog_too() -> None:
    async def act(desk: Desk) -> None:
        behind = desk.main._compositor
        assert isinstance(behind, RowCompositor)
        seen: list[Strip] = []

        async def are_those_before() -> bool:
            """Compare with the dialog before; what comes late may change a few rows between the first of them."""
            before = list(seen)
            await desk.press("ctrl+l")
            await desk.settle()
            seen[:] = [row for _, row in behind._tinted]
            await desk.press("escape")
            await desk.settle()
            changed = sum(row is not old for row, old in zip(seen, before, strict=True)) if before else len(seen)
            return changed <= 2  # but for the cursor

        assert any([await are_those_before() for _ in range(5)])

    at_the_desk(act)
