"""What I write, what is sent, what came back: together at every size, whatever the size was before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from textual.geometry import Region
from textual.widget import Widget

from sessions import examples
from sessions.model.session import Session
from tests.support.cells import count, rows_of, used
from tests.support.open_app import MIDDLE, SMALL, WIDE, Desk, at_the_desk
from tests.support.screen import seen
from workbench.tui.panes.status import StatusLine
from workbench.tui.panes.verdicts import VerdictStrip
from workbench.tui.screens.panes_screen import SMALLEST_LEFT
from workbench.tui.screens.panes_screen import WIDE as WIDE_ENOUGH
from workbench.tui.screens.review import ReviewScreen
from workbench.tui.widgets.field_form import FieldEditor

SIZES = [
    MIDDLE,
    SMALL,
    *[pytest.param(size, marks=pytest.mark.slow) for size in ((200, 60), WIDE, (140, 40), (100, 30))],
]
FIRST = examples.load(examples.FIRST)


def in_sight(desk: Desk, widget: Widget) -> Region:
    """The part of a widget that is on the screen."""
    if not widget.display or any(not one.display for one in widget.ancestors if isinstance(one, Widget)):
        return Region()
    return widget.region.intersection(desk.app.screen.region)


def changed(session: Session, signature: str) -> Session:
    """With another signature."""
    return replace(session, signature=replace(session.signature, text=signature))


def check_the_loop(desk: Desk) -> None:
    """Editors, a prompt and what is known of the replies are in sight, and nothing is left empty beside them."""
    main, width = desk.main, desk.app.screen.size.width
    column = main.columns.current
    assert column is not None
    left, right = main.editors, main.columns
    assert in_sight(desk, main.editors.signature).height >= 3
    assert in_sight(desk, column.prompt).height >= 6 or in_sight(desk, column.reply).height >= 3
    assert in_sight(desk, column.prompt).width >= 30 or in_sight(desk, column.reply).width >= 30
    if width >= 100:
        assert in_sight(desk, column.prompt).height >= 6 and in_sight(desk, column.reply).height >= 3
        assert left.outer_size.width + right.outer_size.width >= width - 1
    shown = [one for one in main.columns.all if one.display]
    assert len(shown) == (3 if width >= WIDE_ENOUGH else 1)
    assert sum(one.outer_size.width for one in shown) >= right.size.width, "no cells beside the columns"
    strip = main.query_one(VerdictStrip)
    assert strip.display == (main.columns.in_sight_count < 3), "it names what does not stand side by side"


@pytest.mark.parametrize("size", SIZES)
def test_the_loop_is_in_sight_at_every_size(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        check_the_loop(desk)
        assert desk.main.columns.in_sight_count == (3 if size[0] >= 140 else 2 if size[0] >= WIDE_ENOUGH else 1)
        await desk.press("f5")
        await desk.sent()
        check_the_loop(desk)
        column = desk.main.columns.current
        assert column is not None and in_sight(desk, column.reply).height >= 3, "F5 brings the reply into view"
        assert in_sight(desk, column.fields).height >= 2

    at_the_desk(act, session=FIRST, size=size)


def test_a_reply_at_80_columns_leaves_the_start_of_the_last_message_in_sight() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        for key, said in (("f4", "seller"), ("f4", '"seller"'), ("f4", "✗ Tim & Sons")):
            await desk.press(key)
            column = desk.main.columns.current
            assert column is not None and column.reply.has_focus
            await desk.until(lambda column=column: "user" in seen(column.prompt)[0], "for the last message")
            assert "Tim & Sons, bakers." in seen(column.prompt)[2]
            await desk.until(lambda column=column: in_sight(desk, column.reply).height >= 6, "for most of the room")
            assert said in "\n".join(seen(column.reply))
        await desk.press("f3")
        column = desk.main.columns.current
        assert column is not None and not column.reply.display and in_sight(desk, column.prompt).height >= 9

    at_the_desk(act, session=FIRST, size=SMALL)


def test_columns_are_as_wide_in_a_wide_terminal_as_in_a_narrower_one() -> None:
    async def act(desk: Desk) -> None:
        narrow = min(one.outer_size.width for one in desk.main.columns.all)
        await desk.pilot.resize_terminal(*WIDE)
        await desk.settle()
        assert desk.main.columns.in_sight_count == 3
        assert min(one.outer_size.width for one in desk.main.columns.all) >= narrow

    at_the_desk(act, session=FIRST, size=MIDDLE)


@pytest.mark.parametrize("size", [(200, 60), pytest.param((100, 30), marks=pytest.mark.slow)])
def test_what_has_room_is_not_cut_off(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        await desk.press("f5")
        await desk.sent()
        shown = [one for one in desk.main.columns.all if one.display]
        parts = [part for one in shown for part in (one.prompt, one.reply, one.fields)]
        await desk.until(lambda: all(one.max_scroll_y == 0 for one in parts), "for all rows in sight")

    at_the_desk(act, session=FIRST, size=size)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_no_screen_gives_a_third_away_while_text_is_cut(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        def check() -> None:
            room = used(desk.app.screen)
            assert not room.cut or room.free < 1 / 3, room

        desk.main.columns.set_quiet(True)
        await desk.settle()
        check()
        await desk.press("f5")
        await desk.sent()
        check()
        for _ in FIRST.columns:
            await desk.press("f4", "ctrl+r")
            check()
        await desk.go_to("instructions")
        await desk.press("end", "space", *"Shortly")
        await desk.press("f9")
        await desk.until(lambda: isinstance(desk.app.screen, ReviewScreen), "for what drifted")
        check()

    at_the_desk(act, session=FIRST, size=size)


def test_half_of_the_first_screen_is_text_and_no_third_of_it_blank() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        desk.app.guidance.show("first")
        await desk.settle()
        cells = count(rows_of(desk.app.screen))
        assert cells.text >= 0.5 and cells.blank <= 0.3, cells

    at_the_desk(act, session=FIRST, size=MIDDLE)


def test_what_is_found_out_later_about_a_reply_gets_room_too() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        fields = desk.main.columns.all[-1].fields
        await desk.until(lambda: "? With & in" in " ".join(seen(fields)), "for what was probably meant")
        await desk.until(lambda: fields.max_scroll_y == 0, "for room")

    at_the_desk(act, session=FIRST, size=(200, 60))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["dragged", "command", "alone"])
def test_what_was_done_at_one_size_spoils_no_other(way: str) -> None:
    async def act(desk: Desk) -> None:
        if way == "dragged":
            desk.main._put_middle(20)
        elif way == "command":
            desk.main.widen_editors(60)
        else:
            await desk.press("f10")
        await desk.settle()
        for size in ((120, 35), SMALL, (100, 30), (160, 45)):
            await desk.pilot.resize_terminal(*size)
            await desk.settle()
            if way != "alone":
                check_the_loop(desk)
            elif size[0] >= 100:
                assert desk.main.editors.outer_size.width == size[0]
        if way == "alone":
            await desk.press("f10")
            check_the_loop(desk)

    at_the_desk(act, session=FIRST, size=WIDE)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["f2", "f3"])
def test_after_one_pane_alone_all_of_them_have_the_room_they_had(key: str) -> None:
    def rooms(desk: Desk) -> dict[Widget, Region]:
        return {one: in_sight(desk, one) for one in desk.main.walk_children(Widget)}

    async def act(desk: Desk) -> None:
        await desk.press(key)
        before = rooms(desk)
        await desk.press("f10")
        assert rooms(desk) != before
        await desk.press("f10")
        assert rooms(desk) == before

    at_the_desk(act, session=FIRST, size=WIDE)


@pytest.mark.slow
def test_the_column_with_the_focus_stays_in_sight_when_the_terminal_gets_narrow() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4", "f4", "f4")
        last = desk.main.columns.all[2]
        assert last.reply.has_focus
        for size in ((120, 35), SMALL, WIDE):
            await desk.pilot.resize_terminal(*size)
            await desk.settle()
            assert last.reply.has_focus and in_sight(desk, last.reply).height >= 3

    at_the_desk(act, session=FIRST, size=WIDE)


@pytest.mark.slow
def test_the_strip_says_of_each_column_what_became_of_its_reply_and_leads_there() -> None:
    async def act(desk: Desk) -> None:
        strip = desk.main.query_one(VerdictStrip)
        assert strip.render().plain.count("no reply yet") == 3
        await desk.press("f5")
        await desk.sent()
        said = strip.render().plain
        assert "Chat ✓ 3/3   JSON ✓ 3/3 repaired   XML ✗ line 2: & not escaped" in said
        strip.focus()
        await desk.press("left", "enter")
        last = desk.main.columns.column("xml")
        assert last is not None and last.reply.has_focus and in_sight(desk, last.reply).height >= 3
        await desk.pilot.click(strip, offset=(said.index("JSON") + 1, 0))
        await desk.settle()
        turned = desk.main.columns.column("json")
        assert turned is not None and in_sight(desk, turned.prompt).width >= 30

    at_the_desk(act, session=FIRST, size=(120, 35))


@pytest.mark.slow
def test_a_column_that_is_added_comes_into_sight() -> None:
    async def act(desk: Desk) -> None:
        for size in ((120, 35), WIDE):
            await desk.pilot.resize_terminal(*size)
            await desk.press("alt+c")
            await desk.type("BAML" if size == WIDE else "TwoStep")
            await desk.press("enter")
            added = desk.main.columns.all[-1]
            await desk.until(lambda added=added: in_sight(desk, added).width >= 30, "for the new column")
            assert added.column_id == ("baml" if size == WIDE else "twostep")

    at_the_desk(act, session=FIRST, size=(120, 35))


@pytest.mark.slow
def test_the_line_between_editors_and_columns_is_moved_without_a_mouse() -> None:
    async def act(desk: Desk) -> None:
        left = desk.main.editors
        before = left.size.width
        desk.main.widen_editors(8)
        await desk.settle()
        assert left.size.width == before + 8
        desk.main.widen_editors(-1_000)
        await desk.settle()
        assert left.outer_size.width == SMALLEST_LEFT

    at_the_desk(act)


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, (90, 28)])
@pytest.mark.parametrize("kind", ["demo", "history", "tool", "variant"])
def test_what_is_added_in_a_small_terminal_is_typed_in_sight(size: tuple[int, int], kind: str) -> None:
    async def act(desk: Desk) -> None:
        await desk.go_to(kind, row=0)
        await desk.press("ctrl+n")
        field = desk.app.focused
        assert field is not None and isinstance(field.parent, FieldEditor)
        for one in (field, field.parent.query_one(".field-label")):
            assert desk.main.find_widget(one).visible_region.height >= 1

    at_the_desk(act, session=examples.load("invoice"), size=size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, (100, 30), (120, 35)])
def test_what_was_done_is_said_whole_in_the_last_line(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f3", "f5")
        await desk.sent()
        await desk.press("f4", "ctrl+r")
        said = desk.app.screen.query_one(StatusLine).render().plain
        assert "recorded chat; ^s save, F9 check" in said

    at_the_desk(act, session=examples.load("invoice"), size=size)


@pytest.mark.slow
@pytest.mark.parametrize("size", [one for one in SIZES if one != SMALL])
def test_the_values_stand_below_a_short_signature_where_there_is_room(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        main = desk.main
        assert in_sight(desk, main.editors.inputs).height >= 3
        await desk.press("f2")
        assert main.editors.inputs.has_focus_within and in_sight(desk, main.editors.inputs).height >= 3
        assert in_sight(desk, main.editors.signature).height >= 3
        await desk.type("So ")
        assert desk.document.state.case.inputs["note"].startswith("So ")
        await desk.press("f2")
        assert in_sight(desk, main.editors.signature).height == 0, "the demos alone"

    at_the_desk(act, session=FIRST, size=size)


def test_at_80_columns_the_values_stand_beside_a_short_signature_and_alone_behind_their_tab() -> None:
    async def act(desk: Desk) -> None:
        signature, inputs = desk.main.editors.signature, desk.main.editors.inputs
        before = in_sight(desk, inputs)
        assert before.x == in_sight(desk, signature).right and before.width >= 36
        value = desk.main.query_one("#inputs-form Editor")
        assert in_sight(desk, value).height == 3, "all of the receipt"
        await desk.press("f2")
        assert inputs.has_focus_within and in_sight(desk, inputs).width >= 76
        assert in_sight(desk, signature).height == 0

    at_the_desk(act, session=FIRST, size=SMALL)


def test_of_a_session_without_replies_that_is_opened_the_prompt_is_in_sight() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f5")
        await desk.sent()
        await desk.press("f4")
        desk.app.load(examples.load("triage"), None)
        await desk.settle()
        column = desk.main.columns.current
        assert column is not None and in_sight(desk, column.prompt).height >= 6

    at_the_desk(act, session=FIRST, size=SMALL)


@pytest.mark.parametrize("written", ["class", "long line"])
def test_at_80_columns_a_signature_that_half_of_them_does_not_hold_has_all(written: str) -> None:
    session = (
        examples.load("invoice") if written == "class" else changed(FIRST, "note -> seller, " + "total_amount, " * 9)
    )

    async def act(desk: Desk) -> None:
        assert in_sight(desk, desk.main.editors.signature).width >= 76
        assert in_sight(desk, desk.main.editors.inputs).height == 0

    at_the_desk(act, session=session, size=SMALL)


def test_a_long_signature_has_the_pane_for_itself() -> None:
    async def act(desk: Desk) -> None:
        assert in_sight(desk, desk.main.editors.inputs).height == 0
        assert in_sight(desk, desk.main.editors.signature).height >= 20

    at_the_desk(act, session=examples.load("invoice"), size=(120, 35))


def test_where_nothing_came_back_yet_stands_what_will_be_read_from_it() -> None:
    async def act(desk: Desk) -> None:
        desk.main.columns.set_quiet(True)
        await desk.press("f2")
        column = desk.main.columns.current
        assert column is not None
        said = "".join(column.reply.render_line(y).text for y in range(column.reply.size.height))
        assert all(word in said for word in ("seller", "float", "bool", "paste"))

    at_the_desk(act, session=FIRST, size=(120, 35))
