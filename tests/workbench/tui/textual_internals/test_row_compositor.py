"""What is painted of a part of the screen is what Textual itself would paint of it."""

from __future__ import annotations

import random

import pytest
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region

from tests.support.open_app import Desk, at_the_desk
from workbench.tui.textual_internals.row_compositor import RowCompositor


@pytest.mark.parametrize("seed", [1, *[pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 8)]])
def test_any_part_of_the_screen_is_painted_as_textual_paints_it(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)

    def painted(desk: Desk, regions: set[Region]) -> str:
        compositor = desk.app.main._compositor
        assert isinstance(compositor, RowCompositor)
        compositor._dirty_regions = set(regions)
        update = compositor.render_partial_update()
        assert isinstance(update, ChopsUpdate)
        return update.render_segments(desk.app.console)

    async def act(desk: Desk) -> None:
        for size in ((160, 45), (81, 25)):
            await desk.pilot.resize_terminal(*size)
            for keys in ((), ("f3", "down", "pagedown"), ("f5",), ("f4", "down"), ("f2", "f2")):
                await desk.press(*keys)
                for _ in range(8):
                    width, height = size
                    x, y = chance.randrange(width), chance.randrange(height)
                    one = Region(x, y, chance.randint(1, width - x), chance.randint(1, height - y))
                    regions = {one, Region(chance.randrange(width), chance.randrange(height), 1, 1)}
                    ours = painted(desk, regions)
                    with monkeypatch.context() as patched:
                        patched.setattr(RowCompositor, "_get_renders", Compositor._get_renders)
                        assert painted(desk, regions) == ours

    at_the_desk(act)
