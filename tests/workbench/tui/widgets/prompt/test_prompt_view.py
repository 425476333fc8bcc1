"""A prompt on the screen: every message, every piece with its origin, at the price of what changed."""

from __future__ import annotations

from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from adapters.prompts.text import KINDS, DataPart, Message, Prompt, Segment, Text
from tests.support.hostile import HOSTILE
from tests.support.painted import Terminal, painted_anew
from tests.support.screen import Stage, assert_harmless, on_stage, seen
from workbench.tui.widgets.prompt import prompt_layout
from workbench.tui.widgets.prompt.prompt_forms import AFTER, section_of
from workbench.tui.widgets.prompt.prompt_section import Origin, Section
from workbench.tui.widgets.prompt.prompt_view import PromptView

S = Segment
SYSTEM = Message(
    "system",
    "system",
    (
        Text(
            (
                S("Your input fields are:\n1. `", "boilerplate"),
                S("question", "name", "question"),
                S("` (", "boilerplate"),
                S("str", "type", "question"),
                S("): ", "boilerplate"),
                S("what to answer", "description", "question"),
                S("\nYour output fields are:\n1. `", "boilerplate"),
                S("answer", "name", "answer"),
                S("`\nYour objective is: ", "boilerplate"),
                S("Answer the question.", "instructions"),
            )
        ),
    ),
)


def user(question: str, turn: str = "inputs") -> Message:
    return Message(
        "user",
        turn,
        (
            Text(
                (
                    S("[[ ## question ## ]]", "marker", "question"),
                    S("\n", "boilerplate"),
                    S(question, "value", "question"),
                )
            ),
        ),
    )


def demo(number: int, question: str = "Is it cold?", answer: str = "No.") -> tuple[Message, Message]:
    reply = Text((S("[[ ## answer ## ]]\n", "marker", "answer"), S(answer, "value", "answer")))
    return user(question, f"demo {number}"), Message("assistant", f"demo {number}", (reply,))


def prompt(question: str = "Is it raining?", demos: tuple[Message, ...] = ()) -> Prompt:
    return Prompt((SYSTEM, *demos, user(question)))


View = Stage[PromptView]


def origins(stage: View, kind: type) -> list[tuple[str, str | None, str]]:
    return [(one.kind, one.field, one.turn) for one in stage.heard if isinstance(one, kind)]  # type: ignore[attr-defined]


def test_each_message_has_a_section_with_its_role_turn_and_estimated_tokens() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt(demos=(*demo(1), user("Why?", "history 1"))))
        await pilot.pause()
        titles = [row.split("─")[0].strip() for row in seen(stage.widget) if "tok" in row]
        assert titles == ["system", "user · demo 1", "assistant · demo 1", "user · history 1", "user"]
        assert all(" ~" in row for row in seen(stage.widget) if "tok" in row)

    on_stage(PromptView("chat"), act, (60, 40))


def test_every_character_of_every_message_is_shown() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        given = prompt("It pours. " * 12)
        stage.widget.show(given)
        await pilot.pause()
        shown = "".join("".join(row.split()) for row in seen(stage.widget) if "tok" not in row)
        assert shown == "".join("".join(str(message.text).split()) for message in given.messages)

    on_stage(PromptView("chat"), act, (40, 60))


def test_each_kind_of_origin_is_named_and_has_a_style_in_every_theme() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        text = Text([S(f"of kind {kind}\n", kind, "question") for kind in KINDS])
        widget.show(Prompt((Message("user", "inputs", (text,)),)))
        for _ in KINDS:
            widget.action_piece(1)
            await pilot.pause()
        assert origins(stage, PromptView.Hovered) == [(kind, "question", "inputs") for kind in KINDS]
        for theme in stage.available_themes:
            stage.theme = theme
            await pilot.pause()
            assert [f"of kind {kind}" in row for kind, row in zip(KINDS, seen(widget)[1:], strict=False)] == [True] * 12

    on_stage(PromptView("chat"), act)


@pytest.mark.slow
def test_hostile_text_is_shown_and_does_nothing() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        for text in HOSTILE.values():
            hostile = Message(
                text[:300],
                text[:300] or "inputs",
                (Text((S(text, "value", text[:50]), S(text, "boilerplate"))), DataPart({"type": text, "url": text})),
                is_list=True,
                extra={"tool_calls": [text]},
            )
            widget.show(Prompt((hostile, user(text))), error=text, stale=True)
            assert_harmless(widget)
            for _ in range(8):
                widget.action_piece(1)
                widget.action_fold()
                widget.action_choose()
                assert_harmless(widget)
            widget.action_edge(True)
            widget.action_row(-1)
            widget.action_page(-1)
            widget.highlight(Origin("value", text[:50], "inputs"))
            await pilot.click(PromptView, (3, 6))
            await pilot.resize_terminal(23, 10)
            assert_harmless(widget)
            await pilot.resize_terminal(60, 20)
        assert stage.is_running

    on_stage(PromptView("chat"), act)


def test_data_parts_are_one_line_with_type_and_size() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 1000}}
        parts = (
            Text((S("Look: ", "boilerplate"),)),
            DataPart(picture, "photo"),
            Text((S("What is it?", "boilerplate"),)),
        )
        stage.widget.show(Prompt((Message("user", "inputs", parts, is_list=True),)))
        await pilot.pause()
        rows = [row.strip() for row in seen(stage.widget)]
        assert rows[1:4] == ["Look:", "▣ image_url · image/png · 3.0 kB", "What is it?"]

    on_stage(PromptView("chat"), act)


def test_the_origin_of_a_data_part_is_a_value_of_its_field() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        message = Message("user", "inputs", (DataPart({"type": "image_url"}, "photo"),), is_list=True)
        stage.widget.show(Prompt((message,)))
        stage.widget.action_piece(1)
        await pilot.pause()
        assert origins(stage, PromptView.Hovered) == [("value", "photo", "inputs")]
        assert stage.widget.reveal(Origin("value", "photo", "inputs"))

    on_stage(PromptView("chat"), act)


def test_the_cursor_goes_piece_by_piece_across_messages_and_names_each_origin() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt())
        await pilot.press("tab", *["right"] * 12)
        assert origins(stage, PromptView.Hovered) == [
            ("boilerplate", None, "system"),
            ("name", "question", "system"),
            ("boilerplate", None, "system"),
            ("type", "question", "system"),
            ("boilerplate", None, "system"),
            ("description", "question", "system"),
            ("boilerplate", None, "system"),
            ("name", "answer", "system"),
            ("boilerplate", None, "system"),
            ("instructions", None, "system"),
            ("marker", "question", "inputs"),
            ("value", "question", "inputs"),
        ]
        await pilot.press("left", "enter")
        assert origins(stage, PromptView.Chosen) == [("marker", "question", "inputs")]

    on_stage(PromptView("chat"), act)


def test_up_and_down_go_row_by_row() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt())
        await pilot.press(*["down"] * 7)
        rows = seen(stage.widget)
        (marked,) = [row for row in rows if row.startswith("▌")]
        assert "Is it raining?" in marked
        await pilot.press("up")
        (marked,) = [row for row in seen(stage.widget) if row.startswith("▌")]
        assert "[[ ## question ## ]]" in marked

    on_stage(PromptView("chat"), act)


def test_the_cursor_reaches_every_piece_of_a_long_prompt_and_stays_in_sight() -> None:
    demos = tuple(message for number in range(1, 31) for message in demo(number, "Is it cold? " * 20))

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt(demos=demos))
        for _ in range(40):
            stage.widget.action_message(1)
            assert sum(row.startswith("▌") for row in seen(stage.widget)) == 1
        await pilot.press("end")
        assert any("Is it raining?" in row for row in seen(stage.widget))
        for _ in range(200):
            stage.widget.action_row(-1)
            assert sum(row.startswith("▌") for row in seen(stage.widget)) == 1
        await pilot.press("home")
        assert stage.widget.scroll_y == 0

    on_stage(PromptView("chat"), act, (50, 12))


def test_scrolling_back_through_messages_never_seen_shows_every_row_once() -> None:
    demos = tuple(message for number in range(1, 9) for message in demo(number, f"q{number} " + "long words " * 30))
    given = prompt(demos=demos)

    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.show(given)
        await pilot.pause()
        everything: list[str] = []
        while True:
            rows = seen(widget)
            everything += rows[:1]
            before = widget.scroll_y
            widget.scroll_to(y=before + 1, animate=False)
            if widget.scroll_y == before:
                everything += rows[1:]
                break
        widget.show(None)
        widget.show(given)
        widget.action_edge(True)
        await pilot.pause()
        backwards = list(reversed(seen(widget)))
        while widget.scroll_y > 0:
            widget.scroll_to(y=widget.scroll_y - 1, animate=False)
            backwards.append(seen(widget)[0])
        assert [row.replace("▌", " ") for row in reversed(backwards)] == everything

    on_stage(PromptView("chat"), act, (40, 10))


def test_what_the_pointer_is_on_is_told_and_a_double_click_chooses_it() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt())
        await pilot.pause()
        await pilot.hover(PromptView, (6, 2))
        assert not stage.heard[-1].by_key  # type: ignore[attr-defined]
        assert origins(stage, PromptView.Hovered)[-1] == ("name", "question", "system")
        await pilot.click(PromptView, (6, 2))
        assert origins(stage, PromptView.Chosen) == []
        await pilot.click(PromptView, (6, 2), times=2)
        assert origins(stage, PromptView.Chosen)[-1] == ("name", "question", "system")
        await pilot.hover(PromptView, (6, 0))
        assert origins(stage, PromptView.Hovered)[-1] == ("name", "question", "system")

    on_stage(PromptView("chat"), act)


def test_the_pointer_finds_pieces_behind_wide_characters() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        text = Text((S("日本語", "value", "question"), S("after", "name", "question")))
        stage.widget.show(Prompt((Message("user", "inputs", (text,)),)))
        await pilot.pause()
        await pilot.hover(PromptView, (6, 1))
        assert origins(stage, PromptView.Hovered)[-1][0] == "value"
        await pilot.hover(PromptView, (7, 1))
        assert origins(stage, PromptView.Hovered)[-1][0] == "name"

    on_stage(PromptView("chat"), act)


def test_highlight_lights_the_same_origin_strongly_and_the_same_field_a_little() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.show(prompt())
        widget.highlight(Origin("name", "question", "system"))
        await pilot.pause()
        rows = seen(widget)
        assert [row[0] for row in rows if "`question`" in row] == ["┃"]
        assert [row[0] for row in rows if "## question ##" in row or "raining" in row] == ["╎", "╎"]
        assert [row[0] for row in rows if "`answer`" in row] == [" "]
        widget.highlight(None)
        await pilot.pause()
        assert {row[0] for row in seen(widget)} == {" "}

    on_stage(PromptView("chat"), act)


def test_reveal_brings_an_origin_into_sight() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        demos = tuple(message for number in range(1, 41) for message in demo(number))
        stage.widget.show(prompt(demos=demos))
        assert stage.widget.reveal(Origin("value", "answer", "demo 33"))
        await pilot.pause()
        assert any("demo 33" in row for row in seen(stage.widget))
        at = stage.widget.scroll_y
        assert stage.widget.reveal(Origin("marker", "answer", "demo 33"))
        assert stage.widget.scroll_y == at
        assert not stage.widget.reveal(Origin("value", "nothing", "inputs"))

    on_stage(PromptView("chat"), act)


def test_the_cursor_stands_on_the_terminal_where_it_is_and_nowhere_without_the_focus() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget, terminal = stage.widget, Terminal()

        async def marked() -> list[str]:
            await pilot.pause()
            assert terminal.rows == painted_anew(stage.screen)
            return [row.strip("▌ ") for row in terminal.rows if row.startswith("▌")]

        widget.show(prompt())
        stage.screen.set_focus(None)
        await pilot.pause()
        with terminal.of(stage):
            stage.screen.refresh()
            assert await marked() == []
            widget.focus()
            assert len(await marked()) == 1
            for kind, turn in (("description", "system"), ("value", "inputs"), ("marker", "inputs")):
                assert widget.reveal(Origin(kind, "question", turn))
                (row,) = await marked()
                assert {"description": "what to", "value": "raining", "marker": "##"}[kind] in row
            stage.screen.set_focus(None)
            assert await marked() == []
            assert widget.reveal(Origin("value", "question", "inputs"))
            assert await marked() == []

    on_stage(PromptView("chat"), act, (60, 30))


def test_a_long_value_is_folded_and_space_unfolds_it() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        value = "\n".join(f"line {number}" for number in range(40))
        widget.show(Prompt((user(value),)))
        await pilot.press("right", "right")
        assert any("⋯ 254 more characters" in row for row in seen(widget))
        assert not any("line 39" in row for row in seen(widget))
        await pilot.press("space")
        assert any("line 39" in row for row in seen(widget))
        assert not any("more characters" in row for row in seen(widget))
        widget.show(Prompt((user(value + "\nlast"),)))
        await pilot.pause()
        assert any("last" in row for row in seen(widget))
        await pilot.press("space")
        assert not any("line 39" in row for row in seen(widget))

    on_stage(PromptView("chat"), act, (60, 50))


def test_stale_columns_keep_the_last_prompt_and_the_error_stands_above() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.show(prompt())
        widget.show(prompt(), stale=True, error="line 2, column 5: unknown type")
        await pilot.pause()
        rows = seen(widget)
        assert rows[0].strip() == "✗ line 2, column 5: unknown type"
        assert rows[1].strip().startswith("system")
        widget.show(prompt())
        await pilot.pause()
        assert seen(widget)[0].strip().startswith("system")

    on_stage(PromptView("chat"), act)


def test_a_long_error_says_that_it_goes_on_and_without_a_prompt_it_takes_the_room_it_needs() -> None:
    error = "cannot be made, since " + " ".join(f"word{number}" for number in range(40)) + " the end"

    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        widget.show(prompt(), error=error)
        await pilot.pause()
        assert seen(widget)[2].rstrip().endswith("…")
        assert seen(widget)[3].strip().startswith("system")
        widget.show(None, error=error)
        await pilot.pause()
        assert any(row.rstrip().endswith("the end") for row in seen(widget))

    on_stage(PromptView("chat"), act)


def test_without_a_prompt_the_view_is_empty() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt())
        await pilot.press("tab", "right")
        stage.widget.show(None)
        await pilot.press("right", "down", "end", "enter", "space", "pagedown")
        assert not "".join(seen(stage.widget)).strip()
        assert stage.widget.text_of_message_at_cursor() == stage.widget.plain_text() == ""

    on_stage(PromptView("chat"), act)


def test_the_text_of_the_message_at_the_cursor_is_the_message_as_it_goes_out() -> None:
    async def act(stage: View, pilot: Pilot[None]) -> None:
        given = prompt("\x1b[2J")
        stage.widget.show(given)
        await pilot.press("tab", "end")
        assert stage.widget.text_of_message_at_cursor() == "[[ ## question ## ]]\n\x1b[2J"
        assert stage.widget.plain_text().startswith("system:\n\nYour input fields are:")

    on_stage(PromptView("chat"), act)


def test_only_messages_that_are_new_objects_and_in_sight_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out: list[Message] = []

    def counted(message: Message, *arguments: Any) -> Section:
        laid_out.append(message)
        return section_of(message, *arguments)

    monkeypatch.setattr(prompt_layout, "section_of", counted)
    demos = tuple(message for number in range(1, 1001) for message in demo(number, "word " * 400))

    async def act(stage: View, pilot: Pilot[None]) -> None:
        stage.widget.show(prompt(demos=demos))
        await pilot.pause()
        assert 0 < len(laid_out) < 60
        laid_out.clear()
        changed = prompt("Is it snowing?", demos)
        stage.widget.show(changed)
        await pilot.pause()
        assert laid_out == []
        stage.widget.action_edge(True)
        await pilot.pause()
        assert changed.messages[-1] in laid_out
        laid_out.clear()
        again = prompt("Is it hailing?", demos)
        stage.widget.show(again)
        await pilot.pause()
        assert again.messages[-1] in laid_out
        assert len(laid_out) <= 4
        for _ in AFTER:
            laid_out.clear()
            stage.widget.action_form()
            await pilot.pause()
            assert 0 < len(laid_out) < 60

    on_stage(PromptView("chat"), act)


def test_only_rows_that_look_different_are_painted_again() -> None:
    painted: list[Region] = []

    class Watched(PromptView):
        def refresh(self, *regions: Region, **options: bool) -> PromptView:
            painted.extend(regions or [self.size.region])
            return super().refresh(*regions, **options)

    async def act(stage: Stage[Watched], pilot: Pilot[None]) -> None:
        stage.widget.show(prompt("Is it raining?"))
        await pilot.pause()
        painted.clear()
        stage.widget.show(prompt("Is it snowing?"))
        assert sum(region.height for region in painted) == 1
        assert any("snowing" in row for row in seen(stage.widget))
        painted.clear()
        stage.widget.show(prompt("Is it snowing?"))
        assert painted == []

    on_stage(Watched("chat"), act)


def test_a_new_demo_above_does_not_move_what_is_read() -> None:
    demos = tuple(message for number in range(1, 21) for message in demo(number))

    async def act(stage: View, pilot: Pilot[None]) -> None:
        widget = stage.widget
        given = prompt(demos=demos)
        widget.show(given)
        widget.action_edge(True)
        await pilot.pause()
        before = seen(widget)
        widget.show(Prompt((SYSTEM, *demo(99), *given.messages[1:])))
        await pilot.pause()
        assert seen(widget) == before

    on_stage(PromptView("chat"), act)
