"""Keys repaint only what they changed: what then stands on the terminal is what a picture made anew shows."""

from __future__ import annotations

import random

import pytest
from textual.screen import ModalScreen

from tests.support.open_app import MIDDLE, SMALL, WIDE, Desk, at_the_desk
from tests.support.painted import Terminal, painted_anew

KEYS = (
    *("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "tab", "enter", "enter", "escape", "space"),
    *("backspace", "x", "v", "m", "e", "K", "f2", "f2", "f3", "f3", "f4", "f5", "f6", "f7", "f10", "f11"),
    *("shift+f6", "ctrl+z", "ctrl+y"),
)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 5))
def test_whatever_is_pressed_no_row_of_the_terminal_is_left_from_before(seed: int) -> None:
    chance, terminal = random.Random(seed), Terminal()
    pressed: list[str] = []

    async def act(desk: Desk) -> None:
        def is_as_it_is() -> bool:
            screen = desk.app.screen
            return isinstance(screen, ModalScreen) or terminal.rows == painted_anew(screen)

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
                await desk.until(is_as_it_is, f"for the screen behind {pressed[-12:]}")

    at_the_desk(act, size=MIDDLE, mistakes=None)
