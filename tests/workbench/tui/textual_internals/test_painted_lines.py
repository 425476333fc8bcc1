"""What a widget has painted goes with the widget, however often something is opened and closed."""

from __future__ import annotations

import gc

import pytest
from textual._styles_cache import StylesCache

from tests.support.open_app import MIDDLE, Desk, at_the_desk


def stores() -> int:
    """How many widgets' painted lines are in memory."""
    gc.collect()
    return sum(isinstance(one, StylesCache) for one in gc.get_objects())


@pytest.mark.slow
def test_a_lesson_that_is_opened_and_closed_again_and_again_leaves_nothing_painted_behind() -> None:
    counted: list[int] = []

    async def act(desk: Desk) -> None:
        for _ in range(4):
            await desk.press("f6")
            assert len(desk.app.screen_stack) == 2
            await desk.press("escape")
            assert len(desk.app.screen_stack) == 1
            counted.append(stores())

    at_the_desk(act, size=MIDDLE)
    assert counted[-1] <= counted[1]
