"""The values stand beside the reply where a column is as wide as two, else below it."""

from __future__ import annotations

import pytest

from sessions import examples
from tests.support.open_app import SMALL, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.panes.column import ColumnPane

EXAMPLE = examples.load(examples.FIRST)


def is_beside(pane: ColumnPane) -> bool:
    reply, fields = pane.reply.region, pane.fields.region
    return fields.x == reply.right and fields.y == reply.y and fields.width >= 28


def is_below(pane: ColumnPane) -> bool:
    reply, fields = pane.reply.region, pane.fields.region
    return fields.x == reply.x and fields.y == reply.bottom and fields.width == reply.width


def test_at_80_columns_a_refused_reply_and_what_is_wrong_with_it_are_both_in_sight() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4", "f4", "f4")
        pane = desk.main.columns.current
        assert pane is not None and pane.column_id == "xml"
        await desk.until(lambda: is_beside(pane), "for the values beside it")
        # every field, though the table was cut off when it stood below
        await desk.until(lambda: " ".join(seen(pane.fields)).count("missing") == 3, "for all fields")

    at_the_desk(act, session=EXAMPLE, size=SMALL)


def test_where_nothing_is_read_yet_the_reply_has_the_whole_width() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4")
        pane = desk.main.columns.current
        assert pane is not None and pane.reply.size.width >= 70

    at_the_desk(act, session=EXAMPLE, size=SMALL)


@pytest.mark.slow
def test_side_by_side_columns_have_the_values_below_and_one_alone_has_them_beside() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        pane = desk.main.columns.all[0]
        await desk.until(lambda: is_below(pane), "for the values below")
        await desk.press("f4", "f10")
        await desk.until(lambda: is_beside(pane), "for the values beside, alone")
        await desk.press("f10")
        await desk.until(lambda: is_below(pane), "for the values below again")

    at_the_desk(act, session=EXAMPLE, size=(160, 45))


@pytest.mark.slow
def test_a_column_a_little_narrower_has_them_beside_where_nothing_is_wrapped_for_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        good = desk.main.columns.current
        assert good is not None and good.answer.size.width < 64
        await desk.until(lambda: good.fields.region.x == good.reply.region.right, "for the values beside")
        await desk.press("f4", "f4", "f4")
        refused = desk.main.columns.current
        assert refused is not None and refused.column_id == "xml"
        await desk.until(lambda: is_below(refused), "for the sentences below")

    at_the_desk(act, session=EXAMPLE, size=(100, 30))
