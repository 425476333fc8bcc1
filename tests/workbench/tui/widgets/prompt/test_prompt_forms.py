"""A prompt as raw text and as JSON: to the character, with every piece's origin, at the price of what is in sight."""

from __future__ import annotations

import json
from typing import Any

import pytest
from textual.pilot import Pilot

from adapters.prompts.text import DataPart, Message, Prompt, Segment, Text
from tests.support.hostile import HOSTILE
from tests.support.screen import Stage, assert_harmless, on_stage, seen
from workbench.tui.widgets.prompt.prompt_forms import LINE_END, PromptForm, json_pieces, section_of, text_of
from workbench.tui.widgets.prompt.prompt_section import Section, pieces_of
from workbench.tui.widgets.prompt.prompt_view import PromptView

S = Segment
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
CALLS = {"tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"a": "ß"}'}}]}


def text(value: str) -> Text:
    return Text((S("[[ ## q ## ]]\n", "marker", "q"), S(value, "value", "q"), S("\n\nRespond. ", "reminder")))


def user(value: str) -> Message:
    return Message("user", "inputs", (text(value),))


MESSAGES = {
    "text": user('a "quoted"\tline\\\nand é \u2028 \x1b[2J'),
    "parts": Message("user", "inputs", (text("one"), DataPart(IMAGE, "picture"), text("two")), True),
    "image alone": Message("user", "demo 1", (DataPart(IMAGE, "picture"),)),
    "calls": Message("assistant", "history 1", (), False, CALLS),
    "text and calls": Message("assistant", "history 1", (text("x"),), False, CALLS),
    "tool": Message("tool", "history 1", (text("42"),), False, {"tool_call_id": "1", "name": "f"}),
}


def laid_out(message: Message, form: PromptForm, width: int = 40) -> Section:
    return section_of(message, width, form, lambda _: False)


@pytest.mark.parametrize("message", [*MESSAGES.values(), *map(user, HOSTILE.values())])
def test_the_json_of_a_message_is_what_goes_out_and_each_piece_keeps_its_number(message: Message) -> None:
    pieces = list(json_pieces(message))
    assert json.loads("".join([one for one, _, _ in pieces])) == json.loads(json.dumps(message.as_dict()))
    assert sorted(number for _, _, number in pieces if number >= 0) == list(range(len(pieces_of(message))))


@pytest.mark.parametrize("name", ["text", "calls", "text and calls", "tool"])
def test_the_json_is_laid_out_as_everywhere(name: str) -> None:
    assert text_of(MESSAGES[name], "json") == json.dumps(MESSAGES[name].as_dict(), ensure_ascii=False, indent=2)


@pytest.mark.parametrize("value", HOSTILE.values())
def test_raw_text_folds_nothing_and_keeps_every_character(value: str) -> None:
    message = user(value)
    section = laid_out(message, "raw")
    assert len(section.text.replace(f"{LINE_END}\n", "\n")) == len(message.text)
    assert not section.folded


def test_raw_text_shows_blanks_that_nobody_could_see() -> None:
    section = laid_out(Message("user", "inputs", (Text((S("a \tb\u00a0c  \n ", "value", "q"),)),)), "raw")
    assert section.text == f"a →b⍽c··{LINE_END}\n·"


@pytest.mark.parametrize("form", ["sections", "raw", "json"])
@pytest.mark.parametrize("wanted", ["quoted", "é", "Respond"])
def test_a_text_that_was_found_stands_in_the_row_that_it_is_said_to(form: PromptForm, wanted: str) -> None:
    message = user("first line\n" * 9 + 'a "quoted"\tline\\\n' + "wide 漢字 " * 9 + "and é\n")
    section = laid_out(message, form, 30)
    number, offset = next(
        (number, one.find(wanted)) for number, (one, _, _) in enumerate(pieces_of(message)) if wanted in one
    )
    assert wanted in "".join([shown for _, shown in section.runs(section.row_of(number, offset))])


def test_a_huge_value_is_cut_and_says_so_in_every_form() -> None:
    for form in ("raw", "json"):
        section = laid_out(user("x" * 1_000_000), form, 80)
        assert "800,000 more characters" in section.text
        assert section.height < 3_000


def test_the_key_goes_round_with_the_cursor_where_it_was_and_says_the_form_in_each_title() -> None:
    async def act(stage: Stage[PromptView], pilot: Pilot[None]) -> None:
        view = stage.widget
        view.show(Prompt((user("first"), user("second"))))
        await pilot.press("tab", "end", "left")
        origins: list[Any] = []
        for form, title in (("raw", "user · raw"), ("json", "user · JSON"), ("sections", "user ──")):
            await pilot.press("v")
            await pilot.pause()
            assert view.form == form
            assert any(title in row for row in seen(view))
            assert view.message_at_cursor is not None
            assert str(view.message_at_cursor.text) == str(user("second").text)
            origins.append([one for one in stage.heard if isinstance(one, PromptView.Hovered)][-1].kind)
        assert origins == ["value"] * 3
        assert seen(view)[0].strip().startswith("user")

    on_stage(PromptView("chat"), act, (60, 14))


def test_what_is_copied_of_a_message_is_json_where_it_is_shown_so() -> None:
    async def act(stage: Stage[PromptView], pilot: Pilot[None]) -> None:
        stage.widget.show(Prompt((MESSAGES["text"],)))
        await pilot.press("tab", "v")
        assert stage.widget.text_of_message_at_cursor() == str(MESSAGES["text"].text)
        await pilot.press("v")
        assert json.loads(stage.widget.text_of_message_at_cursor()) == MESSAGES["text"].as_dict()

    on_stage(PromptView("chat"), act)


def test_another_prompt_is_shown_in_the_form_that_was_chosen_and_hostile_text_stays_text() -> None:
    async def act(stage: Stage[PromptView], pilot: Pilot[None]) -> None:
        for form in ("raw", "json"):
            stage.widget.action_form()
            for value in HOSTILE.values():
                stage.widget.show(Prompt((user(value[:3_000]),)))
                assert stage.widget.form == form
                assert_harmless(stage.widget)
            await pilot.press("tab", "end", "home", "down", "right", "space", "pagedown")

    on_stage(PromptView("chat"), act)
