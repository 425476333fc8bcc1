"""The tabs fit the line: whole as long as they can, then short, and the active one always whole."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.support.screen import Stage, on_stage, seen
from workbench.tui.widgets.tab_line import TabLine, TabName

TABS = [
    TabName("signature", "Signature", short="Sign."),
    TabName("inputs", "Inputs", "2"),
    TabName("variants", "Variants", "12", short="Var."),
]


@pytest.mark.parametrize(
    ("width", "active", "shown"),
    [
        (40, "inputs", "  Signature │ Inputs 2 │ Variants 12"),
        (30, "inputs", "Signature│Inputs 2│Variants 12"),
        (29, "inputs", "Sign.│Inputs 2│Variants 12"),
        (24, "inputs", "Sign.│Inputs 2│Var. 12"),
        (29, "signature", "Signature│Inputs 2│Var. 12"),
        (19, "inputs", "Sig│Inputs 2│Var 12"),
    ],
)
def test_names_become_short_where_there_is_no_room(width: int, active: str, shown: str) -> None:
    async def act(stage: Stage[TabLine], pilot: Pilot[None]) -> None:
        stage.widget.show(TABS, active)
        await pilot.pause()
        assert seen(stage.widget)[0].rstrip() == shown

    on_stage(TabLine(id="tabs"), act, (width, 3))


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (40, ["  Signature │ Inputs 2 │ Variants 12"]),
        (30, ["Signature│Inputs 2│Variants 12"]),
        (29, ["  Signature", "  Inputs 2 │ Variants 12"]),
    ],
)
def test_on_a_high_screen_names_that_do_not_fit_get_a_second_line(width: int, shown: list[str]) -> None:
    async def act(stage: Stage[TabLine], pilot: Pilot[None]) -> None:
        stage.widget.styles.height = "auto"
        stage.widget.show(TABS, "inputs")
        await pilot.pause()
        assert [row.rstrip() for row in seen(stage.widget)] == shown

    on_stage(TabLine(id="tabs"), act, (width, 35))
