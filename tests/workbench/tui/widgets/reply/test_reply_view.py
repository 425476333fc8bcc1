"""A reply on the screen: what the parser did stands in the margin, and the text is the text."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from textual import events
from textual.pilot import Pilot

from adapters.formats.chat import ChatAdapter
from adapters.formats.json import JSONAdapter
from adapters.signatures.signature import Field, Signature
from tests.support.hostile import HOSTILE
from tests.support.screen import Stage, assert_harmless, on_stage, painted, painted_anew, seen
from workbench.tui.widgets.reply.reply_view import ReplyView

SIGNATURE = Signature.make(
    [Field("question", "input"), Field("answer", "output"), Field("score", "output", float)], "Answer."
)
CHAT = ChatAdapter()
GOOD = "Sure!\n[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n0.5\n\n[[ ## completed ## ]]\n"
View = Stage[ReplyView]


def edits(stage: View) -> list[str]:
    return [one.text for one in stage.heard if isinstance(one, ReplyView.Edited)]


def labels(stage: View) -> list[str]:
    """The labels in the margin, from top to bottom."""
    room = stage.widget.gutter_width - 2
    return [row[:room].strip() for row in seen(stage.widget) if row[:room].strip()]


def test_each_field_has_its_label_beside_its_first_line() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(GOOD, CHAT.read(SIGNATURE, GOOD))
        await pilot.pause()
        assert labels(stage) == ["ignored", "answer", "score"]
        assert "yes" in seen(stage.widget)[2]

    on_stage(ReplyView("chat"), act)


def test_a_second_answer_and_an_unknown_field_are_called_so() -> None:
    text = GOOD + "[[ ## answer ## ]]\nno\n[[ ## mood ## ]]\nfine\n"

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(text, CHAT.read(SIGNATURE, text))
        await pilot.pause()
        assert labels(stage) == ["ignored", "answer", "score", "answer ×2", "unknown"]

    on_stage(ReplyView("chat"), act, (100, 20))


def test_the_place_of_an_error_is_marked() -> None:
    text = GOOD.replace("0.5", "a lot")

    async def act(stage: View, pilot: Pilot[None]) -> None:
        reading = CHAT.read(SIGNATURE, text)
        assert reading.error is not None
        stage.widget.show(text, reading)
        await pilot.pause()
        (row,) = [row for row in seen(stage.widget) if "✗" in row]
        assert "a lot" in row or "score" in row

    on_stage(ReplyView("chat"), act)


@pytest.mark.slow
def test_hostile_replies_are_shown_and_kept_to_the_character() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        for text in HOSTILE.values():
            reply = f"[[ ## answer ## ]]\n{text}\n"
            stage.heard.clear()
            widget.show(reply, CHAT.read(SIGNATURE, reply))
            assert_harmless(widget)
            assert (widget.raw, edits(stage)) == (reply, [])
            widget.move_cursor((0, 3))
            await pilot.press("!")
            changed = reply[:3] + "!" + reply[3:]
            assert edits(stage) == [changed]
            widget.show(changed, CHAT.read(SIGNATURE, changed))
            widget.move_cursor(widget.document.end)
            await pilot.press("backspace")
            assert edits(stage)[-1] == changed[:-1]
            widget.select_all()
            assert_harmless(widget)
            await pilot.resize_terminal(25, 8)
            assert_harmless(widget)
            await pilot.resize_terminal(60, 20)

    on_stage(ReplyView("chat"), act)


def test_an_edit_in_the_middle_touches_nothing_else() -> None:
    text = "a\r\nb\u2028c\x85d\x0be\nlast"

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(text)
        stage.widget.move_cursor((1, 2))
        await pilot.press("X")
        assert edits(stage) == ["a\r\nb\u2028Xc\x85d\x0be\nlast"]

    on_stage(ReplyView("chat"), act)


def test_a_paste_is_one_edit() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show("")
        stage.post_message(events.Paste(GOOD))
        await pilot.pause()
        assert edits(stage) == [GOOD]

    on_stage(ReplyView("chat"), act)


def test_copy_and_cut_take_the_reply_itself() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show("a\r\u2028\nb")
        stage.widget.select_all()
        await pilot.press("ctrl+c")
        assert stage.clipboard == "a\r\u2028\nb"
        await pilot.press("ctrl+x")
        assert (stage.clipboard, edits(stage)) == ("a\r\u2028\nb", [""])

    on_stage(ReplyView("chat"), act)


def test_showing_is_not_editing() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        for text in (GOOD, "other", GOOD, ""):
            stage.widget.show(text, CHAT.read(SIGNATURE, text))
            await pilot.pause()
        assert edits(stage) == []

    on_stage(ReplyView("chat"), act)


def test_a_stream_grows_and_can_not_be_typed_into() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.begin_stream("markers", ("answer", "score"))
        for chunk in ("Su", "re!\r", "\n[[ ## ans", "wer ## ]]\x1b[2J\n", *(f"line {n}\n" for n in range(50))):
            widget.append(chunk)
        await pilot.press("x")
        await pilot.pause()
        assert widget.raw.startswith("Sure!\r\n[[ ## answer ## ]]\x1b[2J\n")
        assert edits(stage) == []
        assert any("line 49" in row for row in seen(widget))
        assert widget.cursor_location == (0, 0)
        assert_harmless(widget)
        widget.show(widget.raw, CHAT.read(SIGNATURE, widget.raw))
        await pilot.press("x")
        assert len(edits(stage)) == 1

    on_stage(ReplyView("chat"), act)


def test_fields_are_labelled_as_they_arrive_without_a_layout() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.begin_stream("markers", ("answer", "score"))
        await pilot.pause()
        gutter, seen_labels = widget.gutter_width, []
        with patch.object(widget.screen, "_refresh_layout") as laid_out:
            for chunk in (GOOD[:14], GOOD[14:27], GOOD[27:40], GOOD[40:52], GOOD[52:]):
                widget.append(chunk)
                await pilot.pause()
                assert painted(widget) == painted_anew(widget)
                seen_labels.append(labels(stage))
        assert seen_labels == [
            *([], ["answer …"], ["answer …"], ["answer", "score …"], ["answer", "score"]),
        ]
        assert widget.gutter_width == gutter and not laid_out.called
        widget.show(widget.raw, CHAT.read(SIGNATURE, widget.raw))
        await pilot.pause()
        assert labels(stage) == ["ignored", "answer", "score"], "the parser has the last word"

    on_stage(ReplyView("chat"), act)


def test_reading_again_keeps_cursor_and_scroll() -> None:
    text = "[[ ## answer ## ]]\n" + "line\n" * 100

    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.show(text, CHAT.read(SIGNATURE, text))
        widget.move_cursor((80, 2))
        await pilot.press("y")
        place, scroll = widget.cursor_location, widget.scroll_y
        changed = edits(stage)[-1]
        widget.show(changed, CHAT.read(SIGNATURE, changed))
        await pilot.pause()
        assert (widget.cursor_location, widget.scroll_y) == (place, scroll)
        assert any("liyne" in row for row in seen(widget))

    on_stage(ReplyView("chat"), act)


def test_a_reply_on_one_long_line_is_wrapped_with_a_label_where_each_field_begins() -> None:
    text = '{"answer": "' + "word " * 60 + '", "score": 0.5}'

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(text, JSONAdapter().read(SIGNATURE, text))
        await pilot.pause()
        assert labels(stage) == ["answer", "score"]

    on_stage(ReplyView("json"), act)


def test_a_line_too_long_to_wrap_scrolls_sideways() -> None:
    text = "x" * 50_000 + "END"

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(text, CHAT.read(SIGNATURE, text))
        stage.widget.move_cursor((0, len(text)))
        await pilot.pause()
        assert any("END" in row for row in seen(stage.widget))
        assert_harmless(stage.widget)

    on_stage(ReplyView("chat"), act)


def test_a_stream_longer_than_its_room_is_followed_and_asks_for_no_layout_of_the_screen() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.begin_stream("markers", ("answer", "score"))
        for number in range(40):
            widget.append(f"line {number}\n")
        await pilot.pause()
        assert widget.show_vertical_scrollbar
        layouts: list[int] = []
        arrange = widget.screen._refresh_layout
        widget.screen._refresh_layout = lambda *given, **named: (layouts.append(1), arrange(*given, **named))[1]  # type: ignore[method-assign]
        for number in range(40, 60):
            widget.append(f"line {number}\n")
            await pilot.pause()
        assert not layouts
        assert widget.scroll_y == widget.max_scroll_y
        assert "line 59" in "\n".join(seen(widget))
        widget.show(widget.raw)
        await pilot.pause()
        assert widget.virtual_size.height == widget.vertical_scrollbar.window_virtual_size == 61

    on_stage(ReplyView("chat"), act, (60, 12))


def test_a_label_is_cut_before_a_word_of_the_reply_is() -> None:
    word = "incomprehensibilities"
    text = GOOD.replace("yes", word)

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(text, CHAT.read(SIGNATURE, text))
        await pilot.pause()
        assert any(word in row for row in seen(stage.widget)), seen(stage.widget)

    on_stage(ReplyView("chat"), act, (29, 20))


def test_lines_are_wrapped_under_their_own_indent_and_the_cursor_knows_where_they_stand() -> None:
    line = '    "answer": "one two three four five six seven eight",'
    text = f'{{\n{line}\n  "score": 0.5\n}}'

    async def act(stage: View, pilot: Pilot[None]) -> None:
        view = stage.widget
        view.show(text)
        view.focus()
        await pilot.pause()
        assert [row.rstrip() for row in seen(view)][1:4] == [
            '    "answer": "one two three',
            "    four five six seven",
            '    eight",',
        ]
        view.move_cursor((1, line.index("four")))
        await pilot.pause()
        assert view.cursor_screen_offset.x - view.region.x == 4
        await pilot.press("right", "up")
        assert view.cursor_location == (1, 5), "straight above"
        await pilot.press("down", "down")
        assert view.cursor_location == (1, line.index("eight") + 1)
        await pilot.click(view, offset=(6, 2))
        assert view.cursor_location == (1, line.index("four") + 2)
        await pilot.press("!")
        assert view.raw == text.replace("four", "fo!ur")
        view.append('\n    "more": "and more that is wrapped too"')
        await pilot.pause()
        assert [row.rstrip() for row in seen(view)][6:8] == ['    "more": "and more that is', '    wrapped too"']

    on_stage(ReplyView("chat"), act, (30, 16))
