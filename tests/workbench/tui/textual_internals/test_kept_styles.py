"""Styles that are kept are those that Textual looks up."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from textual.app import App, ComposeResult
from textual.color import Color
from textual.containers import Vertical
from textual.css.styles import StylesBase
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget

from tests.support.open_app import WIDE, Desk, at_the_desk
from workbench.tui import themes
from workbench.tui.textual_internals import kept_styles

PROJECTOR = "shift+f6"


def rules_of(stylesheet: Stylesheet, node: DOMNode) -> dict[str, Any]:
    stylesheet.apply(node)
    return dict(node.styles.base.get_rules())


def part(widget: Widget, name: str) -> DOMNode:
    node = DOMNode(classes=name)
    node._attach(widget)
    return node


def assert_as_textual(desk: Desk) -> int:
    """Compare the styles of all widgets of the screen in front, and of their parts; return how many parts there are."""
    plain = Stylesheet(variables=desk.app.get_css_variables())
    plain.source = desk.app.stylesheet.source
    plain.parse()
    count = 0
    for widget in desk.app.screen.walk_children(Widget, with_self=True):
        parts = {name: dict(styles.base.get_rules()) for name, styles in widget._component_styles.items()}
        own = dict(widget.styles.base.get_rules())
        assert own == rules_of(plain, widget), widget
        for name, found in parts.items():
            assert found == rules_of(plain, part(widget, name)), (widget, name)
        count += len(parts)
    return count


@pytest.mark.parametrize("most", [pytest.param(kept_styles.MOST_PLACES, marks=pytest.mark.slow), 5])
def test_widgets_and_their_parts_have_the_styles_that_textual_gives_them(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also after the focus, the theme and the screen in front have changed, and with places forgotten meanwhile."""
    monkeypatch.setattr(kept_styles, "MOST_PLACES", most)

    async def act(desk: Desk) -> None:
        assert assert_as_textual(desk) > 100
        for key in ("f4", PROJECTOR, "f3", PROJECTOR, "f10", "f10", "f7", "escape", "ctrl+l", "escape"):
            await desk.press(key)
            assert_as_textual(desk)
        for theme in (themes.LIGHT.name, themes.OF_THE_TERMINAL, themes.DARK.name):
            desk.app.theme = theme
            await desk.settle()
            assert_as_textual(desk)

    at_the_desk(act, size=WIDE)


class Lamp(Widget):
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lamp--on"}


class Room(App[None]):
    CSS = "Lamp > .lamp--on { color: red; } .-dark Lamp > .lamp--on { color: blue; }"

    def __init__(self) -> None:
        super().__init__()
        self.stylesheet = kept_styles.KeptStyles(self.get_css_variables())

    def compose(self) -> ComposeResult:
        yield Vertical(Lamp())


def color_of(lamp: Lamp) -> Color:
    return lamp.get_component_styles("lamp--on").color


def test_a_widget_mounted_right_after_a_class_changed_has_the_parts_of_its_place() -> None:
    """Also where the change updated no styles, as on a screen that was not shown yet."""

    async def look() -> None:
        async with Room().run_test() as pilot:
            room, known = pilot.app.query_one(Vertical), pilot.app.query_one(Lamp)
            room.add_class("-dark", update=False)
            late, named = Lamp(), Lamp(id="named")
            await room.mount(late, named)
            assert [color_of(one) for one in (late, named)] == [Color.parse("blue")] * 2
            room.remove_class("-dark")
            assert [color_of(one) for one in (known, late, named)] == [Color.parse("red")] * 3

    asyncio.run(look())


def test_a_change_without_transitions_looks_at_no_rule_that_could_be_animated(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[object] = []
    monkeypatch.setattr(StylesBase, "get_render_rules", looked_at.append)

    async def look() -> None:
        async with Room().run_test() as pilot:
            lamp = pilot.app.query_one(Lamp)
            pilot.app.query_one(Vertical).add_class("-dark")
            await pilot.pause()
            assert color_of(lamp) == Color.parse("blue")

    asyncio.run(look())
    assert looked_at == []


class Hall(Screen[None]):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.lamp = Lamp()

    def compose(self) -> ComposeResult:
        yield Vertical(self.lamp)


def test_an_app_that_ends_styles_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Textual moves the focus away from each widget that it removes, and styles the widgets around it."""
    while_it_ended: list[Any] = []
    update = Stylesheet.update_nodes

    async def act(desk: Desk) -> None:
        def updated(stylesheet: Stylesheet, nodes: Any, animate: bool = False) -> None:
            while_it_ended.extend([] if desk.app.is_running else nodes)
            update(stylesheet, nodes, animate)

        assert desk.app.focused is not None
        monkeypatch.setattr(Stylesheet, "update_nodes", updated)

    at_the_desk(act)
    assert while_it_ended == []


def test_each_of_two_screens_that_were_never_shown_keeps_what_changed_on_it() -> None:
    async def look() -> None:
        async with Room().run_test() as pilot:
            halls = Hall("one"), Hall("other")
            for one in halls:
                await pilot.app.push_screen(one)
            await pilot.pause()
            stylesheet = pilot.app.stylesheet
            assert isinstance(stylesheet, kept_styles.KeptStyles)
            for one in halls:
                one.stack_updates = 0  # as before it is shown
                one.query_one(Vertical).add_class("-dark")
                assert color_of(one.lamp) == Color.parse("red")
            for one in halls:
                one.stack_updates = 1
                stylesheet.update_unseen(one)
                assert color_of(one.lamp) == Color.parse("blue")

    asyncio.run(look())


def test_projector_mode_parses_each_theme_once_and_lays_columns_out_as_wide_as_they_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Textual parses all styles at each change of theme; columns were first as wide as before the change."""
    parsed: list[object] = []
    parse = Stylesheet.parse

    def parse_again(stylesheet: Stylesheet) -> None:
        parsed.append(stylesheet)
        parse(stylesheet)

    async def act(desk: Desk) -> None:
        await desk.press(PROJECTOR, PROJECTOR)
        monkeypatch.setattr(Stylesheet, "parse", parse_again)
        pane = desk.main.columns
        widths: list[list[int]] = []
        seen = [one.outer_size.width for one in pane.all]
        desk.main.screen_layout_refresh_signal.subscribe(
            pane, lambda _: widths.append([one.outer_size.width for one in pane.all]), immediate=True
        )
        await desk.press(PROJECTOR)
        widths.clear()
        await desk.press(PROJECTOR)
        assert parsed == []
        assert widths and all(one == seen for one in widths)

    at_the_desk(act, size=WIDE)
