"""Keys repaint only what they changed: what then stands on the terminal is what a picture made anew shows."""

from __future__ import annotations

import random

import pytest
from textual.geometry import Region
from textual.screen import ModalScreen
from textual.widget import Widget

from tests.support.open_app import MIDDLE, SMALL, WIDE, Desk, at_the_desk
from tests.support.painted import Terminal, differing, painted_anew
from workbench.tui.widgets.text.text_view import TextView

KEYS = (
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "enter", "enter", "escape", "space"),
    *("backspace", "x", "v", "m", "e", "K", "f2", "f2", "f3", "f3", "f4", "f5", "f6", "f7", "f10", "f11"),
    *("shift+f6", "ctrl+z", "ctrl+y"),
)


PANES = ("f2", "f2", "f3", "f4", "f10", "f10", "f10", "f11", "x", "enter", "alt+c", "escape")
"""Keys that change who has how much room, and what is in it."""


def places(desk: Desk) -> dict[Widget, Region]:
    return {one: one.region for one in desk.main.walk_children(Widget)}


def what_comes_late(desk: Desk) -> object:
    """What is looked for when nobody has typed for a moment, and has a room of its own."""
    return desk.main.query_one("#notes", TextView).plain_text, [
        one.fields.virtual_size for one in desk.main.columns.all
    ]


@pytest.mark.parametrize(
    ("seed", "steps"), [(1, 6), *[pytest.param(one, 16, marks=pytest.mark.slow) for one in range(1, 13)]]
)
def test_whatever_is_pressed_every_pane_has_the_room_that_a_layout_made_anew_gives_it(seed: int, steps: int) -> None:
    chance = random.Random(seed)
    pressed: list[str] = []

    async def act(desk: Desk) -> None:
        if seed % 2:
            await desk.press("f5")
            await desk.sent()
        for step in range(steps):
            if step % 4 == 3:
                size = chance.choice((WIDE, MIDDLE, SMALL, (100, 30)))
                pressed.append(str(size))
                await desk.pilot.resize_terminal(*size)
            keys = chance.choices(PANES, k=chance.choice((1, 1, 2)))
            pressed.extend(keys)
            await desk.press(*keys)
            await desk.settle()
            before, came = places(desk), what_comes_late(desk)
            for one in desk.main.walk_children(Widget):
                one.refresh(layout=True)
            await desk.settle()
            moved = {one: (place, one.region) for one, place in before.items() if one.region != place}
            assert not moved or what_comes_late(desk) != came, f"behind {pressed[-12:]}: {moved}"

    at_the_desk(act, size=WIDE, mistakes=None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_whatever_is_pressed_no_row_of_the_terminal_is_left_from_before(seed: int) -> None:
    chance, terminal = random.Random(seed), Terminal()
    pressed: list[str] = []

    async def act(desk: Desk) -> None:
        def is_as_it_is() -> bool:
            screen = desk.app.screen
            return isinstance(screen, ModalScreen) or terminal.rows == painted_anew(screen)

        def what_is_missing() -> str:
            screen = desk.app.screen
            return f"for {screen} behind {pressed[-12:]}\n{differing(terminal.rows, painted_anew(screen))}"

        with terminal.of(desk.app):
            desk.app.screen.refresh()
            for step in range(80):
                if step % 20 == 19:
                    size = chance.choice((WIDE, MIDDLE, SMALL, (100, 30)))
                    pressed.append(str(size))
                    await desk.pilot.resize_terminal(*size)
                keys = chance.choices(KEYS, k=chance.choice((1, 1, 3)))
                pressed.extend(keys)
                await desk.press(*keys)
                await desk.until(is_as_it_is, what_is_missing)

    at_the_desk(act, size=MIDDLE, mistakes=None)
