"""F4 goes to where a reply was refused, the first time; whoever has moved in it stays where he was."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sessions import examples
from sessions.model.replies import Reply
from tests.support.open_app import MIDDLE, SIZES, SMALL, TICKETS, Desk, at_the_desk
from workbench.tui.widgets.reply.reply_view import ReplyView

REFUSED = '{\n"label": "bug",\n"urgency": "soon"\n}'
FAR_DOWN = "<label>\nbug\n</label>\n" + "It says more, line after line.\n" * 200 + "<urgency>\nsoon\n</urgency>\n"
SESSION = TICKETS.replace_case(
    replace(
        TICKETS.cases[0],
        replies={
            "chat": Reply("[[ ## label ## ]]\nbug\n\n[[ ## urgency ## ]]\n3\n", source="pasted"),
            "json": Reply(REFUSED, source="pasted"),
            "xml": Reply(FAR_DOWN, source="pasted"),
        },
    )
)


def in_front(desk: Desk) -> ReplyView:
    assert isinstance(desk.app.focused, ReplyView)
    return desk.app.focused


def place_of_the_error(reply: ReplyView) -> tuple[int, int]:
    """Its line and column, from 0, as the values below the reply name them from 1."""
    assert reply.reading is not None and reply.reading.error is not None and reply.reading.error.start is not None
    line, column = reply.reading.line_and_column(reply.reading.error.start)
    return line - 1, column - 1


def row_of_the_cursor(reply: ReplyView) -> int:
    """On the screen, from the first row of the reply that is in sight."""
    return reply.wrapped_document.location_to_offset(reply.cursor_location).y - round(reply.scroll_y)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_f4_puts_the_cursor_on_the_error_and_the_error_into_sight(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4")
        assert in_front(desk).cursor_location == (0, 0), "nothing is wrong with it"
        for column in ("json", "xml"):
            await desk.press("f4")
            reply = in_front(desk)
            assert reply.column_id == column and place_of_the_error(reply) > (0, 0)
            assert reply.cursor_location == place_of_the_error(reply)
            assert 0 <= row_of_the_cursor(reply) < reply.size.height
        assert reply.scroll_y > 0, "it stands far down"

    at_the_desk(act, SESSION, size=size)


def test_the_beginning_of_a_reply_stays_in_sight_where_the_error_is_in_sight_with_it() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4", "f4", "f4")
        reply = in_front(desk)
        assert reply.column_id == "xml" and reply.cursor_location == place_of_the_error(reply)
        assert reply.max_scroll_y > 0 and reply.scroll_y == 0

    at_the_desk(act, examples.load(examples.FIRST), size=SMALL)


def test_the_second_time_the_cursor_is_where_it_was_left() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4", "f4", "ctrl+home", "f4", "f4", "f4")
        assert (in_front(desk).column_id, in_front(desk).cursor_location) == ("json", (0, 0))
        assert in_front(desk).scroll_y == 0

    at_the_desk(act, SESSION, size=MIDDLE)


@pytest.mark.slow
def test_whoever_has_moved_in_the_reply_before_stays_there() -> None:
    async def act(desk: Desk) -> None:
        pane = desk.main.columns.column("json")
        assert pane is not None
        for _ in range(100):  # a layout of the start may move the reply from under a click
            await desk.stands_still(pane.reply)
            await desk.pilot.mouse_down(pane.reply, offset=(pane.reply.gutter_width + 3, 1))
            await desk.pilot.mouse_up(pane.reply, offset=(pane.reply.gutter_width + 3, 1))
            await desk.settle()
            if pane.reply.cursor_location != (0, 0):
                break
        there = pane.reply.cursor_location
        assert there not in ((0, 0), place_of_the_error(pane.reply))
        await desk.press("f3", "f4")
        assert in_front(desk) is pane.reply and pane.reply.cursor_location == there

    at_the_desk(act, SESSION)


@pytest.mark.slow
def test_another_reply_is_gone_to_anew() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f4", "f4", "ctrl+end")
        case = desk.document.state.case
        other = {**case.replies, "json": Reply('{"label": "bug", "urgency": "later"}', source="pasted")}
        session = desk.document.session.replace_case(replace(case, replies=other))
        await desk.press("f2")
        desk.app.restore(session)
        await desk.settle()
        await desk.press("f3", "f4")
        reply = in_front(desk)
        assert "later" in reply.raw and reply.cursor_location == place_of_the_error(reply)

    at_the_desk(act, SESSION, size=MIDDLE)
